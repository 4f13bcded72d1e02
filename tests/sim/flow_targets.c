/*
 * flow_targets.c - a router that feeds processors: a flow stays with one of them, and a key that
 * begins anew elsewhere does not overtake what still waits (S-52, S-60).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

static void play(uint32_t threads, const weir_router_options *router,
                 const weir_processor_options *target, void (*one)(void *), void (*other)(void *))
{
    flows_open_targets(threads, router, target, 2);
    stage_start();
    const int thread = weir_sim_thread_start(other, NULL);
    one(NULL);
    weir_sim_thread_join(thread);
    if (target->overflow != WEIR_OVERFLOW_DROP_OLDEST) {
        flows_settle(FLOWS_ANY);
    }
    flows_close(WEIR_FOREVER);
}

static void submit_thrice(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit(2);
    (void)flows_submit(1);
}

SCENARIO(flow_targets, "two submit to flows that live with two processors")
{
    play(2, WEIR_ROUTER(.migrate = false), WEIR_PROCESSOR(.batch_max = 2), submit_thrice,
         submit_thrice);
}

static void end_and_begin_anew(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit_last(1);
    (void)flows_submit(1);
    (void)flows_submit_last(1);
    (void)flows_submit(1);
}

SCENARIO(flow_targets_finish, "a key begins anew, perhaps with another processor")
{
    play(2, WEIR_ROUTER(.migrate = false), WEIR_PROCESSOR(.batch_max = 2), end_and_begin_anew,
         submit_thrice);
}

SCENARIO(flow_targets_move, "flows of processors move when nothing waits")
{
    play(2, WEIR_ROUTER(.migrate = true), WEIR_PROCESSOR(.batch_max = 1), end_and_begin_anew,
         submit_thrice);
}

SCENARIO(flow_targets_block, "processors with room for one, whose posters wait")
{
    play(2, WEIR_ROUTER(.migrate = true),
         WEIR_PROCESSOR(.mailbox_max = 1, .overflow = WEIR_OVERFLOW_BLOCK,
                        .block_max = WEIR_FOREVER),
         end_and_begin_anew, submit_thrice);
}

static void submit_to_others(void *unused)
{
    (void)unused;
    for (uint64_t key = 2; key <= 5; key++) {
        (void)flows_submit(key);
    }
}

SCENARIO(flow_targets_drop_oldest, "processors that drop the oldest, under keys that begin anew")
{
    play(2, WEIR_ROUTER(.migrate = false),
         WEIR_PROCESSOR(.mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST),
         end_and_begin_anew, submit_to_others);
}

SCENARIO(flow_targets_drop_newest, "processors that drop the newest")
{
    play(2, WEIR_ROUTER(.migrate = true),
         WEIR_PROCESSOR(.mailbox_max = 1, .overflow = WEIR_OVERFLOW_DROP_NEWEST),
         end_and_begin_anew, submit_to_others);
}

SCENARIO(flow_targets_evict, "one flow too many, of processors")
{
    play(2, WEIR_ROUTER(.flows_max = 1), WEIR_PROCESSOR(.batch_max = 1), end_and_begin_anew,
         submit_thrice);
}

static void stop_first(void *unused)
{
    (void)unused;
    (void)weir_processor_stop(stage.engine, flow_targets[0], WEIR_FOREVER, NULL);
}

SCENARIO(flow_targets_gone, "a processor stops while flows live with it")
{
    flows_open_targets(2, WEIR_ROUTER(.migrate = true), WEIR_PROCESSOR(.batch_max = 1), 2);
    flows.stopping = true; /* whose flow was there is refused */
    stage_start();
    const int thread = weir_sim_thread_start(stop_first, NULL);
    end_and_begin_anew(NULL);
    weir_sim_thread_join(thread);
    flows_close(WEIR_FOREVER);
}

static void stop_router(void *unused)
{
    (void)unused;
    (void)flows_stop_router(WEIR_FOREVER);
}

SCENARIO(flow_targets_stop, "a router that feeds processors stops while two submit to it")
{
    flows_open_targets(2, WEIR_ROUTER(.keys = WEIR_FLOW_KEYS_BYTES), WEIR_PROCESSOR(.batch_max = 1),
                       2);
    stage_start();
    const int thread = weir_sim_thread_start(end_and_begin_anew, NULL);
    const int stops = weir_sim_thread_start(stop_router, NULL);
    submit_thrice(NULL);
    weir_sim_thread_join(thread);
    weir_sim_thread_join(stops);
    flows_settle(FLOWS_ANY); /* what the processors have is theirs */
    weir_sim_check(stage_is_short() || flows_counters().flows == 0, "flows after the end");
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_targets_idle, "flows of processors are idle for too long")
{
    flows_open_targets(2, WEIR_ROUTER(.idle_timeout = WEIR_MS), WEIR_PROCESSOR(.batch_max = 1), 2);
    stage_start();
    const int thread = weir_sim_thread_start(submit_thrice, NULL);
    (void)flows_submit(1);
    weir_sim_sleep(WEIR_MS + (weir_ns)weir_sim_choose(3) * WEIR_MS / 2);
    (void)flows_submit(1);
    weir_sim_thread_join(thread);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}
