// SPDX-License-Identifier: Apache-2.0
// The panel of one thing that was clicked: every figure that the server has of it; for a processor
// also its recent events, and the buttons that change it.
import { byId, element, keyed, setAttribute, setHidden, setText } from './dom.js';
import { ask, change, confirmed } from './admin.js';
import { Chart } from './charts.js';
import * as format from './format.js';
import { latencyLines } from './record.js';

const RECENT_EVERY_MS = 2000;
const RECENT_MAX = 32;
const HISTOGRAM = ['count', 'p50_ns', 'p90_ns', 'p95_ns', 'p99_ns', 'p999_ns', 'max_ns'];
const PERCENTILES = {
    count: 'Measured',
    p50_ns: 'P50',
    p90_ns: 'P90',
    p95_ns: 'P95',
    p99_ns: 'P99',
    p999_ns: 'P99.9',
    max_ns: 'Longest',
};

// Of recent events; how many of its thread's came after, and whether it is at work on it now.
const RECENT_WORDS = { back: 'events ago', runs: 'at work' };

const SECTIONS = {
    dispatcher: 'dispatchers',
    thread: 'threads',
    processor: 'processors',
    feed: 'feeds',
    router: 'routers',
};
// What the graph calls a component is one of these kinds.
const COMPONENT_KINDS = new Set(['source', 'service', 'sink', 'component', 'processor']);

function formatField(name, value) {
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (typeof value !== 'number') return String(value ?? '');
    if (name.endsWith('_ns')) return format.nanoseconds(value);
    if (name.includes('bytes') || name === 'size') return format.bytes(value);
    return Number.isInteger(value) ? format.whole(value) : format.short(value);
}

export class Panel {
    constructor(history) {
        this.panel = byId('panel');
        this.shown = null; // { kind, name }
        this.returnTo = null;
        this.asked = 0;
        const chart = (place, label, options) =>
            new Chart(byId(place), history, { label, height: 110, ...options });
        this.charts = {
            rate: chart('panel-rate', 'Events a second', { format: format.rate }),
            depth: chart('panel-depth', 'Events that wait', { format: format.short }),
            queueing: chart('panel-queueing', 'Time in the queue', {
                format: format.nanoseconds,
                log: true,
            }),
            handling: chart('panel-handling', 'Time in the handler', {
                format: format.nanoseconds,
                log: true,
            }),
        };
        byId('panel-close').addEventListener('click', () => this.close());
        this.panel.addEventListener('keydown', (event) => {
            if (event.key === 'Escape') this.close();
        });
        byId('panel-stop').addEventListener('click', () => this.stop());
        byId('panel-restart').addEventListener('click', () =>
            this.run('was restarted', 'processors', 'restart', this.shown.name),
        );
        byId('panel-move').addEventListener('submit', (event) => {
            event.preventDefault();
            const where = byId('panel-move-to').value;
            this.run(
                `moves to ${format.dispatcherName(where)}`,
                'processors',
                'move',
                this.shown.name,
                where,
            );
        });
        byId('panel-latency').addEventListener('click', () => this.switchLatency());
    }

    open(kind, name, id = '') {
        if (this.shown === null) this.returnTo = document.activeElement;
        this.shown = { kind, name, component: id.startsWith('component:') };
        this.asked = 0;
        this.say('');
        byId('panel-recent').replaceChildren();
        setHidden(this.panel, false);
        document.body.classList.add('with-panel');
        this.update(this.look);
        byId('panel-title').focus();
    }

    close() {
        this.shown = null;
        setHidden(this.panel, true);
        document.body.classList.remove('with-panel');
        if (this.returnTo?.isConnected) this.returnTo.focus();
    }

    say(text, bad = false) {
        setText(byId('panel-said'), text);
        setAttribute(byId('panel-said'), 'data-level', bad ? 'alert' : null);
    }

    // { rows of figures, processors } of what is shown; null if the server does not tell of it now.
    find(look) {
        const { kind, name, component } = this.shown;
        if (component) {
            const found = look.components.find((one) => one.name === name);
            const own = look.processors.filter((one) => one.component === name);
            return { entry: own.length === 1 ? own[0] : undefined, extra: found?.raw, parts: own };
        }
        const entry = (look[SECTIONS[kind]] ?? []).find((one) => one.name === name);
        return { entry, extra: undefined, parts: entry && kind === 'processor' ? [entry] : [] };
    }

    update(look) {
        this.look = look;
        if (this.shown === null || !look) return;
        const { entry, extra, parts } = this.find(look);
        const { kind, name } = this.shown;
        const isProcessor =
            parts.length === 1 && (kind === 'processor' || COMPONENT_KINDS.has(kind));
        if (isProcessor) this.processor = parts[0].name;
        setText(
            byId('panel-kind'),
            kind === 'outside' ? 'threads that are not the engine’s' : kind,
        );
        setText(byId('panel-title'), kind === 'dispatcher' ? format.dispatcherName(name) : name);
        setHidden(byId('panel-actions'), !isProcessor);
        setHidden(byId('panel-recent-part'), !isProcessor);
        setHidden(byId('panel-gone'), entry !== undefined || extra !== undefined);
        this.showParts(parts.length > 1 ? parts : []);
        this.showFigures({ ...(extra ?? {}), ...(entry?.raw ?? {}) });
        this.showCharts(
            isProcessor ? 'processor' : kind,
            isProcessor ? this.processor : name,
            entry,
        );
        if (isProcessor) {
            this.shown.name = this.processor;
            this.shown.kind = 'processor';
            this.shown.component = false;
            this.showActions(parts[0], look);
            this.showRecent();
        }
    }

