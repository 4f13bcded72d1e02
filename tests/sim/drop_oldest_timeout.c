/*
 * drop_oldest_timeout.c - a stop runs out of time while posters drop the oldest events: each is
 * dropped or left, never both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_status dawdle(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    weir_sim_sleep(WEIR_US);
    return WEIR_OK;
}

static void post_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        stage_post(to);
    }
}

SCENARIO(drop_oldest_timeout, "a stop runs out of time at a mailbox that drops the oldest")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(WEIR_PROCESSOR(.mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST),
                           dawdle);
    stage_start();
    const int first = weir_sim_thread_start(post_three, a);
    const int second = weir_sim_thread_start(post_three, a);
    stage_stop_actor(a, WEIR_US);
    weir_sim_thread_join(first);
    weir_sim_thread_join(second);
    stage_stop(WEIR_FOREVER);
    stage_close();
}
