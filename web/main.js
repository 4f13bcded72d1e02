// SPDX-License-Identifier: Apache-2.0
// The page of a weir that runs: a stream of figures in (stream.js), rates made of them (look.js),
// the last five minutes kept (history.js), and all of it shown: overview, graph, charts, heat map,
// tables and the panel of what was clicked. Nothing is drawn while nobody looks.
import { byId, element, keyed, setAttribute, setHidden, setText } from './dom.js';
import { change } from './admin.js';
import { Chart, LINES_MAX } from './charts.js';
import * as format from './format.js';
import { Graph } from './graph.js';
import { Heat } from './heat.js';
import { History } from './history.js';
import { Looks, lookAt } from './look.js';
import { Overview, showAdvice } from './overview.js';
import { Panel } from './panel.js';
import { latencyLines, record } from './record.js';
import { makeTables, updateTables } from './sections.js';
import { Stream } from './stream.js';
import { startTheme } from './theme.js';
import {
    askForToken,
    dropToken,
    keepToken,
    noteReadingNeedsToken,
    onToken,
    readingNeedsToken,
    token,
} from './token.js';

startTheme();

const history = new History();
const looks = new Looks();
let look = lookAt({}, null);
let paused = false,
    waiting = false,
    restartedAt = null;

const overview = new Overview(history);
const heat = new Heat(history);
const panel = new Panel(history);
const open = (kind, name, id) => panel.open(kind, name, id);
const graph = new Graph(open);
const tables = makeTables(open, () => look);

const chart = (id, label, options) =>
    new Chart(byId(id), history, {
        label: `${label} over the last five minutes. The same figures stand in the tables.`,
        ...options,
    });
const charts = {
    rate: chart('chart-rate', 'Events handled a second by dispatcher', {
        format: format.rate,
        max: 10,
    }),
    depth: chart('chart-depth', 'Events that wait by dispatcher', {
        format: format.short,
        max: 10,
    }),
    contention: chart('chart-contention', 'Contention and back-off by dispatcher', {
        format: format.percent,
        max: 0.1,
    }),
    cpu: chart('chart-cpu', 'CPU by thread', { format: format.percent, max: 1 }),
    queueing: chart('chart-queueing', 'Time in the queue', {
        format: format.nanoseconds,
        log: true,
    }),
    handling: chart('chart-handling', 'Time in the handler', {
        format: format.nanoseconds,
        log: true,
    }),
};

function drawCharts() {
    const dispatchers = look.dispatchers.slice(0, LINES_MAX);
    const lines = (field) =>
        dispatchers.map((one) => ({
            key: `dispatcher/${one.name}/${field}`,
            label: format.dispatcherName(one.name),
        }));
    charts.rate.setLines(lines('rate'));
    charts.depth.setLines(lines('depth'));
    const few = dispatchers.slice(0, LINES_MAX / 2);
    charts.contention.setLines(
        few.flatMap((one, colour) => {
            const name = format.dispatcherName(one.name);
            return [
                { key: `dispatcher/${one.name}/contention`, label: `${name} contention`, colour },
                {
                    key: `dispatcher/${one.name}/backoff`,
                    label: `${name} back-off`,
                    colour,
                    dash: true,
                },
            ];
        }),
    );
    charts.cpu.setLines(
        look.threads.map((one) => ({ key: `thread/${one.name}/cpu`, label: one.name })),
    );
    const whose = byId('latency-of').value;
    charts.queueing.setLines(latencyLines(whose, 'queueing'));
    charts.handling.setLines(latencyLines(whose, 'handling'));
    Object.values(charts).forEach((one) => one.draw());
}

// Dispatchers are always measured, processors when they are switched on.
function showChoices() {
    const measured = look.processors
        .filter((one) => one.measured)
        .sort((a, b) => a.name.localeCompare(b.name));
    const choices = [
        ...look.dispatchers.map((one) => [
            `dispatcher/${one.name}`,
            `dispatcher ${format.dispatcherName(one.name)}`,
        ]),
        ...measured.map((one) => [`processor/${one.name}`, one.name]),
    ];
    keyed(
        byId('latency-of'),
        choices,
        ([key]) => key,
        ([key, label]) => element('option', { value: key }, label),
        () => {},
    );
}

const measuresAll = () =>
    look.processors.length > 0 && look.processors.every((one) => one.measured);

