/*
 * flow_order.c - two submit to flows on two workers: each key in the order of each of them, one at
 * a time (S-51), with numbers and bytes for keys, one by one and many in a call, from outside and
 * from handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

static void submit_to_two(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit(2);
    (void)flows_submit(1);
    (void)flows_submit(2);
}

static void play(void (*one)(void *), void (*other)(void *))
{
    stage_start();
    const int thread = weir_sim_thread_start(other, NULL);
    one(NULL);
    weir_sim_thread_join(thread);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_order, "two submit to two flows on two workers")
{
    flows_open(2, WEIR_ROUTER(.workers = 2), NULL);
    play(submit_to_two, submit_to_two);
}

SCENARIO(flow_order_one_worker, "two submit to two flows on one worker, with two threads for it")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .batch_max = 1), NULL);
    play(submit_to_two, submit_to_two);
}

static void begin_and_end_two(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit_last(1);
    (void)flows_submit(2);
    (void)flows_finish(1);
}

SCENARIO(flow_order_bytes, "keys of bytes, that are kept and freed, by two at once")
{
    flows_open(2, WEIR_ROUTER(.keys = WEIR_FLOW_KEYS_BYTES), NULL);
    play(begin_and_end_two, begin_and_end_two);
}

static void submit_batch(void *unused)
{
    (void)unused;
    flows_submit_batch(1, 4);
}

SCENARIO(flow_batch, "many in one call, against single ones")
{
    flows_open(2, WEIR_ROUTER(.workers = 2), NULL);
    play(submit_batch, submit_to_two);
}

static void submit_some_loose(void *unused)
{
    (void)unused;
    (void)flows_submit(0);
    (void)flows_submit(1);
    (void)flows_submit(0);
}

SCENARIO(flow_loose, "events without a flow beside those of one")
{
    flows_open(2, WEIR_ROUTER(.workers = 2, .worker_max = 1, .ingress_max = 1), NULL);
    play(submit_some_loose, submit_some_loose);
}

/* ---- from handlers ---- */

#define PASS_ON 1u
#define LAST 2u

static weir_status pass_on(uint64_t key, weir_turn *turn, uint32_t what)
{
    if ((what & PASS_ON) != 0) {
        (void)flow_submit(key, turn, key, 0);
        (void)flow_submit(key, turn, 3 - key, 0);
        (void)flow_submit(key, turn, key, LAST);
    }
    if ((what & LAST) != 0) {
        flow_finish(key, turn);
    }
    return WEIR_OK;
}

static void submit_to_pass_on(void *key)
{
    (void)flows_submit_what(key != NULL ? 2 : 1, PASS_ON, 0);
    (void)flows_submit_what(key != NULL ? 2 : 1, 0, 0);
}

SCENARIO(flow_inside, "handlers submit to their own flow and to another, that is full: no deadlock")
{
    static int two;
    flows_open(2, WEIR_ROUTER(.workers = 2, .worker_max = 1, .ingress_max = 1), pass_on);
    stage_start();
    const int other = weir_sim_thread_start(submit_to_pass_on, &two);
    submit_to_pass_on(NULL);
    weir_sim_thread_join(other);
    flows_close(WEIR_FOREVER);
}

/* ---- refusals ---- */

SCENARIO(flow_init_fails, "an init that fails makes its event dead, and the next one tries again")
{
    flows_open(2, WEIR_ROUTER(.workers = 2), NULL);
    flows.init_fails = 2;
    play(submit_to_two, submit_to_two);
}

static weir_status fail(uint64_t key, weir_turn *turn, uint32_t what)
{
    (void)turn;
    (void)what;
    return key == 1 ? WEIR_E_INVALID : WEIR_OK;
}

SCENARIO(flow_handler_fails, "handlers that fail: dead events, and the flow goes on")
{
    flows_open(2, WEIR_ROUTER(.workers = 2, .worker_max = 1, .ingress_max = 1), fail);
    play(submit_to_two, begin_and_end_two);
}

SCENARIO(flow_fail, "full is an answer")
{
    flows_open(2, WEIR_ROUTER(.workers = 2, .worker_max = 1, .overflow = WEIR_OVERFLOW_FAIL), NULL);
    play(submit_to_two, begin_and_end_two);
}
