// SPDX-License-Identifier: Apache-2.0
// The last five minutes, a value every quarter of a second, in rings of fixed length: a page that
// is left open for a week holds what it held after five minutes.

export const SAMPLES = 1200; // 300 s, 4 a second
export const SECONDS = 300;
const SERIES_MAX = 1500; // 4.8 KB each

export class History {
    constructor(samples = SAMPLES) {
        this.samples = samples;
        this.times = new Float64Array(samples).fill(NaN); // seconds
        this.rings = new Map(); // name → { values, seen }
        this.tick = -1; // counts for ever; the place in a ring is tick % samples
    }

    // A new moment. Every series has no value there until one is set.
    advance(seconds) {
        this.tick++;
        const at = this.tick % this.samples;
        this.times[at] = seconds;
        for (const ring of this.rings.values()) ring.values[at] = NaN;
    }

    set(name, value) {
        const ring = this.rings.get(name) ?? this.add(name);
        if (ring === null || !Number.isFinite(value)) return;
        ring.values[this.tick % this.samples] = value;
        ring.seen = this.tick;
    }

    add(name) {
        if (this.rings.size >= SERIES_MAX && !this.forget()) return null;
        const ring = { values: new Float32Array(this.samples).fill(NaN), seen: this.tick };
        this.rings.set(name, ring);
        return ring;
    }

    // Drops the series that have no value left; answers whether there were any.
    forget() {
        const before = this.rings.size;
        for (const [name, ring] of this.rings) {
            if (this.tick - ring.seen >= this.samples) this.rings.delete(name);
        }
        return this.rings.size < before;
    }

    // Writes the series into an array of the same length, the oldest first; null where there is no
    // value, which is what charts know as a gap.
    copy(name, into) {
        const ring = this.rings.get(name);
        for (let i = 0; i < this.samples; i++) {
            const value =
                ring === undefined ? NaN : ring.values[(this.tick + 1 + i) % this.samples];
            into[i] = Number.isNaN(value) ? null : value;
        }
        return into;
    }

    // Times must ascend: places never written lie one step before the next.
    copyTimes(into) {
        let next = this.times[Math.max(0, this.tick) % this.samples] || 0;
        for (let i = this.samples - 1; i >= 0; i--) {
            const time = this.times[(this.tick + 1 + i) % this.samples];
            next = Number.isNaN(time) || time > next ? next - 0.25 : time;
            into[i] = next;
        }
        return into;
    }

    // How much of the window there is to show: half a minute at least, all of it in the end.
    shownSamples() {
        return Math.min(this.samples, Math.max(this.samples / 10, this.tick + 1));
    }

    last(name) {
        return this.at(name, this.tick);
    }

    at(name, tick) {
        if (tick < 0 || tick > this.tick || tick <= this.tick - this.samples) return NaN;
        return this.rings.get(name)?.values[tick % this.samples] ?? NaN;
    }

    timeAt(tick) {
        if (tick < 0 || tick > this.tick || tick <= this.tick - this.samples) return NaN;
        return this.times[tick % this.samples];
    }
}
