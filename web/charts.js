// SPDX-License-Identifier: Apache-2.0
// Lines over the last five minutes, drawn by uPlot (/assets/uPlot.iife.min.js, a global). A server
// that was built without it has a note in its place; every figure stands in a table, too.
import { element, keyed, setText, setVariable } from './dom.js';
import { SAMPLES, SECONDS } from './history.js';
import { colour, onTheme } from './theme.js';
import { clock } from './format.js';

export const haveCharts = () => typeof window.uPlot === 'function';

export const LINES_MAX = 8; // more cannot be told apart
const drawn = new Set();

// Off screen nothing is drawn.
const watcher = new IntersectionObserver(
    (entries) => {
        for (const entry of entries) entry.target.chart.visible = entry.isIntersecting;
    },
    { rootMargin: '100px' },
);

const resizer = new ResizeObserver((entries) => {
    for (const entry of entries) entry.target.chart.fit();
});

onTheme(() => drawn.forEach((chart) => chart.rebuild()));

const seriesColour = (index) => colour(`--series-${(index % LINES_MAX) + 1}`);

// Of fixed length, and used again at each frame.
const emptyArrays = (count) => Array.from({ length: count }, () => new Array(SAMPLES).fill(null));

// A little more than there is, on a scale of powers, where zero has no place.
function around(min, max) {
    if (!(min > 0) || !Number.isFinite(max)) return [1, 1000];
    return [step(min / 1.2, Math.floor), step(max * 1.2, Math.ceil)];
}

// To the next of 1, 2, 5, 10, ... down or up: labels stand at round figures.
function step(value, toward) {
    const third = toward(Math.log10(value) * 3);
    return [1, 2, 5][((third % 3) + 3) % 3] * 10 ** Math.floor(third / 3);
}

export class Chart {
    // options: { label (for those who cannot see it), format, height, log, bare, max }
    constructor(place, history, options) {
        Object.assign(this, {
            history,
            options,
            lines: [],
            signature: '',
            visible: true,
            plot: null,
        });
        this.canvas = element('div', {
            'class': 'plot',
            'role': 'img',
            'aria-label': options.label,
        });
        this.canvas.chart = this;
        this.legend = options.bare ? null : element('ul', { class: 'legend' });
        place.append(...[this.canvas, this.legend].filter(Boolean));
        if (!haveCharts()) {
            if (!options.bare)
                this.canvas.append(
                    element(
                        'p',
                        { class: 'empty' },
                        'No chart: this ' +
                            'server was built without uPlot. The figures stand in the tables.',
                    ),
                );
            return;
        }
        watcher.observe(this.canvas);
        resizer.observe(this.canvas);
        drawn.add(this);
    }

    // lines: [{ key: name in the history, label, dash, colour: index }]
    setLines(lines) {
        this.lines = lines.slice(0, LINES_MAX);
        const signature = JSON.stringify(this.lines);
        if (signature === this.signature) return;
        this.signature = signature;
        this.rebuild();
    }

    rebuild() {
        this.plot?.destroy();
        this.plot = null;
        if (!haveCharts() || this.lines.length === 0 || this.canvas.clientWidth === 0) return;
        this.arrays = emptyArrays(this.lines.length + 1);
        this.canvas.textContent = '';
        this.plot = new window.uPlot(this.settings(), this.arrays, this.canvas);
        this.plot.root.setAttribute('aria-hidden', 'true');
        this.draw();
    }

    size() {
        return { width: this.canvas.clientWidth, height: this.options.height ?? 150 };
    }

    fit() {
        if (this.plot === null) this.rebuild();
        else if (this.plot.width !== this.canvas.clientWidth) this.plot.setSize(this.size());
    }

    settings() {
        const { bare, log, format } = this.options;
        const axis = {
            stroke: colour('--muted'),
            font: '11px system-ui, sans-serif',
            grid: { stroke: colour('--line'), width: 1 },
            ticks: { show: false },
            gap: 4,
        };
        return {
            ...this.size(),
            legend: { show: false },
            cursor: bare ? { show: false } : { drag: { x: false, y: false }, points: { size: 5 } },
            padding: bare ? [2, 0, 2, 0] : [8, 26, 0, 0], // half of a time's width on the right
            scales: {
                x: { time: false, range: (_, __, max) => [max - this.seconds(), max] },
                y: log
                    ? { distr: 3, range: (_, min, max) => around(min, max) }
                    : { range: (_, __, max) => [0, this.ceiling(max)] },
            },
            axes: bare
                ? [{ show: false }, { show: false }]
                : [
                      {
                          ...axis,
                          size: 20,
                          space: 60,
                          values: (_, ticks) => ticks.map((t) => clock(t * 1000)),
                          incrs: [5, 10, 15, 30, 60, 120],
                      },
                      {
                          ...axis,
                          size: 58,
                          space: 26,
                          values: (_, ticks) => ticks.map((t) => (t === null ? '' : format(t))),
                      },
                  ],
            series: [
                {},
                ...this.lines.map((line, i) => ({
                    label: line.label,
                    stroke: seriesColour(line.colour ?? i),
                    width: 1.5,
                    dash: line.dash ? [5, 4] : undefined,
                    points: { show: false },
                    fill: bare ? `${seriesColour(line.colour ?? i)}26` : undefined,
                })),
            ],
            hooks: { setCursor: [(plot) => this.showLegend(plot.cursor.idx)] },
        };
    }

    seconds() {
        return (SECONDS * this.history.shownSamples()) / SAMPLES;
    }

    ceiling(max) {
        const least = this.options.max ?? 1;
        return Number.isFinite(max) && max * 1.08 > least ? max * 1.08 : least;
    }

    draw() {
        if (this.plot === null || !this.visible) return;
        this.history.copyTimes(this.arrays[0]);
        this.lines.forEach((line, i) => this.history.copy(line.key, this.arrays[i + 1]));
        this.plot.setData(this.arrays);
        this.showLegend(this.plot.cursor.idx);
    }

    // The values under the pointer, else the newest.
    showLegend(index) {
        if (this.legend === null) return;
        const value = (line, i) =>
            Number.isInteger(index) ? this.arrays[i + 1][index] : this.history.last(line.key);
        keyed(
            this.legend,
            this.lines.map((line, i) => ({ line, i })),
            ({ line }) => line.key,
            () =>
                element(
                    'li',
                    {},
                    element('span', { class: 'swatch' }),
                    element('span', { class: 'label' }),
                    element('span', { class: 'value' }),
                ),
            (node, { line, i }) => {
                const [swatch, label, figure] = node.children;
                setVariable(swatch, '--swatch', seriesColour(line.colour ?? i));
                swatch.classList.toggle('dashed', line.dash === true);
                setText(label, line.label);
                const now = value(line, i);
                setText(figure, this.options.format(now === null ? NaN : now));
            },
        );
    }
}
