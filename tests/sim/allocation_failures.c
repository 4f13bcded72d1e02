/*
 * allocation_failures.c - memory runs out anywhere, the set-up included: an answer each time, never
 * a crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_status pass_on(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    const weir_status status = self->own != NULL ? actor_post(self, turn, self->own) : WEIR_OK;
    return status == WEIR_E_NOMEM ? WEIR_OK : status;
}

SCENARIO(allocation_failures, "memory runs out now and then, from the first call on",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_ALLOCATIONS)
{
    weir_error error = WEIR_ERROR_INIT;
    stage_open(NULL);
    weir_sim_quiet(false); /* only the engine's memory itself is safe */
    weir_thread_add(stage.engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK), &error);
    actor *a = stage_actor(
        WEIR_PROCESSOR(.name = "a", .init = actor_init, .destroy = actor_destroy), pass_on);
    stage.error = (weir_error)WEIR_ERROR_INIT;
    actor *b =
        stage_actor(WEIR_PROCESSOR(.mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST), NULL);
    error = (weir_error)WEIR_ERROR_INIT;
    a->own = a->handle.id != 0 && b->handle.id != 0 ? b : NULL;
    if (weir_engine_start(stage.engine, &error) == WEIR_OK) {
        history_starts();
    }
    for (int i = 0; i < 3 && a->handle.id != 0; i++) {
        stage_post(a);
    }
    if (a->handle.id != 0) {
        stage_stop_actor(a, WEIR_FOREVER);
    }
    stage_stop(WEIR_FOREVER);
    stage_close();
}
