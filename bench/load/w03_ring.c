/*
 * load/w03_ring.c - W3: a ring of 1,000 processors; one token, and 100 at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/ring.h"
#include "suite/rows.h"

static void run_1(const bench_setup *setup, bench_result *result)
{
    load_ring_run(&(load_ring){ .members = 1000, .tokens = 1, .hops = 5000000 }, setup, result);
}

static void run_100(const bench_setup *setup, bench_result *result)
{
    load_ring_run(&(load_ring){ .members = 1000, .tokens = 100, .hops = 5000000 }, setup, result);
}

const bench_row load_w03_rows[] = {
    { "w3-1", "weir", "a ring of 1,000 processors, one token", { 1, 2 }, run_1 },
    { "w3-100", "weir", "a ring of 1,000 processors, 100 tokens", { 1, 2 }, run_100 },
    { 0 },
};
