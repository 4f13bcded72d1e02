/*
 * load/flows.h - one thread outside, or a processor, submits to the flows of a router: W14.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_LOAD_FLOWS_H
#define WEIR_BENCH_LOAD_FLOWS_H

#include <weir/weir.h>

#include "suite/bench.h"

#define LOAD_FLOWS_BATCH 32u
#define LOAD_FLOWS_BATCH_MAX 256u

typedef struct load_flows {
    uint32_t flows;
    uint64_t events; /* altogether, at scale 1; all flows are made before them */
    uint32_t batch;  /* 0, 1: single submits */
    uint32_t steps;  /* that a handler computes (suite/keys.h); 0: it does nothing but check */
    bool finish;     /* the last event of each flow is its end */
    bool inside;     /* a processor submits, singly, and none outside */
    bool direct;     /* no router: the same events to as many processors as there are threads */
} load_flows;

void load_flows_run(const load_flows *flows, const bench_setup *setup, bench_result *result);

#endif /* WEIR_BENCH_LOAD_FLOWS_H */
