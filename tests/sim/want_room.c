/*
 * want_room.c - a sender that was refused asks for room, and is told.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static actor *target;

/* Sends until it is refused, asks for room, goes on when there is some. */
static weir_status push(actor *self, weir_turn *turn, const weir_event *event)
{
    const weir_room *room = weir_event_as(event, &weir_room_type);
    if (room != NULL && room->gone) {
        return WEIR_OK;
    }
    while (self->turns < 12) {
        const weir_status status = actor_post(self, turn, target);
        if (status == WEIR_FULL) {
            const weir_status asked = actor_want_room(self, turn, target);
            return asked == WEIR_OK || asked == WEIR_STOPPING || asked == WEIR_UNKNOWN ? WEIR_OK
                                                                                       : asked;
        }
        if (status != WEIR_OK) {
            return WEIR_OK; /* it stops */
        }
        self->turns += 2;
    }
    return WEIR_OK;
}

/* On dispatchers of their own: else the thread that runs the pusher would keep the target, and the
 * two would hardly ever run at once. */
static actor *set_up(void)
{
    stage_open(NULL);
    for (int i = 0; i < 2; i++) {
        weir_thread_add(
            stage.engine,
            WEIR_THREAD(.dispatchers = WEIR_NAMES("", "target"), .idle = WEIR_IDLE_PARK),
            &stage.error);
    }
    target = stage_actor(WEIR_PROCESSOR(.dispatcher = "target", .mailbox_max = 2), NULL);
    actor *pusher = stage_actor(NULL, push);
    stage_start();
    return pusher;
}

SCENARIO(want_room, "a processor fills another, asks for room and goes on")
{
    actor *pusher = set_up();
    stage_post(pusher);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(want_room_gone, "the target stops while somebody waits for its room")
{
    actor *pusher = set_up();
    stage_post(pusher);
    stage_stop_actor(target, WEIR_FOREVER);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(want_room_asker_gone, "the asker stops before the room comes")
{
    actor *pusher = set_up();
    stage_post(pusher);
    stage_stop_actor(pusher, WEIR_FOREVER);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* Whether there is room or not, whether the target is there or not. */
static weir_status only_ask(actor *self, weir_turn *turn, const weir_event *event)
{
    if (weir_event_as(event, &weir_room_type) == NULL) {
        (void)actor_want_room(self, turn, target);
    }
    return WEIR_OK;
}

SCENARIO(want_room_ending, "who asks a target that is just ending is told, or is answered")
{
    stage_open(NULL);
    stage_threads(2);
    target = stage_actor(NULL, NULL);
    actor *asker = stage_actor(NULL, only_ask);
    stage_start();
    stage_post(asker);
    stage_stop_actor(target, WEIR_FOREVER);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
