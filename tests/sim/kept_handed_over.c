/*
 * kept_handed_over.c - threads that go away from what they keep: an external one whose run_once
 * returns, one that has to leave. They hand it over, and nobody waits for the monitor's tick.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"
#include "sync/sim/core.h"

enum { LEAVES = 3 };

static actor *leaves[LEAVES];
static weir_thread outer;

static weir_status spread(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    for (int i = 0; i < LEAVES; i++) {
        actor_post(self, turn, leaves[i]);
    }
    return WEIR_OK;
}

static actor *cast(void)
{
    actor *hub = stage_actor(NULL, spread);
    for (int i = 0; i < LEAVES; i++) {
        leaves[i] = stage_actor(NULL, NULL);
    }
    return hub;
}

static bool time_leaps(void)
{
    return (weir__sim.faults & WEIR_SIM_TIME_JUMPS) != 0;
}

/* Turned once, and never again before all is done. */
SCENARIO(kept_handed_over, "an external thread returns by its limit; another has to run the rest")
{
    stage_open(NULL);
    stage_threads(1);
    outer = weir_thread_add(stage.engine, WEIR_THREAD(.external = true), &stage.error);
    actor *hub = cast();
    stage_start();
    stage_post(hub);
    const weir_ns begin = weir_sim_now();
    (void)weir_thread_run_once(stage.engine, outer, 1);
    stage_settle();
    weir_sim_check(time_leaps() || weir_sim_now() - begin < WEIR_MS,
                   "what the external thread kept had to wait for the monitor");
    (void)weir_thread_run_once(stage.engine, outer, 0);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* As an event loop does: waits for the bell before every turn, without an end as long as it must
 * ring for what is left; then it only has to be there for the stop. */
static void turn_it(void *unused)
{
    (void)unused;
    const int bell = weir_thread_fd(stage.engine, outer);
    while (stage_cues() < 2) {
        weir_sim_poll(bell, stage_cues() == 0 ? WEIR_FOREVER : WEIR_MS);
        (void)weir_thread_run_once(stage.engine, outer, 1);
    }
}

SCENARIO(kept_for_the_next_time, "the only thread is external and returns after every event")
{
    stage_open(NULL);
    outer = weir_thread_add(stage.engine, WEIR_THREAD(.external = true), &stage.error);
    actor *hub = cast();
    actor *last = stage_actor(NULL, NULL);
    stage_start();
    const int loop = weir_sim_thread_start(turn_it, NULL);
    stage_post(hub);
    stage_post(hub);
    stage_settle();
    stage_cue();
    stage_post(last); /* rings, should it sleep */
    stage_stop(WEIR_FOREVER);
    stage_cue();
    weir_sim_thread_join(loop);
    stage_close();
}

static void post_twice(void *to)
{
    stage_post(to);
    stage_post(to);
}

/* The second row is wrong, so the thread of the first has to go, with whatever it keeps. */
SCENARIO(kept_by_one_who_leaves, "a thread that has begun to work is taken back",
         .steps_max = 30000)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .batch_max = 1));
    stage_threads(1);
    actor *hub = cast();
    stage_start();
    const int other = weir_sim_thread_start(post_twice, hub);
    weir_error error = WEIR_ERROR_INIT;
    const char *const *const rows[] = { WEIR_NAMES(""), WEIR_NAMES("x", "x"), NULL };
    weir_sim_check(weir_assign(stage.engine, rows, &error) != WEIR_OK, "a wrong row is accepted");
    weir_sim_thread_join(other);
    const weir_ns begin = weir_sim_now();
    stage_settle();
    weir_sim_check(time_leaps() || weir_sim_now() - begin < WEIR_MS,
                   "what the thread kept had to wait for the monitor");
    stage_stop(WEIR_FOREVER);
    stage_close();
}
