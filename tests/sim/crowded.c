/*
 * crowded.c - more threads than cores: while all that are up have brief turns the monitor lets no
 * more of them up than there are cores. Handlers that wait for another are then one too many.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/word.h"

/* The simulated machine has two cores. */
enum { THREADS = 3, ASKERS = 2 };
/* So many turns in a tick are brief ones. */
enum { HOPS = 30 };

static actor *left, *right, *helper, *askers[ASKERS];
static uint32_t hops;           /* of the one that has the turn */
static weir__atomic_u32 helped; /* a wait word */

static weir_status hop(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    if (++hops < HOPS) {
        weir_sim_check(actor_post(self, turn, self == left ? right : left) == WEIR_OK,
                       "a hop is refused");
    }
    return WEIR_OK;
}

static weir_status help(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    weir__store(&helped, 1, seq_cst);
    weir__word_wake(&helped, INT32_MAX);
    return WEIR_OK;
}

static weir_status wait_for_help(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    while (weir__load(&helped, seq_cst) == 0) {
        weir__word_wait(&helped, 0, WEIR_FOREVER);
    }
    return WEIR_OK;
}

/* Brief turns, on a thread that keeps them: the monitor is up, and sees them. Then, after `pause`,
 * handlers that wait on as many threads as there are cores, and one that they wait for. */
static void play(weir_ns pause)
{
    stage_open(NULL);
    stage_threads(THREADS);
    left = stage_actor(NULL, hop);
    right = stage_actor(NULL, hop);
    helper = stage_actor(NULL, help);
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = stage_actor(NULL, wait_for_help);
    }
    hops = 0;
    weir__store(&helped, 0, seq_cst);
    stage_start();
    stage_post(left);
    stage_settle();
    weir_sim_sleep(pause);
    for (int i = 0; i < ASKERS; i++) {
        stage_post(askers[i]);
    }
    stage_post(helper);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(crowded, "as many threads as cores wait for a third one, which a bound keeps asleep",
         .steps_max = 60000)
{
    if (stage_is_short()) {
        return; /* it cannot do without one of its threads */
    }
    play((weir_ns)weir_sim_choose(16) * 50 * WEIR_US);
}

/* Its last tick, and the lift of all bounds, is 33 ticks after it has got up. */
SCENARIO(crowded_monitor_sleeps, "the same when the monitor has just gone, or goes, to sleep",
         .steps_max = 60000)
{
    if (stage_is_short()) {
        return; /* it cannot do without one of its threads */
    }
    play(16300 * WEIR_US + (weir_ns)weir_sim_choose(512) * WEIR_US);
}
