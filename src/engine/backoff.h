/*
 * engine/backoff.h - how long to stay away from contended locks: base, times multiplier, up to max.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_BACKOFF_H
#define WEIR_ENGINE_BACKOFF_H

#include "sync/atomic.h"
#include "weir/base.h"

typedef struct weir__backoff_plan {
    weir_ns base;
    weir_ns max;
    double multiplier;
    double jitter; /* 0..1: so much of a delay is left to chance */
} weir__backoff_plan;

/* A plan that others may change meanwhile: any mixture of the old and the new one will do, since a
 * delay is bounded by whatever max it finds. */
typedef struct weir__backoff_board {
    weir__atomic_u64 base, max;
    weir__atomic_u64 multiplier, jitter; /* the bits of a double */
} weir__backoff_board;

void weir__backoff_write(weir__backoff_board *board, const weir__backoff_plan *plan);
weir__backoff_plan weir__backoff_read(weir__backoff_board *board);

typedef struct weir__backoff {
    double next_ns; /* 0: begin at the base */
    uint64_t random;
} weir__backoff;

/* The delay to sleep now; the next one will be longer. */
weir_ns weir__backoff_next(weir__backoff *backoff, const weir__backoff_plan *plan);

/* A lock was taken: begin at the base again. */
static inline void weir__backoff_reset(weir__backoff *backoff)
{
    backoff->next_ns = 0;
}

#endif /* WEIR_ENGINE_BACKOFF_H */
