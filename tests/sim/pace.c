/*
 * pace.c - a thread that is close behind whoever posts puts its looks off (engine/pace.h): nothing
 * is left lying for that, and nobody else is kept asleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

enum { STREAM = 8 };

/* A processor on so many threads, and one event after the other for it: now and then the thread is
 * as fast as we are, and waits before its next look, or in the middle of a turn. */
static actor *flooded(uint32_t threads, actor **other)
{
    stage_open(NULL);
    stage_threads(threads);
    actor *a = stage_actor(NULL, NULL);
    *other = stage_actor(NULL, NULL);
    stage_start();
    for (int i = 0; i < STREAM; i++) {
        stage_post(a);
    }
    return a;
}

static void end(void)
{
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(pace, "a stream from outside to one processor, on one thread")
{
    actor *other;
    actor *a = flooded(1, &other);
    stage_settle();
    stage_post(a);
    stage_settle();
    end();
}

/* The other thread may sleep when the last event comes. */
SCENARIO(pace_others, "a stream to one processor, then an event to another, on two threads")
{
    actor *other;
    actor *a = flooded(2, &other);
    stage_post(other);
    stage_settle();
    stage_post(other);
    stage_post(a);
    stage_settle();
    end();
}

/* The stop comes while it waits. */
SCENARIO(pace_stop, "a stop right behind a stream")
{
    actor *other;
    (void)flooded(1, &other);
    end();
}
