/*
 * engine/agent_test.c - agents of a thread: joining, leaving, calls, wake-ups, deadlines, failures,
 * and the end of the thread or of the engine while they are there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include "engine/agent.h"

/* Plain fields are its thread's, and read when it has left. */
typedef struct probe {
    atomic_uint_least64_t calls;
    _Atomic int32_t answer; /* what do_work gives */
    _Atomic weir_ns next;   /* what it sets *next to; as a span from now, unless 0 or FOREVER */
    atomic_int failures;
    _Atomic weir_status failed_with;
    _Atomic weir_ns called_at[64];
    pthread_t thread;
    bool has_thread, elsewhere;
    weir__agent *agent;
} probe;

static void note_where(probe *p)
{
    p->elsewhere |= p->has_thread && pthread_equal(p->thread, pthread_self()) == 0;
    p->thread = pthread_self();
    p->has_thread = true;
}

static int32_t probe_work(void *context, weir_ns *next)
{
    probe *p = context;
    note_where(p);
    if (*next != WEIR_FOREVER) {
        p->elsewhere = true;
    }
    const uint64_t n = atomic_fetch_add(&p->calls, 1);
    if (n < 64) {
        atomic_store(&p->called_at[n], test_now());
    }
    const weir_ns span = atomic_load(&p->next);
    *next = span == 0 || span == WEIR_FOREVER ? span : test_now() + span;
    return atomic_load(&p->answer);
}

static void probe_failed(void *context, weir_status status)
{
    probe *p = context;
    note_where(p);
    atomic_store(&p->failed_with, status);
    atomic_fetch_add(&p->failures, 1);
}

static void probe_join(probe *p, weir_engine *engine, weir_thread thread, const char *name)
{
    const weir__agent_plan plan = {
        .name = name, .do_work = probe_work, .failed = probe_failed, .context = p
    };
    weir_error error = WEIR_ERROR_INIT;
    p->agent = weir__agent_join(engine, thread, &plan, &error);
    if (p->agent == NULL) {
        fail_msg("%s: %s", error.path, error.text);
    }
}

static weir_thread parked_thread(weir_engine *engine)
{
    return test_thread_add(engine, WEIR_THREAD(.name = "host", .idle = WEIR_IDLE_PARK));
}

static uint64_t calls_of(probe *p)
{
    return atomic_load(&p->calls);
}

/* Not called any more: a sound no by way of another agent's rounds. */
static void assert_not_called(probe *p, weir_engine *engine, weir_thread thread)
{
    const uint64_t before = calls_of(p);
    probe other = { .next = WEIR_FOREVER };
    probe_join(&other, engine, thread, "other");
    for (int i = 0; i < 20; i++) {
        const uint64_t seen = calls_of(&other);
        weir__agent_wake(other.agent);
        TEST_UNTIL(calls_of(&other) > seen);
    }
    weir__agent_leave(other.agent);
    assert_int_equal(before, calls_of(p));
}

/* ---- joining and leaving ---- */

static void one_that_joins_a_running_thread_is_called_there(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    test_engine_start(engine);
    probe p = { .next = WEIR_FOREVER };
    probe_join(&p, engine, thread, "late");
    TEST_UNTIL(calls_of(&p) > 0);
    weir__agent_leave(p.agent);
    assert_false(p.elsewhere);
    assert_int_equal(0, pthread_equal(p.thread, pthread_self()));
    assert_not_called(&p, engine, thread);
    weir_engine_destroy(engine);
}

static void one_may_leave_before_the_engine_runs(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    probe p[3] = { { .next = WEIR_FOREVER }, { .next = WEIR_FOREVER }, { .next = WEIR_FOREVER } };
    for (size_t i = 0; i < 3; i++) {
        probe_join(&p[i], engine, thread, "early");
    }
    weir__agent_leave(p[1].agent);
    test_engine_start(engine);
    TEST_UNTIL(calls_of(&p[0]) > 0 && calls_of(&p[2]) > 0);
    assert_int_equal(0, calls_of(&p[1]));
    weir__agent_leave(p[2].agent);
    weir__agent_leave(p[0].agent);
    weir_engine_destroy(engine);
}

static void nobody_joins_a_thread_that_is_not_there(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    const weir__agent_plan plan = { .name = "lost", .do_work = probe_work };
    weir_error error = WEIR_ERROR_INIT;
    assert_null(weir__agent_join(engine, (weir_thread){ 0 }, &plan, &error));
    assert_int_equal(WEIR_UNKNOWN, error.status);
    assert_null(weir__agent_join(engine, thread, &plan, &error)); /* an error is set already */
    assert_int_equal(WEIR_OK, weir_thread_remove(engine, thread, NULL));
    error = (weir_error)WEIR_ERROR_INIT;
    assert_null(weir__agent_join(engine, thread, &plan, &error));
    assert_int_equal(WEIR_UNKNOWN, error.status);
    error = (weir_error)WEIR_ERROR_INIT;
    assert_null(weir__agent_join(NULL, thread, &plan, &error));
    assert_int_equal(WEIR_E_INVALID, error.status);
    weir_engine_destroy(engine);
}

