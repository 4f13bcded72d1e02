/*
 * dedicated.c - processors with a thread of their own, from the start and while it runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_status pass_on(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    return actor_post(self, turn, self->own);
}

SCENARIO(dedicated, "a dedicated processor passes on to another; one is stopped while it runs")
{
    stage_open(NULL);
    stage_threads(1);
    actor *last = stage_actor(WEIR_PROCESSOR(.dedicated = true), NULL);
    actor *first = stage_actor(
        WEIR_PROCESSOR(.dedicated = true, .init = actor_init, .destroy = actor_destroy), pass_on);
    first->own = last;
    stage_start();
    stage_post(first);
    stage_post(first);
    stage_settle();
    stage_stop_actor(first, WEIR_FOREVER);
    actor *late = stage_actor(
        WEIR_PROCESSOR(.dedicated = true, .init = actor_init, .destroy = actor_destroy), NULL);
    stage_post(late);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
