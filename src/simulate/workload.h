/*
 * simulate/workload.h - the load of the scale model and of its check on real threads: a closed loop
 * of small handlers.
 *
 * Each dispatcher has some processors, each processor some events on their way. A handler computes
 * for a while and posts its event on, to a processor of the same dispatcher that is drawn by lot.
 * So work never runs out, no event is lost, and all that threads have to do with each other is the
 * engine's doing. One source for both: it knows the public headers only; who computes, and who
 * waits, is told by the caller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_WORKLOAD_H
#define WEIR_SIMULATE_WORKLOAD_H

#include "weir/weir.h"

typedef struct weir__workload {
    uint32_t threads;     /* thread i is on core cores[i], and serves what `partition` says */
    uint32_t dispatchers; /* at most 64 */
    uint32_t processors;  /* a thread; at least so many a dispatcher, too */
    uint32_t events;      /* on their way, a processor */
    weir_ns span;         /* that a handler computes */
    weir_ns warm_up, window;
    const int32_t *cores; /* NULL: not pinned */
    int32_t realtime;     /* priority of the threads (FIFO); 0: as the caller's */

    void (*compute)(void *own, weir_ns span); /* in a handler; `own` is 8 bytes of its processor */
    void (*rest)(weir_ns span);               /* of the thread that measures */
    void (*window_begins)(void);              /* may be NULL */
    void (*window_ends)(void);                /* the same */
} weir__workload;

typedef struct weir__workload_result {
    uint64_t events;                                         /* handled in the window */
    weir_ns window;                                          /* as long as it really was */
    uint64_t try_locks, try_locks_failed, backoffs, signals; /* in the window */
} weir__workload_result;

/* Not inside a handler. The log of the engine goes nowhere. */
weir_status weir__workload_run(const weir__workload *load, weir__workload_result *result,
                               weir_error *error);

/* The lot of one processor: its next number. Not 0 at first, and never 0 then. */
static inline uint64_t weir__workload_draw(uint64_t *lot)
{
    *lot ^= *lot << 13;
    *lot ^= *lot >> 7;
    *lot ^= *lot << 17;
    return *lot;
}

static inline double weir__workload_rate(const weir__workload_result *result)
{
    return result->window > 0 ? (double)result->events * 1e9 / (double)result->window : 0;
}

#endif /* WEIR_SIMULATE_WORKLOAD_H */
