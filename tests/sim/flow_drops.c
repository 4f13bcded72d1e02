/*
 * flow_drops.c - what is full drops the oldest or the newest event: a finish among them ends its
 * flow all the same, whether something follows or not (S-53).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

/* What was dropped for want of memory never was: only who was told so knows. */
static weir_status surely(weir_status (*submit)(uint64_t key), uint64_t key)
{
    weir_status status;
    do {
        status = submit(key);
    } while (status == WEIR_E_NOMEM);
    return status;
}

static void two_threads(void (*one)(void *), void (*other)(void *), uint32_t live)
{
    stage_start();
    const int thread = weir_sim_thread_start(other, NULL);
    one(NULL);
    weir_sim_thread_join(thread);
    flows_settle(live);
    flows_close(WEIR_FOREVER);
}

/* Each has a key of its own, whose last event is a finish: so nothing lives at the end. */
static void begin_and_end(uint64_t key)
{
    (void)surely(flows_submit, key);
    (void)surely(flows_submit_last, key);
}

static void end_first(void *unused)
{
    (void)unused;
    begin_and_end(1);
    begin_and_end(1);
}

static void end_second(void *unused)
{
    (void)unused;
    begin_and_end(2);
    begin_and_end(3);
}

SCENARIO(flow_drop_oldest, "finishes are evicted, and end their flows all the same")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .worker_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST),
               NULL);
    two_threads(end_first, end_second, 0);
}

SCENARIO(flow_drop_oldest_one, "the same with room for one, on two workers")
{
    flows_open(2, WEIR_ROUTER(.workers = 2, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_OLDEST),
               NULL);
    two_threads(end_first, end_second, 0);
}

static void go_on_after_the_end(void *unused)
{
    (void)unused;
    (void)surely(flows_submit, 1);
    (void)surely(flows_submit_last, 1);
    (void)surely(flows_submit, 1);
}

static void crowd_out(void *unused)
{
    (void)unused;
    (void)surely(flows_submit, 2);
    (void)surely(flows_submit, 2);
    (void)surely(flows_submit_last, 2);
}

SCENARIO(flow_drop_oldest_followed, "a finish is evicted, and an event of its key follows")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .worker_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST),
               NULL);
    two_threads(go_on_after_the_end, crowd_out, FLOWS_ANY);
}

static weir_status hold_the_first(uint64_t key, weir_turn *turn, uint32_t what)
{
    (void)turn;
    if (what == 1) {
        flow_hold(key);
    }
    return WEIR_OK;
}

static void release_it(void *key)
{
    (void)key;
    flows_release(1);
}

/* The finish is evicted for certain, while an event before it is at hand, or just not any more. */
static void evict_a_finish(bool followed)
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_OLDEST),
               hold_the_first);
    stage_start();
    while (flows_submit_what(1, 1, 0) == WEIR_E_NOMEM) {
    }
    flows_await_held(1);
    (void)surely(flows_submit_last, 1);
    const int other = weir_sim_thread_start(release_it, NULL);
    if (followed) {
        (void)surely(flows_submit, 1);
    } else {
        (void)surely(flows_submit, 2);
        (void)surely(flows_submit_last, 2);
    }
    weir_sim_thread_join(other);
    flows_settle(followed ? 1 : 0);
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_evicted_finish, "a finish is evicted behind the event at hand, and nothing follows")
{
    evict_a_finish(false);
}

SCENARIO(flow_evicted_finish_followed, "a finish is evicted by the event that follows it")
{
    evict_a_finish(true);
}

SCENARIO(flow_drop_newest, "finishes are dropped, and end their flows all the same")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_NEWEST),
               NULL);
    two_threads(end_first, end_second, 0);
}

SCENARIO(flow_drop_newest_two, "the same on two workers, and flows may move")
{
    flows_open(2,
               WEIR_ROUTER(.workers = 2, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_NEWEST,
                           .migrate = true),
               NULL);
    two_threads(end_first, end_second, 0);
}

SCENARIO(flow_drop_newest_followed, "a finish is dropped, and an event of its key follows")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_NEWEST),
               NULL);
    two_threads(go_on_after_the_end, crowd_out, FLOWS_ANY);
}

SCENARIO(flow_drop_oldest_moves, "finishes are evicted, and flows may move")
{
    flows_open(2,
               WEIR_ROUTER(.workers = 2, .worker_max = 1, .overflow = WEIR_OVERFLOW_DROP_OLDEST,
                           .migrate = true),
               NULL);
    two_threads(end_first, go_on_after_the_end, FLOWS_ANY);
}
