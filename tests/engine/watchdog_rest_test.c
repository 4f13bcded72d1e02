/*
 * watchdog_rest_test.c - around a stuck handler: the rest is served, the engine can be stopped, the
 * report has a stack; and when all is well, nothing ticks, and who wants no watchdog has none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "watchdog_support.h"

#include <dirent.h>
#include <signal.h>

static watch_log log_of_test;

/* ---- the rest is served ---- */

typedef struct relay {
    lingerer slow;
    weir_processor next;
} relay;

/* What it makes ready, its thread keeps. */
static weir_status post_and_linger(void *state, weir_turn *turn, const weir_event *event)
{
    relay *r = state;
    const weir_status status = weir_turn_post(turn, r->next, event);
    return watchdog_test_lingers(&r->slow) ? status : WEIR_E_FAILED;
}

static void the_rest_is_served_while_one_is_stuck(void **state)
{
    (void)state;
    enum { EVENTS = 200 };
    static relay stuck;
    static test_recorder same, other, kept;
    watch_log *log = &log_of_test;
    weir_engine *engine = watched_engine(log, 20 * WEIR_MS);
    (void)test_thread_add(engine, WEIR_THREAD(.name = "w2"));
    (void)test_thread_add(engine, WEIR_THREAD(.name = "x", .dispatchers = WEIR_NAMES("x")));
    lingerer_init(&stuck.slow);
    test_recorder_init(&same, false);
    test_recorder_init(&other, false);
    test_recorder_init(&kept, false);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.name = "stuck", .handler = post_and_linger, .argument = &stuck));
    const weir_processor a = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &same));
    const weir_processor b =
        test_processor_add(engine, WEIR_PROCESSOR(.dispatcher = "x", .argument = &other,
                                                  .handler = test_recorder_handle));
    stuck.next = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &kept));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, to, 7));
    (void)watch_log_await(log, "processor stuck", "its handler has not returned");
    for (uint64_t i = 0; i < EVENTS; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, a, i));
        assert_int_equal(WEIR_OK, test_post(engine, b, i));
    }
    TEST_UNTIL(test_recorder_handled(&same) == EVENTS);
    TEST_UNTIL(test_recorder_handled(&other) == EVENTS);
    TEST_UNTIL(test_recorder_handled(&kept) == 1);
    assert_int_equal(0, atomic_load(&stuck.slow.runs));
    let_go(&stuck.slow);
    test_recorder_saw_run(&same, 0, EVENTS);
    test_recorder_saw_run(&other, 0, EVENTS);
    assert_int_equal(2 * EVENTS + 2, test_engine_end(engine).handled);
}

static void a_stop_runs_out_of_time_and_the_report_comes_all_the_same(void **state)
{
    (void)state;
    static lingerer slow;
    watch_log *log = &log_of_test;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_engine *engine = watched_engine(log, 100 * WEIR_MS);
    lingerer_init(&slow);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.name = "slow", .handler = linger, .argument = &slow));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    test_sem_wait(&slow.entered);
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(engine, WEIR_MS, &report));
    assert_int_equal(1, report.left);
    (void)watch_log_await(log, "processor slow", "its handler has not returned");
    assert_int_equal(1, stuck_count(engine));
    let_go(&slow);
    weir_engine_destroy(engine);
    assert_non_null(watch_log_find(log, "processor slow", "its handler has returned after all"));
}

