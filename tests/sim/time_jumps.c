/*
 * time_jumps.c - the clock leaps while everything that has a timeout waits.
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

SCENARIO(time_jumps, "timeouts end early: blocked posts, naps, back-off, a stop",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS)
{
    stage_open(NULL);
    weir_thread_add(stage.engine, WEIR_THREAD(.idle = WEIR_IDLE_SLEEP), &stage.error);
    weir_thread_add(stage.engine, WEIR_THREAD(.idle = WEIR_IDLE_BACKOFF), &stage.error);
    actor *a = stage_actor(
        WEIR_PROCESSOR(.mailbox_max = 1, .overflow = WEIR_OVERFLOW_BLOCK, .block_max = WEIR_MS),
        NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    post_three(a);
    stage_stop_actor(a, WEIR_S);
    stage_stop(WEIR_S);
    weir_sim_thread_join(other);
    stage_close();
}
