/*
 * kept_held_up.c - a handler posts to another processor of its dispatcher and waits until that has
 * had its turn: its own thread keeps the other, and only the monitor can give it away.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/word.h"

static actor *helper;
static weir__atomic_u32 helped; /* a wait word */

enum { WAITS, RETURNS }; /* what the handler does when it has posted */

static weir_status help(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    weir__add(&helped, 1, seq_cst);
    weir__word_wake(&helped, INT32_MAX);
    return WEIR_OK;
}

static weir_status ask_for_help(actor *self, weir_turn *turn, const weir_event *event)
{
    const stage_message *message = event->data;
    const uint32_t before = weir__load(&helped, seq_cst);
    weir_sim_check(actor_post(self, turn, helper) == WEIR_OK, "the helper is refused an event");
    stage_cue();
    while (message->what == WAITS && weir__load(&helped, seq_cst) == before) {
        weir__word_wait(&helped, before, WEIR_FOREVER);
    }
    return WEIR_OK;
}

/* The one who asks. */
static actor *enter(uint32_t threads)
{
    stage_open(NULL);
    stage_threads(threads);
    actor *asker = stage_actor(NULL, ask_for_help);
    helper = stage_actor(NULL, help);
    weir__store(&helped, 0, seq_cst);
    stage_start();
    return asker;
}

static void leave(void)
{
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(kept_held_up, "a handler waits for one that its thread keeps; another thread is idle")
{
    if (stage_is_short()) {
        return; /* it cannot do without one of its threads */
    }
    stage_post(enter(2));
    leave();
}

/* Sixteen ticks and one more, and then some time for the last look of all. */
SCENARIO(kept_held_up_monitor_sleeps, "the same when the monitor has just gone, or goes, to sleep",
         .steps_max = 40000)
{
    if (stage_is_short()) {
        return; /* it cannot do without one of its threads */
    }
    actor *asker = enter(2);
    stage_post_what(asker, RETURNS);
    stage_settle();
    weir_sim_sleep(16500 * WEIR_US + (weir_ns)weir_sim_choose(64) * 100);
    stage_post(asker);
    leave();
}

static void add_thread(void)
{
    weir_thread_add(stage.engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK), &stage.error);
    weir_sim_check(stage.error.status == WEIR_OK, "%s", stage.error.text);
}

SCENARIO(kept_held_up_thread_comes, "the other thread comes when the handler waits already")
{
    if (stage_is_short()) {
        return; /* it cannot do without the thread */
    }
    stage_post(enter(1));
    while (stage_cues() == 0) {
        weir_sim_sleep(WEIR_US);
    }
    add_thread();
    leave();
}

SCENARIO(kept_held_up_thread_may_come, "the other thread comes while the handler posts")
{
    if (stage_is_short()) {
        return; /* it cannot do without the thread */
    }
    stage_post(enter(1));
    add_thread();
    leave();
}
