/*
 * flow_move.c - flows that may move: from the worker that has just handled their last event to one
 * that has less to do. Order and state go with them, and nobody else's hands are on them (S-58).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

static void play(uint32_t threads, void (*one)(void *), void (*other)(void *))
{
    flows_open(threads, WEIR_ROUTER(.workers = 2, .migrate = true), NULL);
    stage_start();
    const int thread = weir_sim_thread_start(other, NULL);
    one(NULL);
    weir_sim_thread_join(thread);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}

static void submit_thrice(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit(1);
    (void)flows_submit(1);
}

static void submit_to_two(void *unused)
{
    (void)unused;
    (void)flows_submit(2);
    (void)flows_submit(1);
    (void)flows_submit(3);
    (void)flows_submit(1);
}

SCENARIO(flow_move, "a flow moves while others come and go on both workers")
{
    play(2, submit_thrice, submit_to_two);
}

SCENARIO(flow_move_three, "the same with three threads")
{
    play(3, submit_thrice, submit_to_two);
}

static void end_and_begin_anew(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit_last(1);
    (void)flows_submit(1);
    (void)flows_submit_last(1);
}

SCENARIO(flow_move_finish, "a flow that has just ended begins anew, perhaps elsewhere")
{
    play(2, end_and_begin_anew, submit_thrice);
}

SCENARIO(flow_move_finish_both, "two end a flow that may move")
{
    play(3, end_and_begin_anew, end_and_begin_anew);
}

static void end_another(void *unused)
{
    (void)unused;
    (void)flows_submit_last(2);
    (void)flows_submit_last(3);
    (void)flows_submit_last(1);
}

SCENARIO(flow_move_reuse, "records of flows that have ended elsewhere are used again")
{
    play(3, end_and_begin_anew, end_another);
}
