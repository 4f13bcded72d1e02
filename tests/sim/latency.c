/*
 * latency.c - measured events, while somebody switches what is measured, resets it and looks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

static weir_ns latency_began;

static weir_latency dispatchers_queueing(void)
{
    weir_latency l = WEIR_LATENCY_INIT;
    const weir_status status = weir_dispatcher_latency(stage.engine, "", &l, NULL);
    weir_sim_check(status == WEIR_OK || status == WEIR_E_NOMEM, "it cannot be read: %d", status);
    /* A stamp that was read too early is not a time of this run. */
    weir_sim_check(l.max <= weir_sim_now() - latency_began, "an event waited for %lld ns",
                   (long long)l.max);
    return l;
}

static void latency_open(uint32_t threads)
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .log_level = WEIR_LOG_OFF, .latency_every = 1));
    stage_threads(threads);
    latency_began = weir_sim_now();
}

static void latency_switch(void *argument)
{
    actor *a = argument;
    for (int i = 0; i < 2; i++) {
        const weir_status status = weir_latency_enable(stage.engine, "*", NULL);
        weir_sim_check(status == WEIR_OK || status == WEIR_E_NOMEM, "it cannot be enabled");
        (void)weir_processor_latency(stage.engine, a->handle, NULL, NULL);
        (void)weir_latency_disable(stage.engine, "*", NULL);
    }
}

SCENARIO(latency_switched, "processors are measured and not measured while they handle events")
{
    latency_open(2);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(latency_switch, a);
    for (int i = 0; i < 4; i++) {
        stage_post(a);
    }
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    (void)dispatchers_queueing();
    stage_close();
}

static void latency_look_and_reset(void *argument)
{
    (void)argument;
    (void)weir_latency_reset(stage.engine, NULL);
    (void)dispatchers_queueing();
}

SCENARIO(latency_reset, "what was measured is forgotten; what comes after is not")
{
    uint64_t least = 0;
    latency_open(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(latency_look_and_reset, NULL);
    stage_post(a);
    stage_post(a);
    weir_sim_thread_join(other);
    for (int i = 0; i < 3; i++) {
        least += stage_post(a) == WEIR_OK ? 1 : 0;
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    const weir_latency l = dispatchers_queueing();
    weir_sim_check(stage_is_short() || (l.count >= least && l.count <= least + 2),
                   "%llu events were measured", (unsigned long long)l.count);
    stage_close();
}

SCENARIO(latency_ends, "a processor that is measured ends while others are switched")
{
    latency_open(2);
    actor *a = stage_actor(NULL, NULL);
    actor *b = stage_actor(NULL, NULL);
    (void)weir_latency_enable(stage.engine, NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(latency_switch, b);
    stage_post(a);
    stage_post(b);
    (void)stage_stop_actor(a, WEIR_FOREVER);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* ---- the times of a thread ---- */

typedef struct times {
    weir_thread thread;
    weir_thread_counters last;
} times;

static bool take_first(void *context, weir_thread thread, const char *name)
{
    (void)name;
    ((times *)context)->thread = thread;
    return false;
}

/* A counter that falls has begun anew, for those who read it. */
static void look_at_times(times *t)
{
    weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
    const weir_status status = weir_thread_counters_get(stage.engine, t->thread, &c);
    weir_sim_check(status == WEIR_OK, "its counters cannot be read: %d", status);
    weir_sim_check(c.busy >= t->last.busy, "it was at work for %lld ns, before that for %lld",
                   (long long)c.busy, (long long)t->last.busy);
    weir_sim_check(c.alive >= t->last.alive, "it has lived for %lld ns, before that for %lld",
                   (long long)c.alive, (long long)t->last.alive);
    weir_sim_check(c.busy <= c.alive, "it was at work for longer than it lives");
    t->last = c;
}

static void look_at_times_often(void *argument)
{
    for (int i = 0; i < 4; i++) {
        look_at_times(argument);
        weir_sim_work(WEIR_US);
    }
}

SCENARIO(thread_times, "the times of a thread are read while it begins and ends work: none falls")
{
    times t = { .last = WEIR_THREAD_COUNTERS_INIT };
    latency_open(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    weir_thread_visit(stage.engine, take_first, &t);
    const int other = weir_sim_thread_start(look_at_times_often, &t);
    stage_post(a);
    stage_settle();
    stage_post(a);
    stage_settle();
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    look_at_times(&t);
    stage_close();
}
