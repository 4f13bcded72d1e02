/*
 * signal_ring.c - the free envelopes of a signal ring: one is first again while the one that was
 * behind it is still in a handler. Whoever was stuck in between must not take the old order for the
 * new one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_signal ring;

/* The first event goes back at once, the others take their time. */
static weir_status dawdle_later(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    if (self->own != NULL) {
        weir_sim_sleep(WEIR_US);
    }
    self->own = self;
    return WEIR_OK;
}

static void signal_two(void *to)
{
    for (int i = 0; i < 2; i++) {
        const uint32_t send = stage_signal_begins(to);
        stage_send_ends(send, weir_signal_post(ring, send));
    }
}

SCENARIO(signal_ring, "two threads signal through a ring of two places to a slow handler")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, dawdle_later);
    ring = weir_signal_open(stage.engine, a->handle, 2, &stage.error);
    stage_start();
    const int other = weir_sim_thread_start(signal_two, a);
    signal_two(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
