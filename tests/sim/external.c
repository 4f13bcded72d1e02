/*
 * external.c - a thread of the application turns weir's: the doorbell is not lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_thread outer;

/* Sleeps without an end as long as posts must wake it; then it only has to be there for the stop.
 * */
static void turn_it(void *unused)
{
    (void)unused;
    const int bell = weir_thread_fd(stage.engine, outer);
    while (stage_cues() < 2) {
        if (weir_thread_run_once(stage.engine, outer, 2) <= 0) {
            weir_sim_poll(bell, stage_cues() == 0 ? WEIR_FOREVER : WEIR_MS);
        }
    }
}

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

static void play(uint32_t own_threads)
{
    stage_open(NULL);
    stage_threads(own_threads);
    outer = weir_thread_add(stage.engine, WEIR_THREAD(.external = true), &stage.error);
    actor *a = stage_actor(NULL, NULL);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int loop = weir_sim_thread_start(turn_it, NULL);
    const int other = weir_sim_thread_start(post_two, a);
    post_two(b);
    weir_sim_thread_join(other);
    stage_settle();
    stage_cue();
    stage_post(a);
    stage_stop(WEIR_FOREVER);
    stage_cue();
    weir_sim_thread_join(loop);
    stage_close();
}

SCENARIO(external, "all work is done by a thread that the application turns")
{
    play(0);
}

SCENARIO(external_and_own, "an external thread and one of the engine's share a dispatcher")
{
    play(1);
}

/* Looks again without being woken: the bell wakes one of two. */
static void turn_now_and_then(void *unused)
{
    (void)unused;
    while (stage_cues() < 1) {
        if (weir_thread_run_once(stage.engine, outer, 1) <= 0) {
            weir_sim_poll(weir_thread_fd(stage.engine, outer), WEIR_MS);
        }
    }
}

SCENARIO(external_two_turners, "two threads of the application turn one of weir's, in turn")
{
    stage_open(NULL);
    outer = weir_thread_add(stage.engine, WEIR_THREAD(.external = true), &stage.error);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int one = weir_sim_thread_start(turn_now_and_then, NULL);
    const int two = weir_sim_thread_start(turn_now_and_then, NULL);
    post_two(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_cue();
    weir_sim_thread_join(one);
    weir_sim_thread_join(two);
    stage_close();
}
