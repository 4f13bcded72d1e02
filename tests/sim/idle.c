/*
 * idle.c - every way to be idle finds its work, and ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static void play(weir_idle idle)
{
    stage_open(NULL);
    for (int i = 0; i < 2; i++) {
        weir_thread_add(
            stage.engine,
            WEIR_THREAD(.idle = idle, .idle_sleep = 2 * WEIR_US, .idle_spin_max = WEIR_US),
            &stage.error);
    }
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    stage_post(a);
    stage_settle();
    stage_post(a);
    stage_post(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(idle_backoff, "two threads that spin, yield and then park")
{
    play(WEIR_IDLE_BACKOFF);
}

SCENARIO(idle_sleep, "two threads that sleep and look again")
{
    play(WEIR_IDLE_SLEEP);
}

SCENARIO(idle_yield, "two threads that yield and look again")
{
    play(WEIR_IDLE_YIELD);
}

SCENARIO(idle_busy_spin, "two threads that never rest")
{
    play(WEIR_IDLE_BUSY_SPIN);
}

SCENARIO(idle_noop, "two threads that never even pause")
{
    play(WEIR_IDLE_NOOP);
}
