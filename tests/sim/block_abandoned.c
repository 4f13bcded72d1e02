/*
 * block_abandoned.c - senders that wait for room which never comes: the only thread is busy, and
 * the stop gives up. It ends their wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/word.h"

static weir__atomic_u32 let_go;

static weir_status keep_the_thread(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    while (weir__load(&let_go, seq_cst) == 0) {
        weir__word_wait(&let_go, 0, WEIR_FOREVER);
    }
    return WEIR_OK;
}

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

SCENARIO(block_abandoned, "a sender waits for room behind a handler that does not return")
{
    stage_open(NULL);
    stage_threads(1);
    actor *busy = stage_actor(NULL, keep_the_thread);
    actor *full = stage_actor(WEIR_PROCESSOR(.mailbox_max = 1, .overflow = WEIR_OVERFLOW_BLOCK,
                                             .block_max = WEIR_FOREVER),
                              NULL);
    weir__store(&let_go, 0, seq_cst);
    stage_start();
    stage_post(busy);
    const int sender = weir_sim_thread_start(post_two, full);
    stage_stop(1);
    weir_sim_thread_join(sender);
    weir__store(&let_go, 1, seq_cst);
    weir__word_wake(&let_go, INT32_MAX);
    stage_close();
}
