/*
 * kept_stolen.c - a handler makes more ready than its thread can run at once: others of the
 * dispatcher come and take of it. Nothing is lost, doubled or overtaken; and as nobody takes long,
 * nobody has to wait for the monitor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/sim/core.h"

enum { LEAVES = 5 };

static actor *leaves[LEAVES];
static actor *sink;

/* All of them, twice: the second finds some that are kept, some that run, some that have gone idle.
 */
static weir_status spread(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    for (int i = 0; i < 2 * LEAVES; i++) {
        actor_post(self, turn, leaves[i % LEAVES]);
    }
    return WEIR_OK;
}

static weir_status pass_on(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    actor_post(self, turn, sink);
    return WEIR_OK;
}

/* What is kept is its owner's to run, or a thief's: no handler here is long, so the clock stands
 * (but for the steps themselves) until all is done. */
static void settle_at_once(void)
{
    const weir_ns begin = weir_sim_now();
    stage_settle();
    weir_sim_check((weir__sim.faults & WEIR_SIM_TIME_JUMPS) != 0 ||
                       weir_sim_now() - begin < WEIR_MS,
                   "what was kept had to wait for the monitor");
}

static actor *enter(uint32_t threads, uint32_t batch_max, actor_part *part)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = batch_max));
    stage_threads(threads);
    actor *hub = stage_actor(NULL, spread);
    for (int i = 0; i < LEAVES; i++) {
        leaves[i] = stage_actor(NULL, part);
    }
    sink = stage_actor(NULL, NULL);
    stage_start();
    return hub;
}

SCENARIO(kept_stolen, "three threads, a handler that makes five others ready", .steps_max = 30000)
{
    actor *hub = enter(3, 0, NULL);
    stage_post(hub);
    settle_at_once();
    stage_post(hub);
    settle_at_once();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(kept_stolen_from_each_other, "the same with turns of one event, and all send on to one",
         .steps_max = 40000)
{
    actor *hub = enter(3, 1, pass_on);
    stage_post(hub);
    settle_at_once();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(kept_stolen_during_a_stop, "the engine is stopped while lists are full",
         .steps_max = 40000)
{
    actor *hub = enter(2, 1, pass_on);
    stage_post(hub);
    stage_post(hub);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(kept_left_by_a_stop, "a stop gives up while lists are full", .steps_max = 40000)
{
    actor *hub = enter(2, 1, pass_on);
    stage_post(hub);
    stage_post(hub);
    stage_stop(weir_sim_choose(3) * WEIR_US);
    stage_close();
}

SCENARIO(kept_and_stopped, "processors that are kept are stopped", .steps_max = 40000)
{
    actor *hub = enter(2, 1, NULL);
    stage_post(hub);
    stage_stop_actor(leaves[1], WEIR_FOREVER);
    stage_stop_actor(leaves[4], 0);
    stage_stop(WEIR_FOREVER);
    stage_close();
}
