/*
 * load/w01_ping_pong.c - W1: two processors and one event between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/ring.h"
#include "suite/rows.h"

static void run(const bench_setup *setup, bench_result *result)
{
    load_ring(setup, result, 2, 1, 4000000);
}

const bench_row load_w01_rows[] = {
    { "w1", "weir", "ping-pong of two processors", { 1, 2 }, run },
    { 0 },
};
