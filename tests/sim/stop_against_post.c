/*
 * stop_against_post.c - a stop of the engine while others post: accepted is handled, refused stays
 * refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static void post_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        stage_post(to);
    }
}

SCENARIO(stop_against_post, "a stop of the engine, and two posters")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), NULL);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int first = weir_sim_thread_start(post_three, a);
    const int second = weir_sim_thread_start(post_three, b);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(first);
    weir_sim_thread_join(second);
    stage_close();
}
