/*
 * broken.c - scenarios that fail, for the tests of what is said about failures (command.py).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/atomic.h"

#include "scenario.h"
#include "sync/mutex.h"

static weir__atomic_u32 number;

static void increment_badly(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        const uint32_t seen = weir__load(&number, seq_cst);
        weir__store(&number, seen + 1, seq_cst);
    }
}

SCENARIO(lost_update, "two threads add to a number, not in one step")
{
    weir__init(&number, 0);
    const int other = weir_sim_thread_start(increment_badly, NULL);
    increment_badly(NULL);
    weir_sim_thread_join(other);
    weir_sim_check(weir__load(&number, seq_cst) == 4, "the number is %u, not 4",
                   weir__load(&number, seq_cst));
}

static weir__mutex left, right;

static void right_then_left(void *unused)
{
    (void)unused;
    weir__mutex_lock(&right);
    weir__mutex_lock(&left);
    weir__mutex_unlock(&left);
    weir__mutex_unlock(&right);
}

SCENARIO(deadlock, "two locks, taken in two orders")
{
    weir__init(&left.state, 0);
    weir__init(&right.state, 0);
    const int other = weir_sim_thread_start(right_then_left, NULL);
    weir__mutex_lock(&left);
    weir__mutex_lock(&right);
    weir__mutex_unlock(&right);
    weir__mutex_unlock(&left);
    weir_sim_thread_join(other);
}

static weir_status crash(actor *self, weir_turn *turn, const weir_event *event)
{
    static int *volatile nowhere; /* tidy-ok: the compiler must not see that it is NULL */
    (void)turn;
    (void)event;
    if (self->turns > 2) {
        *nowhere = 1;
    }
    return WEIR_OK;
}

SCENARIO(crash, "the second turn of a handler crashes")
{
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, crash);
    stage_start();
    stage_post(a);
    stage_post(a);
    stage_settle();
    stage_close();
}

SCENARIO(well, "nothing is wrong with this one")
{
    weir_sim_step();
}

SCENARIO(endless, "it never ends", .steps_max = 10000)
{
    for (;;) {
        weir_sim_step();
    }
}
