/*
 * pace.c - a thread that is close behind whoever posts puts its looks off (engine/pace.h): nothing
 * is left lying for that, and nobody else is kept asleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

enum { STREAM = 8 };

/* One event after the other: now and then the thread is as fast as we are. */
SCENARIO(pace, "a stream from outside to one processor, on one thread")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    for (int i = 0; i < STREAM; i++) {
        stage_post(a);
    }
    stage_settle();
    stage_post(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static weir_status linger(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    stage_cue();
    return WEIR_OK;
}

/* The first thread waits before it looks again, or in the middle of a turn; the other one may sleep
 * when the last event comes, which goes to another processor. */
SCENARIO(pace_others, "a stream to one processor, then an event to another, on two threads")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, linger);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    for (int i = 0; i < STREAM; i++) {
        stage_post(a);
    }
    stage_post(b);
    stage_settle();
    stage_post(b);
    stage_post(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* The stop comes while it waits. */
SCENARIO(pace_stop, "a stop right behind a stream")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    for (int i = 0; i < STREAM; i++) {
        stage_post(a);
    }
    stage_stop(WEIR_FOREVER);
    stage_close();
}
