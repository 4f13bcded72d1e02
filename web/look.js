// SPDX-License-Identifier: Apache-2.0
// A look at the server: one document of /metrics.json beside one of a second before. The document
// has totals; what people want are rates. Fields that are missing give no figure, and counters that
// fall mean that another engine has taken the place of the one before.

const WINDOW = 4; // documents back: a second, as they come four times in one
const GAP_S = 3;
const MADE_APART_NS = 1e8; // of two documents: then they are of two servers

const list = (value) =>
    Array.isArray(value) ? value.filter((v) => v && typeof v === 'object') : [];
const object = (value) =>
    value && typeof value === 'object' && !Array.isArray(value) ? value : {};
const number = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

// The share b / a of two differences; undefined if there was too little to tell.
function share(part, all, least) {
    return part !== undefined && all !== undefined && all >= least ? part / all : undefined;
}

const atMostOne = (value) => (value === undefined ? undefined : Math.min(1, value));

// Both documents' entries of a section, joined by their name.
function pairs(now, before, section, ...keys) {
    const name = (entry) => keys.map((key) => entry[key]).join('\n');
    const old = new Map(list(before[section]).map((entry) => [name(entry), entry]));
    return list(now[section]).map((entry) => [entry, old.get(name(entry)) ?? {}]);
}

// Answers a function (field) → its growth, undefined if one of the two does not have it or it fell.
function growth(now, before) {
    return (field) => {
        const [a, b] = [number(now[field]), number(before[field])];
        return a === undefined || b === undefined || a < b ? undefined : a - b;
    };
}

export function isRestart(now, before) {
    const [a, b] = [object(now.engine), object(before.engine)];
    if (a.name !== b.name) return true;
    // When it was made is the same in all documents of a server, but for the moment between the two
    // looks at the clock.
    const made = (engine) => engine.time_ns - engine.uptime_ns;
    if (Math.abs(made(a) - made(b)) > MADE_APART_NS) return true;
    return ['uptime_ns', 'accepted', 'handled'].some((field) => a[field] < b[field]);
}

// Seconds between two documents; by the engine's age, which no change of the clock disturbs.
export function secondsBetween(now, before) {
    const [a, b] = [object(now.engine), object(before.engine)];
    for (const field of ['uptime_ns', 'time_ns']) {
        const apart = number(a[field]) - number(b[field]);
        if (apart > 0) return apart / 1e9;
    }
    return 0;
}

function per(seconds) {
    return (value) => (value === undefined || seconds <= 0 ? undefined : value / seconds);
}

// p50 ... of a histogram; the spread only if it says something: 20 events at least.
export function latency(histogram) {
    const h = object(histogram);
    const count = number(h.count) ?? 0;
    if (count === 0) return { count: 0 };
    return {
        count,
        mean: number(h.sum_ns) === undefined ? undefined : h.sum_ns / count,
        p50: number(h.p50_ns),
        p95: number(h.p95_ns),
        p99: number(h.p99_ns),
        p999: number(h.p999_ns),
        max: number(h.max_ns),
        spread: count >= 20 && h.p50_ns > 0 ? h.p99_ns / h.p50_ns : undefined,
    };
}

function dispatcher([now, before], rate) {
    const grown = growth(now, before);
    return {
        name: String(now.dispatcher ?? ''),
        raw: now,
        handled: number(now.handled),
        rate: rate(grown('handled')),
        turns: rate(grown('turns')),
        depth: number(now.depth),
        ready: number(now.ready),
        processors: number(now.processors),
        threads: number(now.threads),
        contention: share(grown('try_locks_failed'), grown('try_locks'), 20),
        backoff: share(grown('backoffs'), grown('rounds'), 20),
        backoffs: rate(grown('backoffs')),
        slept: rate(grown('backoff_ns')),
        found: share(grown('wakeups_found'), grown('wakeups'), 10),
        woke: atMostOne(share(grown('wakeups'), grown('signals'), 10)), // some wake by the clock
        queueing: latency(now.queueing),
        handling: latency(now.handling),
    };
}

