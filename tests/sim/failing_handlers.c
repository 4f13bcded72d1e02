/*
 * failing_handlers.c - answers of handlers: failed is dead, not mine is handled, both are counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_status answer(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)event;
    switch (weir_sim_choose(3)) {
    case 0:
        return WEIR_UNHANDLED;
    case 1:
        return weir_turn_fail(turn, WEIR_E_USER - 7, "on purpose");
    default:
        return WEIR_OK;
    }
}

SCENARIO(failing_handlers, "handlers fail, and do not know; a processor is stopped meanwhile")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, answer);
    actor *b = stage_actor(NULL, answer);
    stage_start();
    for (int i = 0; i < 3; i++) {
        stage_post(a);
        stage_post(b);
    }
    stage_stop_actor(a, WEIR_FOREVER);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