static void two_engines_report_each_their_own(void **state)
{
    (void)state;
    static watch_log logs[2];
    static lingerer slow[2];
    weir_engine *engines[2];
    for (int i = 0; i < 2; i++) {
        engines[i] = watched_engine(&logs[i], 50 * WEIR_MS);
        lingerer_init(&slow[i]);
        const weir_processor to =
            test_processor_add(engines[i], WEIR_PROCESSOR(.name = i == 0 ? "left" : "right",
                                                          .handler = linger, .argument = &slow[i]));
        test_engine_start(engines[i]);
        assert_int_equal(WEIR_OK, test_post(engines[i], to, 1));
    }
    for (int i = 0; i < 2; i++) {
        const said *entry = watch_log_entry(&logs[i], 0);
        assert_string_equal(i == 0 ? "processor left" : "processor right", entry->component);
        if (!TEST_TSAN) {
            assert_says(entry, "stack=");
        }
        assert_int_equal(1, stuck_count(engines[i]));
    }
    for (int i = 0; i < 2; i++) {
        let_go(&slow[i]);
        (void)test_engine_end(engines[i]);
    }
}

/* ---- the stack ---- */

static void the_stack_shows_the_function_that_it_is_stuck_in(void **state)
{
    (void)state;
    static lingerer slow;
    watch_log *log = &log_of_test;
    weir_engine *engine = watched_engine(log, 50 * WEIR_MS);
    lingerer_init(&slow);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.name = "slow", .handler = linger, .argument = &slow));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    const said *entry = watch_log_entry(log, 0);
    if (!TEST_TSAN) {
        assert_says(entry, " stack=");
        assert_says(entry, "watchdog_rest_test(watchdog_test_lingers+0x");
        assert_says(entry, " < ");
        assert_null(strstr(entry->fields, "on_request")); /* from where it is, not from where the
                                                              signal led it */
    }
    let_go(&slow);
    assert_int_equal(1, test_engine_end(engine).handled); /* nothing of it was disturbed */
}

static atomic_int urgent_signals;

static void count_urgent(int which)
{
    (void)which;
    atomic_fetch_add(&urgent_signals, 1);
}

static void whoever_uses_the_signal_keeps_it_and_the_report_has_no_stack(void **state)
{
    (void)state;
    static lingerer slow;
    watch_log *log = &log_of_test;
    const struct sigaction mine = { .sa_handler = count_urgent };
    struct sigaction before;
    struct sigaction after;
    for (int late = 0; late < 2; late++) {
        atomic_store(&urgent_signals, 0);
        assert_int_equal(0, sigaction(SIGURG, NULL, &before));
        if (late == 0) {
            assert_int_equal(0, sigaction(SIGURG, &mine, NULL));
        }
        weir_engine *engine = watched_engine(log, 50 * WEIR_MS);
        lingerer_init(&slow);
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.name = "slow", .handler = linger, .argument = &slow));
        test_engine_start(engine);
        if (late == 1) {
            assert_int_equal(0, sigaction(SIGURG, &mine, NULL));
        }
        assert_int_equal(WEIR_OK, test_post(engine, to, 1));
        const said *entry = watch_log_entry(log, 0);
        assert_null(strstr(entry->fields, "stack="));
        let_go(&slow);
        (void)test_engine_end(engine);
        assert_int_equal(0, atomic_load(&urgent_signals));
        assert_int_equal(0, sigaction(SIGURG, &before, &after));
        assert_true(after.sa_handler == count_urgent);
    }
}

static void after_a_report_the_signal_leads_where_it_led_before(void **state)
{
    (void)state;
    static lingerer slow;
    watch_log *log = &log_of_test;
    struct sigaction now;
    weir_engine *engine = watched_engine(log, 20 * WEIR_MS);
    lingerer_init(&slow);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = linger, .argument = &slow));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    (void)watch_log_entry(log, 0);
    let_go(&slow);
    (void)test_engine_end(engine);
    assert_int_equal(0, sigaction(SIGURG, NULL, &now));
    assert_true((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL);
}

/* ---- when all is well ---- */

/* The system's number of the only thread of that name; 0: there is none. */
static int watchdog_task(void)
{
    int found = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[64] = "";
        const int task = (int)strtol(entry->d_name, NULL, 10);
        if (task > 0 && test_task_line(task, "status", "Name:", name, sizeof(name)) &&
            strcmp(name, "weir-watchdog") == 0) {
            assert_int_equal(0, found);
            found = task;
        }
    }
    (void)closedir(folder);
    return found;
}