function showNotes() {
    setText(
        byId('measure-all'),
        measuresAll() ? 'Stop measuring latency' : 'Measure latency of all',
    );
    const { hidden } = look;
    setHidden(byId('processors-hidden'), hidden === 0);
    setText(
        byId('processors-hidden'),
        `The busiest ${look.processors.length} of ` +
            `${look.processors.length + hidden} are shown; the other ${hidden} are hidden. ` +
            '/metrics.json has more.',
    );
    const filter = byId('processors-filter').value.trim();
    setText(
        byId('processors-count'),
        filter === '' ? '' : `${tables.processors.body.children.length} fit`,
    );
    const { pending, posted, late_p50_ns: p50, late_p99_ns: p99 } = look.timers;
    const late = `${format.nanoseconds(p50)} (P50), ${format.nanoseconds(p99)} (P99)`;
    setText(
        byId('timers'),
        `Timers: ${format.short(pending)} pending, ${format.short(posted)} came, late by ${late}.`,
    );
}

function draw() {
    waiting = false;
    if (document.hidden || paused) return;
    overview.update(look);
    showChoices();
    graph.update(look);
    drawCharts();
    heat.update(look.threads);
    updateTables(tables, look);
    showNotes();
    panel.update(look);
}

// At most once a frame of the screen, however many figures have come meanwhile.
function drawSoon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
}

function takeFigures(figures) {
    const taken = looks.take(figures);
    ({ look } = taken);
    if (taken.restarted) restartedAt = Date.now();
    history.advance(Date.now() / 1000);
    overview.record(look);
    record(history, look, taken.step);
    setAttribute(document.body, 'data-seen', '');
    setHidden(byId('loading'), true);
    drawSoon();
}

function showConnection() {
    const { state, since, why } = stream;
    setAttribute(document.body, 'data-connection', state);
    const notes = {
        live: paused ? 'paused' : 'live',
        lost: `disconnected since ${format.clock(since)}${why === '' ? '' : `: ${why}`}`,
        locked: 'the server wants its token',
    };
    const restarted =
        restartedAt === null ? '' : `, server restarted at ${format.clock(restartedAt)}`;
    setText(byId('connection'), notes[state] + (state === 'live' ? restarted : ''));
    setHidden(byId('unlock'), state !== 'locked');
    setText(
        byId('loading'),
        state === 'locked'
            ? 'This server shows its figures to those who have its token.'
            : 'Waiting for the first figures.',
    );
    // A link cannot show a token.
    setHidden(byId('raw-links'), readingNeedsToken());
    setHidden(byId('raw-note'), !readingNeedsToken());
}

const WANTS_TOKEN =
    'This server can be reached by others, so it wants its token before it shows anything ' +
    '(weir.admin.http.token-file).';
const REFUSED_TOKEN = 'The server refused that token. Try again, or cancel.';

// Until there is one, or the reader thinks better of it; the button asks again.
async function unlock(why) {
    const given = await askForToken(why);
    if (given !== null) keepToken(given);
}

function tokenRefused(used) {
    noteReadingNeedsToken();
    dropToken(used);
    showConnection();
    if (token() !== null) stream.unlock();
    else unlock(used === null ? WANTS_TOKEN : REFUSED_TOKEN);
}

const stream = new Stream('/events', {
    figures: takeFigures,
    advice: (findings) => {
        if (!paused) showAdvice(findings);
    },
    // A break in every line, so that none is drawn across the time without figures.
    state: (state) => {
        if (state === 'lost') history.advance(Date.now() / 1000);
        showConnection();
    },
    refused: tokenRefused,
});
onToken(() => stream.unlock());
byId('unlock').addEventListener('click', () => unlock(WANTS_TOKEN));
setInterval(showConnection, 1000);
showConnection();

document.addEventListener('visibilitychange', drawSoon);
byId('pause').addEventListener('click', () => {
    paused = !paused;
    setAttribute(byId('pause'), 'aria-pressed', String(paused));
    setAttribute(document.body, 'data-paused', paused ? '' : null);
    showConnection();
    drawSoon();
});
byId('processors-filter').addEventListener('input', (event) => {
    tables.processors.setFilter(event.target.value);
    showNotes();
});
byId('measure-all').addEventListener('click', async () => {
    const answer = await change('latency', measuresAll() ? 'disable' : 'enable', '*');
    setText(byId('measure-said'), answer.ok ? '' : answer.error);
});
byId('latency-of').addEventListener('change', drawCharts);
