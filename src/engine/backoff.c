/*
 * engine/backoff.c - the delays of S-04: 10, 15, 22.5, 33.75 ... microseconds with the defaults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/backoff.h"

/* xorshift64: chance enough to keep threads from waking in step. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state != 0 ? *state : 1;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x;
}

weir_ns weir__backoff_next(weir__backoff *backoff, const weir__backoff_plan *plan)
{
    double delay = backoff->next_ns;
    if (delay < (double)plan->base) {
        delay = (double)plan->base;
    }
    if (delay > (double)plan->max) {
        delay = (double)plan->max;
    }
    /* The growth is kept unrounded, so that the sequence is the formula's to the last delay. */
    backoff->next_ns = delay * plan->multiplier;
    if (plan->jitter > 0) {
        const double chance = (double)(next_random(&backoff->random) >> 11) / 9007199254740992.0;
        delay -= delay * plan->jitter * chance;
    }
    return (weir_ns)delay;
}
