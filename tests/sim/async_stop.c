/*
 * async_stop.c - stops that are begun and not waited for, by outsiders and by handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_status stop_itself(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    stage_stop_actor_async(self, WEIR_FOREVER);
    return WEIR_OK;
}

static weir_status stop_all(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    while (stage_stop_async(WEIR_FOREVER) < 0) {
        /* no memory: again */
    }
    return WEIR_OK;
}

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

SCENARIO(async_stop, "a handler stops its own processor, another the engine; others post")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a =
        stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), stop_itself);
    actor *b = stage_actor(NULL, stop_all);
    stage_start();
    const int other = weir_sim_thread_start(post_two, a);
    if (stage_post(b) == WEIR_OK) {
        stage_wait(WEIR_FOREVER);
    }
    weir_sim_thread_join(other);
    stage_close();
}

SCENARIO(async_stop_outside, "a stop of the engine that is not waited for, then posts")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    stage_post(a);
    if (stage_stop_async(WEIR_FOREVER) == WEIR_OK) {
        stage_post(a); /* from the call on, posts from outside are refused */
        stage_wait(WEIR_FOREVER);
    }
    stage_close();
}
