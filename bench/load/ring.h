/*
 * load/ring.h - tokens that go round a ring of processors: ping-pong with two, and longer ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_LOAD_RING_H
#define WEIR_BENCH_LOAD_RING_H

#include "suite/bench.h"

typedef struct load_ring {
    uint32_t members; /* a multiple of the tokens */
    uint32_t tokens;
    uint64_t hops; /* altogether, at scale 1 */
    bool trace;    /* a trace is on */
} load_ring;

void load_ring_run(const load_ring *ring, const bench_setup *setup, bench_result *result);

#endif /* WEIR_BENCH_LOAD_RING_H */