function thread([now, before], rate) {
    const grown = growth(now, before);
    const cpu = rate(grown('cpu_ns'));
    return {
        name: String(now.thread ?? ''),
        raw: now,
        serves: String(now.dispatchers ?? ''),
        idle: String(now.idle ?? ''),
        rate: rate(grown('handled')),
        handled: number(now.handled),
        // Busy is told to a few rounds, so it may seem to fall by a little.
        utilisation: share(
            grown('busy_ns') ?? (now.busy_ns >= 0 ? 0 : undefined),
            grown('alive_ns'),
            1,
        ),
        cpu: cpu === undefined ? undefined : cpu / 1e9,
        parks: rate(grown('parks')),
        core: number(now.core_now) ?? -1,
        pinned: now.core >= 0,
        handling: latency(now.handling),
        waits: latency(now.waits),
    };
}

function processor([now, before], rate) {
    const grown = growth(now, before);
    const max = number(now.mailbox_max);
    return {
        name: String(now.processor ?? ''),
        raw: now,
        dispatcher: String(now.dispatcher ?? ''),
        component: String(now.component ?? ''),
        rate: rate(grown('handled')),
        handled: number(now.handled),
        accepted: number(now.accepted),
        depth: number(now.depth),
        depthHigh: number(now.depth_high),
        mailboxMax: max,
        fullness: max > 0 && max < 2 ** 32 - 1 ? number(now.depth) / max : undefined,
        drops: rate(grown('dropped')),
        dropped: number(now.dropped),
        failing: rate(grown('failures')),
        failures: number(now.failures),
        measured: now.measured === true,
        queueing: latency(now.queueing),
        handling: latency(now.handling),
    };
}

function feed([now, before], rate) {
    const grown = growth(now, before);
    const waited = rate(grown('waited_ns'));
    return {
        name: String(now.feed ?? ''),
        raw: now,
        rate: rate(grown('published')),
        delivered: rate(grown('delivered')),
        published: number(now.published),
        drops: rate(grown('dropped')),
        dropped: number(now.dropped),
        waiting: waited === undefined ? undefined : waited / 1e9,
        waits: number(now.waits),
        subscribers: number(now.subscribers),
        deepest: number(now.deepest),
        queueMax: number(now.queue_max),
        slowest: String(now.slowest ?? ''),
        fullness: now.queue_max > 0 ? number(now.deepest) / now.queue_max : undefined,
        outstanding: number(now.outstanding),
    };
}

const positive = (value) => (value > 0 ? number(value) : undefined);

function worker(router, [now, before], rate) {
    const grown = growth(now, before);
    const busy = rate(grown('busy_ns'));
    return {
        router,
        index: now.index,
        name: String(now.processor ?? ''),
        raw: now,
        rate: rate(grown('handled')),
        flows: number(now.flows),
        depth: number(now.depth),
        busy: busy === undefined ? undefined : busy / 1e9,
        p50: positive(now.p50_ns),
        p95: positive(now.p95_ns),
        p99: positive(now.p99_ns),
    };
}

function router([now, before], rate) {
    const grown = growth(now, before);
    const name = String(now.router ?? '');
    return {
        name,
        raw: now,
        rate: rate(grown(now.handled > 0 ? 'handled' : 'submitted')),
        flows: number(now.flows),
        depth: number(now.depth),
        imbalance: positive(now.imbalance),
        p50: positive(now.p50_ns),
        p95: positive(now.p95_ns),
        p99: positive(now.p99_ns),
        workers: pairs(now, before, 'worker', 'index').map((pair) => worker(name, pair, rate)),
    };
}

// Where a router hands its events to processors of somebody else's, those have counted them: how
// many flows each has, and how long it takes, the router cannot know.
function countTargets(routers, processors) {
    const byName = new Map(processors.map((one) => [one.name, one]));
    for (const one of routers.flatMap((router) => (router.raw.handled > 0 ? [] : router.workers))) {
        const target = byName.get(one.name);
        if (target)
            Object.assign(one, {
                rate: target.rate,
                flows: undefined,
                busy: undefined,
                ...percentiles(target),
            });
    }
}

function percentiles({ handling: { p50, p95, p99 } }) {
    return { p50, p95, p99 };
}

