/*
 * baselines/loads.h - the workloads of the suite that the older designs run, too: the same loads
 * under the same names as weir's rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_BASELINES_LOADS_H
#define WEIR_BENCH_BASELINES_LOADS_H

#include "baselines/engine.h"
#include "suite/bench.h"

/* Two processors hand one message to and fro. */
void baseline_ping_pong(const baseline_design *design, const bench_setup *setup,
                        bench_result *result);
/* 64 processors, handlers that count; two producers outside. */
void baseline_spread(const baseline_design *design, const bench_setup *setup, bench_result *result);
/* 16 processors a thread, handlers that sleep for a millisecond. */
void baseline_sleepers(const baseline_design *design, const bench_setup *setup,
                       bench_result *result);
/* As many processors as threads; `each` messages for each of them, again and again. */
void baseline_collapse(const baseline_design *design, uint32_t each, const bench_setup *setup,
                       bench_result *result);

#endif /* WEIR_BENCH_BASELINES_LOADS_H */
