/*
 * slot_reuse.c - a post that is stuck with a stale handle while its slot gets a new tenant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#define LIMBO 31 /* slots that wait for reuse before the play begins: a barrier is worth it at 32 */

static weir_status nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

SCENARIO(slot_reuse, "a stalled post to a processor whose slot is given to another")
{
    weir_processor gone[LIMBO];
    stage_open(WEIR_ENGINE(.processors_max = 64));
    stage_threads(1);
    actor *old = stage_actor(NULL, NULL);
    for (int i = 0; i < LIMBO; i++) {
        gone[i] =
            weir_processor_add(stage.engine, WEIR_PROCESSOR(.handler = nothing), &stage.error);
    }
    stage_start();
    weir_sim_quiet(true);
    for (int i = 0; i < LIMBO; i++) {
        weir_processor_stop(stage.engine, gone[i], WEIR_FOREVER, NULL);
    }
    weir_sim_quiet(false);
    const int stalled = weir_sim_thread_start(post_two, old);
    stage_stop_actor(old, WEIR_FOREVER);
    for (int i = 0; i < 3; i++) { /* the first begins the grace period, the next may end it */
        actor *tenant = stage_actor(NULL, NULL);
        if (tenant->handle.id != 0) {
            stage_post(tenant);
        }
    }
    weir_sim_thread_join(stalled);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
