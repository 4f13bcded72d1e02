// SPDX-License-Identifier: Apache-2.0
// A server that answers as weir's admin does, with figures made up: for what a real one cannot be
// brought to at will (hostile names, 5,000 processors, contention), and to work on the page.
//
//   node tests/browser/fake_server.mjs [PORT] [busy|idle|steady|many|hostile|empty|small|wide]
import { createServer } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SCENES } from './scenes.mjs';

export const ROOT =
    process.env.WEIR_SOURCE_ROOT ?? join(dirname(fileURLToPath(import.meta.url)), '../..');
const TYPES = {
    html: 'text/html; charset=utf-8',
    js: 'text/javascript; charset=utf-8',
    css: 'text/css; charset=utf-8',
    svg: 'image/svg+xml',
};
const HEADERS = {
    'Content-Security-Policy':
        "default-src 'self'; frame-ancestors 'none'; " + "base-uri 'none'; form-action 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
};

export const HOSTILE = '<img src=x onerror="window.pwned=1">"\'`</script>&amp;\u202e*';

const times = (count, p50, spread) => ({
    count,
    sum_ns: count * p50 * 1.3,
    p50_ns: p50,
    p90_ns: p50 * 1.8,
    p95_ns: p50 * 2.1,
    p99_ns: p50 * spread,
    p999_ns: p50 * spread * 3,
    max_ns: p50 * spread * 20,
});
const none = {
    count: 0,
    sum_ns: 0,
    p50_ns: 0,
    p90_ns: 0,
    p95_ns: 0,
    p99_ns: 0,
    p999_ns: 0,
    max_ns: 0,
};

// name, dispatcher, component, share of the load, p50 of the handler, how full
const SHOP = [
    ['by-account', '', 'by-account', 1, 900, 0.02],
    ['flows:accounts/0', 'api', '', 0.52, 2100, 0.1],
    ['flows:accounts/1', 'api', '', 0.48, 2050, 0.08],
    ['limits', 'service', 'limits', 0.4, 14000, 0.55],
    ['totals', '', 'totals', 0.9, 700, 0.01],
    ['refused', '', 'refused', 0.1, 400, 0],
    ['out', '', 'out', 0.02, 32000, 0],
    ['audit', 'service', '', 0.001, 800, 0],
];
const COMPONENTS = [
    ['orders', 'generator', 'source', 'orders'],
    ['by-account', 'key-by', 'processor', ''],
    ['limits', 'limits', 'service', ''],
    ['check', 'risk-check', 'processor', ''],
    ['totals', 'counter', 'processor', ''],
    ['refused', 'count', 'processor', ''],
    ['out', 'file-sink', 'sink', ''],
];
const EDGES = [
    ['component:orders', 'feed:orders', 1],
    ['feed:orders', 'component:by-account', 1],
    ['component:by-account', 'router:accounts', 1],
    ['router:accounts', 'component:limits', 0.4],
    ['component:limits', 'router:accounts', 0.4],
    ['router:accounts', 'component:totals', 0.9],
    ['router:accounts', 'component:refused', 0.1],
    ['component:totals', 'component:out', 0.02],
    ['component:refused', 'component:out', 0.001],
    ['outside', 'processor:audit', 0.001],
];

export class FakeServer {
    constructor({ scene = 'busy', token = 'a-token-of-24-characters', every = 250 } = {}) {
        Object.assign(this, {
            scene,
            token,
            every, // milliseconds a frame
            streams: new Set(),
            calls: [],
            stopped: new Set(),
            moved: new Map(),
            measured: new Set(['limits']),
            beat: null,
            frame: 0,
            advice: true,
        });
        this.begin();
        this.server = createServer((request, response) => this.answer(request, response));
    }

    begin() {
        this.started = Date.now();
        this.totals = new Map();
        this.last = this.started;
    }

    listen(port = 0) {
        return new Promise((resolve) =>
            this.server.listen(port, '127.0.0.1', () => {
                this.port = this.server.address().port;
                this.beat = setInterval(() => this.tick(), this.every);
                resolve(`http://127.0.0.1:${this.port}`);
            }),
        );
    }

    close() {
        clearInterval(this.beat);
        for (const stream of this.streams) stream.destroy();
        this.server.closeAllConnections();
        return new Promise((resolve) => this.server.close(resolve));
    }

    // Grows a total by that many a second since the last frame, with some noise.
    grow(name, perSecond) {
        const noise =
            this.scene === 'steady'
                ? 1
                : 0.85 + 0.3 * Math.abs(Math.sin(this.frame / 7 + name.length));
        const before = this.totals.get(name) ?? 0;
        const now = before + Math.round(perSecond * this.step * noise);
        this.totals.set(name, now);
        return now;
    }

