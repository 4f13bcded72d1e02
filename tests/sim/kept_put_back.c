/*
 * kept_put_back.c - a processor has used up its batch and goes behind others, into the queue or on
 * its thread; then that thread runs another one, which takes long. A thread that sleeps must come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/word.h"

enum { TURNS = 2 };

static actor *waiter;
static weir__atomic_u32 turns; /* of the busy one; a wait word */

static weir_status be_busy(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    if (weir__load(&turns, seq_cst) == 0) {
        actor_post(self, turn, waiter);
    }
    weir__add(&turns, 1, seq_cst);
    weir__word_wake(&turns, INT32_MAX);
    return WEIR_OK;
}

static weir_status wait_for_the_busy_one(actor *self, weir_turn *turn, const weir_event *event)
{
    uint32_t seen;
    (void)self;
    (void)turn;
    (void)event;
    while ((seen = weir__load(&turns, seq_cst)) < TURNS) {
        weir__word_wait(&turns, seen, WEIR_FOREVER);
    }
    return WEIR_OK;
}

SCENARIO(kept_put_back, "what was put back does not wait behind what its thread keeps")
{
    if (stage_is_short()) {
        return; /* it cannot do without one of its threads */
    }
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(2);
    actor *busy = stage_actor(NULL, be_busy);
    actor *other = stage_actor(NULL, NULL);
    waiter = stage_actor(NULL, wait_for_the_busy_one);
    weir__store(&turns, 0, seq_cst);
    stage_start();
    for (int i = 0; i < TURNS; i++) {
        stage_post(busy);
    }
    stage_post(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
