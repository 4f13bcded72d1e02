// SPDX-License-Identifier: Apache-2.0
// The tables: what each column shows, and where its rule of thumb is.
import { byId } from './dom.js';
import { Table } from './table.js';
import * as format from './format.js';
import * as thresholds from './thresholds.js';

const { rate, short, whole, percent, nanoseconds, ratio, NOTHING } = format;

const text = (label, value, more = {}) => ({ label, kind: 'text', value, text: value, ...more });
const number = (label, value, shown, more = {}) => ({
    label,
    value,
    text: (row) => shown(value(row)),
    ...more,
});

// P50, P95, P99 of a histogram, P99 with the mark of its distance to P50.
function latencyColumns(of, words, wide) {
    const at = (p) => (row) => of(row)?.[p];
    return [
        number(`${words} P50`, at('p50'), nanoseconds, {
            wide,
            hint: `${words}: half took longer`,
        }),
        number('P95', at('p95'), nanoseconds, { wide: true, hint: `${words}: 5 % took longer` }),
        number('P99', at('p99'), nanoseconds, {
            wide,
            rule: (row) => thresholds.spread(of(row)?.spread),
            hint: `${words}: 1 % took longer. Marked if it is more than 3 or 10 times the P50`,
        }),
    ];
}

const depthColumn = number('Waiting', (row) => row.depth, short, {
    bar: (row) => row.fullness,
    rule: (row) => thresholds.fullness(row.fullness),
    hint: 'Events in the mailbox now; the bar: how full it is',
});

