/*
 * long_handler.c - a handler that takes long: what waits beside it is another thread's, and nobody
 * leaves it to the one who is busy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/word.h"

static weir__atomic_u32 arrived;

/* The one that comes first waits for the other: as long as a handler can take. */
static weir_status wait_for_the_other(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    if (weir__add(&arrived, 1, seq_cst) == 1) {
        weir__word_wake(&arrived, INT32_MAX);
    }
    while (weir__load(&arrived, seq_cst) == 1) {
        weir__word_wait(&arrived, 1, WEIR_FOREVER);
    }
    return WEIR_OK;
}

static void post_one(void *to)
{
    stage_post(to);
}

static void play(uint32_t posters)
{
    if (stage_is_short()) {
        return; /* it cannot do without one of its threads */
    }
    stage_open(NULL);
    stage_threads(2);
    actor *a = stage_actor(NULL, wait_for_the_other);
    actor *b = stage_actor(NULL, wait_for_the_other);
    weir__store(&arrived, 0, seq_cst);
    stage_start();
    const int other = posters > 1 ? weir_sim_thread_start(post_one, b) : -1;
    stage_post(a);
    if (posters > 1) {
        weir_sim_thread_join(other);
    } else {
        stage_post(b);
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(long_handler, "two processors, two posters; one handler waits for the other's")
{
    play(2);
}

SCENARIO(long_handler_one_poster, "the same, and one thread posts to both")
{
    play(1);
}
