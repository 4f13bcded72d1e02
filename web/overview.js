// SPDX-License-Identifier: Apache-2.0
// What stands on top: who this is, whether all is well, what to change, and the eight figures that
// an operator looks at first.
import { byId, element, keyed, setAttribute, setFigure, setHidden, setText } from './dom.js';
import { Chart } from './charts.js';
import * as format from './format.js';
import { REFUSED } from './look.js';
import * as thresholds from './thresholds.js';

const HEALTH_WORDS = { up: 'up', degraded: 'degraded', down: 'down' };
const SEVERITIES = { alert: 'alert', warning: 'warning', note: 'note' };
const REASONS_MAX = 5,
    FINDINGS_MAX = 12;

const over = (part, all) => (all > 0 && part !== undefined ? part / all : undefined);

// key: what the history calls it.
const TILES = [
    {
        key: 'engine/rate',
        label: 'Events handled',
        value: (e) => format.rate(e.rate),
        rest: (e) => `${format.short(e.raw.handled)} in all`,
    },
    {
        key: 'engine/depth',
        label: 'Waiting now',
        value: (e) => format.short(e.depth),
        rest: (e) => `accepting ${format.rate(e.accepting)}`,
    },
    {
        key: 'engine/lost',
        label: 'Dropped, refused',
        value: (e) => format.rate(lost(e)),
        rule: (e) => thresholds.unwanted(lost(e)),
        rest: (e) => lossText(e.raw),
    },
    {
        key: 'engine/failing',
        label: 'Failures',
        value: (e) => format.rate(e.failing),
        rule: (e) => thresholds.unwanted(e.failing, 'failing'),
        rest: (e) =>
            `${format.short(e.raw.failures)} failed, ${format.short(e.raw.restarts)} restarts`,
    },
    {
        key: 'engine/letters',
        label: 'Dead letters',
        value: (e) => format.short(e.letters),
        rule: (e) => thresholds.unwanted(e.dying, 'growing'),
        rest: (e) => `${format.short(e.raw.dead)} were accepted`,
    },
    {
        key: 'engine/cpu',
        label: 'CPU',
        value: (e) => format.percent(over(e.cpu, e.cores ?? 1)),
        rule: (e) => thresholds.throttled(e.throttled),
        rest: (e) => `${format.short(e.cpu)} of ${format.short(e.cores)} cores`,
    },
    {
        key: 'engine/rss',
        label: 'Memory',
        value: (e) => format.bytes(e.rss),
        rest: (e) => `blocks ${format.bytes(e.raw.block_bytes)}`,
    },
    {
        key: 'engine/threads',
        label: 'Threads',
        value: (e) => format.short(e.raw.threads),
        rest: (e) => `${format.short(e.raw.processors)} processors`,
    },
];

function lost(engine) {
    const parts = [engine.drops, engine.refusing].filter((v) => v !== undefined);
    return parts.length ? parts.reduce((a, b) => a + b) : undefined;
}

function lossText(raw) {
    const refused = REFUSED.reduce((sum, field) => sum + (raw[field] ?? 0), 0);
    return `${format.short(raw.dropped)} dropped, ${format.short(refused)} refused`;
}

export class Overview {
    constructor(history) {
        this.history = history;
        this.tiles = TILES.map((tile) => {
            const figure = element('dd', { class: 'figure' });
            const rest = element('dd', { class: 'rest' });
            const spark = element('dd', { class: 'spark' });
            byId('tiles').append(
                element(
                    'div',
                    { class: 'tile' },
                    element('dt', {}, tile.label),
                    figure,
                    rest,
                    spark,
                ),
            );
            const chart = new Chart(spark, history, {
                bare: true,
                height: 30,
                label: `${tile.label} over the last five minutes`,
                max: 1e-9,
                format: format.short,
            });
            return { tile, figure, rest, chart };
        });
    }

    // Into the history: what the tiles draw.
    record(look) {
        const { engine } = look;
        const values = {
            rate: engine.rate,
            depth: engine.depth,
            lost: lost(engine),
            cpu: engine.cpu,
            failing: engine.failing,
            letters: engine.dying,
            rss: engine.rss,
            threads: engine.raw.threads,
        };
        for (const [name, value] of Object.entries(values))
            this.history.set(`engine/${name}`, value);
    }

