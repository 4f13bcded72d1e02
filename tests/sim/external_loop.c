/*
 * external_loop.c - a loop of the application that turns weir's thread only when the doorbell says
 * so, a little at a time: what is left rings again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_thread outer;

/* As long as posts must wake it, it sleeps without an end; then it only has to be there for the
 * stop. */
static void turn_when_it_rings(void *unused)
{
    (void)unused;
    const int bell = weir_thread_fd(stage.engine, outer);
    while (stage_cues() < 2) {
        weir_sim_poll(bell, stage_cues() == 0 ? WEIR_FOREVER : WEIR_MS);
        weir_thread_run_once(stage.engine, outer, 1);
    }
}

SCENARIO(external_loop, "a thread of the application polls, and turns one event at a time")
{
    stage_open(NULL);
    outer = weir_thread_add(stage.engine, WEIR_THREAD(.external = true), &stage.error);
    actor *a = stage_actor(NULL, NULL);
    actor *b = stage_actor(NULL, NULL);
    stage_start();
    const int loop = weir_sim_thread_start(turn_when_it_rings, NULL);
    stage_post(a);
    stage_post(b);
    stage_post(a);
    stage_settle();
    stage_cue();
    stage_stop(WEIR_FOREVER);
    stage_cue();
    weir_sim_thread_join(loop);
    stage_close();
}
