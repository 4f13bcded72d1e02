/*
 * flow_idle.c - flows that nobody finishes: idle for too long, or one too many, against who submits
 * to them at that moment (S-55).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flows.h"

#include "flow/router.h"
#include "flow/tune.h"

#define IDLE (2 * WEIR_MS)

/* Without memory for its timer the caretaker looks when the next flow is made. */
static void settle_idle(void)
{
    flows_settle(stage_is_short() ? FLOWS_ANY : 0);
}

SCENARIO(flow_idle, "a flow ends when nothing came for long enough, and begins anew")
{
    flows_open(2, WEIR_ROUTER(.workers = 2, .idle_timeout = IDLE), NULL);
    stage_start();
    (void)flows_submit(1);
    (void)flows_submit(2);
    settle_idle();
    (void)flows_submit(1);
    settle_idle();
    flows_close(WEIR_FOREVER);
}

static void submit_at_that_moment(void *unused)
{
    (void)unused;
    weir_sim_sleep(IDLE - WEIR_US + (weir_ns)weir_sim_choose(3) * WEIR_US);
    (void)flows_submit(1);
    (void)flows_submit(1);
}

static void play_at_that_moment(bool migrate)
{
    flows_open(2, WEIR_ROUTER(.workers = 2, .idle_timeout = IDLE, .migrate = migrate), NULL);
    stage_start();
    const int other = weir_sim_thread_start(submit_at_that_moment, NULL);
    (void)flows_submit(1);
    (void)flows_submit(2);
    weir_sim_thread_join(other);
    settle_idle();
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_idle_against_submit,
         "something comes at the moment at which a flow is idle for too long")
{
    play_at_that_moment(false);
}

SCENARIO(flow_idle_against_move, "the same, and the flow may move")
{
    play_at_that_moment(true);
}

static void submit_beside_another(void *unused)
{
    (void)unused;
    weir_sim_sleep(IDLE - WEIR_US + (weir_ns)weir_sim_choose(3) * WEIR_US);
    (void)flows_submit(2);
    (void)flows_submit(2);
    (void)flows_submit(1);
}

SCENARIO(flow_idle_beside_another, "the same, and its worker is busy with another flow")
{
    flows_open(3, WEIR_ROUTER(.workers = 1, .idle_timeout = IDLE), NULL);
    stage_start();
    const int other = weir_sim_thread_start(submit_beside_another, NULL);
    (void)flows_submit(1);
    weir_sim_thread_join(other);
    settle_idle();
    flows_close(WEIR_FOREVER);
}

/* The caretaker has found the flow idle after one timeout, and nothing any more after two. */
SCENARIO(flow_idle_and_another, "a flow is made at the moment at which the caretaker lies down")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .idle_timeout = IDLE), NULL);
    stage_start();
    (void)flows_submit(1);
    weir_sim_sleep(2 * IDLE + (weir_ns)weir_sim_choose(4) * 2 * WEIR_US);
    (void)flows_submit(2);
    settle_idle();
    flows_close(WEIR_FOREVER);
}

static void finish_at_that_moment(void *unused)
{
    (void)unused;
    weir_sim_sleep(IDLE - WEIR_US + (weir_ns)weir_sim_choose(3) * WEIR_US);
    (void)flows_finish(1);
}

SCENARIO(flow_idle_against_finish,
         "a finish comes at the moment at which a flow is idle for too long")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .idle_timeout = IDLE), NULL);
    stage_start();
    const int other = weir_sim_thread_start(finish_at_that_moment, NULL);
    (void)flows_submit(1);
    weir_sim_thread_join(other);
    settle_idle();
    flows_close(WEIR_FOREVER);
}

static void submit_first(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
}

SCENARIO(flow_idle_retimed, "a timeout where there was none, while the first flow is made")
{
    flows_open(2, WEIR_ROUTER(.workers = 1), NULL);
    stage_start();
    const int other = weir_sim_thread_start(submit_first, NULL);
    flows.options.idle_timeout = IDLE;
    weir__router_tune(weir__router_find(stage.engine, flows.router), 0, IDLE);
    weir_sim_thread_join(other);
    settle_idle();
    flows_close(WEIR_FOREVER);
}

static void retime(void *unused)
{
    (void)unused;
    if (weir__router_tune_begin(stage.engine)) {
        weir__router_tune(weir__router_find(stage.engine, flows.router), 0, IDLE);
    }
}

SCENARIO(flow_idle_sooner, "flows are made while their idle timeout becomes shorter")
{
    flows_open(2, WEIR_ROUTER(.workers = 1, .idle_timeout = 3600 * WEIR_S), NULL);
    flows.options.idle_timeout = IDLE; /* what they are to be idle for, at least */
    stage_start();
    const int other = weir_sim_thread_start(retime, NULL);
    (void)flows_submit(1);
    (void)flows_submit(2);
    weir_sim_thread_join(other);
    settle_idle();
    flows_close(WEIR_FOREVER);
}

/* ---- too many ---- */

static void submit_to_three(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit(2);
    (void)flows_submit(3);
}

static void submit_to_the_first(void *unused)
{
    (void)unused;
    (void)flows_submit(1);
    (void)flows_submit(1);
    (void)flows_submit(1);
}

static void play_with(uint32_t workers, uint64_t flows_max, bool migrate, void (*other)(void *))
{
    flows_open(2, WEIR_ROUTER(.workers = workers, .flows_max = flows_max, .migrate = migrate),
               NULL);
    stage_start();
    const int thread = weir_sim_thread_start(other, NULL);
    submit_to_three(NULL);
    weir_sim_thread_join(thread);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}

SCENARIO(flow_evict, "two make one flow too many, on one worker")
{
    play_with(1, 2, false, submit_to_three);
}

SCENARIO(flow_evict_against_submit, "something comes for the flow that is to go for a new one")
{
    play_with(2, 1, false, submit_to_the_first);
}

SCENARIO(flow_evict_against_move, "the same, and flows may move")
{
    play_with(2, 1, true, submit_to_the_first);
}

SCENARIO(flow_evict_the_oldest, "the one that goes is the one that was idle for longest")
{
    flows_open(1, WEIR_ROUTER(.workers = 1, .flows_max = 2), NULL);
    stage_start();
    (void)flows_submit(1);
    weir_sim_sleep(WEIR_MS); /* whoever sleeps lets the others come to rest */
    (void)flows_submit(2);
    weir_sim_sleep(WEIR_MS);
    (void)flows_submit(1);
    weir_sim_sleep(WEIR_MS);
    (void)flows_submit(3);
    flows_settle(FLOWS_ANY);
    flows_close(WEIR_FOREVER);
}
