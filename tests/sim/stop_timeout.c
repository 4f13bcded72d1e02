/*
 * stop_timeout.c - stops that run out of time: what is left is counted, and never handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_status dawdle(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    weir_sim_sleep((weir_ns)(1 + weir_sim_choose(3)) * WEIR_US);
    return WEIR_OK;
}

static void post_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        stage_post(to);
    }
}

SCENARIO(stop_timeout, "a stop of the engine runs out of time while a handler dawdles",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), dawdle);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, b);
    post_three(a);
    stage_stop(2 * WEIR_US);
    weir_sim_thread_join(other);
    stage_close();
}

SCENARIO(stop_processor_timeout, "a stop of one processor runs out of time; the other goes on",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), dawdle);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_three, a);
    post_three(b);
    stage_stop_actor(a, 2 * WEIR_US);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static weir_status hit(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    const weir_status status = actor_post(self, turn, self->own);
    return status == WEIR_STOPPING ? WEIR_OK : status;
}

SCENARIO(stop_endless, "an endless ping-pong ends at the timeout, as left",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS)
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, hit);
    actor *b = stage_actor(NULL, hit);
    a->own = b;
    b->own = a;
    stage_start();
    stage_post(a);
    weir_sim_check(stage_stop(5 * WEIR_US) == WEIR_TIMEOUT || stage_is_short(),
                   "an endless game was drained");
    stage_close();
}
