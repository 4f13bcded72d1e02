/*
 * simulate/scale_load.c - a load's time and data, in the scale model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/scale_load.h"

#include "sync/sim/scale.h"
#include "weir/sim.h"

/* The handler's own data travels with it. */
static void compute(void *own, weir_ns span)
{
    weir_sim_reads(own, sizeof(uint64_t));
    weir_sim_work(span);
    weir_sim_writes(own, sizeof(uint64_t));
}

static void begin_to_watch(void)
{
    weir__scale_watch(true);
}

static void end_to_watch(void)
{
    weir__scale_watch(false);
}

void weir__scale_load(weir__workload *load)
{
    load->compute = compute;
    load->rest = weir_sim_sleep;
    load->window_begins = begin_to_watch;
    load->window_ends = end_to_watch;
}