/* ---- calls ---- */

typedef struct called {
    atomic_int times;
    pthread_t thread;
    weir__agent *leaver; /* leaves in the call */
    weir__agent *nested; /* is called in the call */
    int order, *counter;
} called;

static void on_call(void *argument)
{
    called *c = argument;
    c->thread = pthread_self();
    if (c->counter != NULL) {
        c->order = (*c->counter)++;
    }
    if (c->nested != NULL) {
        called inner = { .order = 0 };
        const weir_status status = weir__agent_call(c->nested, on_call, &inner);
        atomic_fetch_add(&c->times, status == WEIR_OK ? atomic_load(&inner.times) : 100);
    }
    if (c->leaver != NULL) {
        weir__agent_leave(c->leaver);
    }
    atomic_fetch_add(&c->times, 1);
}

static void a_call_runs_on_the_thread_and_is_over_when_it_returns(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    test_engine_start(engine);
    probe p = { .next = WEIR_FOREVER };
    probe_join(&p, engine, thread, "callee");
    TEST_UNTIL(calls_of(&p) > 0);
    int counter = 0;
    pthread_t first = pthread_self();
    for (int i = 0; i < 1000; i++) {
        called c = { .counter = &counter, .nested = i % 2 == 0 ? p.agent : NULL };
        assert_int_equal(WEIR_OK, weir__agent_call(p.agent, on_call, &c));
        assert_int_equal(i % 2 == 0 ? 2 : 1, atomic_load(&c.times));
        assert_int_equal(i, c.order);
        first = i == 0 ? c.thread : first;
        assert_int_not_equal(0, pthread_equal(c.thread, first));
    }
    weir__agent_leave(p.agent);
    assert_int_not_equal(0, pthread_equal(first, p.thread));
    weir_engine_destroy(engine);
}

static void one_may_leave_in_a_call_of_its_own(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    test_engine_start(engine);
    probe p = { .next = WEIR_FOREVER };
    probe_join(&p, engine, thread, "leaver");
    called c = { .leaver = p.agent };
    assert_int_equal(WEIR_OK, weir__agent_call(p.agent, on_call, &c));
    assert_not_called(&p, engine, thread);
    assert_int_equal(WEIR_OK, weir_thread_remove(engine, thread, NULL));
    weir_engine_destroy(engine);
}

typedef struct quitter {
    weir__agent *self, *other;
    atomic_int calls;
} quitter;

static int32_t quit(void *context, weir_ns *next)
{
    quitter *q = context;
    *next = WEIR_FOREVER;
    atomic_fetch_add(&q->calls, 1);
    weir__agent_leave(q->other);
    weir__agent_leave(q->self);
    return 1;
}

static void one_may_leave_in_its_own_do_work_and_take_another_along(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    quitter q = { .self = NULL };
    probe p = { .next = WEIR_FOREVER };
    const weir__agent_plan plan = { .name = "quitter", .do_work = quit, .context = &q };
    q.self = weir__agent_join(engine, thread, &plan, NULL);
    assert_non_null(q.self);
    probe_join(&p, engine, thread, "taken along");
    q.other = p.agent;
    test_engine_start(engine);
    TEST_UNTIL(atomic_load(&q.calls) > 0);
    assert_not_called(&p, engine, thread);
    assert_int_equal(1, atomic_load(&q.calls));
    assert_int_equal(0, calls_of(&p));
    assert_int_equal(WEIR_OK, weir_thread_remove(engine, thread, NULL));
    weir_engine_destroy(engine);
}

typedef struct caller {
    weir__agent *agent;
    called c;
    _Atomic weir_status status;
    pthread_t thread;
} caller;

static void *call_it(void *argument)
{
    caller *c = argument;
    atomic_store(&c->status, weir__agent_call(c->agent, on_call, &c->c));
    return NULL;
}

static void begin_call(caller *c, weir__agent *agent)
{
    *c = (caller){ .agent = agent };
    atomic_store(&c->status, WEIR_TIMEOUT);
    assert_int_equal(0, pthread_create(&c->thread, NULL, call_it, c));
}

static void end_call(caller *c, weir_status status, int times)
{
    assert_int_equal(0, pthread_join(c->thread, NULL));
    assert_int_equal(status, atomic_load(&c->status));
    assert_int_equal(times, atomic_load(&c->c.times));
}

