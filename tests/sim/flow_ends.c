/*
 * flow_ends.c - flows end and begin anew while others submit: the old one is over before the new
 * one begins, and neither loses an event (S-52).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

/* The last word is the body's: after it nothing lives. */
static void play(void (*one)(void *), void (*other)(void *))
{
    stage_start();
    const int thread = weir_sim_thread_start(other, NULL);
    one(NULL);
    weir_sim_thread_join(thread);
    for (uint64_t key = 1; key <= 2; key++) {
        while (flows_finish(key) == WEIR_E_NOMEM) {
        }
    }
    flows_settle(0);
    flows_close(WEIR_FOREVER);
}

static void end_and_begin_anew(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit_last(1);
    (void)flows_submit(1);
}

static void submit_thrice(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit(1);
    (void)flows_submit(1);
}

SCENARIO(flow_finish, "a flow ends and begins anew, and another goes on submitting to it")
{
    flows_open(2, WEIR_ROUTER(.workers = 2), NULL);
    play(end_and_begin_anew, submit_thrice);
}

SCENARIO(flow_finish_both, "two end the same flow, and begin it anew")
{
    flows_open(2, WEIR_ROUTER(.workers = 2), NULL);
    play(end_and_begin_anew, end_and_begin_anew);
}

static void finish_and_begin_anew(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_finish(1);
    (void)flows_submit(1);
    (void)flows_submit(2);
}

SCENARIO(flow_finish_call, "flows are finished without an event, by two")
{
    flows_open(2, WEIR_ROUTER(.workers = 2), NULL);
    play(finish_and_begin_anew, finish_and_begin_anew);
}

SCENARIO(flow_finish_calls, "a finish against submits")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .batch_max = 1), NULL);
    play(finish_and_begin_anew, end_and_begin_anew);
}

static weir_status end_at_one(uint64_t key, weir_turn *turn, uint32_t what)
{
    if (what == 1) {
        flow_finish(key, turn);
    }
    return WEIR_OK;
}

static void submit_for_an_end(void *unused)
{
    (void)unused;
    (void)flows_submit_what(1, 1, 0);
    (void)flows_submit(1);
    (void)flows_submit_what(1, 1, 0);
}

SCENARIO(flow_turn_finish, "a handler ends its flow while others submit to it")
{
    flows_open(2, WEIR_ROUTER(.workers = 2), end_at_one);
    play(submit_for_an_end, submit_thrice);
}

SCENARIO(flow_turn_finish_moves, "the same with flows that may move, and finishes from outside")
{
    flows_open(2, WEIR_ROUTER(.workers = 2, .migrate = true), end_at_one);
    play(submit_for_an_end, finish_and_begin_anew);
}
