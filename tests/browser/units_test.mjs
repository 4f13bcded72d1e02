// SPDX-License-Identifier: Apache-2.0
// Parts of the page that need no browser: rates, the history, the layout, figures as text.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assert, finish, test } from './harness.mjs';
import { FakeServer, ROOT } from './fake_server.mjs';

// Browsers know modules by how they are loaded, node by a file beside them: so it gets copies.
const copies = mkdtempSync(join(tmpdir(), 'weir-web-'));
process.on('exit', () => rmSync(copies, { recursive: true }));
cpSync(join(ROOT, 'web'), copies, { recursive: true });
writeFileSync(join(copies, 'package.json'), '{ "type": "module" }');

const web = (name) => import(pathToFileURL(join(copies, name)));
const { Looks, lookAt, latency } = await web('look.js');
const { History } = await web('history.js');
const { layOut } = await web('graph_layout.js');
const { edgesOf } = await web('topology.js');
const format = await web('format.js');
const thresholds = await web('thresholds.js');

const frame = (uptime, handled, more = {}) => ({
    engine: { name: 'e', uptime_ns: uptime * 1e9, handled, accepted: handled, ...more },
    dispatchers: [
        {
            dispatcher: 'api',
            handled,
            try_locks: handled,
            try_locks_failed: handled / 2,
            rounds: handled,
            backoffs: 0,
        },
    ],
});

await test('a rate is the growth over the time that the engine lived meanwhile', () => {
    const look = lookAt(frame(12, 3000), frame(10, 1000));
    assert.equal(look.engine.rate, 1000);
    assert.equal(look.dispatchers[0].rate, 1000);
    assert.equal(look.dispatchers[0].contention, 0.5);
    assert.equal(look.dispatchers[0].backoff, 0);
});

await test('one document alone has totals and no rates', () => {
    const look = lookAt(frame(12, 3000), undefined);
    assert.equal(look.engine.rate, undefined);
    assert.equal(look.dispatchers[0].handled, 3000);
    assert.equal(look.dispatchers[0].contention, undefined);
});

await test('a share of too few attempts is not told', () => {
    assert.equal(lookAt(frame(2, 1010), frame(1, 1000)).dispatchers[0].contention, undefined);
});

await test('counters that fall are a restart, and give no rate', () => {
    const looks = new Looks();
    looks.take(frame(10, 1000));
    const { look, restarted } = looks.take(frame(1, 20));
    assert.equal(restarted, true);
    assert.equal(look.engine.rate, undefined);
    assert.equal(looks.take(frame(2, 40)).look.engine.rate, 20);
});

await test('a server that began at another time is another one, however old and busy', () => {
    const at = (time, uptime, handled) => frame(uptime, handled, { time_ns: time * 1e9 });
    const looks = new Looks();
    looks.take(at(1000, 1, 1000));
    assert.equal(looks.take(at(1000.25, 1.25, 1250)).restarted, false);
    const { look, restarted } = looks.take(at(1010, 5, 9000));
    assert.equal(restarted, true);
    assert.equal(look.engine.rate, undefined);
});

await test('rates are those of the last second, not of a gap before it', () => {
    const looks = new Looks();
    for (let i = 0; i < 9; i++) looks.take(frame(10 + i / 4, 100 * i));
    assert.equal(looks.take(frame(12.25, 900)).look.engine.rate, 400);
    assert.equal(looks.take(frame(100, 5000)).look.engine.rate, undefined);
    assert.ok(looks.documents.length <= 4);
});

await test('documents with missing, unknown and wrong fields are borne', () => {
    for (const odd of [
        {},
        { engine: null },
        { engine: 7, dispatchers: 'x', processors: [null, 3, {}] },
        { threads: [{ thread: { a: 1 }, handling: 'x' }], routers: [{ worker: 4 }], edges: [{}] },
        { processors: [{ processor: 5, depth: 'NaN', mailbox_max: -1, queueing: { count: -3 } }] },
        { health: [], timers: [], components: [[]], own: {}, processors_total: 'many' },
    ]) {
        const looks = new Looks();
        looks.take(odd);
        assert.ok(looks.take(odd).look);
    }
    assert.deepEqual(latency(undefined), { count: 0 });
});

