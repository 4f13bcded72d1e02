/*
 * engine/agent_watch_test.c - an agent that does not return is named by the watchdog; one for which
 * there is no memory is not there at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "watchdog_support.h"

#include "engine/agent.h"
#include "fault_support.h"

enum { STUCK_MS = 50 };

typedef struct sleeper {
    lingerer lingers;
    _Atomic bool enough;
} sleeper;

static int32_t linger_in_do_work(void *context, weir_ns *next)
{
    sleeper *s = context;
    *next = WEIR_FOREVER;
    if (!atomic_load(&s->enough)) {
        atomic_store(&s->enough, true);
        (void)watchdog_test_lingers(&s->lingers);
    }
    return 0;
}

static void linger_in_call(void *argument)
{
    (void)watchdog_test_lingers(argument);
}

static weir__agent *join(weir_engine *engine, const weir__agent_plan *plan)
{
    weir_error error = WEIR_ERROR_INIT;
    weir__agent *agent = weir__agent_join(engine, weir_thread_find(engine, "w1"), plan, &error);
    test_error_none(&error);
    return agent;
}

static void a_do_work_that_does_not_return_is_reported_by_name(void **state)
{
    (void)state;
    watch_log log;
    weir_engine *engine = watched_engine(&log, STUCK_MS * WEIR_MS);
    sleeper s = { .enough = false };
    lingerer_init(&s.lingers);
    weir__agent *agent = join(
        engine, &(weir__agent_plan){ .name = "tail", .do_work = linger_in_do_work, .context = &s });
    test_engine_start(engine);
    const said *entry = watch_log_await(&log, "agent tail", "its do_work has not returned");
    assert_int_equal(WEIR_LOG_WARNING, entry->level);
    assert_says(entry, "thread=w1");
    assert_true(said_ms(entry) >= STUCK_MS);
    let_go(&s.lingers);
    (void)watch_log_await(&log, "agent tail", "its do_work has returned after all");
    weir__agent_leave(agent);
    weir_engine_destroy(engine);
}

static void *call_from_elsewhere(void *argument)
{
    void **pair = argument;
    (void)weir__agent_call(pair[0], linger_in_call, pair[1]);
    return NULL;
}

static void a_call_that_does_not_return_is_reported_by_its_agent(void **state)
{
    (void)state;
    watch_log log;
    weir_engine *engine = watched_engine(&log, STUCK_MS * WEIR_MS);
    sleeper s = { .enough = true };
    lingerer_init(&s.lingers);
    weir__agent *agent = join(engine, &(weir__agent_plan){ .name = "sink" });
    test_engine_start(engine);
    void *pair[] = { agent, &s.lingers };
    pthread_t caller;
    assert_int_equal(0, pthread_create(&caller, NULL, call_from_elsewhere, pair));
    (void)watch_log_await(&log, "agent sink", "a call on its thread has not returned");
    let_go(&s.lingers);
    assert_int_equal(0, pthread_join(caller, NULL));
    (void)watch_log_await(&log, "agent sink", "a call on its thread has returned after all");
    weir__agent_leave(agent);
    weir_engine_destroy(engine);
}

static int32_t return_at_once(void *context, weir_ns *next)
{
    *next = 0;
    atomic_fetch_add((atomic_int *)context, 1);
    return 1;
}

/* It is running whenever somebody looks, and never for long. */
static void a_busy_agent_is_not_stuck(void **state)
{
    (void)state;
    watch_log log;
    weir_engine *engine = watched_engine(&log, STUCK_MS * WEIR_MS);
    atomic_int calls = 0;
    weir__agent *agent =
        join(engine,
             &(weir__agent_plan){ .name = "busy", .do_work = return_at_once, .context = &calls });
    test_engine_start(engine);
    const weir_ns end = test_now() + 6 * STUCK_MS * WEIR_MS;
    TEST_UNTIL(test_now() > end && atomic_load(&calls) > 100);
    assert_null(watch_log_find(&log, "agent busy", ""));
    assert_int_equal(0, stuck_count(engine));
    weir__agent_leave(agent);
    weir_engine_destroy(engine);
}

/* ---- memory ---- */

static void an_agent_without_memory_is_not_there_and_the_next_one_is(void **state)
{
    (void)state;
    long refused = 1;
    for (long nth = 0; refused > 0; nth++) {
        test_fault fault;
        test_fault_init(&fault);
        const weir_allocator allocator = { .allocate = test_fault_allocate,
                                           .release = test_fault_release,
                                           .context = &fault };
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.allocator = &allocator));
        const weir_thread thread = test_thread_add(engine, WEIR_THREAD(.name = "w1"));
        test_engine_start(engine);
        atomic_int calls = 0;
        const weir__agent_plan plan = { .name = "hungry",
                                        .do_work = return_at_once,
                                        .context = &calls };
        weir_error error = WEIR_ERROR_INIT;
        test_fault_arm(&fault, nth, false);
        weir__agent *agent = weir__agent_join(engine, thread, &plan, &error);
        refused = test_fault_disarm(&fault);
        if (refused > 0 && agent == NULL) {
            assert_int_equal(WEIR_E_NOMEM, error.status);
            error = (weir_error)WEIR_ERROR_INIT;
            agent = weir__agent_join(engine, thread, &plan, &error);
        }
        test_error_none(&error);
        assert_non_null(agent);
        TEST_UNTIL(atomic_load(&calls) > 0);
        test_fault_arm(&fault, 0, true); /* leaving needs nothing */
        weir__agent_leave(agent);
        (void)test_fault_disarm(&fault);
        assert_int_equal(0, (weir_thread_remove(engine, thread, NULL)));
        weir_engine_destroy(engine);
        assert_int_equal(0, atomic_load(&fault.bytes));
        assert_int_equal(0, atomic_load(&fault.wrong));
        assert_true(nth > 0 || refused > 0); /* the first try met one */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_do_work_that_does_not_return_is_reported_by_name),
        cmocka_unit_test(a_call_that_does_not_return_is_reported_by_its_agent),
        cmocka_unit_test(a_busy_agent_is_not_stuck),
        cmocka_unit_test(an_agent_without_memory_is_not_there_and_the_next_one_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
