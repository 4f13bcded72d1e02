// SPDX-License-Identifier: Apache-2.0
// Shapes of servers for fake_server.mjs: its document, and what load there is, in; another document
// out.

const component = (name, kind, work = 0) => ({
    component: name,
    type: 'made-up',
    kind,
    thread: '',
    phase: 'running',
    rounds: 0,
    work,
    failures: 0,
    feed: '',
    processor: '',
});

// An engine that was just made: nobody has given it anything yet.
function empty(document) {
    return {
        ...document,
        dispatchers: document.dispatchers.slice(0, 1),
        threads: document.threads.slice(0, 1),
        processors: [],
        processors_total: 0,
        processors_shown: 0,
        feeds: [],
        routers: [],
        components: [],
        edges: [],
    };
}

// Source, processor, sink.
function small(document, grow) {
    return {
        ...document,
        components: [
            component('orders', 'source', grow('orders', 20000)),
            component('totals', 'processor'),
            component('out', 'sink'),
        ],
        feeds: [],
        routers: [],
        edges: [
            ['component:orders', 'component:totals', 20000],
            ['component:totals', 'component:out', 1000],
        ].map(([from, to, rate]) => ({ from, to, events: grow(`${from}>${to}`, rate) })),
    };
}

// Sixty components in six columns, with names as long as people make them.
function wide(document, grow) {
    const steps = ['source', 'processor', 'processor', 'service', 'processor', 'sink'];
    const name = (step, i) =>
        `${['intake', 'parse', 'enrich', 'risk', 'totals', 'store'][step]}-${
            i % 3 === 0 ? 'of-european-power-futures' : 'eu'
        }-${i}`;
    const all = steps.flatMap((kind, step) =>
        Array.from({ length: 10 }, (_, i) =>
            component(name(step, i), kind, grow(name(step, i), 9000 / (i + 1))),
        ),
    );
    const edges = [];
    for (let step = 1; step < steps.length; step++) {
        for (let i = 0; i < 10; i++) {
            edges.push([name(step - 1, i), name(step, i), 9000 / (i + 1)]);
            if (i % 4 === 1) edges.push([name(step - 1, i), name(step, (i + 3) % 10), 100]);
        }
    }
    return {
        ...document,
        components: all,
        feeds: [],
        routers: [],
        edges: edges.map(([from, to, rate]) => ({
            from: `component:${from}`,
            to: `component:${to}`,
            events: grow(`${from}>${to}`, rate),
        })),
    };
}

export const SCENES = { empty, small, wide };
