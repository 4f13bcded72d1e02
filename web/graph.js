// SPDX-License-Identifier: Apache-2.0
// The topology: sources, feeds, routers, processors, sinks, and what travels between them. Boxes
// and lines glow with the events of the last second; a bar along a box is how full its mailbox is.
import { byId, setAttribute, setHidden, setText, setVariable, svg } from './dom.js';
import { layOut } from './graph_layout.js';
import { rate, short } from './format.js';
import { edgesOf, nodesOf } from './topology.js';

const BOX = { width: 152, height: 46 };
const PITCH = 62,
    GAP_MIN = 36,
    GAP_MAX = 150,
    MARGIN = 14;
const RINGS = [4, 9, 15]; // of the glow around a box
const ANSWER = 9; // below its question
const SHRUNK_MIN = 0.8; // smaller than that it scrolls
const SMOOTH = 0.35; // edges are known by one event in so many: their rates jump

const KIND_WORDS = {
    source: 'source',
    feed: 'feed',
    router: 'flow router',
    processor: 'processor',
    service: 'service',
    sink: 'sink',
    outside: 'other threads',
};

const KIND_TAGS = {
    source: 'source',
    feed: 'feed',
    router: 'flows',
    service: 'service',
    sink: 'sink',
};

export class Graph {
    constructor(open) {
        this.open = open;
        this.place = byId('graph');
        this.note = byId('graph-note');
        this.signature = '';
        this.smooth = new Map();
        this.boxes = new Map();
        this.lines = [];
        this.top = 1;
        new ResizeObserver(() => this.fit()).observe(this.place);
    }

    update(look) {
        const { nodes, hidden } = nodesOf(look);
        const ids = new Set(nodes.map((node) => node.id));
        const edges = edgesOf(look).filter(({ from, to }) => ids.has(from) && ids.has(to));
        const signature = JSON.stringify([
            nodes.map((n) => [n.id, n.kind]),
            edges.map((e) => [e.from, e.to]),
        ]);
        if (signature !== this.signature) {
            this.signature = signature;
            this.build(nodes, edges);
        }
        this.show(nodes, edges);
        setHidden(this.place, nodes.length === 0);
        setHidden(this.note, hidden === 0 && nodes.length > 0);
        setText(
            this.note,
            nodes.length === 0
                ? 'Nothing to draw yet: it has no components, and no event has travelled.'
                : `${hidden} more that have less to do are not drawn.`,
        );
    }

    fit() {
        if (this.shape && this.width !== this.place.clientWidth) this.draw();
    }

    build(nodes, edges) {
        this.nodes = nodes;
        this.shape = layOut(nodes, edges);
        this.smooth.clear();
        this.draw();
    }

    draw() {
        const { shape } = this;
        this.width = this.place.clientWidth;
        const between = Math.max(1, shape.columns - 1);
        const spare = (this.width - 2 * MARGIN - shape.columns * BOX.width) / between;
        const gap = Math.min(GAP_MAX, Math.max(GAP_MIN, spare));
        const width = 2 * MARGIN + shape.columns * BOX.width + between * gap;
        // An answer runs beside its question; others that close a circle run below everything.
        const ways = new Map(
            [...shape.routes].map(([edge, route]) => [`${edge.from}\n${edge.to}`, route]),
        );
        const questionOf = (edge) => ways.get(`${edge.to}\n${edge.from}`);
        const below = shape.back.some((edge) => !questionOf(edge)) ? 30 : 0;
        const height = 2 * MARGIN + (Math.max(1, shape.rows) - 1) * PITCH + BOX.height + below;
        const x = ({ column }) => MARGIN + column * (BOX.width + gap);
        const y = ({ row }) => MARGIN + row * PITCH + BOX.height / 2;
        const fit = this.width / width;
        const scale = fit < 1 && fit >= SHRUNK_MIN ? fit : 1;
        const picture = svg('svg', {
            'width': width * scale,
            'height': height * scale,
            'viewBox': `0 0 ${width} ${height}`,
            'role': 'group',
            'aria-label': 'Topology',
        });
        this.lines = [];
        for (const [edge, route] of shape.routes) {
            this.line(picture, edge, curve(route.map((spot) => [x(spot), y(spot)])));
        }
        for (const edge of shape.back) {
            const route = questionOf(edge);
            if (route) {
                const path = curve(route.map((spot) => [x(spot), y(spot) + ANSWER]));
                this.line(picture, edge, path, 'answer');
                continue;
            }
            const [from, to] = [shape.at.get(edge.from), shape.at.get(edge.to)];
            this.line(picture, edge, loop(x(from), y(from), x(to), y(to), height - 6));
        }
        // Boxes that stay are the same elements, and keep the focus if they have it.
        const before = this.boxes;
        const focused = document.activeElement;
        this.boxes = new Map();
        for (const node of this.nodes) {
            const spot = shape.at.get(node.id);
            const box = before.get(node.id) ?? this.box(node);
            setAttribute(
                box.group,
                'transform',
                `translate(${x(spot)} ${y(spot) - BOX.height / 2})`,
            );
            this.boxes.set(node.id, box);
            picture.append(box.group);
        }
        this.place.replaceChildren(picture);
        if (focused !== document.activeElement && picture.contains(focused)) focused.focus();
    }

    line(picture, edge, path, way = '') {
        const base = svg('path', { d: path, class: 'edge' });
        const flow = svg('path', { d: path, class: `flow ${way}` });
        const title = svg('title');
        base.append(title);
        picture.append(base, flow);
        this.lines.push({ id: `${edge.from}\n${edge.to}`, edge, base, flow, title });
    }

