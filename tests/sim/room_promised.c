/*
 * room_promised.c - a place that is promised to a room event is taken: the asker's own mailbox is
 * small, and others fill it while it waits for room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static actor *target;

/* Asks once, at its first event: its target's only place is taken by then. */
static weir_status ask_for_room(actor *self, weir_turn *turn, const weir_event *event)
{
    if (weir_event_as(event, &weir_room_type) != NULL || self->own == NULL) {
        return WEIR_OK;
    }
    self->own = NULL;
    const weir_status asked = actor_want_room(self, turn, target);
    return asked == WEIR_FULL ? WEIR_OK : asked;
}

static void post_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        stage_post(to);
    }
}

SCENARIO(room_promised, "an asker with a mailbox of two places, one of them promised")
{
    stage_open(NULL);
    stage_threads(2);
    target = stage_actor(WEIR_PROCESSOR(.mailbox_max = 1), NULL);
    actor *asker = stage_actor(WEIR_PROCESSOR(.mailbox_max = 2), ask_for_room);
    asker->own = target;
    stage_start();
    const int other = weir_sim_thread_start(post_three, asker);
    post_three(target);
    post_three(asker);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
