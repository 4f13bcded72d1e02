// SPDX-License-Identifier: Apache-2.0
// Where the boxes of the topology stand: in layers from left to right, as events travel. Pure
// functions: nodes [{ id, kind }] and edges [{ from, to }] in, places out.
//
// 1. Edges that close a circle are set aside. 2. A node's layer is the longest way to it; sinks
// stand in the last one. 3. An edge over several layers gets a joint in each between. 4. Within a
// layer, nodes stand where their neighbours are, a few sweeps each way, with a least distance.
// 5. What has nothing to do with each other stands one below the other, the largest first; who has
// no neighbours at all, side by side in the end.

const SWEEPS = 6;
const ALONE_MAX = 4; // more of them than that stand side by side
const ABREAST_MIN = 6;

// Depth first from the sources; an edge to a node that is still open closes a circle.
function withoutCircles(nodes, edges) {
    const out = new Map(nodes.map((node) => [node.id, []]));
    edges.forEach((edge) => out.get(edge.from).push(edge));
    const state = new Map();
    const forward = [];
    const visit = (start) => {
        const stack = [[start, 0]];
        state.set(start, 'open');
        while (stack.length > 0) {
            const top = stack.at(-1);
            const edge = out.get(top[0])[top[1]++];
            if (edge === undefined) {
                state.set(top[0], 'done');
                stack.pop();
            } else if (state.get(edge.to) !== 'open') {
                forward.push(edge);
                if (!state.has(edge.to)) {
                    state.set(edge.to, 'open');
                    stack.push([edge.to, 0]);
                }
            }
        }
    };
    const entered = new Set(edges.map((edge) => edge.to));
    const begins = (node) =>
        node.kind === 'source' || node.kind === 'outside' || !entered.has(node.id);
    for (const node of [...nodes.filter(begins), ...nodes]) {
        if (!state.has(node.id)) visit(node.id);
    }
    return forward;
}

function layersOf(nodes, forward) {
    const layer = new Map(nodes.map((node) => [node.id, 0]));
    // Without circles this settles after at most as many rounds as there are nodes.
    for (let round = 0, changed = true; changed && round < nodes.length; round++) {
        changed = false;
        for (const { from, to } of forward) {
            if (layer.get(to) <= layer.get(from)) {
                layer.set(to, layer.get(from) + 1);
                changed = true;
            }
        }
    }
    const last = Math.max(0, ...layer.values());
    const leaves = new Set(forward.map((edge) => edge.from));
    const joined = new Set(forward.map((edge) => edge.to));
    for (const node of nodes) {
        if (node.kind === 'sink' && !leaves.has(node.id) && joined.has(node.id)) {
            layer.set(node.id, last);
        }
    }
    return layer;
}

// Layers as lists of places, joints among them; each knows its neighbours before and after.
function placesOf(nodes, forward, layer, count) {
    const layers = Array.from({ length: count }, () => []);
    const place = new Map();
    const add = (id, at, joint) => {
        const one = { id, layer: at, joint, before: [], after: [], y: layers[at].length };
        layers[at].push(one);
        return one;
    };
    for (const node of nodes) place.set(node.id, add(node.id, layer.get(node.id), false));
    const routes = new Map();
    for (const edge of forward) {
        const route = [place.get(edge.from)];
        for (let at = layer.get(edge.from) + 1; at < layer.get(edge.to); at++) {
            route.push(add(`${edge.from}\n${edge.to}\n${at}`, at, true));
        }
        route.push(place.get(edge.to));
        for (let i = 1; i < route.length; i++) {
            route[i - 1].after.push(route[i]);
            route[i].before.push(route[i - 1]);
        }
        routes.set(edge, route);
    }
    return { layers, place, routes };
}

const mean = (places) => places.reduce((sum, one) => sum + one.y, 0) / places.length;
const room = (one) => (one.joint ? 0.5 : 1);

// Puts a layer's places where they would like to be, in that order, not closer than allowed.
function settle(layer, wish) {
    const wanted = new Map(layer.map((one) => [one, wish(one)]));
    layer.sort((a, b) => wanted.get(a) - wanted.get(b));
    let shift = 0;
    layer.forEach((one, i) => {
        const before = layer[i - 1];
        const least = before ? before.y + (room(before) + room(one)) / 2 : -Infinity;
        one.y = Math.max(wanted.get(one), least);
        shift += one.y - wanted.get(one);
    });
    // What was pushed down is moved up again as a whole, so that a layer stays around its middle.
    layer.forEach((one) => {
        one.y -= shift / layer.length;
    });
}

// Nodes that lead to each other, whichever way, as lists; the longest first.
function connected(nodes, edges) {
    const parent = new Map(nodes.map((node) => [node.id, node.id]));
    const root = (id) => {
        while (parent.get(id) !== id) {
            parent.set(id, parent.get(parent.get(id)));
            id = parent.get(id);
        }
        return id;
    };
    for (const { from, to } of edges) parent.set(root(from), root(to));
    const groups = new Map();
    for (const node of nodes) {
        const id = root(node.id);
        if (!groups.has(id)) groups.set(id, []);
        groups.get(id).push(node);
    }
    return [...groups.values()].sort((a, b) => b.length - a.length);
}

// Bands that are empty in all layers are closed; answers how many rows are left.
function close(places) {
    const sorted = [...places].sort((a, b) => a.y - b.y);
    let shift = sorted[0].y;
    let before = sorted[0].y;
    for (const one of sorted) {
        const gap = one.y - before;
        before = one.y;
        if (gap > 1) shift += gap - 1;
        one.y -= shift;
    }
    return sorted.at(-1).y + 1;
}

function settleGroup(nodes, forward, layer, count) {
    const { layers, place, routes } = placesOf(nodes, forward, layer, count);
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
        for (const one of layers) {
            settle(one, (spot) => (spot.before.length ? mean(spot.before) : spot.y));
        }
        for (const one of [...layers].reverse()) {
            settle(one, (spot) => (spot.after.length ? mean(spot.after) : spot.y));
        }
    }
    return { place, routes, rows: close(layers.flat()) };
}

// Answers { columns, rows, at: id → { column, row }, routes: edge → [{ column, row }],
// back: edges that close a circle }.
export function layOut(nodes, edges) {
    const known = new Set(nodes.map((node) => node.id));
    const usable = edges.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
    const forward = withoutCircles(nodes, usable);
    const layer = layersOf(nodes, forward);
    const count = Math.max(0, ...layer.values()) + 1;
    const groups = connected(nodes, usable);
    const lonely = groups.filter((group) => group.length === 1).flat();
    const abreast = lonely.length > ALONE_MAX ? lonely : [];
    const [at, routes] = [new Map(), new Map()];
    let rows = 0;
    for (const group of groups) {
        if (abreast.includes(group[0])) continue;
        const ids = new Set(group.map((node) => node.id));
        const own = forward.filter((edge) => ids.has(edge.from));
        const settled = settleGroup(group, own, layer, count);
        const top = rows;
        const spot = (one) => ({ column: one.layer, row: top + one.y });
        for (const [id, one] of settled.place) at.set(id, spot(one));
        for (const [edge, route] of settled.routes) routes.set(edge, route.map(spot));
        rows += settled.rows;
    }
    const columns = abreast.length > 0 ? Math.max(count, ABREAST_MIN) : count;
    abreast.forEach((node, i) =>
        at.set(node.id, { column: i % columns, row: rows + Math.floor(i / columns) }),
    );
    rows += Math.ceil(abreast.length / columns);
    return { columns, rows, at, routes, back: usable.filter((edge) => !routes.has(edge)) };
}