    load() {
        if (['idle', 'empty'].includes(this.scene)) return 0;
        if (this.scene === 'steady') return 100000;
        return 180000 * (0.8 + 0.2 * Math.sin(this.frame / 40));
    }

    document() {
        const document = this.wholeDocument();
        const shape = SCENES[this.scene];
        return shape ? shape(document, (name, rate) => this.grow(name, rate)) : document;
    }

    wholeDocument() {
        const now = Date.now();
        this.step = (now - this.last) / 1000;
        this.last = now;
        this.frame++;
        const load = this.load();
        const processors = this.processors(load);
        const sum = (field) => processors.reduce((total, one) => total + one[field], 0);
        const [handled, depth, dropped] = [sum('handled'), sum('depth'), sum('dropped')];
        const dead = this.grow('dead', load > 0 ? 0.2 : 0);
        const hostile = this.scene === 'hostile' ? HOSTILE : null;
        return {
            weir: '0.1.0',
            engine: {
                name: hostile ?? 'quickstart',
                phase: 'running',
                time_ns: now * 1e6,
                uptime_ns: (now - this.started) * 1e6,
                accepted: handled + depth + dropped + dead,
                handled,
                dropped,
                dead,
                left: 0,
                depth,
                refused_full: this.grow('full', load > 0 ? 3 : 0),
                refused_stopping: 0,
                refused_unknown: 1,
                refused_other: 0,
                dropped_newest: dropped,
                dropped_oldest: 0,
                unhandled: 0,
                failures: dead,
                retries: 0,
                restarts: 0,
                stuck: 0,
                letters: dead + 1,
                processors: processors.length,
                dispatchers: 3,
                threads: 4,
                block_bytes: 40960,
                block_bytes_high: 81920,
                pool_bytes: 1 << 20,
                latency_every: 64,
            },
            process: {
                cpu_ns: this.grow('cpu', load > 0 ? 1.5e9 : 2e6),
                rss_bytes: 23.4e6,
                cores_usable: 4,
                threads_os: 9,
                throttled: 0,
                throttled_ns: 0,
                quota_cores: 0,
            },
            health:
                load > 0
                    ? {
                          status: 'degraded',
                          reasons: [
                              {
                                  what: `processor ${hostile ?? 'limits'}`,
                                  status: 'degraded',
                                  reason: 'its mailbox is 93 % full',
                              },
                          ],
                      }
                    : { status: 'up', reasons: [] },
            dispatchers: this.dispatchers(processors, load),
            threads: this.threads(load),
            processors: processors.slice(0, 100),
            processors_total: processors.length,
            processors_shown: Math.min(100, processors.length),
            feeds: [
                {
                    feed: hostile ?? 'orders',
                    published: this.grow('published', load),
                    filtered: 0,
                    failed: 0,
                    delivered: this.totals.get('published'),
                    dropped: 0,
                    waits: 12,
                    waited_ns: this.grow('waited', load > 0 ? 4e7 : 0),
                    outstanding: 0,
                    committed: 0,
                    subscribers: 1,
                    queues: 1,
                    deepest: load > 0 ? 612 : 0,
                    queue_max: 1024,
                    slowest: hostile ?? 'by-account',
                },
            ],
            routers: [this.router(load)],
            timers: {
                added: 10,
                pending: 4,
                posted: 6,
                cancelled: 0,
                late_p50_ns: 50000,
                late_p99_ns: 90000,
            },
            components: COMPONENTS.map(([component, type, kind, feed]) => ({
                component,
                type,
                kind,
                thread: '',
                phase: 'running',
                rounds: 0,
                work: this.grow(`work ${component}`, kind === 'source' ? load : 0),
                failures: 0,
                feed,
                processor: '',
            })),
            edges: [
                ...EDGES,
                ...(hostile ? [['component:out', `processor:${hostile}`, 0.5]] : []),
            ].map(([from, to, share]) => ({
                from,
                to,
                events: this.grow(`${from}>${to}`, load * share),
            })),
            dead_letters:
                load > 0
                    ? [
                          {
                              number: 4,
                              reason: 'failed',
                              status: 'WEIR_E_FAILED',
                              sender: 'flows:accounts/0',
                              receiver: hostile ?? 'totals',
                              type: 'order',
                              size: 24,
                              time: '2026-11-16T18:00:00.123Z',
                              text: hostile ?? 'price is negative',
                          },
                          {
                              number: 3,
                              reason: 'unknown',
                              status: 'WEIR_UNKNOWN',
                              sender: 'outside',
                              receiver: 'gone',
                              type: 'order',
                              size: 24,
                              time: '2026-11-16T17:59:58.003Z',
                              text: '',
                          },
                      ]
                    : [],
            errors:
                load > 0
                    ? [
                          {
                              component: 'totals',
                              time: '2026-11-16T18:00:00.123Z',
                              status: 'WEIR_E_FAILED',
                              text: hostile ?? 'price is negative',
                          },
                      ]
                    : [],
            own: [
                {
                    name: 'orders_rejected_total',
                    labels: 'reason="price"',
                    kind: 'counter',
                    help: 'orders that were rejected',
                    value: this.grow('rejected', load > 0 ? 4 : 0),
                },
            ],
            a_section_of_tomorrow: { unknown: [1, 2, null] },
        };
    }