    showParts(parts) {
        setHidden(byId('panel-parts'), parts.length === 0);
        keyed(
            byId('panel-parts'),
            parts,
            (one) => one.name,
            (one) =>
                element(
                    'li',
                    {},
                    element('button', {
                        type: 'button',
                        class: 'name',
                        onclick: () => this.open('processor', one.name),
                    }),
                    element('span', { class: 'muted' }),
                ),
            (node, one) => {
                setText(node.firstElementChild, one.name);
                setText(node.lastElementChild, ` ${format.rate(one.rate)}`);
            },
        );
    }

    showFigures(raw) {
        const fields = Object.entries(raw);
        const plain = fields.filter(([, value]) => value === null || typeof value !== 'object');
        keyed(
            byId('panel-figures'),
            plain,
            ([name]) => name,
            ([name]) =>
                element(
                    'div',
                    {},
                    element('dt', {}, name.replace(/_ns$/, '').replaceAll('_', ' ')),
                    element('dd'),
                ),
            (node, [name, value]) => setText(node.lastElementChild, formatField(name, value)),
        );
        const times = fields.filter(
            ([, value]) =>
                value && typeof value === 'object' && !Array.isArray(value) && value.count > 0,
        );
        setHidden(byId('panel-times'), times.length === 0);
        setHidden(byId('panel-unmeasured'), raw.measured !== false);
        keyed(
            byId('panel-times-head'),
            ['', ...times.map(([name]) => name)],
            (name) => name,
            (name) => (name === '' ? element('td') : element('th', { scope: 'col' }, name)),
            () => {},
        );
        keyed(
            byId('panel-times-body'),
            HISTOGRAM,
            (field) => field,
            (field) => element('tr', {}, element('th', { scope: 'row' }, PERCENTILES[field])),
            (row, field) => {
                while (row.children.length > times.length + 1) row.lastElementChild.remove();
                while (row.children.length < times.length + 1) row.append(element('td'));
                times.forEach(([, value], i) =>
                    setText(row.children[i + 1], formatField(field, value[field])),
                );
            },
        );
    }

    showCharts(kind, name, entry) {
        const key = `${kind}/${name}`;
        const has = (field) => entry !== undefined && entry[field] !== undefined;
        const lines = {
            rate: has('rate') ? [{ key: `${key}/rate`, label: 'events' }] : [],
            depth: has('depth') ? [{ key: `${key}/depth`, label: 'waiting' }] : [],
            queueing: entry?.queueing?.count > 0 ? latencyLines(key, 'queueing') : [],
            handling: entry?.handling?.count > 0 ? latencyLines(key, 'handling') : [],
        };
        for (const [part, chart] of Object.entries(this.charts)) {
            setHidden(byId(`panel-${part}`).closest('figure'), lines[part].length === 0);
            chart.setLines(lines[part]);
            chart.draw();
        }
    }

    showActions(processor, look) {
        setAttribute(byId('panel-latency'), 'aria-checked', String(processor.measured));
        this.measured = processor.measured;
        const others = look.dispatchers.filter((one) => one.name !== processor.dispatcher);
        keyed(
            byId('panel-move-to'),
            others,
            (one) => one.name,
            (one) => element('option', { value: one.name }, format.dispatcherName(one.name)),
            () => {},
        );
        byId('panel-move-go').disabled = others.length === 0;
    }

    async showRecent() {
        const now = performance.now();
        if (this.asked !== 0 && now - this.asked < RECENT_EVERY_MS) return;
        this.asked = now;
        const { name } = this.shown;
        const answer = await ask('processors', 'recent', name);
        if (this.shown?.name !== name) return;
        // An older server does not know the question: it is not asked again.
        if (!answer.ok) this.asked = Infinity;
        const place = byId('panel-recent');
        if (!answer.ok || answer.rows.length === 0) {
            const text = answer.ok ? 'none that the threads still remember' : answer.error;
            place.replaceChildren(element('p', { class: 'empty' }, text));
            return;
        }
        const rows = answer.rows.slice(0, RECENT_MAX);
        const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter(
            (column) => column !== 'processor',
        );
        const kind = (column) => (typeof rows[0][column] === 'number' ? 'number' : 'text');
        place.replaceChildren(
            element(
                'table',
                {},
                element('caption', { class: 'unseen' }, `Recent events of ${name}`),
                element(
                    'thead',
                    {},
                    element(
                        'tr',
                        {},
                        ...columns.map((column) =>
                            element(
                                'th',
                                { scope: 'col', class: kind(column) },
                                RECENT_WORDS[column] ?? column.replaceAll('_', ' '),
                            ),
                        ),
                    ),
                ),
                element(
                    'tbody',
                    {},
                    ...rows.map((row) =>
                        element(
                            'tr',
                            {},
                            ...columns.map((column) =>
                                element(
                                    'td',
                                    { class: kind(column) },
                                    formatField(column, row[column]),
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        );
    }

    async stop() {
        const { name } = this.shown;
        const sure = await confirmed(
            `Stop ${name}?`,
            'It handles what waits for it, then it ends, with ' +
                'its children. Only a restart of the server brings it back.',
            'Stop it',
        );
        if (sure) await this.run('was stopped', 'processors', 'stop', name);
    }

    async switchLatency() {
        // A pattern: what stands for any letters must not.
        const name = this.shown.name.replaceAll('*', '?');
        const way = this.measured ? 'disable' : 'enable';
        await this.run(
            this.measured ? 'is no longer measured' : 'is measured',
            'latency',
            way,
            name,
        );
    }

    async run(done, ...words) {
        const { name } = this.shown;
        this.say('…');
        const answer = await change(...words);
        if (this.shown?.name !== name) return;
        this.asked = 0;
        if (answer.ok) this.say(`${name} ${done}.`);
        else this.say(answer.error, true);
    }
}
