/*
 * baselines/closed_loop.h - the load of the scale model (simulate/workload.h) on an older design.
 *
 * The same processors, events, handlers and windows, on one dispatcher: those designs have no more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_BASELINES_CLOSED_LOOP_H
#define WEIR_BENCH_BASELINES_CLOSED_LOOP_H

#include "baselines/engine.h"
#include "simulate/workload.h"

/* E_INVALID: more than one dispatcher, or no threads. Cores and priorities are not looked at. */
weir_status baseline_closed_loop(const baseline_design *design, const weir__workload *load,
                                 weir__workload_result *result);

#endif /* WEIR_BENCH_BASELINES_CLOSED_LOOP_H */
