/*
 * kept_apart.c - what a thread must not keep: processors of a dispatcher that it does not serve at
 * that moment, and those of a fair one, where the longest waiting thread is to have them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "engine/engine.h"
#include "engine/share.h"

enum { EACH = 2 };

static weir_thread threads[3];
static actor *on_a[EACH];
static actor *on_b[EACH];

static bool runs_on(weir_thread thread)
{
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    weir_thread_counters_get(stage.engine, thread, &c);
    return c.system_id == weir_sim_thread_self() + 1;
}

/* Thread 1 serves a only, thread 2 b only. */
static weir_status check_thread(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    weir_sim_check(!runs_on(threads[self->own == on_a ? 2 : 1]),
                   "actor %u runs on a thread of the other dispatcher", self->number);
    return WEIR_OK;
}

static weir_status spread(actor *self, weir_turn *turn, const weir_event *event)
{
    for (int i = 0; i < EACH; i++) {
        actor_post(self, turn, on_b[i]);
        actor_post(self, turn, on_a[i]);
    }
    return check_thread(self, turn, event);
}

static actor *add(const char *dispatcher, actor_part *part)
{
    actor *a = stage_actor(WEIR_PROCESSOR(.dispatcher = dispatcher), part);
    a->own = dispatcher[0] == 'a' ? on_a : on_b;
    return a;
}

SCENARIO(kept_apart, "handlers post to both of two dispatchers; threads serve {a, b}, {a}, {b}",
         .steps_max = 30000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    const char *const *const rows[] = { WEIR_NAMES("a", "b"), WEIR_NAMES("a"), WEIR_NAMES("b") };
    for (int i = 0; i < 3; i++) {
        threads[i] = weir_thread_add(stage.engine,
                                     WEIR_THREAD(.dispatchers = rows[i], .idle = WEIR_IDLE_PARK),
                                     &stage.error);
    }
    actor *hub_a = add("a", spread);
    actor *hub_b = add("b", spread);
    for (int i = 0; i < EACH; i++) {
        on_a[i] = add("a", check_thread);
        on_b[i] = add("b", check_thread);
    }
    stage_start();
    stage_post(hub_a);
    stage_post(hub_b);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void nobody_keeps_anything(void *engine)
{
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir_sim_check(!weir__share_keeps(weir__thread_at(engine, i)),
                       "a thread keeps a processor of a fair dispatcher");
    }
}

static weir_status spread_fairly(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    nobody_keeps_anything(stage.engine);
    for (int i = 0; i < EACH; i++) {
        actor_post(self, turn, on_a[i]);
        nobody_keeps_anything(stage.engine);
    }
    return WEIR_OK;
}

SCENARIO(kept_fairly, "a fair dispatcher: nothing is kept, the longest waiting thread has it")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(2);
    weir_dispatcher_tune(stage.engine, WEIR_DISPATCHER(.name = "", .fair = true), &stage.error);
    actor *hub = stage_actor(NULL, spread_fairly);
    for (int i = 0; i < EACH; i++) {
        on_a[i] = stage_actor(NULL, NULL);
    }
    stage_start();
    stage_post(hub);
    stage_post(hub);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
