/*
 * registration.c - processors come and go while others look for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static void come_and_go(void *name)
{
    for (int i = 0; i < 2; i++) {
        actor *a = stage_actor(
            WEIR_PROCESSOR(.name = name, .init = actor_init, .destroy = actor_destroy), NULL);
        weir_sim_check(a->handle.id != 0 || stage_is_short(), "%s", stage.error.text);
        stage_post(a);
        const weir_processor found = weir_processor_find(stage.engine, name);
        weir_sim_check(found.id == a->handle.id, "%s is not found", (const char *)name);
        while (stage_stop_actor(a, WEIR_FOREVER) < 0) {
            /* no memory: again */
        }
        weir_sim_check(weir_processor_find(stage.engine, name).id == 0, "%s is still found",
                       (const char *)name);
    }
}

SCENARIO(registration, "two threads add, find, post to and stop processors")
{
    static char one[] = "one";
    static char two[] = "two";
    stage_open(NULL);
    stage_threads(1);
    stage_start();
    const int other = weir_sim_thread_start(come_and_go, one);
    come_and_go(two);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}