    update(look) {
        const { engine } = look;
        setText(byId('engine-name'), engine.name);
        setText(byId('engine-phase'), engine.phase);
        setText(
            byId('engine-uptime'),
            engine.uptime === undefined ? '' : `up ${format.span(engine.uptime)}`,
        );
        setText(byId('engine-version'), look.version === '' ? '' : `weir ${look.version}`);
        const status = look.health.status ?? 'weir';
        const title = `${engine.name}: ${format.rate(engine.rate)}, ${status}`;
        if (document.title !== title) document.title = title;
        for (const { tile, figure, rest, chart } of this.tiles) {
            setFigure(figure, tile.value(engine), tile.rule?.(engine) ?? null);
            setText(rest, tile.rest(engine));
            setAttribute(rest, 'title', rest.textContent);
            chart.setLines([{ key: tile.key, label: tile.label, colour: 0 }]);
            chart.draw();
        }
        this.showHealth(look.health);
    }

    // Read out by screen readers: so it changes only when the health does.
    showHealth(health) {
        const status = HEALTH_WORDS[health.status] ?? 'unknown';
        setAttribute(byId('health'), 'data-status', status);
        setText(byId('health-status'), status);
        setText(
            byId('advice-none'),
            status === 'up' ? 'No advice: nothing stands out.' : 'No advice beyond that.',
        );
        const reasons = Array.isArray(health.reasons) ? health.reasons : [];
        const rows = reasons
            .slice(0, REASONS_MAX)
            .map((one) => ({ what: String(one?.what ?? ''), reason: String(one?.reason ?? '') }));
        keyed(
            byId('health-reasons'),
            rows,
            (row) => `${row.what}\n${row.reason}`,
            (row) =>
                element('li', {}, element('b', {}, row.what), row.what ? ': ' : '', row.reason),
            () => {},
        );
        setHidden(byId('health-more'), reasons.length <= REASONS_MAX);
        setText(byId('health-more'), `and ${reasons.length - REASONS_MAX} more`);
    }
}

// Findings that have the same remedy stand together, and it is said once.
function grouped(findings) {
    const order = Object.keys(SEVERITIES);
    const groups = new Map();
    const rows = findings
        .filter((one) => one && typeof one === 'object')
        .map((one) => ({ ...one, severity: SEVERITIES[one.severity] ?? 'note' }))
        .sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
        .slice(0, FINDINGS_MAX);
    for (const row of rows) {
        const key = `${row.severity}\n${row.rule}\n${row.remedy}`;
        if (!groups.has(key)) groups.set(key, { key, ...row, found: [] });
        groups.get(key).found.push(row);
    }
    return [...groups.values()];
}

// The default dispatcher has no name, but one on this page.
const nameOf = (what) => String(what ?? '').replace(/^dispatcher ""$/, 'dispatcher (default)');

export function showAdvice(findings) {
    const groups = grouped(findings);
    keyed(
        byId('advice-list'),
        groups,
        (group) => group.key,
        () =>
            element(
                'li',
                {},
                element('span', { class: 'severity' }),
                element('ul', { class: 'found' }),
                element('span', { class: 'remedy' }),
            ),
        (node, group) => {
            setAttribute(node, 'data-severity', group.severity);
            const [word, found, remedy] = node.children;
            setText(word, group.severity);
            setCode(remedy, String(group.remedy ?? ''));
            keyed(
                found,
                group.found,
                (row) => nameOf(row.what),
                () => element('li', {}, element('b'), ' ', element('span')),
                (line, row) => {
                    setText(line.firstElementChild, nameOf(row.what));
                    setText(line.lastElementChild, String(row.text ?? ''));
                },
            );
        },
    );
    setHidden(byId('advice-none'), groups.length > 0);
}

// `names` in the text become code, by nodes, not by markup.
function setCode(node, text) {
    if (node.dataset.text === text) return;
    node.dataset.text = text;
    node.replaceChildren(
        ...text.split('`').map((part, i) => (i % 2 ? element('code', {}, part) : part)),
    );
}
