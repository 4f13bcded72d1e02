/*
 * signal_post.c - posts from signal handlers: a ring of two envelopes, more signals than that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_signal ring;

static void signal_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        const uint32_t send = stage_signal_begins(to);
        stage_send_ends(send, weir_signal_post(ring, send));
    }
}

SCENARIO(signal_post, "two threads signal through one ring of two places, and the engine stops")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    ring = weir_signal_open(stage.engine, a->handle, 2, &stage.error);
    stage_start();
    const int other = weir_sim_thread_start(signal_three, a);
    signal_three(a);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_close();
}

SCENARIO(signal_post_settles, "the same, and all of it is handled before the stop")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(WEIR_PROCESSOR(.mailbox_max = 1), NULL);
    ring = weir_signal_open(stage.engine, a->handle, 2, &stage.error);
    stage_start();
    const int other = weir_sim_thread_start(signal_three, a);
    signal_three(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
