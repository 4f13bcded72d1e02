/*
 * load/flood.h - producers flood processors whose handler does nothing but count: W2, W5, W13.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_LOAD_FLOOD_H
#define WEIR_BENCH_LOAD_FLOOD_H

#include <weir/weir.h>

#include "suite/bench.h"

typedef struct load_flood {
    uint32_t processors; /* each fed by one producer; a single one by all of them */
    uint32_t producers;
    uint64_t events; /* altogether, at scale 1 */
    uint32_t batch;  /* 0, 1: single posts */
    bool inside;     /* the producers are processors, too */
    uint32_t burst;  /* of those, a turn */
    bool wants_room; /* see load_producer */
    weir_overflow overflow;
    weir_strategy strategy; /* how the threads serve several dispatchers */
    uint32_t dispatchers;   /* 0: the default one alone */
    bool fair;
    bool latency;               /* every processor is measured */
    bool trace;                 /* a trace is on */
    weir_engine_options engine; /* what is said of back-off there */
} load_flood;

void load_flood_run(const load_flood *flood, const bench_setup *setup, bench_result *result);

#endif /* WEIR_BENCH_LOAD_FLOOD_H */
