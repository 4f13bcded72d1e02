/*
 * stop_many_test.c - processors that come and go in numbers: what a stop of an idle one needs
 * (nothing), and what stops cost the thread that watches their deadlines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_support.h"

#include <dirent.h>

enum { MANY = 2000, STUCK = 3 };

static void come_to_an_end(void *state, weir_status reason)
{
    (void)reason;
    atomic_fetch_add((atomic_uint *)state, 1);
}

/* ---- idle ones ---- */

static void an_idle_processor_is_gone_when_its_asynchronous_stop_returns(void **state)
{
    (void)state;
    static test_recorder recorder;
    weir_engine *engine = test_engine_create(NULL);
    test_recorder_init(&recorder, false);
    test_engine_start(engine);
    const uint64_t tasks = test_task_count();
    for (uint32_t i = 0; i < MANY; i++) {
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
        assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, to, 0));
        assert_int_equal(WEIR_UNKNOWN, test_post(engine, to, i));
        assert_int_equal(WEIR_UNKNOWN, weir_processor_stop_async(engine, to, 0));
    }
    assert_int_equal(0, test_engine_counters(engine).processors);
    assert_true(test_task_count() <= tasks); /* nobody had to watch over it */
    assert_int_equal(0, test_engine_end(engine).accepted);
}

static weir_status fail_every_third(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    return ((const number *)event->data)->value % 3 == 0 ? WEIR_E_FAILED : WEIR_OK;
}

/* Drained and idle, or about to be: the report is the same. */
static void the_stop_of_an_idle_processor_reports_what_became_of_its_events(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    test_engine_start(engine);
    for (uint32_t i = 0; i < 100; i++) {
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.name = i % 2 == 0 ? "again" : NULL, .state_size = 64,
                                   .handler = fail_every_third));
        for (uint64_t n = 0; n < 9; n++) {
            assert_int_equal(WEIR_OK, test_post(engine, to, n));
        }
        weir_counters counters;
        do {
            counters = test_processor_counters(engine, to);
        } while (counters.handled + counters.dead < 9);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, to, TEST_PATIENCE, &report));
        assert_int_equal(9, report.accepted);
        assert_int_equal(6, report.handled);
        assert_int_equal(3, report.dead);
        assert_int_equal(0, report.dropped + report.left);
        assert_int_equal(0, weir_processor_find(engine, "again").id); /* its name is free */
    }
    assert_int_equal(900, test_engine_end(engine).accepted);
}

static void a_destroy_hook_runs_in_a_turn_although_the_processor_is_idle(void **state)
{
    (void)state;
    static test_recorder recorder;
    static atomic_uint ended;
    weir_engine *engine = test_engine_create(NULL);
    test_recorder_init(&recorder, false);
    atomic_init(&ended, 0);
    const weir_thread loop = test_thread_add(engine, WEIR_THREAD(.external = true));
    const weir_processor hooked =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &ended, .destroy = come_to_an_end));
    const weir_processor plain = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, hooked, 0));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, plain, 0));
    assert_int_equal(1, test_engine_counters(engine).processors); /* nobody has turned the loop */
    assert_int_equal(0, atomic_load(&ended));
    TEST_UNTIL(((void)weir_thread_run_once(engine, loop, 0), atomic_load(&ended) == 1));
    test_external_end(engine, loop);
}

/* ---- deadlines ---- */

/* The thread of that name; 0: there is none. */
static int task_named(const char *name)
{
    int found = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; found == 0 && (entry = readdir(folder)) != NULL;) {
        char path[300];
        char line[64];
        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
        if (test_proc_line(path, "Name:", line, sizeof(line)) && strstr(line, name) != NULL) {
            found = (int)strtol(entry->d_name, NULL, 10);
        }
    }
    (void)closedir(folder);
    return found;
}

static uint64_t switches_of(int task)
{
    char path[64];
    char line[64] = "0";
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/status", task);
    assert_true(test_proc_line(path, "voluntary_ctxt_switches:", line, sizeof(line)));
    return strtoull(line, NULL, 10);
}

static bool is_asleep(int task)
{
    char path[64];
    char line[64] = "";
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/status", task);
    return test_proc_line(path, "State:", line, sizeof(line)) && strchr(line, 'S') != NULL;
}

/* And not only for a moment, at a lock: from outside there is no other sign. */
static void wait_until_asleep(int task)
{
    weir_ns since = test_now();
    uint64_t last = 0;
    TEST_UNTIL(
        (is_asleep(task) && switches_of(task) == last && test_now() - since >= WEIR_MS) ||
        (switches_of(task) != last && (last = switches_of(task), since = test_now(), false)));
}

/* Each has one event in hand and one that waits. */
typedef struct jam {
    test_log log;
    test_recorder recorder[STUCK];
    weir_processor stuck[STUCK];
    weir_engine *engine;
} jam;