static uint64_t switches_of(int task)
{
    char voluntary[64] = "0";
    char other[64] = "0";
    (void)test_task_line(task, "status", "voluntary_ctxt_switches:", voluntary, sizeof(voluntary));
    (void)test_task_line(task, "status", "nonvoluntary_ctxt_switches:", other, sizeof(other));
    return strtoull(voluntary, NULL, 10) + strtoull(other, NULL, 10);
}

/* It sleeps, and has done so for that long. */
static void settles(int task, weir_ns quiet)
{
    uint64_t last = UINT64_MAX;
    weir_ns since = 0;
    TEST_UNTIL((switches_of(task) != last ? (last = switches_of(task), since = test_now()) : 0,
                test_task_sleeps(task) && test_now() - since >= quiet));
}

static void while_everybody_is_parked_the_watchdog_does_not_wake_up_once(void **state)
{
    (void)state;
    static test_recorder recorder;
    watch_log *log = &log_of_test;
    weir_engine *engine = watched_engine(log, 10 * WEIR_MS); /* a look every 2.5 ms */
    test_recorder_init(&recorder, false);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    test_engine_start(engine);
    TEST_UNTIL(watchdog_task() != 0);
    const int task = watchdog_task();
    for (uint64_t round = 0; round < 3; round++) {
        assert_int_equal(WEIR_OK, test_post(engine, to, round));
        TEST_UNTIL(test_recorder_handled(&recorder) == round + 1);
        settles(task, 100 * WEIR_MS);
        const uint64_t before = switches_of(task);
        const weir_ns end = test_now() + 300 * WEIR_MS;
        TEST_UNTIL(test_now() > end);
        assert_int_equal(before, switches_of(task));
    }
    (void)test_engine_end(engine);
    TEST_UNTIL(watchdog_task() == 0); /* the kernel lists a joined thread for a moment */
    assert_int_equal(0, watch_log_count(log));
}

static void with_stuck_after_forever_there_is_no_watchdog(void **state)
{
    (void)state;
    watch_log *log = &log_of_test;
    TEST_UNTIL(watchdog_task() == 0); /* of the test before */
    const uint64_t tasks = test_task_count();
    weir_engine *engine = watched_engine(log, WEIR_FOREVER);
    test_engine_start(engine);
    assert_true(test_task_count() <= tasks + 1); /* its one thread */
    assert_int_equal(0, watchdog_task());
    assert_int_equal(0, stuck_count(engine));
    (void)test_engine_end(engine);
}

static void by_default_there_is_one_from_start_to_destroy(void **state)
{
    (void)state;
    TEST_UNTIL(watchdog_task() == 0); /* of the test before */
    weir_engine *engine = test_engine_create(NULL);
    assert_int_equal(0, watchdog_task());
    test_engine_start(engine);
    TEST_UNTIL(watchdog_task() != 0);
    (void)test_engine_stop(engine);
    weir_engine_destroy(engine);
    TEST_UNTIL(watchdog_task() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_served_while_one_is_stuck),
        cmocka_unit_test(a_stop_runs_out_of_time_and_the_report_comes_all_the_same),
        cmocka_unit_test(two_engines_report_each_their_own),
        cmocka_unit_test(the_stack_shows_the_function_that_it_is_stuck_in),
        cmocka_unit_test(whoever_uses_the_signal_keeps_it_and_the_report_has_no_stack),
        cmocka_unit_test(after_a_report_the_signal_leads_where_it_led_before),
        cmocka_unit_test(while_everybody_is_parked_the_watchdog_does_not_wake_up_once),
        cmocka_unit_test(with_stuck_after_forever_there_is_no_watchdog),
        cmocka_unit_test(by_default_there_is_one_from_start_to_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
