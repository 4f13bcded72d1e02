/*
 * families.c - a parent stops its children first, and hears what they still have to say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static actor *parent, *child[2];

static weir_status tell_parent(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    const weir_status status = actor_post(self, turn, parent);
    return status == WEIR_STOPPING || status == WEIR_UNKNOWN ? WEIR_OK : status;
}

static void stop_first_child(void *unused)
{
    (void)unused;
    stage_stop_actor(child[0], WEIR_FOREVER);
}

static void set_up(void)
{
    stage_open(NULL);
    stage_threads(2);
    parent = stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), NULL);
    for (int i = 0; i < 2; i++) {
        child[i] = stage_actor(
            WEIR_PROCESSOR(.parent = parent->handle, .init = actor_init, .destroy = actor_destroy),
            tell_parent);
    }
    stage_start();
    stage_post(child[0]);
    stage_post(child[1]);
    stage_post(parent);
}

SCENARIO(families, "a parent is stopped, then the engine")
{
    set_up();
    stage_stop_actor(parent, WEIR_FOREVER);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(families_two_stops, "a parent and its child are stopped at once")
{
    set_up();
    const int other = weir_sim_thread_start(stop_first_child, NULL);
    stage_stop_actor(parent, WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(families_engine_stop, "the engine is stopped, families and all")
{
    set_up();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
