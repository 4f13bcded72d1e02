// SPDX-License-Identifier: Apache-2.0
// Who is in the topology, and what was seen to travel between them: nodes and edges of a look, for
// graph.js to draw.
import * as thresholds from './thresholds.js';

const NODES_MAX = 80;

// What a router hands on is seen as sent by whoever gave it to the router. Where the configuration
// says that the way leads through one, it is drawn so.
export function edgesOf(look) {
    const edges = new Map(look.edges.map((edge) => [`${edge.from}\n${edge.to}`, { ...edge }]));
    const routers = look.routers.map((router) => `router:${router.name}`);
    for (const [key, edge] of edges) {
        const way = routers
            .map((router) => [
                edges.get(`${edge.from}\n${router}`),
                edges.get(`${router}\n${edge.to}`),
            ])
            .find(([into, out]) => into && out);
        if (!way) continue;
        edges.delete(key);
        for (const part of way) {
            part.events = (part.events ?? 0) + (edge.events ?? 0);
            if (edge.rate !== undefined) part.rate = (part.rate ?? 0) + edge.rate;
        }
    }
    return [...edges.values()];
}

function worst(processors) {
    return processors.reduce(
        (a, b) => ((b.fullness ?? 0) > (a?.fullness ?? -1) ? b : a),
        undefined,
    );
}

const sum = (list, field) =>
    list.some((one) => one[field] !== undefined)
        ? list.reduce((total, one) => total + (one[field] ?? 0), 0)
        : undefined;

// Everything that is in the configuration or was seen to send or receive, the busiest first.
export function nodesOf(look) {
    const found = new Map();
    const add = (id, kind, name, figures) => {
        if (found.has(id)) return;
        const rule =
            thresholds.unwanted((figures.drops ?? 0) + (figures.failing ?? 0)) ??
            thresholds.fullness(figures.fullness);
        found.set(id, { id, kind, name, ...figures, level: rule?.level, word: rule?.word });
    };
    for (const component of look.components) {
        const own = look.processors.filter((one) => one.component === component.name);
        const feed = look.feeds.find((one) => one.name === component.feed);
        add(`component:${component.name}`, component.kind || 'processor', component.name, {
            rate: sum(own, 'rate') ?? feed?.rate ?? component.rate,
            depth: sum(own, 'depth'),
            fullness: worst(own)?.fullness,
            drops: sum(own, 'drops'),
            failing: sum(own, 'failing'),
        });
    }
    for (const feed of look.feeds) add(`feed:${feed.name}`, 'feed', feed.name, feed);
    for (const router of look.routers) add(`router:${router.name}`, 'router', router.name, router);
    const byName = new Map(look.processors.map((one) => [`processor:${one.name}`, one]));
    for (const edge of look.edges) {
        for (const id of [edge.from, edge.to]) {
            const kind = id.split(':', 1)[0];
            const name = id.slice(kind.length + 1) || 'outside';
            const figures = byName.get(id) ?? { rate: edge.to === id ? edge.rate : undefined };
            add(id, kind === 'component' ? 'processor' : kind, name, figures);
        }
    }
    const all = [...found.values()];
    if (all.length <= NODES_MAX) return { nodes: all, hidden: 0 };
    // By total, not by rate: boxes that come and go cannot be read.
    const weight = new Map();
    for (const edge of look.edges) {
        for (const id of [edge.from, edge.to]) {
            weight.set(id, Math.max(weight.get(id) ?? 0, edge.events ?? 0));
        }
    }
    const heaviest = [...all].sort((a, b) => (weight.get(b.id) ?? 0) - (weight.get(a.id) ?? 0));
    const kept = new Set(heaviest.slice(0, NODES_MAX).map((node) => node.id));
    return { nodes: all.filter((node) => kept.has(node.id)), hidden: all.length - NODES_MAX };
}
