/*
 * no_thread_test.c - the system refuses a thread: a status that says so, nothing half-started, and
 * it can be tried again.
 *
 * Refused by a limit on the address space: a stack does not fit below it, small memory does. A
 * sanitizer's shadow makes such a limit meaningless.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include <sys/resource.h>

static struct rlimit usual;

/* Stacks of threads that have ended are kept for new ones: these ask for larger ones. */
static void ask_for_stacks_of(size_t bytes)
{
    pthread_attr_t attributes;
    assert_int_equal(0, pthread_attr_init(&attributes));
    assert_int_equal(0, pthread_attr_setstacksize(&attributes, bytes));
    assert_int_equal(0, pthread_setattr_default_np(&attributes));
    assert_int_equal(0, pthread_attr_destroy(&attributes));
}

/* False: there can be no such limit here. */
static bool forbid_threads(void)
{
    char text[64] = "0";
    if (TEST_SANITIZED || getrlimit(RLIMIT_AS, &usual) != 0 ||
        !test_proc_line("/proc/self/status", "VmSize:", text, sizeof(text))) {
        return false;
    }
    ask_for_stacks_of((size_t)64 << 20);
    struct rlimit tight = usual;
    tight.rlim_cur = (rlim_t)strtoull(text, NULL, 10) * 1024 + (rlim_t)(2 << 20);
    return setrlimit(RLIMIT_AS, &tight) == 0;
}

static void allow_threads(void)
{
    assert_int_equal(0, setrlimit(RLIMIT_AS, &usual));
    ask_for_stacks_of((size_t)1 << 20);
}

/* The watchdog is the first of them, if there is one. */
static void refuse_a_start(weir_ns stuck_after, const char *first)
{
    static test_recorder recorder;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.stuck_after = stuck_after));
    (void)test_thread_add(
        engine, WEIR_THREAD(.name = "outside", .external = true, .dispatchers = WEIR_NAMES("x")));
    (void)test_thread_add(engine, WEIR_THREAD(.name = "first"));
    (void)test_thread_add(engine, WEIR_THREAD(.name = "second"));
    test_recorder_init(&recorder, false);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    const uint64_t tasks = test_task_count();
    if (!forbid_threads()) {
        weir_engine_destroy(engine);
        test_skip("no limit on the address space");
    }
    const weir_status status = weir_engine_start(engine, &error);
    allow_threads();
    assert_int_equal(WEIR_E_SYSTEM, status);
    assert_int_equal(WEIR_E_SYSTEM, error.status);
    assert_int_equal(EAGAIN, error.os_errno);
    assert_string_equal(first, error.path);
    TEST_UNTIL(test_task_count() <= tasks);
    assert_int_equal(0, test_recorder_handled(&recorder));
    test_engine_start(engine);
    TEST_UNTIL(test_recorder_handled(&recorder) == 1);
    assert_int_equal(3, test_engine_counters(engine).threads);
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    const weir_thread outside = weir_thread_find(engine, "outside");
    TEST_UNTIL(((void)weir_thread_run_once(engine, outside, 0),
                weir_engine_wait(engine, WEIR_NOW, NULL) == WEIR_OK));
    weir_engine_destroy(engine);
}

static void a_start_whose_threads_are_refused_names_the_first_and_can_be_repeated(void **state)
{
    (void)state;
    refuse_a_start(WEIR_FOREVER, "thread first");
}

static void a_start_whose_watchdog_is_refused_says_so_and_can_be_repeated(void **state)
{
    (void)state;
    refuse_a_start(0, "watchdog");
}

static void a_thread_that_is_refused_while_the_engine_runs_is_not_there(void **state)
{
    (void)state;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = test_engine_create(NULL);
    test_engine_start(engine);
    if (!forbid_threads()) {
        weir_engine_destroy(engine);
        test_skip("no limit on the address space");
    }
    const weir_thread none = weir_thread_add(
        engine, WEIR_THREAD(.name = "late", .dispatchers = WEIR_NAMES("new")), &error);
    allow_threads();
    assert_int_equal(0, none.id);
    assert_int_equal(WEIR_E_SYSTEM, error.status);
    assert_string_equal("thread late", error.path);
    assert_int_equal(0, weir_thread_find(engine, "late").id);
    assert_int_equal(1, test_engine_counters(engine).threads);
    assert_int_equal(1, test_engine_counters(engine).dispatchers);
    const weir_thread late =
        test_thread_add(engine, WEIR_THREAD(.name = "late", .dispatchers = WEIR_NAMES("new")));
    assert_int_equal(late.id, weir_thread_find(engine, "late").id);
    assert_int_equal(2, test_engine_counters(engine).dispatchers);
    (void)test_engine_end(engine);
}

static void come_to_an_end(void *state, weir_status reason)
{
    (void)state;
    (void)reason;
}

/* The asynchronous forms have a thread of their own, for what cannot be ended at once. */
static void an_asynchronous_stop_without_a_thread_has_not_begun(void **state)
{
    (void)state;
    static test_recorder recorder;
    weir_engine *engine = test_engine_create(NULL);
    test_recorder_init(&recorder, false);
    const weir_processor a = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder,
                               .destroy = come_to_an_end));
    const weir_processor b = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder,
                               .destroy = come_to_an_end));
    test_engine_start(engine);
    if (!forbid_threads()) {
        weir_engine_destroy(engine);
        test_skip("no limit on the address space");
    }
    const weir_status processor = weir_processor_stop_async(engine, a, 0);
    const weir_status whole = weir_engine_stop_async(engine, 0);
    allow_threads();
    assert_int_equal(WEIR_E_SYSTEM, processor);
    assert_int_equal(WEIR_E_SYSTEM, whole);
    assert_int_equal(WEIR_OK, test_post(engine, a, 1)); /* neither has begun to stop */
    assert_int_equal(WEIR_TIMEOUT, weir_engine_wait(engine, WEIR_NOW, NULL));
    /* Now the keeper is there, and the thread that stops the engine is refused. */
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, b, 0));
    weir_counters gone = WEIR_COUNTERS_INIT;
    TEST_UNTIL(weir_processor_counters(engine, b, &gone) == WEIR_UNKNOWN);
    assert_true(forbid_threads());
    const weir_status again = weir_engine_stop_async(engine, 0);
    allow_threads();
    assert_int_equal(WEIR_E_SYSTEM, again);
    assert_int_equal(WEIR_OK, test_post(engine, a, 2));
    assert_int_equal(2, test_engine_end(engine).handled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_whose_threads_are_refused_names_the_first_and_can_be_repeated),
        cmocka_unit_test(a_start_whose_watchdog_is_refused_says_so_and_can_be_repeated),
        cmocka_unit_test(a_thread_that_is_refused_while_the_engine_runs_is_not_there),
        cmocka_unit_test(an_asynchronous_stop_without_a_thread_has_not_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
