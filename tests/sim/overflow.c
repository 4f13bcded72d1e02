/*
 * overflow.c - a mailbox of two places, and what it does with the third event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static void post_three(void *to)
{
    for (int i = 0; i < 3; i++) {
        stage_post(to);
    }
}

static void play(weir_overflow overflow, weir_ns block_max)
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(
        WEIR_PROCESSOR(.mailbox_max = 2, .overflow = overflow, .block_max = block_max), NULL);
    stage_start();
    stage_fill(a, post_three, post_three, overflow);
}

SCENARIO(overflow_fail, "six posts to a mailbox of two places that refuses")
{
    play(WEIR_OVERFLOW_FAIL, 0);
}

SCENARIO(overflow_drop_newest, "six posts to a mailbox of two places that drops the newest")
{
    play(WEIR_OVERFLOW_DROP_NEWEST, 0);
}

SCENARIO(overflow_drop_oldest, "six posts to a mailbox of two places that drops the oldest")
{
    play(WEIR_OVERFLOW_DROP_OLDEST, 0);
}

SCENARIO(overflow_block, "six posts to a mailbox of two places whose senders wait")
{
    play(WEIR_OVERFLOW_BLOCK, WEIR_FOREVER);
}

SCENARIO(overflow_block_briefly, "the same, and the senders do not wait long")
{
    play(WEIR_OVERFLOW_BLOCK, 2 * WEIR_US);
}

/* The stop comes while mailboxes are full, and while senders wait. */
static void play_stop(weir_overflow overflow, bool engine)
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(
        WEIR_PROCESSOR(.mailbox_max = 1, .overflow = overflow, .block_max = WEIR_S), NULL);
    stage_start();
    const int first = weir_sim_thread_start(post_three, a);
    const int second = weir_sim_thread_start(post_three, a);
    if (!engine) {
        stage_stop_actor(a, WEIR_FOREVER);
    }
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(first);
    weir_sim_thread_join(second);
    stage_close();
}

SCENARIO(overflow_drop_newest_stop, "a processor that drops the newest is stopped")
{
    play_stop(WEIR_OVERFLOW_DROP_NEWEST, false);
}

SCENARIO(overflow_drop_oldest_stop, "a processor that drops the oldest is stopped")
{
    play_stop(WEIR_OVERFLOW_DROP_OLDEST, false);
}

SCENARIO(overflow_block_stop, "the engine is stopped while senders wait for room")
{
    play_stop(WEIR_OVERFLOW_BLOCK, true);
}
