// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. Whatever is not a number is a dash: an older server may not tell.

export const NOTHING = '–';

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

const STEPS = [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
];

// Three digits are enough to see, and keep columns narrow: 1.25 M, 12.5 k, 980.
export function short(value) {
    if (!isNumber(value)) return NOTHING;
    const size = Math.abs(value);
    for (const [step, letter] of STEPS) {
        if (size >= step * 0.9995) return `${digits(value / step)} ${letter}`;
    }
    return size >= 100 || Number.isInteger(value) ? String(Math.round(value)) : digits(value);
}

function digits(value) {
    const size = Math.abs(value);
    if (size >= 99.95) return value.toFixed(0);
    return value.toFixed(size >= 9.995 ? 1 : 2);
}

// All digits, grouped by thin spaces.
export function whole(value) {
    if (!isNumber(value)) return NOTHING;
    return Math.round(value)
        .toString()
        .replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

export function rate(value) {
    return isNumber(value) ? `${short(value)}/s` : NOTHING;
}

export function percent(share) {
    if (!isNumber(share)) return NOTHING;
    const value = share * 100;
    if (value !== 0 && Math.abs(value) < 0.1) return '< 0.1 %';
    return `${Math.abs(value) < 9.95 ? value.toFixed(1) : value.toFixed(0)} %`;
}

export function ratio(value) {
    return isNumber(value) ? `× ${value < 9.95 ? value.toFixed(1) : short(value)}` : NOTHING;
}

const TIMES = [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'µs'],
];

export function nanoseconds(value) {
    if (!isNumber(value)) return NOTHING;
    if (value >= 120e9) return span(value / 1e9);
    for (const [step, unit] of TIMES) {
        if (value >= step * 0.9995) return `${digits(value / step)} ${unit}`;
    }
    return `${Math.round(value)} ns`;
}

// A length of time in its two largest units: 3 d 4 h, 12 min 5 s.
export function span(seconds) {
    if (!isNumber(seconds)) return NOTHING;
    const s = Math.max(0, Math.floor(seconds));
    const [d, h, m] = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
    if (d > 0) return `${d} d ${h} h`;
    if (h > 0) return `${h} h ${m} min`;
    return m > 0 ? `${m} min ${s % 60} s` : `${s} s`;
}

export function bytes(value) {
    if (!isNumber(value)) return NOTHING;
    for (const [step, unit] of [
        [2 ** 30, 'GiB'],
        [2 ** 20, 'MiB'],
        [2 ** 10, 'KiB'],
    ]) {
        if (value >= step) return `${digits(value / step)} ${unit}`;
    }
    return `${Math.round(value)} B`;
}

// Of the day, as the reader's clock shows it.
export function clock(milliseconds) {
    const time = new Date(milliseconds);
    const two = (n) => String(n).padStart(2, '0');
    return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

// The default dispatcher's name is empty, and an empty cell says nothing.
export function dispatcherName(name) {
    return name === '' ? '(default)' : String(name ?? NOTHING);
}
