// SPDX-License-Identifier: Apache-2.0
// How busy each thread was over the last five minutes: a row a thread, a column a quarter of a
// second, the colour its utilisation. Only the newest column is painted at each frame, into a ring
// beside the screen, which is then shown in two pieces.
import { byId, element, keyed, setText } from './dom.js';
import { SAMPLES, SECONDS } from './history.js';
import { colour, onTheme } from './theme.js';
import { percent, span } from './format.js';

const ROW = 18; // pixels of the style sheet; labels beside have the same
const THREADS_MAX = 64;
const STEPS = 32;

export const utilisationKey = (thread) => `thread/${thread}/utilisation`;

export class Heat {
    constructor(history) {
        this.history = history;
        this.canvas = byId('heat-canvas');
        this.labels = byId('heat-labels');
        this.readout = byId('heat-readout');
        this.oldest = byId('heat-oldest');
        this.names = [];
        this.painted = -1; // the newest column that is in the ring
        this.ring = element('canvas');
        this.at = null; // { row, back } that somebody points at
        this.canvas.addEventListener('pointermove', (event) => this.point(event));
        this.canvas.addEventListener('pointerleave', () => this.choose(null));
        this.canvas.addEventListener('blur', () => this.choose(null));
        this.canvas.addEventListener('keydown', (event) => this.key(event));
        onTheme(() => this.repaint());
    }

    update(threads) {
        const names = threads.map((thread) => thread.name).slice(0, THREADS_MAX);
        if (names.join('\n') !== this.names.join('\n')) {
            this.names = names;
            this.repaint();
        } else {
            this.paintSince(this.painted + 1);
        }
        keyed(
            this.labels,
            names,
            (name) => name,
            () => element('li'),
            setText,
        );
        this.draw();
    }

    // The scale of colours, from the style sheet: cold, warm, hot.
    scale() {
        const stops = ['--heat-0', '--heat-1', '--heat-2', '--heat-3'].map((name) =>
            rgb(colour(name)),
        );
        return Array.from({ length: STEPS + 1 }, (_, i) => {
            const place = (i / STEPS) * (stops.length - 1);
            const low = Math.min(stops.length - 2, Math.floor(place));
            const mix = stops[low].map((v, c) =>
                Math.round(v + (stops[low + 1][c] - v) * (place - low)),
            );
            return `rgb(${mix.join(',')})`;
        });
    }

    repaint() {
        this.colours = this.scale();
        this.ring.width = SAMPLES;
        this.ring.height = Math.max(1, this.names.length);
        this.paintSince(0);
    }

    // More than one frame may have come since: a tab that was hidden, a machine that is busy.
    paintSince(tick) {
        const newest = this.history.tick;
        for (let at = Math.max(0, tick, newest - SAMPLES + 1); at <= newest; at++) {
            this.paintColumn(at);
        }
        this.painted = newest;
    }

    paintColumn(tick) {
        const context = this.ring.getContext('2d');
        const x = tick % SAMPLES;
        context.clearRect(x, 0, 1, this.names.length);
        this.names.forEach((name, row) => {
            const value = this.history.at(utilisationKey(name), tick);
            if (Number.isNaN(value)) return;
            context.fillStyle = this.colours[Math.round(Math.min(1, Math.max(0, value)) * STEPS)];
            context.fillRect(x, row, 1, 1);
        });
    }

    draw() {
        const rows = Math.max(1, this.names.length);
        const scale = window.devicePixelRatio || 1;
        const [width, height] = [this.canvas.clientWidth, rows * ROW];
        if (width === 0) return;
        this.canvas.style.height = `${height}px`;
        if (
            this.canvas.width !== Math.round(width * scale) ||
            this.canvas.height !== Math.round(height * scale)
        ) {
            this.canvas.width = Math.round(width * scale);
            this.canvas.height = Math.round(height * scale);
        }
        const context = this.canvas.getContext('2d');
        const [w, h] = [this.canvas.width, this.canvas.height];
        context.clearRect(0, 0, w, h);
        context.imageSmoothingEnabled = false;
        // The newest columns, which may lie around the ring's end.
        const count = this.history.shownSamples();
        const first = (((this.history.tick + 1 - count) % SAMPLES) + SAMPLES) % SAMPLES;
        const until = Math.min(count, SAMPLES - first);
        const split = (until / count) * w;
        context.drawImage(this.ring, first, 0, until, rows, 0, 0, split, h);
        if (until < count)
            context.drawImage(this.ring, 0, 0, count - until, rows, split, 0, w - split, h);
        context.fillStyle = colour('--surface');
        for (let row = 1; row < rows; row++) context.fillRect(0, (row * h) / rows - 1, w, 2);
        this.mark(context, w, h, rows, count);
        setText(this.oldest, `${span((count / SAMPLES) * SECONDS)} ago`);
        this.tell();
    }

    mark(context, w, h, rows, count) {
        if (this.at === null) return;
        const x = ((count - this.at.back - 0.5) / count) * w;
        context.fillStyle = colour('--text');
        context.fillRect(Math.round(x), (this.at.row * h) / rows, 2, h / rows);
    }

    point(event) {
        const share = event.offsetX / this.canvas.clientWidth;
        const back = Math.floor((1 - share) * this.history.shownSamples());
        this.choose({ row: Math.floor(event.offsetY / ROW), back });
    }

    key(event) {
        const moves = {
            ArrowLeft: [0, 20],
            ArrowRight: [0, -20],
            ArrowUp: [-1, 0],
            ArrowDown: [1, 0],
        };
        const move = moves[event.key];
        if (move === undefined) return;
        event.preventDefault();
        const { row, back } = this.at ?? { row: 0, back: 0 };
        this.choose({ row: row + move[0], back: back + move[1] });
    }

    choose(at) {
        this.at =
            at === null
                ? null
                : {
                      row: Math.min(Math.max(0, at.row), Math.max(0, this.names.length - 1)),
                      back: Math.min(Math.max(0, at.back), this.history.shownSamples() - 1),
                  };
        this.draw();
    }

    tell() {
        if (this.at === null || this.names.length === 0) {
            setText(this.readout, '');
            return;
        }
        const tick = this.history.tick - this.at.back;
        const value = this.history.at(utilisationKey(this.names[this.at.row]), tick);
        const ago = this.history.timeAt(this.history.tick) - this.history.timeAt(tick);
        const when = Number.isNaN(ago)
            ? 'before this page was opened'
            : this.at.back === 0
              ? 'now'
              : `${span(ago)} ago`;
        setText(this.readout, `${this.names[this.at.row]}, ${when}: ${percent(value)} busy`);
    }
}

function rgb(text) {
    const hex = text.replace('#', '');
    return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16) || 0);
}
