/*
 * load/w14_flows.c - W14: what routing costs, whether it stays so with many flows, how it grows
 * with workers, and weir's part of the race against other ways to do the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/flows.h"
#include "suite/keys.h"
#include "suite/rows.h"

#define TRIVIAL 4000000u
#define RUN(name, ...)                                                                             \
    static void run_##name(const bench_setup *setup, bench_result *result)                         \
    {                                                                                              \
        load_flows_run(&(load_flows){ __VA_ARGS__ }, setup, result);                               \
    }

/* ---- what it adds to a post ---- */

#define ROUTE .flows = 1000, .events = TRIVIAL
RUN(route, ROUTE)
RUN(route_batch, ROUTE, .batch = LOAD_FLOWS_BATCH)
RUN(direct, ROUTE, .direct = true)
RUN(direct_batch, ROUTE, .direct = true, .batch = LOAD_FLOWS_BATCH)

/* ---- many flows ---- */

#define RUN_FLAT(count)                                                                            \
    RUN(flat_##count, .flows = (count), .events = TRIVIAL)                                         \
    RUN(flat_batch_##count, .flows = (count), .events = TRIVIAL, .batch = LOAD_FLOWS_BATCH)
RUN_FLAT(1000)
RUN_FLAT(10000)
RUN_FLAT(100000)
RUN_FLAT(1000000)

#define ROWS_FLAT(count, text)                                                                     \
    { "w14-flat-" #count, "weir", text " flows, keys in random order", { 1 }, run_flat_##count },  \
    {                                                                                              \
        "w14-flat-" #count, "weir-batch", text " flows, 32 events a call", { 1 },                  \
            run_flat_batch_##count                                                                 \
    }

/* ---- more workers ---- */

#define SCALE_1US .flows = 1000, .events = 1000000, .steps = BENCH_STEPS_US
#define SCALE_10US .flows = 1000, .events = 100000, .steps = 10 * BENCH_STEPS_US
RUN(scale_1us, SCALE_1US, .batch = LOAD_FLOWS_BATCH)
RUN(scale_10us, SCALE_10US, .batch = LOAD_FLOWS_BATCH)

/* ---- the race ---- */

#define RACE ROUTE, .finish = true
#define RACE_1US SCALE_1US, .finish = true
RUN(race, RACE)
RUN(race_batch, RACE, .batch = LOAD_FLOWS_BATCH)
RUN(race_inside, RACE, .inside = true)
RUN(race_1us, RACE_1US)
RUN(race_1us_batch, RACE_1US, .batch = LOAD_FLOWS_BATCH)
RUN(race_1us_inside, RACE_1US, .inside = true)

const bench_row load_w14_rows[] = {
    { "w14-route", "weir", "1 outside submits to 1,000 flows", { 1, 2 }, run_route },
    { "w14-route", "weir-batch", "the same, 32 events a call", { 1, 2 }, run_route_batch },
    { "w14-route", "direct", "the same events posted: a processor a thread", { 1, 2 }, run_direct },
    { "w14-route", "direct-batch", "the same, 32 events a post", { 1, 2 }, run_direct_batch },
    ROWS_FLAT(1000, "1,000"),
    ROWS_FLAT(10000, "10,000"),
    ROWS_FLAT(100000, "100,000"),
    ROWS_FLAT(1000000, "1,000,000"),
    { "w14-scale-10us", "weir-batch", "10 us handlers, 1,000 flows", { 1, 2 }, run_scale_10us },
    { "w14-scale-1us", "weir-batch", "1 us handlers, 1,000 flows", { 1, 2 }, run_scale_1us },
    { "w14-race-0us", "weir", "1,000 keys in order, beside other designs", { 1, 2 }, run_race },
    { "w14-race-0us", "weir-batch", "the same, 32 events a call", { 1, 2 }, run_race_batch },
    { "w14-race-0us", "weir-inside", "the same from a handler", { 1, 2 }, run_race_inside },
    { "w14-race-1us", "weir", "the same with handlers of 1 us", { 1, 2 }, run_race_1us },
    { "w14-race-1us", "weir-batch", "both", { 1, 2 }, run_race_1us_batch },
    { "w14-race-1us", "weir-inside", "the same from a handler", { 1, 2 }, run_race_1us_inside },
    { 0 },
};
