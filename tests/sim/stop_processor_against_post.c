/*
 * stop_processor_against_post.c - a processor is stopped while others post to it, and again when it
 * is gone.
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

SCENARIO(stop_processor_against_post, "a stop of a processor, two posters, a post to what is gone")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), NULL);
    stage_start();
    const int first = weir_sim_thread_start(post_three, a);
    const int second = weir_sim_thread_start(post_three, a);
    if (stage_stop_actor(a, WEIR_FOREVER) == WEIR_OK) {
        weir_sim_check(stage_post(a) == WEIR_UNKNOWN, "a processor that is gone is known");
    }
    weir_sim_thread_join(first);
    weir_sim_thread_join(second);
    stage_stop(WEIR_FOREVER);
    stage_close();
}
