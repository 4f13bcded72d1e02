/*
 * load/quota.h - a measurement by a process that gets a share of one core and no more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_LOAD_QUOTA_H
#define WEIR_BENCH_LOAD_QUOTA_H

#include "suite/bench.h"

/* Runs it in a child, inside a control group of its own that is removed afterwards. Where no such
 * group can be made, the result is skipped and says why. */
void load_under_quota(double cores, void (*run)(const bench_setup *setup, bench_result *result),
                      const bench_setup *setup, bench_result *result);

#endif /* WEIR_BENCH_LOAD_QUOTA_H */
