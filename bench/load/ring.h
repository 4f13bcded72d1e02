/*
 * load/ring.h - tokens that go round a ring of processors: ping-pong with two, and longer ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_LOAD_RING_H
#define WEIR_BENCH_LOAD_RING_H

#include "suite/bench.h"

/* `hops` altogether, at scale 1; `members` is a multiple of `tokens`. */
void load_ring(const bench_setup *setup, bench_result *result, uint32_t members, uint32_t tokens,
               uint64_t hops);

#endif /* WEIR_BENCH_LOAD_RING_H */
