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

#define ROWS(design, variant, with)                                                                \
    { "w1", variant, "ping-pong of two processors, " with, { 1, 2 }, w1_##design },                \
        { "w5-external",                                                                           \
          variant,                                                                                 \
          "64 processors, trivial handlers, 2 producers, " with,                                   \
          { 1, 2, 4, 8, 16 },                                                                      \
          w5_##design },                                                                           \
        { "w10", variant, "handlers that sleep 1 ms, " with, { 1, 2, 4, 8, 16 }, w10_##design },   \
        { "w12-100",                                                                               \
          variant,                                                                                 \
          "as many processors as threads, 100 messages each, " with,                               \
          { 2, 4, 8, 16 },                                                                         \
          w12_100_##design },                                                                      \
    {                                                                                              \
        "w12-1000", variant, "as many processors as threads, 1,000 messages each, " with,          \
            { 2, 4, 8, 16 }, w12_1000_##design                                                     \
    }

const bench_row bench_baseline_rows[] = {
    ROWS(blocking_queue, "blocking-queue", "one queue under a mutex and a condition"),
    ROWS(shared_queue, "shared-queue", "one lock-free queue that every thread polls"),
    ROWS(held_lock, "held-lock", "one try-lock that is held during the handler"),
    { NULL, NULL, NULL, { 0 }, NULL },
};
