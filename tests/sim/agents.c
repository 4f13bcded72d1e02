/*
 * agents.c - agents of a thread: no wake-up is lost, calls run once and in order, and nothing of an
 * agent runs when it has left, whoever else does what at that time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include "engine/agent.h"
#include "sync/poller.h"
#include "sync/word.h"

/* Sees what was asked of it, if it is called after that. Relaxed on purpose: the wake-up is the
 * edge. */
typedef struct probe {
    weir__agent *agent;
    weir__atomic_u32 asked;
    weir__atomic_u32 seen; /* a wait word */
    uint64_t calls;        /* plain on purpose; so the next ones */
    bool left;
    int bell; /* its descriptor, or 0 */
    weir_ns next;
} probe;

static weir_thread host;

static int32_t look(void *context, weir_ns *next)
{
    probe *p = context;
    weir_sim_check(!p->left, "called after it has left");
    p->calls++;
    *next = p->next != 0 ? p->next : WEIR_FOREVER;
    if (p->bell != 0) {
        weir__doorbell_clear(p->bell);
    }
    const uint32_t asked =
        p->bell != 0 ? weir__load(&p->asked, seq_cst) : weir__load(&p->asked, relaxed);
    if (asked == weir__load(&p->seen, relaxed)) {
        return 0;
    }
    weir__store(&p->seen, asked, seq_cst);
    weir__word_wake(&p->seen, INT32_MAX);
    return 1;
}

static void join(probe *p)
{
    const weir__agent_plan plan = { .name = "probe", .do_work = look, .context = p };
    weir_error error = WEIR_ERROR_INIT;
    p->agent = weir__agent_join(stage.engine, host, &plan, &error);
    weir_sim_check(p->agent != NULL || error.status == WEIR_STOPPING ||
                       error.status == WEIR_UNKNOWN || error.status == WEIR_E_INVALID ||
                       (error.status == WEIR_E_NOMEM && stage_is_short()),
                   "join: %s", error.text);
}

static void leave(probe *p)
{
    if (p->agent != NULL) {
        weir__agent_leave(p->agent);
        p->agent = NULL;
        p->left = true;
    }
}

static void await_seen(probe *p, uint32_t target)
{
    for (;;) {
        const uint32_t seen = weir__load(&p->seen, seq_cst);
        if (seen >= target) {
            return;
        }
        weir__word_wait(&p->seen, seen, WEIR_FOREVER);
    }
}

static void open_host(probe *probes, int count)
{
    static const probe none;
    stage_open(NULL);
    host = weir_thread_add(stage.engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK), &stage.error);
    for (int i = 0; i < count; i++) {
        probes[i] = none;
    }
}

/* ---- waking ---- */

static probe probes[3];

static void wake_twice(void *argument)
{
    probe *p = argument;
    for (int i = 0; i < 2; i++) {
        weir__add(&p->asked, 1, relaxed);
        weir__agent_wake(p->agent);
    }
}