static void a_call_before_the_start_waits_for_it(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    probe p = { .next = WEIR_FOREVER };
    caller c;
    probe_join(&p, engine, thread, "callee");
    begin_call(&c, p.agent);
    test_engine_start(engine);
    end_call(&c, WEIR_OK, 1);
    weir__agent_leave(p.agent);
    weir_engine_destroy(engine);
}

static void a_call_of_an_engine_that_never_ran_is_refused_at_its_stop(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    probe p = { .next = WEIR_FOREVER };
    caller c;
    probe_join(&p, engine, thread, "callee");
    begin_call(&c, p.agent);
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, NULL));
    end_call(&c, WEIR_STOPPING, 0);
    assert_int_equal(0, calls_of(&p));
    weir__agent_leave(p.agent);
    weir_engine_destroy(engine);
}

/* ---- the end ---- */

static void a_stopped_engine_calls_nobody_and_lets_everybody_leave(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    probe p = { .next = 0 }, left = { .next = 0 };
    probe_join(&p, engine, thread, "stays");
    probe_join(&left, engine, thread, "is left to the engine");
    test_engine_start(engine);
    TEST_UNTIL(calls_of(&left) > 0);
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, NULL));
    const uint64_t calls = calls_of(&p);
    called c = { .order = 0 };
    assert_int_equal(WEIR_STOPPING, weir__agent_call(p.agent, on_call, &c));
    weir__agent_wake(p.agent);
    assert_int_equal(0, atomic_load(&c.times));
    assert_int_equal(calls, calls_of(&p));
    weir__agent_leave(p.agent);
    const weir__agent_plan plan = { .name = "late", .do_work = probe_work, .context = &p };
    weir_error error = WEIR_ERROR_INIT;
    assert_null(weir__agent_join(engine, thread, &plan, &error));
    assert_int_equal(WEIR_STOPPING, error.status);
    weir_engine_destroy(engine); /* frees the other one: ASan is the judge */
}

static void a_thread_with_an_agent_is_not_removed_and_the_error_names_it(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.name = "spare"));
    const weir_thread thread = parked_thread(engine);
    probe p = { .next = WEIR_FOREVER };
    for (int running = 0; running < 2; running++) {
        if (running != 0) {
            test_engine_start(engine);
        }
        probe_join(&p, engine, thread, "resident");
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_E_INVALID, weir_thread_remove(engine, thread, &error));
        assert_non_null(strstr(error.text, "\"resident\""));
        assert_non_null(strstr(error.text, "\"host\""));
        weir__agent_leave(p.agent);
    }
    assert_int_equal(WEIR_OK, weir_thread_remove(engine, thread, NULL));
    /* The seat is as good as new. */
    const weir_thread again = parked_thread(engine);
    probe q = { .next = WEIR_FOREVER };
    probe_join(&q, engine, again, "next");
    TEST_UNTIL(calls_of(&q) > 0);
    weir__agent_leave(q.agent);
    assert_int_equal(WEIR_OK, weir_thread_remove(engine, again, NULL));
    weir_engine_destroy(engine);
}

/* ---- waking and deadlines ---- */

static void each_wake_up_brings_a_call(void **state)
{
    (void)state;
    static const weir_idle strategies[] = { WEIR_IDLE_PARK,  WEIR_IDLE_BACKOFF,   WEIR_IDLE_SLEEP,
                                            WEIR_IDLE_YIELD, WEIR_IDLE_BUSY_SPIN, WEIR_IDLE_NOOP };
    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
        weir_engine *engine = test_engine_create(NULL);
        const weir_thread thread =
            test_thread_add(engine, WEIR_THREAD(.idle = strategies[i], .idle_sleep = 600 * WEIR_S));
        probe p = { .next = WEIR_FOREVER };
        probe_join(&p, engine, thread, "woken");
        test_engine_start(engine);
        for (int n = 0; n < 300; n++) {
            const uint64_t before = calls_of(&p);
            weir__agent_wake(p.agent);
            TEST_UNTIL(calls_of(&p) > before); /* nothing else would call it */
        }
        weir__agent_leave(p.agent);
        weir_engine_destroy(engine);
    }
}

static void a_deadline_brings_a_call_not_before_it(void **state)
{
    (void)state;
    static const weir_idle strategies[] = { WEIR_IDLE_PARK, WEIR_IDLE_BACKOFF, WEIR_IDLE_SLEEP };
    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
        weir_engine *engine = test_engine_create(NULL);
        const weir_thread thread =
            test_thread_add(engine, WEIR_THREAD(.idle = strategies[i], .idle_sleep = 600 * WEIR_S,
                                                .idle_spin_max = WEIR_NOW));
        probe p = { .next = 20 * WEIR_MS };
        probe_join(&p, engine, thread, "punctual");
        const weir_ns begin = test_now();
        test_engine_start(engine);
        TEST_UNTIL(calls_of(&p) >= 5); /* so the deadline is kept */
        const weir_ns passed = test_now() - begin;
        const uint64_t calls = calls_of(&p);
        /* Each park is the whole span; around it, an idle thread looks a few times more. */
        assert_true((weir_ns)calls <= (passed / (20 * WEIR_MS) + 2) * 64);
        weir__agent_leave(p.agent);
        weir_engine_destroy(engine);
    }
}