    processors(load) {
        const rows = [...SHOP];
        if (this.scene === 'many') {
            for (let i = 0; i < 5000; i++)
                rows.push([`session-${i}`, 'api', '', 1 / (i + 9), 800, 0]);
        }
        if (this.scene === 'hostile') rows.push([HOSTILE, 'api', '', 0.5, 800, 0.2]);
        return rows
            .filter(([name]) => !this.stopped.has(name))
            .map(([name, dispatcher, component, share, p50, full]) => {
                const measured = this.measured.has(name);
                const depth =
                    load > 0
                        ? Math.round(10000 * full * (0.7 + 0.3 * Math.sin(this.frame / 5)))
                        : 0;
                const handled = this.grow(name, load * share);
                const dropped = this.grow(`${name} drops`, name === 'limits' && load > 0 ? 2 : 0);
                return {
                    processor: name,
                    dispatcher: this.moved.get(name) ?? dispatcher,
                    component,
                    depth,
                    depth_high: Math.round(10000 * full * 1.2),
                    mailbox_max: 10000,
                    accepted: handled + depth + dropped,
                    handled,
                    dropped,
                    dropped_newest: dropped,
                    dropped_oldest: 0,
                    dead: 0,
                    left: 0,
                    failures: 0,
                    retries: 0,
                    restarts: 0,
                    measured,
                    queueing: measured ? times(handled / 64, p50 * 5, 14) : none,
                    handling: measured ? times(handled / 64, p50, 2.5) : none,
                };
            });
    }

    dispatchers(processors, load) {
        const rows = [
            ['', 2, 0.04, 0.002],
            ['api', 3, 0.42, 0.11],
            ['service', 1, 0.001, 0],
        ];
        return rows.map(([name, threads, contention, backoff]) => {
            const own = processors.filter((one) => one.dispatcher === name);
            const handled = own.reduce((total, one) => total + one.handled, 0);
            const looks = load > 0 ? 40000 : 0;
            const signals = this.grow(`signals ${name}`, load > 0 ? 900 : 0);
            return {
                dispatcher: name,
                processors: own.length,
                threads,
                ready: 1,
                depth: own.reduce((total, one) => total + one.depth, 0),
                handled,
                turns: Math.round(handled / 20),
                try_locks: this.grow(`locks ${name}`, looks),
                try_locks_failed: this.grow(`failed ${name}`, looks * contention),
                backoffs: this.grow(`backoffs ${name}`, looks * backoff),
                backoff_ns: 240000,
                rounds: this.grow(`rounds ${name}`, looks),
                signals,
                wakeups: signals * 0.99,
                wakeups_found: signals * 0.96,
                queueing:
                    handled > 0
                        ? times(handled / 64, 5000 + 800 * Math.sin(this.frame / 20), 8)
                        : none,
                handling: handled > 0 ? times(handled / 64, 700, 2.6) : none,
            };
        });
    }

    threads(load) {
        const rows = ['default-1', 'api-1', 'api-2', 'service-1'];
        return rows.map((thread, i) => {
            const wave = 0.5 + 0.5 * Math.sin(this.frame / (9 + 4 * i) + i);
            const busy = load > 0 ? [0.35, 0.95, 0.7, 0.1][i] * (0.5 + 0.5 * wave) : 0.002;
            return {
                thread,
                dispatchers: ['', 'api', 'api', 'service'][i],
                idle: 'backoff',
                handled: this.grow(`handled ${thread}`, load * busy),
                turns: 1,
                rounds: 2,
                rounds_idle: 1,
                parks: this.grow(`parks ${thread}`, load > 0 ? 300 : 0.5),
                backoffs: 6,
                alive_ns: (this.last - this.started) * 1e6,
                busy_ns: Math.min(
                    (this.last - this.started) * 1e6,
                    this.totals
                        .set(`b${i}`, (this.totals.get(`b${i}`) ?? 0) + busy * this.step * 1e9)
                        .get(`b${i}`),
                ),
                cpu_ns: this.grow(`cpu ${thread}`, busy * 0.85e9),
                core: i === 1 ? 1 : -1,
                core_now: i,
                system_id: 4711 + i,
                external: false,
                handling: times(100, 700, 3),
                waits: times(400, 30000, 2),
            };
        });
    }

