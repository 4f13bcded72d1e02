/*
 * flow_block.c - a full worker stops nobody else; who has to wait gets on as soon as there is room,
 * of whatever kind (S-54).
 *
 * The first key has the first worker, the second one the other: each is held by its handler until
 * it is released.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

#define HOLD 1u

static weir_status hold(uint64_t key, weir_turn *turn, uint32_t what)
{
    (void)turn;
    if (what == HOLD) {
        flow_hold(key);
    }
    return WEIR_OK;
}

static weir_status surely(uint64_t key, uint32_t what)
{
    weir_status status;
    do {
        status = flows_submit_what(key, what, 0);
    } while (status == WEIR_E_NOMEM);
    return status;
}

static void hold_worker_of(uint64_t key)
{
    (void)surely(key, HOLD);
    flows_await_held(key);
}

/* Room for one on each worker, and for so many beyond. */
static void set_up(uint32_t beyond, weir_ns block_max)
{
    flows_open(
        2,
        WEIR_ROUTER(.workers = 2, .worker_max = 1, .ingress_max = beyond, .block_max = block_max),
        hold);
    stage_start();
}

/* The worker of that key is held, full, and so many are used of the ingress. */
static void fill_worker_of(uint64_t key, uint64_t ingress)
{
    hold_worker_of(key);
    while (flows_counters().ingress < ingress) {
        (void)surely(key, 0);
    }
}

static void submit_to(void *key)
{
    (void)surely(*(const uint64_t *)key, 0);
}

static uint64_t one = 1, two = 2;

SCENARIO(flow_block, "two submit more than there is room for, and get on")
{
    flows_open(2, WEIR_ROUTER(.workers = 2, .worker_max = 1, .ingress_max = 1), NULL);
    stage_start();
    const int other = weir_sim_thread_start(submit_to, &one);
    const int third = weir_sim_thread_start(submit_to, &two);
    (void)surely(1, 0);
    (void)surely(2, 0);
    (void)surely(1, 0);
    (void)surely(1, 0);
    weir_sim_thread_join(other);
    weir_sim_thread_join(third);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_block_one_worker, "the same on a single worker")
{
    flows_open(1, WEIR_ROUTER(.workers = 1, .worker_max = 1, .ingress_max = 1), NULL);
    stage_start();
    const int other = weir_sim_thread_start(submit_to, &one);
    const int third = weir_sim_thread_start(submit_to, &two);
    (void)surely(1, 0);
    (void)surely(1, 0);
    (void)surely(1, 0);
    weir_sim_thread_join(other);
    weir_sim_thread_join(third);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}

static void submit_to_both(void *unused)
{
    (void)unused;
    (void)surely(1, 0);
    (void)surely(2, 0);
    (void)surely(0, 0);
    (void)surely(1, 0);
}

SCENARIO(flow_block_moves,
         "flows that may move: it is another worker that is full at the next look")
{
    flows_open(2, WEIR_ROUTER(.workers = 2, .worker_max = 1, .ingress_max = 1, .migrate = true),
               NULL);
    stage_start();
    const int other = weir_sim_thread_start(submit_to_both, NULL);
    const int third = weir_sim_thread_start(submit_to, &two);
    submit_to_both(NULL);
    weir_sim_thread_join(other);
    weir_sim_thread_join(third);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_block_beside, "one worker is full, one waits for it, and the other worker goes on")
{
    set_up(1, WEIR_FOREVER);
    fill_worker_of(1, 1);
    const int waits = weir_sim_thread_start(submit_to, &one);
    (void)surely(2, 0);
    flows_settle_key(2);
    (void)surely(2, 0);
    (void)surely(2, 0);
    flows_settle_key(2);
    flows_release(1);
    weir_sim_thread_join(waits);
    flows_settle(2);
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_block_ingress,
         "who waits gets on when the other worker gives some of the ingress back")
{
    set_up(2, WEIR_FOREVER);
    fill_worker_of(1, 1);
    fill_worker_of(2, 2);
    const int waits = weir_sim_thread_start(submit_to, &two);
    flows_release(1);
    weir_sim_thread_join(waits); /* its own worker is held */
    flows_release(2);
    flows_settle(2);
    flows_close(WEIR_FOREVER);
}

static void submit_thrice_to(void *key)
{
    submit_to(key);
    submit_to(key);
    submit_to(key);
}

SCENARIO(flow_block_room,
         "who waits gets on when its own worker has room, and the ingress has none")
{
    set_up(1, WEIR_FOREVER);
    fill_worker_of(1, 1);
    hold_worker_of(2);
    const int waits = weir_sim_thread_start(submit_thrice_to, &two);
    flows_release(2);
    weir_sim_thread_join(waits); /* the other worker is held */
    flows_release(1);
    flows_settle(2);
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_block_for_so_long, "who has waited for long enough is refused")
{
    set_up(1, WEIR_US);
    fill_worker_of(1, 1);
    const int waits = weir_sim_thread_start(submit_to, &one);
    flows_release(1);
    weir_sim_thread_join(waits);
    flows_settle(1);
    flows_close(WEIR_FOREVER);
}

static void stop_router(void *unused)
{
    (void)unused;
    (void)flows_stop_router(WEIR_FOREVER);
}

static void stop_engine(void *unused)
{
    (void)unused;
    flows.stopping = true;
    (void)weir_engine_stop(stage.engine, WEIR_FOREVER, NULL);
}

/* While the worker that it waits for is held. */
static void release_by_a_stop(void (*stop)(void *))
{
    set_up(1, WEIR_FOREVER);
    fill_worker_of(1, 1);
    const int waits = weir_sim_thread_start(submit_to, &one);
    const int stops = weir_sim_thread_start(stop, NULL);
    weir_sim_thread_join(waits);
    flows_release(1);
    weir_sim_thread_join(stops);
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_block_router_stop, "who waits is told when the router stops")
{
    release_by_a_stop(stop_router);
}

SCENARIO(flow_block_engine_stop, "who waits is told when the engine stops")
{
    release_by_a_stop(stop_engine);
}

/* Where one flow may live, there are three while all of them have something to do: who wants a
 * fourth waits until one of them has nothing. */
SCENARIO(flow_block_flows, "who waits for there to be fewer flows gets on when one is idle")
{
    static uint64_t fourth = 4;
    flows_open(2, WEIR_ROUTER(.workers = 2, .flows_max = 1), hold);
    stage_start();
    hold_worker_of(1);
    hold_worker_of(2);
    (void)surely(3, 0);
    const int waits = weir_sim_thread_start(submit_to, &fourth);
    const uint64_t first = 1 + weir_sim_choose(2);
    flows_release(first);
    weir_sim_thread_join(waits);
    flows_release(3 - first);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}