function component([now, before], rate) {
    return {
        name: String(now.component ?? ''),
        raw: now,
        type: String(now.type ?? ''),
        kind: String(now.kind ?? ''),
        phase: String(now.phase ?? ''),
        feed: String(now.feed ?? ''),
        thread: String(now.thread ?? ''),
        rate: rate(growth(now, before)('work')),
        failures: number(now.failures),
    };
}

function edge([now, before], rate) {
    return {
        from: String(now.from ?? ''),
        to: String(now.to ?? ''),
        events: number(now.events),
        rate: rate(growth(now, before)('events')),
    };
}

export const REFUSED = ['refused_full', 'refused_stopping', 'refused_unknown', 'refused_other'];

function whole(now, before, rate) {
    const engine = object(now.engine);
    const grown = growth(engine, object(before.engine));
    const process = object(now.process);
    const used = growth(process, object(before.process));
    const refused = REFUSED.map(grown).filter((value) => value !== undefined);
    const cpu = rate(used('cpu_ns'));
    return {
        raw: engine,
        process,
        name: String(engine.name ?? 'weir'),
        phase: String(engine.phase ?? ''),
        uptime: number(engine.uptime_ns) === undefined ? undefined : engine.uptime_ns / 1e9,
        rate: rate(grown('handled')),
        accepting: rate(grown('accepted')),
        depth: number(engine.depth),
        drops: rate(grown('dropped')),
        failing: rate(grown('failures')),
        dying: rate(grown('dead')),
        refusing: refused.length ? rate(refused.reduce((a, b) => a + b)) : undefined,
        letters: number(engine.letters),
        cpu: cpu === undefined ? undefined : cpu / 1e9,
        cores: number(process.cores_usable),
        rss: number(process.rss_bytes),
        throttled:
            rate(used('throttled_ns')) === undefined ? undefined : rate(used('throttled_ns')) / 1e9,
    };
}

// Before may be missing: then there are totals, and no rates.
export function lookAt(now, before) {
    const past = before ?? {};
    const seconds = before ? secondsBetween(now, before) : 0;
    const rate = per(seconds);
    const each = (section, make, ...keys) =>
        pairs(now, past, section, ...keys).map((pair) => make(pair, rate));
    const engine = whole(now, past, rate);
    const shown = list(now.processors).length;
    // What rows that are no more had: it leaps, and nobody can do anything about it.
    const processors = each('processors', processor, 'processor').filter(
        (one) => one.name !== '(earlier)',
    );
    const routers = each('routers', router, 'router').filter((one) => one.raw.running !== false);
    countTargets(routers, processors);
    return {
        engine,
        seconds,
        document: now,
        underLoad: engine.cpu !== undefined && engine.cpu > 0.5 * Math.max(1, engine.cores ?? 1),
        dispatchers: each('dispatchers', dispatcher, 'dispatcher'),
        threads: each('threads', thread, 'thread'),
        processors,
        hidden: Math.max(
            0,
            (number(now.processors_total) ?? shown) - (number(now.processors_shown) ?? shown),
        ),
        feeds: each('feeds', feed, 'feed'),
        routers,
        components: each('components', component, 'component'),
        edges: each('edges', edge, 'from', 'to'),
        letters: list(now.dead_letters),
        errors: list(now.errors),
        own: list(now.own),
        timers: object(now.timers),
        health: object(now.health),
        version: String(now.weir ?? ''),
    };
}

// Keeps the documents of the last second, and so makes a look of each that comes.
export class Looks {
    constructor() {
        this.documents = [];
    }

    // Answers { look, restarted, step }: step is the growth since the document just before, for
    // what is drawn at the finest grain. After a gap (a lost connection) it begins anew: an average
    // over the gap would be drawn as if it were of now.
    take(document) {
        const last = this.documents.at(-1);
        const restarted = last !== undefined && isRestart(document, last);
        if (restarted || (last && secondsBetween(document, last) > GAP_S)) this.documents = [];
        const look = lookAt(document, this.documents[0]);
        const step = this.documents.length ? lookAt(document, this.documents.at(-1)) : null;
        this.documents.push(document);
        if (this.documents.length > WINDOW) this.documents.shift();
        return { look, restarted, step };
    }
}
