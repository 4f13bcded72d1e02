/*
 * engine/backoff.c - the delays of S-04: 10, 15, 22.5, 33.75 ... microseconds with the defaults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/backoff.h"

#include <string.h>

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

void weir__backoff_write(weir__backoff_board *board, const weir__backoff_plan *plan)
{
    weir__store(&board->base, (uint64_t)plan->base, relaxed);
    weir__store(&board->max, (uint64_t)plan->max, relaxed);
    weir__store(&board->multiplier, bits_of(plan->multiplier), relaxed);
    weir__store(&board->jitter, bits_of(plan->jitter), relaxed);
}

weir__backoff_plan weir__backoff_read(weir__backoff_board *board)
{
    return (weir__backoff_plan){ (weir_ns)weir__load(&board->base, relaxed),
                                 (weir_ns)weir__load(&board->max, relaxed),
                                 number_of(weir__load(&board->multiplier, relaxed)),
                                 number_of(weir__load(&board->jitter, relaxed)) };
}

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
