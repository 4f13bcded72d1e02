/*
 * late_threads.c - threads that join a running engine.
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

SCENARIO(late_threads, "a thread and a dispatcher are added while others post")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES("", "new"), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    weir_sim_check(stage.error.status == WEIR_OK || stage_is_short(), "%s", stage.error.text);
    actor *b = stage_actor(WEIR_PROCESSOR(.dispatcher = "new"), NULL);
    weir_sim_check(b->handle.id != 0 || stage_is_short(), "%s", stage.error.text);
    stage_post(b);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
