/*
 * ping_pong.c - two processors that post to each other until the ball is out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_status hit(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    return self->turns < 5 ? actor_post(self, turn, self->own) : WEIR_OK;
}

SCENARIO(ping_pong, "two threads, two processors that post to each other")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, hit);
    actor *b = stage_actor(NULL, hit);
    a->own = b;
    b->own = a;
    stage_start();
    stage_post(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* The stop finds the ball in the air: a handler's post is accepted until nothing is in flight. */
SCENARIO(ping_pong_stop, "a stop in the middle of a ping-pong")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, hit);
    actor *b = stage_actor(NULL, hit);
    a->own = b;
    b->own = a;
    stage_start();
    stage_post(a);
    stage_stop(WEIR_FOREVER);
    stage_close();
}