    router(load) {
        const worker = [0.52, 0.48].map((share, index) => ({
            index,
            processor: `flows:accounts/${index}`,
            depth: load > 0 ? 400 : 0,
            beyond: 0,
            handled: this.grow(`worker ${index}`, load * share),
            busy_ns: this.grow(`busy ${index}`, load > 0 ? 6e8 : 0),
            p50_ns: 300,
            p95_ns: 500,
            p99_ns: 900,
            flows: load > 0 ? 500 + index : 0,
        }));
        return {
            router: 'accounts',
            submitted: 1,
            handled: worker[0].handled + worker[1].handled,
            dead: 0,
            flows: load > 0 ? 1001 : 0,
            workers: 2,
            depth: load > 0 ? 800 : 0,
            imbalance: 1.05,
            bytes: 165000,
            p50_ns: 300,
            p95_ns: 500,
            p99_ns: 900,
            max_ns: 90000,
            worker,
        };
    }

    findings() {
        if (['idle', 'empty', 'small', 'wide'].includes(this.scene) || !this.advice) return [];
        return [
            {
                rule: 'contention',
                severity: 'warning',
                what: 'dispatcher api',
                value: 0.42,
                text: 'contention 42 %: three threads want one lock',
                remedy: 'give `api` a second dispatcher, or two threads in place of three',
            },
            {
                rule: 'drops',
                severity: 'alert',
                what: `processor ${this.scene === 'hostile' ? HOSTILE : 'limits'}`,
                value: 2,
                text: 'drops 2 events a second',
                remedy: 'raise its `mailbox-max`, or make its handler faster',
            },
        ];
    }

    // From now on the same document, again and again: what is shown can be compared with it.
    freeze() {
        this.frozen = true;
    }

    tick() {
        if (this.streams.size === 0) return;
        const data = JSON.stringify(this.frozen ? this.latest : (this.latest = this.document()));
        for (const stream of this.streams) stream.write(`event: figures\ndata: ${data}\n\n`);
        if (this.frame % 8 === 1) {
            const advice = JSON.stringify({ findings: this.findings() });
            for (const stream of this.streams) stream.write(`event: advice\ndata: ${advice}\n\n`);
        }
    }

    answer(request, response) {
        const path = request.url.split('?')[0];
        const send = (status, body, type = 'application/json') => {
            response.writeHead(status, { ...HEADERS, 'Content-Type': type });
            response.end(body);
        };
        if (path === '/events') {
            response.writeHead(200, { ...HEADERS, 'Content-Type': 'text/event-stream' });
            response.write('retry: 300\n\n');
            this.streams.add(response);
            response.on('close', () => this.streams.delete(response));
        } else if (path === '/metrics.json') {
            send(200, JSON.stringify(this.latest ?? this.document()));
        } else if (path === '/api/v1/run' && request.method === 'POST') {
            let body = '';
            request.on('data', (piece) => {
                body += piece;
            });
            request.on('end', () => this.run(request, JSON.parse(body).words, send));
        } else {
            const name = path === '/' ? 'index.html' : path.replace(/^\/assets\//, '');
            const file = [join(ROOT, 'web', name), join(ROOT, 'web/vendor', name)].find(
                (one) => /^[\w.-]+$/.test(name) && existsSync(one),
            );
            const type = TYPES[name.split('.').pop()] ?? 'text/plain';
            // As a server that was built without it has it.
            if (/uPlot/.test(name) && (!file || this.withoutCharts)) send(200, '/* none */', type);
            else if (file === undefined) send(404, 'not found', 'text/plain');
            else send(200, readFileSync(file), type);
        }
    }

    run(request, words, send) {
        const command = words.slice(0, 2).join(' ');
        if (command === 'processors recent') {
            const rows = Array.from({ length: 5 }, (_, i) => ({
                type: i ? 'order' : HOSTILE,
                sender: 'flows:accounts/0',
                size: 24 + i,
                thread: 'api-1',
            }));
            return send(200, JSON.stringify({ command, status: 'WEIR_OK', rows }));
        }
        if (request.headers.authorization !== `Bearer ${this.token}`) {
            return send(
                401,
                JSON.stringify({
                    command,
                    status: 'WEIR_E_INVALID',
                    rows: [],
                    error: 'missing or wrong token',
                }),
            );
        }
        this.calls.push(words);
        if (command === 'processors stop') this.stopped.add(words[2]);
        if (command === 'processors move') this.moved.set(words[2], words[3]);
        if (command === 'latency enable') this.measured.add(words[2]);
        if (command === 'latency disable') this.measured.delete(words[2]);
        return send(200, JSON.stringify({ command, status: 'WEIR_OK', rows: [] }));
    }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
    const server = new FakeServer({ scene: process.argv[3] ?? 'busy' });
    console.log(await server.listen(Number(process.argv[2] ?? 0)));
}
