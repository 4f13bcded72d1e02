// SPDX-License-Identifier: Apache-2.0
// The rules of thumb: which figures deserve a colour, and the word that goes with it. What is good
// has neither, so that what stands out is what is wrong.

const rule = (level, word) => Object.freeze({ level, word });
const FAIR = rule('fair', 'tolerable');
const HIGH = rule('high', 'high');
const ALERT = rule('alert', 'too high');

const known = (value) => typeof value === 'number' && Number.isFinite(value);

// Share of the attempts at a dispatcher's lock that failed: good below 10 %, tolerable below 30 %.
export function contention(share) {
    if (!known(share) || share < 0.1) return null;
    if (share < 0.3) return FAIR;
    return share <= 0.5 ? HIGH : ALERT;
}

// Share of the looks at a dispatcher that ended in a sleep: 5 to 15 % is usual under contention.
export function backoff(share) {
    if (!known(share) || share < 0.05) return null;
    if (share <= 0.15) return FAIR;
    return share <= 0.3 ? HIGH : ALERT;
}

// P99 over P50: good up to 3.
export function spread(times) {
    if (!known(times) || times <= 3) return null;
    return times <= 10 ? FAIR : ALERT;
}

// Wake-ups that found work: more than 90 % is good.
export function found(share) {
    return known(share) && share < 0.9 ? rule('high', 'too few') : null;
}

// Signals that woke a thread: more than 95 % is good.
export function woke(share) {
    return known(share) && share < 0.95 ? rule('high', 'too few') : null;
}

// How long threads were parked, under load: P99 below 100 µs.
export function waits(p99, underLoad) {
    return underLoad && known(p99) && p99 > 100e3 ? rule('fair', 'long') : null;
}

// Low utilisation is bad only where there is work to share: a server at rest is not ill.
export function utilisation(share, underLoad) {
    if (!known(share)) return null;
    if (share >= 0.98) return rule('fair', 'full');
    return underLoad && share < 0.3 ? rule('fair', 'low') : null;
}

// How full a mailbox or a queue is; from 90 % on the server calls it degraded.
export function fullness(share) {
    if (!known(share) || share < 0.5) return null;
    return share < 0.9 ? rule('high', 'filling') : rule('alert', 'full');
}

// A router's busiest worker over the mean of all.
export function imbalance(times) {
    if (!known(times) || times < 1.5) return null;
    return times < 3 ? rule('fair', 'uneven') : rule('high', 'hot');
}

// Things that should not happen at all, as a rate or as a count.
export function unwanted(value, word = 'losing') {
    return known(value) && value > 0 ? rule('alert', word) : null;
}

export function throttled(share) {
    return known(share) && share > 0 ? rule('alert', 'throttled') : null;
}
