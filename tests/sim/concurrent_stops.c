/*
 * concurrent_stops.c - several stops of one engine at once, and of its processors: one answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static actor *first, *second;

static void stop_engine(void *unused)
{
    (void)unused;
    stage_stop(WEIR_FOREVER);
}

static void stop_first(void *unused)
{
    (void)unused;
    stage_stop_actor(first, WEIR_FOREVER);
}

static void set_up(void)
{
    stage_open(NULL);
    stage_threads(1);
    first = stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), NULL);
    second = stage_actor(NULL, NULL);
    stage_start();
    stage_post(first);
    stage_post(second);
}

SCENARIO(concurrent_stops, "two stops of the engine, two of a processor")
{
    set_up();
    const int one = weir_sim_thread_start(stop_engine, NULL);
    const int two = weir_sim_thread_start(stop_first, NULL);
    const int three = weir_sim_thread_start(stop_first, NULL);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    weir_sim_thread_join(three);
    stage_close();
}

SCENARIO(concurrent_processor_stops, "two stops of one processor, one of another, then the engine")
{
    set_up();
    const int one = weir_sim_thread_start(stop_first, NULL);
    const int two = weir_sim_thread_start(stop_first, NULL);
    stage_stop_actor(second, WEIR_FOREVER);
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    stage_stop(WEIR_FOREVER);
    stage_close();
}
