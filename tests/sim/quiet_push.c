/*
 * quiet_push.c - a thread hands a processor of dispatcher a back and goes on with a long handler on
 * b: whoever sleeps and serves a must hear of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

enum { TURNS = 3 };

static weir_status count(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    stage_cue();
    return WEIR_OK;
}

/* Does not end before the others have had their turns. */
static weir_status wait_for_them(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    while (stage_cues() < TURNS) {
        weir_sim_sleep(WEIR_MS);
    }
    return WEIR_OK;
}

SCENARIO(quiet_push, "what was handed back to a does not wait for a long handler on b",
         .steps_max = 30000)
{
    if (stage_is_short()) {
        return; /* it cannot do without one of its threads */
    }
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES("a", "b"), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES("a"), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = "a"), count);
    actor *b = stage_actor(WEIR_PROCESSOR(.dispatcher = "b"), wait_for_them);
    stage_start();
    for (int i = 0; i < TURNS; i++) {
        stage_post(a);
    }
    stage_post(b);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