static void one_that_names_no_time_is_called_within_max_park(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread often = parked_thread(engine);
    const weir_thread rarely =
        test_thread_add(engine, WEIR_THREAD(.idle = WEIR_IDLE_PARK, .max_park = 600 * WEIR_S));
    probe p = { .next = 0 }, q = { .next = 0 };
    probe_join(&p, engine, often, "often");
    probe_join(&q, engine, rarely, "rarely");
    test_engine_start(engine);
    TEST_UNTIL(calls_of(&p) >= 200);
    assert_true(calls_of(&q) <= 8);
    weir__agent_leave(p.agent);
    weir__agent_leave(q.agent);
    weir_engine_destroy(engine);
}

/* A thread for agents alone: it serves nobody, so the default dispatcher gets its own. */
static void a_thread_may_serve_nobody_but_agents(void **state)
{
    (void)state;
    static const char *const none[] = { NULL };
    for (int external = 0; external < 2; external++) {
        weir_engine *engine = test_engine_create(NULL);
        const weir_thread thread = test_thread_add(
            engine, WEIR_THREAD(.name = "io", .dispatchers = none, .external = external != 0));
        test_recorder recorder;
        test_recorder_init(&recorder, false);
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
        probe p = { .next = WEIR_FOREVER };
        probe_join(&p, engine, thread, "alone");
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, test_post(engine, to, 1));
        TEST_UNTIL(test_recorder_handled(&recorder) == 1);
        for (int n = 0; n < 20; n++) {
            const uint64_t before = calls_of(&p);
            weir__agent_wake(p.agent);
            TEST_UNTIL((external != 0 && weir_thread_run_once(engine, thread, 0) < 0) ||
                       calls_of(&p) > before);
        }
        weir__agent_leave(p.agent);
        assert_int_equal(WEIR_OK, weir_thread_remove(engine, thread, NULL));
        assert_int_equal(1, test_engine_end(engine).handled);
    }
}

/* ---- failures ---- */

static void a_failure_is_reported_and_the_next_try_waits_twice_as_long_each_time(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread thread = parked_thread(engine);
    probe p = { .answer = WEIR_E_SYSTEM, .next = 0 };
    probe busy = { .answer = 1 }; /* keeps the thread up: rounds are many */
    probe_join(&p, engine, thread, "failing");
    probe_join(&busy, engine, thread, "busy");
    test_engine_start(engine);
    TEST_UNTIL(calls_of(&p) >= 5);
    assert_int_equal(WEIR_E_SYSTEM, atomic_load(&p.failed_with));
    for (int n = 0; n < 4; n++) {
        const weir_ns gap = atomic_load(&p.called_at[n + 1]) - atomic_load(&p.called_at[n]);
        assert_true(gap >= (10 * WEIR_MS << n));
    }
    assert_true(calls_of(&busy) > 100);
    atomic_store(&p.answer, 0);
    const uint64_t before = calls_of(&p);
    TEST_UNTIL(calls_of(&p) >= before + 100); /* well again: every round */
    weir__agent_leave(p.agent);
    assert_true(atomic_load(&p.failures) >= 5);
    assert_false(p.elsewhere);
    weir__agent_leave(busy.agent);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_joins_a_running_thread_is_called_there),
        cmocka_unit_test(one_may_leave_before_the_engine_runs),
        cmocka_unit_test(nobody_joins_a_thread_that_is_not_there),
        cmocka_unit_test(a_call_runs_on_the_thread_and_is_over_when_it_returns),
        cmocka_unit_test(one_may_leave_in_a_call_of_its_own),
        cmocka_unit_test(one_may_leave_in_its_own_do_work_and_take_another_along),
        cmocka_unit_test(a_call_before_the_start_waits_for_it),
        cmocka_unit_test(a_call_of_an_engine_that_never_ran_is_refused_at_its_stop),
        cmocka_unit_test(a_stopped_engine_calls_nobody_and_lets_everybody_leave),
        cmocka_unit_test(a_thread_with_an_agent_is_not_removed_and_the_error_names_it),
        cmocka_unit_test(each_wake_up_brings_a_call),
        cmocka_unit_test(a_deadline_brings_a_call_not_before_it),
        cmocka_unit_test(one_that_names_no_time_is_called_within_max_park),
        cmocka_unit_test(a_thread_may_serve_nobody_but_agents),
        cmocka_unit_test(a_failure_is_reported_and_the_next_try_waits_twice_as_long_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
