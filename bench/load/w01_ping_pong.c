/*
 * load/w01_ping_pong.c - W1: two processors and one event between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/ring.h"
#include "suite/rows.h"

#define PING_PONG .members = 2, .tokens = 1, .hops = 4000000

static void run(const bench_setup *setup, bench_result *result)
{
    load_ring_run(&(load_ring){ PING_PONG }, setup, result);
}

static void run_traced(const bench_setup *setup, bench_result *result)
{
    load_ring_run(&(load_ring){ PING_PONG, .trace = true }, setup, result);
}

const bench_row load_w01_rows[] = {
    { "w1", "weir", "ping-pong of two processors", { 1, 2 }, run },
    { "w1", "weir-trace", "the same, with a trace on", { 1, 2 }, run_traced },
    { 0 },
};
