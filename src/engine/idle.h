/*
 * engine/idle.h - what to do in a round that found nothing.
 *
 * A strategy is asked once per empty round and answers with the next step; it knows nothing of
 * dispatchers. The spin of `backoff` adapts: it keeps a running mean of how long work takes to
 * arrive, spins up to twice that if that is within its bound, and rests at once if it is not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_IDLE_H
#define WEIR_ENGINE_IDLE_H

#include "weir/thread.h"

typedef enum weir__idle_step {
    WEIR__IDLE_AGAIN, /* look again at once */
    WEIR__IDLE_PAUSE, /* a pause instruction, then look again */
    WEIR__IDLE_SPIN,  /* the same, some times in a row, at nothing but the queues */
    WEIR__IDLE_GIVE,  /* yield, then look again */
    WEIR__IDLE_NAP,   /* sleep for `sleep`, stop may end it */
    WEIR__IDLE_REST   /* park until woken */
} weir__idle_step;

typedef struct weir__idle {
    weir_idle strategy;
    weir_ns sleep;
    weir_ns spin_max;
    weir_ns arrival_mean; /* running mean of the time from idle to work */
    weir_ns began;        /* of this idle stretch; 0: not idle */
    weir_ns spin_until;
    uint32_t yields;
} weir__idle;

void weir__idle_open(weir__idle *idle, weir_idle strategy, weir_ns spin_max, weir_ns sleep);
weir__idle_step weir__idle_step_next(weir__idle *idle, weir_ns (*now)(void));
/* Work was found after at least one empty round. */
void weir__idle_work(weir__idle *idle, weir_ns now);

#endif /* WEIR_ENGINE_IDLE_H */