await test('the history does not grow, whatever comes', () => {
    const history = new History(100);
    for (let i = 0; i < 5000; i++) {
        history.advance(i / 4);
        history.set('always', i);
        history.set(`once-${i}`, i);
    }
    assert.ok(history.rings.size <= 1500, `${history.rings.size} series`);
    assert.equal(history.times.length, 100);
    const values = history.copy('always', new Array(100).fill(0));
    assert.deepEqual([values[0], values[99]], [4900, 4999]);
    assert.deepEqual(history.copy('nobody', new Array(100)), new Array(100).fill(null));
    const times = history.copyTimes(new Array(100));
    assert.ok(times.every((time, i) => i === 0 || time > times[i - 1]));
});

await test('a value that is not set is a gap', () => {
    const history = new History(10);
    for (let i = 0; i < 4; i++) {
        history.advance(i);
        if (i !== 2) history.set('a', i);
    }
    assert.deepEqual(history.copy('a', new Array(10)).slice(6), [0, 1, null, 3]);
    assert.ok(Number.isNaN(history.at('a', 99)) && Number.isNaN(history.at('a', -1)));
});

const node = (id, kind = 'processor') => ({ id, kind });
const arrow = (from, to) => ({ from, to });

await test('the layout goes from left to right, and sinks stand last', () => {
    const edges = [
        arrow('s', 'f'),
        arrow('f', 'p'),
        arrow('p', 'q'),
        arrow('f', 'out'),
        arrow('q', 'out2'),
    ];
    const { at, columns } = layOut(
        [
            node('s', 'source'),
            node('f', 'feed'),
            node('p'),
            node('q'),
            node('out', 'sink'),
            node('out2', 'sink'),
        ],
        edges,
    );
    for (const { from, to } of edges)
        assert.ok(at.get(from).column < at.get(to).column, `${from} ${to}`);
    assert.equal(at.get('out').column, columns - 1);
});

await test('what has nothing to do with each other stands close, one below the other', () => {
    const chains = Array.from({ length: 10 }, (_, i) => ['a', 'b', 'c', 'd'].map((c) => c + i));
    const edges = chains.flatMap((ids, i) => [
        ...ids.slice(1).map((id, at) => arrow(ids[at], id)),
        // Every third chain leads into the next one, too.
        ...(i % 3 === 0 ? [arrow(ids[0], chains[(i + 1) % 10][1])] : []),
    ]);
    const shape = layOut(
        chains.flat().map((id) => node(id)),
        edges,
    );
    assert.ok(shape.rows <= 15, `${shape.rows} rows`);
    const places = [...shape.at.values()];
    for (let column = 0; column < 4; column++) {
        const rows = places.filter((one) => one.column === column).map((one) => one.row);
        rows.sort((a, b) => a - b);
        assert.ok(rows.every((row, i) => i === 0 || row - rows[i - 1] > 0.999));
    }
});

await test('many who have no neighbours stand side by side, below all others', () => {
    const lonely = Array.from({ length: 30 }, (_, i) => node(`p${i}`));
    const shape = layOut([node('s', 'source'), node('t'), ...lonely], [arrow('s', 't')]);
    assert.equal(shape.columns, 6);
    assert.equal(shape.rows, 6);
    const spots = new Set([...shape.at.values()].map(({ column, row }) => `${column} ${row}`));
    assert.equal(spots.size, 32);
    assert.deepEqual(shape.at.get('s'), { column: 0, row: 0 });
});

await test('flows and work of a router’s targets are not known, and not told as none', () => {
    const targets = (handled) => ({
        ...frame(10 + handled / 1000, handled),
        routers: [
            {
                router: 'r',
                handled: 0,
                submitted: handled,
                flows: 9,
                worker: [{ index: 0, processor: 'p', handled, flows: 0, busy_ns: 0 }],
            },
        ],
        processors: [{ processor: 'p', handled }],
    });
    const [worker] = lookAt(targets(2000), targets(1000)).routers[0].workers;
    assert.deepEqual([worker.flows, worker.busy, worker.rate], [undefined, undefined, 1000]);
});

