/*
 * start_stop.c - a start against posts and against a stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static actor *a;

static void post_two(void *unused)
{
    (void)unused;
    stage_post(a);
    stage_post(a);
}

static void stop_it(void *unused)
{
    (void)unused;
    stage_stop(WEIR_FOREVER);
}

static void set_up(weir_status init_answer)
{
    stage_open(NULL);
    stage_threads(1);
    a = stage_actor(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), NULL);
    a->init_answer = init_answer;
    weir_sim_quiet(false); /* the start itself is what is looked at */
}

SCENARIO(start_against_post, "posts while the engine starts are held, then handled")
{
    set_up(WEIR_OK);
    const int other = weir_sim_thread_start(post_two, NULL);
    stage_start();
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(start_against_stop, "a stop while the engine starts")
{
    set_up(WEIR_OK);
    const int other = weir_sim_thread_start(stop_it, NULL);
    const weir_status status = weir_engine_start(stage.engine, &stage.error);
    weir_sim_check(status == WEIR_OK || status == WEIR_STOPPING || (status < 0 && stage_is_short()),
                   "start answers %s", weir_status_name(status));
    weir_sim_thread_join(other);
    stage_close();
}

SCENARIO(start_fails, "an init fails while others post: the start fails, nothing is handled")
{
    set_up(WEIR_E_USER);
    const int other = weir_sim_thread_start(post_two, NULL);
    const weir_status status = weir_engine_start(stage.engine, &stage.error);
    weir_sim_check(status == WEIR_E_USER || (status < 0 && stage_is_short()), "start answers %s",
                   weir_status_name(status));
    weir_sim_thread_join(other);
    stage_close();
}
