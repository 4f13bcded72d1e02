/*
 * init_fails.c - an init that fails while the engine runs: what waited is dead, and counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

SCENARIO(init_fails, "a processor is added while the engine runs, and its init fails")
{
    stage_open(NULL);
    stage_threads(2);
    stage_start();
    actor *a = stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), NULL);
    a->init_answer = WEIR_E_USER;
    if (a->handle.id != 0) {
        const int other = weir_sim_thread_start(post_two, a);
        post_two(a);
        weir_sim_thread_join(other);
    }
    stage_stop(WEIR_FOREVER);
    stage_close();
}
