/*
 * counters.c - numbers are read while they move, and never by disturbing anybody.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static actor *a;

static void look(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        weir_counters c = WEIR_COUNTERS_INIT;
        weir_dispatcher_counters d = WEIR_DISPATCHER_COUNTERS_INIT;
        weir_engine_counters(stage.engine, &c);
        weir_sim_check(c.handled <= 3, "%llu handled of 3", (unsigned long long)c.handled);
        weir_processor_counters(stage.engine, a->handle, &c);
        weir_sim_check(c.depth <= 4, "a depth of %llu", (unsigned long long)c.depth);
        weir_dispatcher_counters_get(stage.engine, "", &d);
    }
}

SCENARIO(counters, "one thread posts, one works, one reads all counters")
{
    stage_open(NULL);
    stage_threads(1);
    a = stage_actor(NULL, NULL);
    stage_start();
    const int reader = weir_sim_thread_start(look, NULL);
    for (int i = 0; i < 3; i++) {
        stage_post(a);
    }
    weir_sim_thread_join(reader);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
