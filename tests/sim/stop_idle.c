/*
 * stop_idle.c - stops of processors that may stand idle at that moment: whoever stops one of those
 * ends it on the spot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static actor *first, *second;

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

static void stop_first(void *unused)
{
    (void)unused;
    stage_stop_actor(first, WEIR_FOREVER);
}

static void set_up(uint32_t threads)
{
    stage_open(NULL);
    stage_threads(threads);
    first = stage_actor(NULL, NULL);
    second = stage_actor(WEIR_PROCESSOR(.name = "second"), NULL);
    stage_start();
}

SCENARIO(stop_idle_against_post,
         "idle or not: it is stopped while others post, and gone afterwards")
{
    set_up(2);
    const int poster = weir_sim_thread_start(post_two, first);
    if (stage_post(first) == WEIR_OK && stage_stop_actor(first, WEIR_FOREVER) == WEIR_OK) {
        weir_sim_check(stage_post(first) == WEIR_UNKNOWN, "a processor that is gone is known");
    }
    weir_sim_thread_join(poster);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void post_one(void *to)
{
    stage_post(to);
}

SCENARIO(stop_idle_against_the_first_post, "the first event comes as an idle one is stopped")
{
    stage_open(NULL);
    stage_threads(1);
    first = stage_actor(NULL, NULL);
    stage_start();
    const int poster = weir_sim_thread_start(post_one, first);
    stage_stop_actor(first, WEIR_FOREVER);
    weir_sim_thread_join(poster);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(stop_idle_twice, "two stops of one that may stand idle, an asynchronous one of another")
{
    set_up(1);
    stage_post(first);
    stage_post(second);
    const int other = weir_sim_thread_start(stop_first, NULL);
    stage_stop_actor_async(second, WEIR_FOREVER);
    stage_stop_actor(first, WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* A handler that is not stopped itself stops another, which it has just posted to. */
static weir_status post_and_stop(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    actor_post(self, turn, first);
    stage_stop_actor_async(first, WEIR_FOREVER);
    return WEIR_OK;
}

SCENARIO(stop_idle_by_a_handler, "a handler stops one that stands idle, or has its event waiting")
{
    stage_open(NULL);
    stage_threads(2);
    first = stage_actor(NULL, NULL);
    second = stage_actor(NULL, post_and_stop);
    stage_start();
    stage_post(first);
    const int poster = weir_sim_thread_start(post_two, first);
    stage_post(second);
    weir_sim_thread_join(poster);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void stop_engine(void *unused)
{
    (void)unused;
    stage_stop(WEIR_FOREVER);
}

SCENARIO(stop_idle_as_the_engine_stops, "one ends on the spot while its engine is being stopped")
{
    set_up(1);
    stage_post(first);
    const int engine = weir_sim_thread_start(stop_engine, NULL);
    stage_stop_actor(first, WEIR_FOREVER);
    stage_stop_actor_async(second, WEIR_FOREVER);
    weir_sim_thread_join(engine);
    stage_close();
}
