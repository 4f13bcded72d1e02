/*
 * load/w02_fan_in.c - W2: four producers, one processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/flood.h"
#include "suite/rows.h"

#define FAN_IN .processors = 1, .producers = 4, .events = 10000000

static void run_external(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ FAN_IN }, setup, result);
}

static void run_batch(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ FAN_IN, .batch = 32 }, setup, result);
}

/* As many places as the largest ring that the Disruptor is tried with. */
#define LARGE .engine = { .mailbox_max = 65536 }

static void run_large(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ FAN_IN, LARGE }, setup, result);
}

static void run_large_batch(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ FAN_IN, LARGE, .batch = 32 }, setup, result);
}

static void run_block(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ FAN_IN, .overflow = WEIR_OVERFLOW_BLOCK }, setup, result);
}

static void run_inside(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ FAN_IN, .inside = true, .burst = 1000, .wants_room = true },
                   setup, result);
}

static void run_measured(const bench_setup *setup, bench_result *result)
{
    load_flood_run(
        &(load_flood){ FAN_IN, .inside = true, .burst = 1000, .wants_room = true, .latency = true },
        setup, result);
}

static void run_traced(const bench_setup *setup, bench_result *result)
{
    load_flood_run(
        &(load_flood){ FAN_IN, .inside = true, .burst = 1000, .wants_room = true, .trace = true },
        setup, result);
}

static void run_unmeasured(const bench_setup *setup, bench_result *result)
{
    load_flood_run(&(load_flood){ FAN_IN, .inside = true, .burst = 1000, .wants_room = true,
                                  .engine = { .latency_every = UINT32_MAX } },
                   setup, result);
}

const bench_row load_w02_rows[] = {
    { "w2-external", "weir", "4 threads outside post to one processor", { 1, 2 }, run_external },
    { "w2-external", "weir-64k", "the same, with room for 65,536", { 1, 2 }, run_large },
    { "w2-external", "weir-batch", "32 events a post", { 1, 2 }, run_batch },
    { "w2-external", "weir-batch-64k", "and room for 65,536", { 1, 2 }, run_large_batch },
    { "w2-external", "weir-block", "posts wait at a full mailbox", { 1, 2 }, run_block },
    { "w2-inside", "weir", "4 processors post to one", { 1, 2 }, run_inside },
    { "w2-inside", "weir-latency", "the same, every processor measured", { 1, 2 }, run_measured },
    { "w2-inside", "weir-unmeasured", "the same, no event measured", { 1, 2 }, run_unmeasured },
    { "w2-inside", "weir-trace", "the same, with a trace on", { 1, 2 }, run_traced },
    { 0 },
};
