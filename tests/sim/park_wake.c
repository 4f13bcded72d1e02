/*
 * park_wake.c - threads that park, and posters that wake them: no wake-up is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

/* Two posters, two processors: a thread that was woken for one may find the other. The stop comes
 * when all is handled, so that it cannot stand in for a wake-up. */
static void play(uint32_t threads)
{
    stage_open(NULL);
    stage_threads(threads);
    actor *a = stage_actor(NULL, NULL);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_two, b);
    post_two(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(park_wake_1, "one parking thread, two posters, two processors")
{
    play(1);
}

SCENARIO(park_wake_2, "two parking threads, two posters, two processors")
{
    play(2);
}

SCENARIO(park_wake_3, "three parking threads, two posters, two processors")
{
    play(3);
}
