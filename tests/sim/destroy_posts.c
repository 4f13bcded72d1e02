/*
 * destroy_posts.c - a destroy hook that posts while the engine stops: accepted and handled, or
 * refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static actor *survivor;

static void say_goodbye(void *state, weir_status reason)
{
    actor_destroy(state, reason);
    stage_post(survivor);
}

static void stop_actor(void *which)
{
    stage_stop_actor(which, WEIR_FOREVER);
}

SCENARIO(destroy_posts, "destroy hooks post: one of a stop of its own, one of the engine's")
{
    stage_open(NULL);
    stage_threads(2);
    survivor = stage_actor(NULL, NULL);
    actor *early = stage_actor(WEIR_PROCESSOR(.destroy = say_goodbye), NULL);
    stage_actor(WEIR_PROCESSOR(.destroy = say_goodbye), NULL);
    stage_start();
    const int other = weir_sim_thread_start(stop_actor, early);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_close();
}
