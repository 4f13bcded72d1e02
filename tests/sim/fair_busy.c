/*
 * fair_busy.c - the thread that has waited longest for a fair dispatcher finds work elsewhere: its
 * turn passes on to the next in line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/word.h"

static weir__atomic_u32 served;

static weir_status wait_until_served(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    while (weir__load(&served, seq_cst) == 0) {
        weir__word_wait(&served, 0, WEIR_FOREVER);
    }
    return WEIR_OK;
}

static weir_status serve(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    weir__store(&served, 1, seq_cst);
    weir__word_wake(&served, INT32_MAX);
    return WEIR_OK;
}

static void post_one(void *to)
{
    stage_post(to);
}

SCENARIO(fair_busy, "threads that serve {other, fair} and {fair}; other's handler waits for fair's")
{
    if (stage_is_short()) {
        return; /* it cannot do without one of its threads */
    }
    stage_open(NULL);
    weir__store(&served, 0, seq_cst);
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES("other", "fair"), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES("fair"), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    weir_dispatcher_tune(stage.engine, WEIR_DISPATCHER(.name = "fair", .fair = true), &stage.error);
    actor *busy = stage_actor(WEIR_PROCESSOR(.dispatcher = "other"), wait_until_served);
    actor *waiting = stage_actor(WEIR_PROCESSOR(.dispatcher = "fair"), serve);
    stage_start();
    const int other = weir_sim_thread_start(post_one, waiting);
    stage_post(busy);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
