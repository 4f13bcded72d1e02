/*
 * flow_stop.c - a router, or its engine, stops while others submit, flows are idle, and somebody is
 * to see to them: what was accepted is handled, and every flow ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

static void submit_some(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit_last(2);
    (void)flows_submit(1);
    (void)flows_submit(2);
}

static void stop_router(void *unused)
{
    (void)unused;
    const weir_status status = flows_stop_router(WEIR_FOREVER);
    weir_sim_check(status == WEIR_OK || status == WEIR_ALREADY || status == WEIR_UNKNOWN ||
                       (status == WEIR_E_NOMEM && stage_is_short()),
                   "the stop answers %s", weir_status_name(status));
}

static void play(const weir_router_options *options, bool engine)
{
    flows_open(2, options, NULL);
    stage_start();
    const int other = weir_sim_thread_start(submit_some, NULL);
    int stops = -1;
    (void)flows_submit(1);
    (void)flows_submit(2);
    if (!engine) {
        stops = weir_sim_thread_start(stop_router, NULL);
        submit_some(NULL);
    }
    if (engine) {
        flows.stopping = true;
        (void)weir_engine_stop(stage.engine, WEIR_FOREVER, NULL);
    }
    weir_sim_thread_join(other);
    if (stops >= 0) {
        weir_sim_thread_join(stops);
    }
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_router_stop, "a router stops while two submit to it")
{
    play(WEIR_ROUTER(.workers = 2), false);
}

SCENARIO(flow_engine_stop, "the engine stops while one submits to a router")
{
    play(WEIR_ROUTER(.workers = 2), true);
}

SCENARIO(flow_stop_moves, "a router stops while its flows move")
{
    play(WEIR_ROUTER(.workers = 2, .migrate = true), false);
}

SCENARIO(flow_stop_own_threads, "a router with threads of its own stops, and they go with it")
{
    play(WEIR_ROUTER(.workers = 2, .own_threads = true), false);
}

SCENARIO(flow_stop_idle, "a router stops, and its caretaker was about to look")
{
    play(WEIR_ROUTER(.workers = 2, .idle_timeout = WEIR_MS), false);
}

SCENARIO(flow_stop_idle_engine, "the engine stops, and the caretaker was about to look")
{
    play(WEIR_ROUTER(.workers = 2, .idle_timeout = WEIR_MS), true);
}

SCENARIO(flow_stop_evict, "a router stops while flows are to go for others")
{
    play(WEIR_ROUTER(.workers = 1, .flows_max = 1), false);
}

SCENARIO(flow_stop_drop_newest, "a router stops while finishes are dropped")
{
    play(WEIR_ROUTER(.workers = 1, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_NEWEST), false);
}

SCENARIO(flow_stop_drop_oldest, "a router stops while finishes are evicted")
{
    play(WEIR_ROUTER(.workers = 1, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_OLDEST), false);
}

SCENARIO(flow_stop_block, "a router stops while submitters wait for room")
{
    play(WEIR_ROUTER(.workers = 1, .worker_max = 1, .ingress_max = 1), false);
}

static weir_status hold_the_first(uint64_t key, weir_turn *turn, uint32_t what)
{
    (void)turn;
    if (what == 1) {
        flow_hold(key);
    }
    return WEIR_OK;
}

SCENARIO(flow_stop_timeout, "a stop runs out of time while a flow's handler runs")
{
    flows_open(2, WEIR_ROUTER(.workers = 2), hold_the_first);
    stage_start();
    const bool holds = flows_submit_what(1, 1, 0) == WEIR_OK;
    if (holds) {
        flows_await_held(1);
    }
    (void)flows_submit(1);
    (void)flows_submit(2);
    const int other = weir_sim_thread_start(submit_some, NULL);
    flows.stopping = true;
    (void)weir_engine_stop(stage.engine, WEIR_US, NULL);
    flows_release(1);
    weir_sim_thread_join(other);
    flows_close(WEIR_US);
}
