// SPDX-License-Identifier: Apache-2.0
// From looks into the history: which series there are, and what they are called.
import { utilisationKey } from './heat.js';

const PERCENTILES = ['p50', 'p95', 'p99'];

function recordTimes(history, key, entry) {
    for (const part of ['queueing', 'handling']) {
        for (const p of PERCENTILES) history.set(`${key}/${part}/${p}`, entry[part][p]);
    }
}

// The lines of one histogram, in the colours of their percentile everywhere.
export function latencyLines(key, part) {
    return PERCENTILES.map((p, i) => ({
        key: `${key}/${part}/${p}`,
        label: p.toUpperCase(),
        colour: [0, 1, 3][i],
    }));
}

// step: the growth since the frame before, null for the first.
export function record(history, look, step) {
    for (const one of look.dispatchers) {
        const key = `dispatcher/${one.name}`;
        for (const field of ['rate', 'depth', 'contention', 'backoff']) {
            history.set(`${key}/${field}`, one[field]);
        }
        recordTimes(history, key, one);
    }
    for (const one of step?.threads ?? []) {
        history.set(utilisationKey(one.name), one.utilisation);
        history.set(`thread/${one.name}/cpu`, one.cpu);
        history.set(`thread/${one.name}/rate`, one.rate);
    }
    for (const one of look.processors) {
        const key = `processor/${one.name}`;
        history.set(`${key}/rate`, one.rate);
        history.set(`${key}/depth`, one.depth);
        if (one.measured) recordTimes(history, key, one);
    }
    for (const one of look.feeds) history.set(`feed/${one.name}/rate`, one.rate);
    for (const one of look.routers) {
        history.set(`router/${one.name}/rate`, one.rate);
        history.set(`router/${one.name}/depth`, one.depth);
    }
}
