/*
 * fair.c - a fair dispatcher: first waiting is first served, and nobody is forgotten.
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

SCENARIO(fair, "two threads on a fair dispatcher, two processors")
{
    stage_open(NULL);
    stage_threads(2);
    weir_dispatcher_tune(stage.engine, WEIR_DISPATCHER(.name = "", .fair = true), &stage.error);
    actor *a = stage_actor(WEIR_PROCESSOR(.batch_max = 1), NULL);
    actor *b = stage_actor(WEIR_PROCESSOR(.batch_max = 1), NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    post_three(b);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
