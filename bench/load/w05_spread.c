/*
 * load/w05_spread.c - W5: 64 processors whose handler does nothing, two producers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/flood.h"
#include "suite/rows.h"

#define SPREAD .processors = 64, .producers = 2, .events = 6400000
#define THREADS                                                                                    \
    {                                                                                              \
        1, 2, 4, 8, 16                                                                             \
    }

static void run_external(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ SPREAD }, setup, result);
}

static void run_batch(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ SPREAD, .batch = 32 }, setup, result);
}

/* 32 rounds over its targets a turn; a full one ends the turn, and the next begins there. */
static void run_inside(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ SPREAD, .inside = true, .burst = 32 * 32 }, setup, result);
}

/* Several dispatchers: threads keep to their own, or every thread serves all. */
#define RUN_DISPATCHERS(count)                                                                     \
    static void run_partition_##count(const bench_setup *setup, bench_result *result)              \
    {                                                                                              \
        load_flood_run(                                                                            \
            &(load_flood){ SPREAD, .dispatchers = (count), .strategy = WEIR_STRATEGY_PARTITION },  \
            setup, result);                                                                        \
    }                                                                                              \
    static void run_shared_##count(const bench_setup *setup, bench_result *result)                 \
    {                                                                                              \
        load_flood_run(                                                                            \
            &(load_flood){ SPREAD, .dispatchers = (count), .strategy = WEIR_STRATEGY_SHARED },     \
            setup, result);                                                                        \
    }
RUN_DISPATCHERS(2)
RUN_DISPATCHERS(4)
RUN_DISPATCHERS(8)

#define ROWS_DISPATCHERS(count)                                                                    \
    { "w5-dispatchers-" #count, "weir-partition",                                                  \
      "2 outside to 64 processors on " #count " dispatchers, threads keep to theirs", THREADS,     \
      run_partition_##count },                                                                     \
    {                                                                                              \
        "w5-dispatchers-" #count, "weir-shared",                                                   \
            "2 outside to 64 processors on " #count " dispatchers, threads serve all", THREADS,    \
            run_shared_##count                                                                     \
    }

const bench_row load_w05_rows[] = {
    { "w5-external", "weir", "2 threads outside post to 64 processors", THREADS, run_external },
    { "w5-external", "weir-batch", "the same, 32 events a post", THREADS, run_batch },
    { "w5-inside", "weir", "2 processors post to 64", THREADS, run_inside },
    ROWS_DISPATCHERS(2),
    ROWS_DISPATCHERS(4),
    ROWS_DISPATCHERS(8),
    { 0 },
};
