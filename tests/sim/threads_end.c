/*
 * threads_end.c - threads of the application come and go: each leaves its counters and caches to
 * the next, all of it or nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

SCENARIO(threads_end, "a thread ends while the next begins, and takes over what it leaves")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int first = weir_sim_thread_start(post_two, a);
    const int second = weir_sim_thread_start(post_two, a);
    const int third = weir_sim_thread_start(post_two, a);
    weir_sim_thread_join(first);
    weir_sim_thread_join(second);
    weir_sim_thread_join(third);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
