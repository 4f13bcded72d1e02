/*
 * baselines/rows.c - the rows of the three older designs: each workload with each of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "baselines/loads.h"
#include "suite/rows.h"

/* A row has no argument: a function for each design and workload. */
#define RUNS(design)                                                                               \
    static void w1_##design(const bench_setup *setup, bench_result *result)                        \
    {                                                                                              \
        baseline_ping_pong(&baseline_##design, setup, result);                                     \
    }                                                                                              \
    static void w5_##design(const bench_setup *setup, bench_result *result)                        \
    {                                                                                              \
        baseline_spread(&baseline_##design, setup, result);                                        \
    }                                                                                              \
    static void w10_##design(const bench_setup *setup, bench_result *result)                       \
    {                                                                                              \
        baseline_sleepers(&baseline_##design, setup, result);                                      \
    }                                                                                              \
    static void w12_100_##design(const bench_setup *setup, bench_result *result)                   \
    {                                                                                              \
        baseline_collapse(&baseline_##design, 100, setup, result);                                 \
    }                                                                                              \
    static void w12_1000_##design(const bench_setup *setup, bench_result *result)                  \
    {                                                                                              \
        baseline_collapse(&baseline_##design, 1000, setup, result);                                \
    }

RUNS(blocking_queue)
RUNS(shared_queue)
RUNS(held_lock)

#define ROWS(design, variant, how)                                                                 \
    { "w1", variant, how, { 1, 2 }, w1_##design },                                                 \
        { "w5-external", variant, how, { 1, 2, 4, 8, 16 }, w5_##design },                          \
        { "w10", variant, how, { 1, 2, 4, 8, 16 }, w10_##design },                                 \
        { "w12-100", variant, how, { 2, 4, 8, 16 }, w12_100_##design },                            \
    {                                                                                              \
        "w12-1000", variant, how, { 2, 4, 8, 16 }, w12_1000_##design                               \
    }

const bench_row bench_baseline_rows[] = {
    ROWS(blocking_queue, "blocking-queue", "the same by one queue under a mutex"),
    ROWS(shared_queue, "shared-queue", "the same by one lock-free queue that all threads poll"),
    ROWS(held_lock, "held-lock", "the same by one try-lock that is held during the handler"),
    { NULL, NULL, NULL, { 0 }, NULL },
};