static void jam_open(jam *j)
{
    static const char *const names[STUCK] = { "first", "second", "third" };
    test_log_init(&j->log);
    j->engine = test_engine_create(
        WEIR_ENGINE(.threads = STUCK, .log = test_log_hook, .log_context = &j->log));
    for (int i = 0; i < STUCK; i++) {
        test_recorder_init(&j->recorder[i], true);
        j->stuck[i] = test_processor_add(
            j->engine, WEIR_PROCESSOR(.name = names[i], .handler = test_recorder_handle,
                                      .argument = &j->recorder[i], .batch_max = 1));
    }
    test_engine_start(j->engine);
    for (int i = 0; i < STUCK; i++) {
        assert_int_equal(WEIR_OK, test_post(j->engine, j->stuck[i], 1));
        test_sem_wait(&j->recorder[i].entered);
        assert_int_equal(WEIR_OK, test_post(j->engine, j->stuck[i], 2));
    }
}

static void jam_close(jam *j)
{
    for (int i = 0; i < STUCK; i++) {
        test_recorder_pass(&j->recorder[i], 2);
    }
    assert_int_equal(WEIR_OK, weir_engine_stop(j->engine, TEST_PATIENCE, NULL));
    weir_engine_destroy(j->engine);
}

static bool has_expired(jam *j, const char *name)
{
    return test_log_matches(&j->log, WEIR_LOG_ERROR, "out of time", name) == 1;
}

static void a_short_timeout_is_kept_although_longer_ones_began_before(void **state)
{
    (void)state;
    static jam j;
    jam_open(&j);
    assert_int_equal(WEIR_OK, weir_processor_stop_async(j.engine, j.stuck[0], WEIR_FOREVER));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(j.engine, j.stuck[1], TEST_PATIENCE));
    int keeper = 0;
    TEST_UNTIL((keeper = task_named("weir-keeper")) != 0);
    wait_until_asleep(keeper); /* until one of those, as far as it knows */
    assert_int_equal(WEIR_OK, weir_processor_stop_async(j.engine, j.stuck[2], 10 * WEIR_MS));
    TEST_UNTIL(has_expired(&j, "third"));
    assert_false(has_expired(&j, "first") || has_expired(&j, "second"));
    jam_close(&j);
}

static void deadlines_are_kept_in_their_order(void **state)
{
    (void)state;
    static jam j;
    jam_open(&j);
    assert_int_equal(WEIR_OK, weir_processor_stop_async(j.engine, j.stuck[0], 20 * WEIR_MS));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(j.engine, j.stuck[1], TEST_PATIENCE));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(j.engine, j.stuck[2], 10 * WEIR_MS));
    TEST_UNTIL(has_expired(&j, "first") && has_expired(&j, "third"));
    assert_false(has_expired(&j, "second"));
    assert_non_null(strstr(j.log.lines[0].component, "third")); /* and two lines for each */
    assert_non_null(strstr(j.log.lines[1].component, "third"));
    assert_non_null(strstr(j.log.lines[2].component, "first"));
    jam_close(&j);
}

static void what_waited_is_said_when_an_asynchronous_stop_has_ended(void **state)
{
    (void)state;
    static jam j;
    jam_open(&j);
    for (int i = 0; i < STUCK; i++) {
        assert_int_equal(WEIR_OK, weir_processor_stop_async(j.engine, j.stuck[i], 0));
    }
    jam_close(&j);
    assert_int_equal(STUCK, test_log_matches(&j.log, WEIR_LOG_WARNING, "events wait", "waiting="));
}

static void stops_that_end_in_time_do_not_wake_the_keeper(void **state)
{
    (void)state;
    static atomic_uint ended;
    atomic_init(&ended, 0);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    test_engine_start(engine);
    uint64_t before = 0;
    int keeper = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = fail_every_third, .argument = &ended,
                                   .destroy = come_to_an_end));
        assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, to, 0));
        if (i == 0) { /* its start does not count */
            TEST_UNTIL((keeper = task_named("weir-keeper")) != 0);
            wait_until_asleep(keeper);
            before = switches_of(keeper);
        }
    }
    TEST_UNTIL(atomic_load(&ended) == MANY);
    /* A few: it may have to wait for a lock. */
    assert_in_range(switches_of(keeper) - before, 0, MANY / 100);
    (void)test_engine_end(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_processor_is_gone_when_its_asynchronous_stop_returns),
        cmocka_unit_test(the_stop_of_an_idle_processor_reports_what_became_of_its_events),
        cmocka_unit_test(a_destroy_hook_runs_in_a_turn_although_the_processor_is_idle),
        cmocka_unit_test(a_short_timeout_is_kept_although_longer_ones_began_before),
        cmocka_unit_test(deadlines_are_kept_in_their_order),
        cmocka_unit_test(what_waited_is_said_when_an_asynchronous_stop_has_ended),
        cmocka_unit_test(stops_that_end_in_time_do_not_wake_the_keeper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