static void play_wakes(bool early)
{
    open_host(probes, 1);
    probe *p = &probes[0];
    if (early) {
        join(p);
    }
    stage_start();
    if (!early) {
        join(p);
    }
    if (p->agent != NULL) {
        const int other = weir_sim_thread_start(wake_twice, p);
        wake_twice(p);
        weir_sim_thread_join(other);
        await_seen(p, 4); /* nothing else calls it */
    }
    leave(p);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(agent_wake, "two wake an agent of a thread that parks: it is called after each")
{
    play_wakes(true);
}

SCENARIO(agent_wake_joined, "the same, and it has just joined")
{
    play_wakes(false);
}

SCENARIO(agent_wake_beside_posts, "an agent is woken, and a processor of its thread has events")
{
    open_host(probes, 1);
    join(&probes[0]);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(wake_twice, &probes[0]);
    stage_post(a);
    stage_post(a);
    weir_sim_thread_join(other);
    await_seen(&probes[0], 2);
    stage_settle();
    leave(&probes[0]);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* ---- descriptors ---- */

static void watch_bell(void *argument)
{
    probe *p = argument;
    const weir_status status = weir__agent_poll(p->agent, p->bell, true, false);
    weir_sim_check(status == WEIR_OK, "no poll: %d", (int)status);
}

static void ring_twice(void *argument)
{
    probe *p = argument;
    for (int i = 0; i < 2; i++) {
        weir__add(&p->asked, 1, seq_cst);
        weir__doorbell_ring(p->bell);
    }
}

/* Its first poll comes while others wake the thread in the old way. */
static void play_descriptor(bool posts)
{
    open_host(probes, 1);
    probe *p = &probes[0];
    join(p);
    p->bell = weir__doorbell_open();
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(ring_twice, p);
    if (posts) {
        stage_post(a);
    }
    const weir_status status = weir__agent_call(p->agent, watch_bell, p);
    weir_sim_check(status == WEIR_OK, "no call: %d", (int)status);
    if (posts) {
        stage_post(a);
    }
    weir_sim_thread_join(other);
    await_seen(p, 2);
    stage_settle();
    leave(p);
    weir__doorbell_close(p->bell);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(agent_poll, "a descriptor becomes ready while the thread parks")
{
    play_descriptor(false);
}

SCENARIO(agent_poll_posts, "the same, and posts wake the thread by way of its doorbell")
{
    play_descriptor(true);
}

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

SCENARIO(agent_poll_first, "posts wake a thread that is about to sleep in a poller from now on")
{
    open_host(probes, 1);
    probe *p = &probes[0];
    join(p);
    p->bell = weir__doorbell_open();
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(post_two, a);
    (void)weir__agent_call(p->agent, watch_bell, p);
    weir_sim_thread_join(other);
    stage_settle();
    leave(p);
    weir__doorbell_close(p->bell);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* ---- calls, joins, leaves ---- */

static uint32_t called; /* plain on purpose: calls are one after the other, on one thread */

static void count_call(void *argument)
{
    called++;
    (*(uint32_t *)argument)++;
}

static uint32_t try_call(probe *p)
{
    uint32_t own = 0;
    if (p->agent == NULL) {
        return 0;
    }
    const weir_status status = weir__agent_call(p->agent, count_call, &own);
    weir_sim_check(status == WEIR_OK || status == WEIR_STOPPING, "call: %d", (int)status);
    weir_sim_check(own == (status == WEIR_OK ? 1 : 0), "called %u times, and answered %d", own,
                   (int)status);
    return own;
}

static void call_twice(void *argument)
{
    (void)try_call(argument);
    (void)try_call(argument);
}

SCENARIO(agent_call_against_leave, "calls of one agent while another leaves and a third joins")
{
    open_host(probes, 3);
    called = 0;
    join(&probes[0]);
    join(&probes[1]);
    stage_start();
    const int other = weir_sim_thread_start(call_twice, &probes[0]);
    leave(&probes[1]);
    join(&probes[2]);
    (void)try_call(&probes[2]);
    leave(&probes[2]);
    weir_sim_thread_join(other);
    leave(&probes[0]);
    weir_sim_check(called >= 2, "%u calls", called);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void leave_in_a_call(void *argument)
{
    leave(argument);
}

SCENARIO(agent_leaves_in_a_call, "one leaves in a call of its own while others are called")
{
    open_host(probes, 2);
    called = 0;
    join(&probes[0]);
    join(&probes[1]);
    stage_start();
    const int other = weir_sim_thread_start(call_twice, &probes[1]);
    (void)weir__agent_call(probes[0].agent, leave_in_a_call, &probes[0]);
    weir_sim_thread_join(other);
    leave(&probes[1]);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void join_and_call(void *argument)
{
    join(argument);
    (void)try_call(argument);
}

SCENARIO(agent_join_against_stop, "one joins and is called while the engine stops")
{
    open_host(probes, 2);
    join(&probes[1]);
    stage_start();
    const int other = weir_sim_thread_start(join_and_call, &probes[0]);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(other);
    leave(&probes[0]);
    stage_close(); /* the other one is the engine's to free */
}

static void leave_it(void *argument)
{
    leave(argument);
}

SCENARIO(agent_leave_against_stop, "one leaves while the engine stops, another is called")
{
    open_host(probes, 2);
    join(&probes[0]);
    join(&probes[1]);
    stage_start();
    const int one = weir_sim_thread_start(leave_it, &probes[0]);
    const int other = weir_sim_thread_start(call_twice, &probes[1]);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(one);
    weir_sim_thread_join(other);
    leave(&probes[1]);
    stage_close();
}

static void remove_host(void *unused)
{
    (void)unused;
    const weir_status status = weir_thread_remove(stage.engine, host, NULL);
    weir_sim_check(status == WEIR_OK || status == WEIR_E_INVALID || status == WEIR_UNKNOWN,
                   "remove: %d", (int)status);
}

SCENARIO(agent_join_against_removal, "one joins a thread that is removed: it is there, or nobody")
{
    open_host(probes, 1);
    stage_threads(1);
    stage_start();
    const int other = weir_sim_thread_start(remove_host, NULL);
    join_and_call(&probes[0]);
    leave(&probes[0]);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* ---- external threads ---- */

static void turn_when_it_rings(void *unused)
{
    (void)unused;
    const int bell = weir_thread_fd(stage.engine, host);
    while (stage_cues() < 2) {
        weir_sim_poll(bell, stage_cues() == 0 ? WEIR_FOREVER : WEIR_MS);
        weir_thread_run_once(stage.engine, host, 1);
    }
}

SCENARIO(agent_external, "an agent of an external thread is woken, called, and leaves")
{
    open_host(probes, 2);
    stage.error = (weir_error)WEIR_ERROR_INIT;
    host = weir_thread_add(stage.engine, WEIR_THREAD(.external = true), &stage.error);
    join(&probes[0]);
    join(&probes[1]);
    stage_start();
    const int loop = weir_sim_thread_start(turn_when_it_rings, NULL);
    const int other = weir_sim_thread_start(wake_twice, &probes[0]);
    leave(&probes[1]);
    weir_sim_thread_join(other);
    await_seen(&probes[0], 2);
    (void)try_call(&probes[0]);
    leave(&probes[0]);
    stage_cue();
    stage_stop(WEIR_FOREVER);
    stage_cue();
    weir_sim_thread_join(loop);
    stage_close();
}

SCENARIO(agent_external_deadline, "the deadline of an agent makes an external thread readable")
{
    open_host(probes, 1);
    stage.error = (weir_error)WEIR_ERROR_INIT;
    host = weir_thread_add(stage.engine, WEIR_THREAD(.external = true), &stage.error);
    join(&probes[0]);
    probes[0].next = WEIR_S;
    stage_start();
    const int loop = weir_sim_thread_start(turn_when_it_rings, NULL);
    weir__add(&probes[0].asked, 1, seq_cst); /* and nobody says so */
    await_seen(&probes[0], 1);
    leave(&probes[0]);
    stage_cue();
    stage_stop(WEIR_FOREVER);
    stage_cue();
    weir_sim_thread_join(loop);
    stage_close();
}