    box(node) {
        const tag = KIND_TAGS[node.kind] ?? '';
        const label = fitted(node.name, BOX.width - 20 - (tag === '' ? 0 : widthOf(tag, TAG) + 6));
        const parts = {
            level: svg('rect', {
                class: 'level',
                x: 8,
                y: BOX.height - 6,
                width: BOX.width - 16,
                height: 3,
                rx: 1.5,
            }),
            figure: svg('text', { class: 'figure', x: 10, y: 35 }),
            word: svg('text', {
                'class': 'word',
                'x': BOX.width - 10,
                'y': 35,
                'text-anchor': 'end',
            }),
        };
        const name = `${KIND_WORDS[node.kind] ?? node.kind} ${node.name}`;
        // What is pressed lies over the texts: its name must not change four times a second.
        const press = svg(
            'rect',
            {
                'class': 'press',
                'role': 'button',
                'tabindex': '0',
                'aria-label': name,
                'width': BOX.width,
                'height': BOX.height,
                'rx': 7,
            },
            svg('title', {}, name),
        );
        press.addEventListener('click', () => this.open(node.kind, node.name, node.id));
        press.addEventListener('keydown', (event) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            this.open(node.kind, node.name, node.id);
        });
        const group = svg(
            'g',
            { class: `box ${node.kind}` },
            svg('g', { class: 'halo' }, ...RINGS.map((ring) => frame(ring))),
            svg('rect', { class: 'body', width: BOX.width, height: BOX.height, rx: 7 }),
            svg('rect', { class: 'mark', width: 3, height: BOX.height - 14, y: 7, rx: 1.5 }),
            svg(
                'g',
                { 'aria-hidden': 'true' },
                svg('text', { class: 'label', x: 10, y: 18 }, label),
                svg(
                    'text',
                    { 'class': 'kind', 'x': BOX.width - 10, 'y': 18, 'text-anchor': 'end' },
                    tag,
                ),
                parts.figure,
                parts.word,
            ),
            parts.level,
            press,
        );
        return { group, ...parts };
    }

    show(nodes, edges) {
        for (const edge of edges) {
            const id = `${edge.from}\n${edge.to}`;
            const before = this.smooth.get(id) ?? edge.rate ?? 0;
            this.smooth.set(id, before + SMOOTH * ((edge.rate ?? 0) - before));
        }
        const busiest = Math.max(
            10,
            ...nodes.map((node) => node.rate ?? 0),
            ...this.smooth.values(),
        );
        // The measure falls slowly: a short peak must not darken all the rest.
        this.top = Math.max(busiest, this.top * 0.98);
        const heat = (value) => (value > 0 ? Math.log1p(value) / Math.log1p(this.top) : 0);
        for (const node of nodes) this.showBox(node, heat(node.rate));
        for (const line of this.lines) {
            const value = this.smooth.get(line.id) ?? 0;
            const warm = heat(value);
            setVariable(line.base, '--heat', warm.toFixed(2));
            setVariable(line.flow, '--heat', warm.toFixed(2));
            setAttribute(
                line.flow,
                'data-speed',
                warm < 0.05 ? 'none' : warm < 0.5 ? 'slow' : warm < 0.8 ? 'middle' : 'fast',
            );
            setText(line.title, `about ${rate(value)}`);
        }
    }

    showBox(node, warm) {
        const box = this.boxes.get(node.id);
        setVariable(box.group, '--heat', warm.toFixed(2));
        setVariable(box.level, '--fill', Math.min(1, node.fullness ?? 0).toFixed(3));
        setText(box.figure, node.rate === undefined ? '' : rate(node.rate));
        setText(box.word, node.word ?? (node.depth > 0 ? `${short(node.depth)} wait` : ''));
        setAttribute(box.group, 'data-level', node.level ?? null);
    }
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'; // style.css
const LABEL = `600 13px ${FONT}`,
    TAG = `10.5px ${FONT}`;
let ruler = null;

function widthOf(text, font) {
    ruler ??= document.createElement('canvas').getContext('2d');
    ruler.font = font;
    return ruler.measureText(text).width;
}

// A name that is too long loses its middle: long names begin alike, and differ in their ends.
function fitted(name, width) {
    if (widthOf(name, LABEL) <= width) return name;
    const letters = [...name];
    for (let kept = letters.length - 1; kept > 2; kept--) {
        const tail = Math.floor(kept * 0.4);
        const cut = `${letters.slice(0, kept - tail).join('')}…${letters.slice(-tail).join('')}`;
        if (tail > 0 && widthOf(cut, LABEL) <= width) return cut;
    }
    return '…';
}

const frame = (ring) =>
    svg('rect', { 'width': BOX.width, 'height': BOX.height, 'rx': 7, 'stroke-width': ring });

// From box to box by way of the joints between, level at each of them.
function curve(points) {
    let path = `M ${points[0][0] + BOX.width} ${points[0][1]}`;
    for (let i = 1; i < points.length; i++) {
        const last = i === points.length - 1;
        const [fromX, fromY] = [points[i - 1][0] + BOX.width, points[i - 1][1]];
        const [toX, toY] = points[i];
        const middle = (fromX + toX) / 2;
        path += ` C ${middle} ${fromY} ${middle} ${toY} ${toX} ${toY}`;
        if (!last) path += ` L ${toX + BOX.width} ${toY}`;
    }
    return path;
}

function loop(fromX, fromY, toX, toY, bottom) {
    const out = fromX + BOX.width;
    return (
        `M ${out} ${fromY} C ${out + 40} ${fromY} ${out + 30} ${bottom} ${out - 20} ${bottom}` +
        ` L ${toX + 20} ${bottom} C ${toX - 30} ${bottom} ${toX - 40} ${toY} ${toX} ${toY}`
    );
}