await test('the layout bears circles, edges to oneself, to nobody, and nothing at all', () => {
    const nodes = ['a', 'b', 'c'].map((id) => node(id));
    const shape = layOut(nodes, [
        arrow('a', 'b'),
        arrow('b', 'c'),
        arrow('c', 'a'),
        arrow('a', 'a'),
        arrow('a', 'gone'),
    ]);
    assert.equal(shape.at.size, 3);
    assert.equal(shape.back.length, 1);
    assert.equal(layOut([], []).rows, 0);
});

await test('what a router hands on is drawn through the router', () => {
    const way = (from, to, events, rate) => ({ from, to, events, rate });
    const edges = edgesOf({
        routers: [{ name: 'r' }],
        edges: [
            way('component:a', 'router:r', 0, 0),
            way('router:r', 'component:b', 0, 0),
            way('component:a', 'component:b', 640, 64),
            way('component:a', 'component:c', 64, 6),
        ],
    });
    assert.deepEqual(edges, [
        way('component:a', 'router:r', 640, 64),
        way('router:r', 'component:b', 640, 64),
        way('component:a', 'component:c', 64, 6),
    ]);
});

await test('no two boxes of a layout lie on each other', () => {
    const nodes = Array.from({ length: 80 }, (_, i) => node(`n${i}`));
    const edges = Array.from({ length: 160 }, (_, i) =>
        arrow(`n${(i * 7) % 80}`, `n${(i * 13 + 1) % 80}`),
    );
    const spots = [...layOut(nodes, edges).at.values()];
    for (const a of spots) {
        const close = spots.filter(
            (b) => b !== a && b.column === a.column && Math.abs(b.row - a.row) < 0.99,
        );
        assert.equal(close.length, 0);
    }
});

await test('figures are short, and what is no number is a dash', () => {
    assert.equal(format.short(1234567), '1.23 M');
    assert.equal(format.short(999999), '1.00 M');
    assert.equal(format.short(980), '980');
    assert.equal(format.rate(0), '0/s');
    assert.equal(format.percent(0.42), '42 %');
    assert.equal(format.percent(0.0004), '< 0.1 %');
    assert.equal(format.nanoseconds(40000), '40.0 µs');
    assert.equal(format.whole(1234567), '1\u202f234\u202f567');
    assert.equal(format.span(93784), '1 d 2 h');
    assert.equal(format.bytes(23000000), '21.9 MiB');
    for (const odd of [undefined, null, NaN, Infinity, 'x', {}]) {
        for (const name of [
            'short',
            'rate',
            'percent',
            'ratio',
            'nanoseconds',
            'span',
            'bytes',
            'whole',
        ]) {
            assert.equal(format[name](odd), '–', `${name} of ${String(odd)}`);
        }
    }
});

await test('every threshold turns at its bound', () => {
    const at = (rule, ...values) => values.map((value) => rule(value)?.level ?? 'good');
    assert.deepEqual(at(thresholds.contention, 0.099, 0.1, 0.29, 0.3, 0.5, 0.51), [
        'good',
        'fair',
        'fair',
        'high',
        'high',
        'alert',
    ]);
    assert.deepEqual(at(thresholds.backoff, 0.009, 0.05, 0.15, 0.16, 0.3, 0.31), [
        'good',
        'fair',
        'fair',
        'high',
        'high',
        'alert',
    ]);
    assert.deepEqual(at(thresholds.spread, 3, 3.1, 10, 10.1), ['good', 'fair', 'fair', 'alert']);
    assert.deepEqual(at(thresholds.woke, 0.95, 0.94), ['good', 'high']);
    assert.deepEqual(at(thresholds.found, 0.9, 0.89), ['good', 'high']);
    assert.deepEqual(at(thresholds.fullness, 0.49, 0.5, 0.9), ['good', 'high', 'alert']);
    assert.equal(thresholds.utilisation(0.2, false), null);
    assert.equal(thresholds.utilisation(0.2, true).word, 'low');
    assert.equal(thresholds.contention(undefined), null);
});

await test('a hundred processors of a made-up server give a look', () => {
    const server = new FakeServer({ scene: 'many' });
    const look = lookAt(server.document(), undefined);
    assert.equal(look.processors.length, 100);
    assert.equal(look.hidden, 4908);
});

finish();
