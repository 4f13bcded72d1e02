/*
 * shared_dispatchers.c - threads that serve {a}, {a, b} and {b}: woken for one, wanted by the
 * other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_thread threads[3];

/* An assignment is never crossed: thread 0 serves a only, thread 2 b only. */
static weir_status play_part(actor *self, weir_turn *turn, const weir_event *event)
{
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    const weir_thread wrong = threads[self->number == 0 ? 2 : 0];
    (void)turn;
    (void)event;
    weir_thread_counters_get(stage.engine, wrong, &c);
    weir_sim_check(c.system_id != weir_sim_thread_self() + 1,
                   "actor %u runs on a thread of the other dispatcher", self->number);
    return WEIR_OK;
}

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

SCENARIO(shared_dispatchers, "threads that serve {a}, {a, b}, {b}; a processor on each")
{
    stage_open(NULL);
    const char *const *const rows[] = { WEIR_NAMES("a"), WEIR_NAMES("a", "b"), WEIR_NAMES("b") };
    for (int i = 0; i < 3; i++) {
        threads[i] = weir_thread_add(stage.engine,
                                     WEIR_THREAD(.dispatchers = rows[i], .idle = WEIR_IDLE_PARK),
                                     &stage.error);
    }
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = "a"), play_part);
    actor *b = stage_actor(WEIR_PROCESSOR(.dispatcher = "b"), play_part);
    stage_start();
    const int other = weir_sim_thread_start(post_two, b);
    post_two(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
