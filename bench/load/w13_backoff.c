/*
 * load/w13_backoff.c - W13: threads that fight for one dispatcher, with different back-off; and
 * fair or not.
 *
 * One event a turn, so that the dispatcher's lock is taken for every single one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/flood.h"
#include "suite/rows.h"

#define FIGHT                                                                                      \
    .processors = 64, .producers = 2, .events = 3200000, .inside = true, .burst = 32 * 32,         \
    .engine.batch_max = 1

#define RUN(name, ...)                                                                             \
    static void run_##name(const bench_setup *setup, bench_result *result)                         \
    {                                                                                              \
        load_flood_run(&(load_flood){ FIGHT, __VA_ARGS__ }, setup, result);                        \
    }
#define BACKOFF(base, multiplier, max)                                                             \
    .engine.backoff_base = (base), .engine.backoff_multiplier = (multiplier),                      \
    .engine.backoff_max = (max)

RUN(conservative, BACKOFF(10 * WEIR_US, 1.5, 10 * WEIR_MS)) /* the default */
RUN(aggressive, BACKOFF(100 * WEIR_US, 2.0, 50 * WEIR_MS))
RUN(minimal, BACKOFF(1 * WEIR_US, 1.1, 1 * WEIR_MS))
RUN(pitfall, BACKOFF(10 * WEIR_MS, 5.0, 1 * WEIR_S)) /* sleeps instead of working */
RUN(unfair, .fair = false)
RUN(fair, .fair = true)

#define THREADS                                                                                    \
    {                                                                                              \
        2, 8                                                                                       \
    }

const bench_row load_w13_rows[] = {
    { "w13-backoff", "weir-conservative", "back-off 10 us x 1.5, 10 ms at most", THREADS,
      run_conservative },
    { "w13-backoff", "weir-aggressive", "back-off 100 us x 2, 50 ms at most", THREADS,
      run_aggressive },
    { "w13-backoff", "weir-minimal", "back-off 1 us x 1.1, 1 ms at most", THREADS, run_minimal },
    { "w13-backoff", "weir-pitfall", "back-off 10 ms x 5, 1 s at most", THREADS, run_pitfall },
    { "w13-fair", "weir", "first come is not first served: the default", THREADS, run_unfair },
    { "w13-fair", "weir-fair", "first waiting is first served", THREADS, run_fair },
    { 0 },
};