export function makeTables(open, look) {
    const tables = {};
    const add = (id, options) => {
        tables[id] = new Table(byId(`${id}-table`), options);
    };

    add('dispatchers', {
        caption: 'Dispatchers',
        titled: true,
        key: (row) => row.name,
        sort: 1,
        open: (row) => open('dispatcher', row.name),
        empty: 'no dispatchers',
        columns: [
            text('Dispatcher', (row) => format.dispatcherName(row.name)),
            number('Events', (row) => row.rate, rate, { hint: 'Events handled a second' }),
            number('Waiting', (row) => row.depth, short, { hint: 'Events in its mailboxes now' }),
            number('Contention', (row) => row.contention, percent, {
                rule: (row) => thresholds.contention(row.contention),
                hint: 'Attempts at its lock that failed: below 10 % is good, above 50 % an alert',
            }),
            number('Back-off', (row) => row.backoff, percent, {
                rule: (row) => thresholds.backoff(row.backoff),
                hint: 'Looks at it that ended in a sleep: below 1 % is good, above 30 % an alert',
            }),
            number('Woke', (row) => row.woke, percent, {
                wide: true,
                rule: (row) => thresholds.woke(row.woke),
                hint: 'Signals that woke a thread: above 95 % is good',
            }),
            number('Found work', (row) => row.found, percent, {
                wide: true,
                rule: (row) => thresholds.found(row.found),
                hint: 'Wake-ups that found work: above 90 % is good',
            }),
            number('Threads', (row) => row.threads, short, { wide: true }),
            ...latencyColumns((row) => row.queueing, 'Queue', true),
            ...latencyColumns((row) => row.handling, 'Handler', true),
        ],
    });

    add('threads', {
        caption: 'Threads',
        titled: true,
        key: (row) => row.name,
        sort: 0,
        descending: false,
        open: (row) => open('thread', row.name),
        empty: 'no threads',
        columns: [
            text('Thread', (row) => row.name),
            number('Busy', (row) => row.utilisation, percent, {
                bar: (row) => row.utilisation,
                rule: (row) => thresholds.utilisation(row.utilisation, look().underLoad),
                hint: 'Share of the time with work. 90 % is good for work that computes',
            }),
            number('CPU', (row) => row.cpu, percent, {
                bar: (row) => row.cpu,
                hint: 'Of one core. Less than busy: it waits for a core, or blocks',
            }),
            number('Events', (row) => row.rate, rate),
            number(
                'Core',
                (row) => row.core,
                (core) => (core >= 0 ? String(core) : NOTHING),
                { wide: true, hint: 'Where it runs now' },
            ),
            number('Parks', (row) => row.parks, rate, { wide: true }),
            number('Wait P99', (row) => row.waits.p99, nanoseconds, {
                wide: true,
                hint: 'How long it was parked',
            }),
            text('Serves', (row) => (row.serves === '' ? '(default)' : row.serves), { wide: true }),
            text('Idle', (row) => row.idle, {
                wide: true,
                hint: 'What it does when there is no work',
            }),
        ],
    });

    add('processors', {
        caption: 'Processors',
        titled: true,
        key: (row) => row.name,
        sort: 1,
        open: (row) => open('processor', row.name),
        empty: 'no processor fits the filter',
        columns: [
            text('Processor', (row) => row.name),
            number('Events', (row) => row.rate, rate, { hint: 'Events handled a second' }),
            depthColumn,
            number('Most', (row) => row.depthHigh, short, {
                wide: true,
                hint: 'The most that ever waited',
            }),
            ...latencyColumns((row) => row.queueing, 'Queue', false),
            ...latencyColumns((row) => row.handling, 'Handler', false),
            number('Dropped', (row) => row.dropped, short, {
                rule: (row) => thresholds.unwanted(row.drops),
            }),
            number('Failed', (row) => row.failures, short, {
                rule: (row) => thresholds.unwanted(row.failing, 'failing'),
            }),
            text('Dispatcher', (row) => format.dispatcherName(row.dispatcher), { wide: true }),
            text('Component', (row) => row.component, { wide: true }),
        ],
    });

    add('routers', {
        caption: 'Flow routers',
        key: (row) => row.name,
        sort: 1,
        open: (row) => open('router', row.name),
        empty: 'no flow routers',
        columns: [
            text('Router', (row) => row.name),
            number('Events', (row) => row.rate, rate),
            number('Flows', (row) => row.flows, whole),
            number('Waiting', (row) => row.depth, short),
            number('Imbalance', (row) => row.imbalance, ratio, {
                rule: (row) => thresholds.imbalance(row.imbalance),
                hint: 'The busiest worker over the mean of all',
            }),
            number('P50', (row) => row.p50, nanoseconds, { wide: true }),
            number('P95', (row) => row.p95, nanoseconds, { wide: true }),
            number('P99', (row) => row.p99, nanoseconds, { wide: true }),
        ],
    });

    add('workers', {
        caption: 'Workers of the routers',
        key: (row) => `${row.router}/${row.index}`,
        sort: 0,
        descending: false,
        open: (row) => open('processor', row.name),
        empty: 'no workers',
        columns: [
            text('Worker', (row) => `${row.router} ${row.index}`),
            number('Flows', (row) => row.flows, whole, { bar: (row) => row.flowShare }),
            number('Events', (row) => row.rate, rate),
            number('Waiting', (row) => row.depth, short),
            number('Busy', (row) => row.busy, percent, { bar: (row) => row.busy }),
            number('P50', (row) => row.p50, nanoseconds, { wide: true }),
            number('P99', (row) => row.p99, nanoseconds, { wide: true }),
        ],
    });

    add('feeds', {
        caption: 'Feeds',
        titled: true,
        key: (row) => row.name,
        sort: 1,
        open: (row) => open('feed', row.name),
        empty: 'no feeds',
        columns: [
            text('Feed', (row) => row.name),
            number('Published', (row) => row.rate, rate),
            number('Deepest', (row) => row.deepest, short, {
                bar: (row) => row.fullness,
                rule: (row) => thresholds.fullness(row.fullness),
                hint: 'What waits in the fullest of its queues',
            }),
            text('Slowest reader', (row) => row.slowest || NOTHING),
            number('Waiting', (row) => row.waiting, percent, {
                rule: (row) => (row.waiting > 0.01 ? { level: 'high', word: 'held back' } : null),
                hint: 'Share of the time that its writer waited for a slow reader',
            }),
            number('Dropped', (row) => row.dropped, short, {
                rule: (row) => thresholds.unwanted(row.drops),
            }),
            number('Readers', (row) => row.subscribers, whole, { wide: true }),
            number('Uncommitted', (row) => row.outstanding, short, { wide: true }),
        ],
    });

    add('letters', {
        caption: 'Dead letters, the newest first',
        key: (row) => row.number,
        sort: 0,
        empty: 'no dead letters: every event came to something',
        columns: [
            number('No.', (row) => row.number, whole),
            text('Reason', (row) => String(row.reason ?? '')),
            text('Receiver', (row) => String(row.receiver ?? '')),
            text('What was said', (row) => String(row.text ?? '')),
            text('Type', (row) => String(row.type ?? ''), { wide: true }),
            text('Sender', (row) => String(row.sender ?? ''), { wide: true }),
            text('Status', (row) => String(row.status ?? ''), { wide: true }),
            number('Bytes', (row) => row.size, whole, { wide: true }),
            text('Time', (row) => timeOf(row.time)),
        ],
    });

    add('errors', {
        caption: 'Errors',
        key: (row) => `${row.time}\n${row.component}\n${row.text}`,
        sort: 0,
        empty: 'no errors',
        columns: [
            text('Time', (row) => timeOf(row.time)),
            text('Component', (row) => String(row.component ?? '')),
            text('Status', (row) => String(row.status ?? ''), { wide: true }),
            text('What', (row) => String(row.text ?? '')),
        ],
    });

    add('own', {
        caption: 'Figures of your own',
        titled: true,
        key: (row) => `${row.name}{${row.labels}}`,
        sort: 0,
        descending: false,
        empty: 'none: weir_metric_add makes them',
        columns: [
            text('Name', (row) => String(row.name ?? '')),
            text('Labels', (row) => String(row.labels ?? '')),
            number(
                'Value',
                (row) => row.value,
                (v) => (Number.isInteger(v) ? whole(v) : short(v)),
            ),
            text('What', (row) => String(row.help ?? ''), { wide: true }),
        ],
    });
    return tables;
}

function timeOf(time) {
    const at = Date.parse(String(time ?? ''));
    return Number.isNaN(at) ? String(time ?? '') : format.clock(at);
}

export function updateTables(tables, look) {
    tables.dispatchers.update(look.dispatchers);
    tables.threads.update(look.threads);
    tables.processors.update(look.processors);
    tables.routers.update(look.routers);
    tables.workers.update(
        look.routers.flatMap((router) => {
            const most = Math.max(1, ...router.workers.map((worker) => worker.flows ?? 0));
            return router.workers.map((worker) => ({
                ...worker,
                flowShare: (worker.flows ?? 0) / most,
            }));
        }),
    );
    tables.feeds.update(look.feeds);
    tables.letters.update(look.letters);
    tables.errors.update(look.errors);
    tables.own.update(look.own);
}
