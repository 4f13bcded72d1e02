/*
 * thread_test.c - threads as the system sees them: names, cores, priorities, and threads that
 * belong to one processor (S-09, S-78, S-79).
 *
 * What weir was asked for is read back from /proc and from the scheduler, by the thread's own
 * number; what could not be had must be said through the log hook.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log_support.h"

#include <linux/capability.h>
#include <sys/resource.h>

enum { NO_SUCH_CORE = 1000 };

static weir_thread_counters counters_of(weir_engine *engine, weir_thread thread)
{
    weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, thread, &counters));
    return counters;
}

static int task_of(weir_engine *engine, weir_thread thread)
{
    const int task = counters_of(engine, thread).system_id;
    assert_true(task > 0);
    return task;
}

/* The cores that this process may use: first and, if there is one, last. */
static void usable_cores(int32_t *first, int32_t *last)
{
    cpu_set_t set;
    assert_int_equal(0, sched_getaffinity(0, sizeof(set), &set));
    *first = *last = -1;
    for (int32_t core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET((size_t)core, &set)) {
            *first = *first < 0 ? core : *first;
            *last = core;
        }
    }
    assert_true(*first >= 0);
}

static void assert_cores_allowed(int task, const char *expected)
{
    char list[256] = "";
    assert_true(test_task_line(task, "status", "Cpus_allowed_list:", list, sizeof(list)));
    assert_string_equal(expected, list);
}

static void own_cores(char *out, size_t size)
{
    assert_true(test_proc_line("/proc/self/status", "Cpus_allowed_list:", out, size));
}

static void handles_an_event(weir_engine *engine, weir_processor to, test_recorder *recorder)
{
    const uint64_t before = test_recorder_handled(recorder);
    assert_int_equal(WEIR_OK, test_post(engine, to, before));
    TEST_UNTIL(test_recorder_handled(recorder) == before + 1);
}

/* ---- names ---- */

static void a_thread_has_its_name_in_the_system_too(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread shorter = test_thread_add(engine, WEIR_THREAD(.name = "io"));
    const weir_thread longer = test_thread_add(engine, WEIR_THREAD(.name = "a-name-of-20-letters"));
    const weir_thread nameless = test_thread_add(engine, NULL);
    assert_int_equal(0, counters_of(engine, shorter).system_id);
    test_engine_start(engine);
    char name[64] = "";
    assert_true(test_task_line(task_of(engine, shorter), "comm", "", name, sizeof(name)));
    assert_string_equal("io", name);
    assert_true(test_task_line(task_of(engine, longer), "comm", "", name, sizeof(name)));
    assert_string_equal("a-name-of-20-le", name);
    assert_true(test_task_line(task_of(engine, nameless), "comm", "", name, sizeof(name)));
    assert_int_equal(0, strncmp("weir-", name, 5));

    assert_int_equal(longer.id, weir_thread_find(engine, "a-name-of-20-letters").id);
    assert_int_equal(nameless.id, weir_thread_find(engine, name).id);
    assert_int_equal(0, weir_thread_find(engine, "a-name-of-20-le").id);
    (void)test_engine_stop(engine);
    assert_int_equal(0, counters_of(engine, shorter).system_id);
    weir_engine_destroy(engine);
}

static void a_name_that_is_taken_is_refused(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.name = "io-7"));
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, weir_thread_add(engine, WEIR_THREAD(.name = "io-7"), &error).id);
    assert_int_equal(WEIR_E_TAKEN, error.status);
    assert_string_equal("weir_thread_options.name", error.path);
    assert_non_null(strstr(error.text, "io-7"));
    assert_int_equal(1, test_engine_counters(engine).threads);
    weir_engine_destroy(engine);
}

static void a_default_name_gives_way_to_one_that_was_chosen(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    for (int i = 0; i < 4; i++) { /* whatever number the next nameless one would get */
        char name[24];
        (void)snprintf(name, sizeof(name), "weir-%d", i);
        (void)test_thread_add(engine, WEIR_THREAD(.name = name));
    }
    (void)test_thread_add(engine, NULL);
    (void)test_thread_add(engine, NULL);
    assert_int_equal(6, test_engine_counters(engine).threads);
    weir_engine_destroy(engine);
}

/* ---- how many ---- */

static void an_engine_has_one_thread_by_default_and_none_beside_those_that_were_added(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    test_engine_start(engine);
    assert_int_equal(1, test_engine_counters(engine).threads);
    (void)test_engine_end(engine);

    engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a")));
    test_engine_start(engine);
    assert_int_equal(1, test_engine_counters(engine).threads);
    (void)test_engine_end(engine);

    engine = test_engine_create(WEIR_ENGINE(.threads = 3));
    test_engine_start(engine);
    weir_dispatcher_counters all = WEIR_DISPATCHER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_dispatcher_counters_get(engine, "", &all));
    assert_int_equal(3, all.threads);
    assert_int_equal(3, test_engine_counters(engine).threads);
    (void)test_engine_end(engine);
}

static void a_thread_may_be_added_while_the_engine_runs(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    test_engine_start(engine);
    const weir_thread late =
        test_thread_add(engine, WEIR_THREAD(.name = "late", .dispatchers = WEIR_NAMES("new")));
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &recorder, .dispatcher = "new"));
    handles_an_event(engine, to, &recorder);
    assert_int_equal(task_of(engine, late), atomic_load(&recorder.thread));
    (void)test_engine_end(engine);
}

/* ---- cores ---- */

static void a_pinned_thread_is_allowed_on_its_cores_only(void **state)
{
    (void)state;
    int32_t cores[2];
    usable_cores(&cores[0], &cores[1]);
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    weir_thread pinned[2];
    for (size_t i = 0; i < 2; i++) {
        pinned[i] = test_thread_add(
            engine, WEIR_THREAD(.cores = &cores[i], .core_count = 1, .core_required = true));
    }
    const weir_thread both = test_thread_add(engine, WEIR_THREAD(.cores = cores, .core_count = 2));
    const weir_thread free_one = test_thread_add(engine, NULL);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    test_engine_start(engine);
    char expected[64];
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(expected, sizeof(expected), "%d", cores[i]);
        assert_cores_allowed(task_of(engine, pinned[i]), expected);
        assert_int_equal(cores[i], counters_of(engine, pinned[i]).core);
    }
    if (cores[1] == cores[0] + 1) {
        (void)snprintf(expected, sizeof(expected), "%d-%d", cores[0], cores[1]);
        assert_cores_allowed(task_of(engine, both), expected);
    }
    assert_int_equal(cores[0], counters_of(engine, both).core);
    own_cores(expected, sizeof(expected));
    assert_cores_allowed(task_of(engine, free_one), expected);
    assert_int_equal(-1, counters_of(engine, free_one).core);
    handles_an_event(engine, to, &recorder);
    (void)test_engine_end(engine);
}

static void a_forbidden_core_warns_and_the_thread_runs_unpinned(void **state)
{
    (void)state;
    static const int32_t forbidden[] = { NO_SUCH_CORE, 1000000, INT32_MAX };
    char expected[64];
    own_cores(expected, sizeof(expected));
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
        test_log log;
        test_log_init(&log);
        test_recorder recorder;
        test_recorder_init(&recorder, false);
        weir_engine *engine =
            test_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
        const weir_thread thread = test_thread_add(
            engine, WEIR_THREAD(.name = "far-out", .cores = &forbidden[i], .core_count = 1));
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
        test_engine_start(engine);
        char core[24];
        (void)snprintf(core, sizeof(core), "%d", forbidden[i]);
        assert_int_equal(1, test_log_matches(&log, WEIR_LOG_WARNING, "far-out", core));
        assert_cores_allowed(task_of(engine, thread), expected);
        assert_int_equal(-1, counters_of(engine, thread).core);
        handles_an_event(engine, to, &recorder);
        (void)test_engine_end(engine);
    }
}

static atomic_int inits_run, destroys_run;

static weir_status count_init(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)turn;
    (void)argument;
    atomic_fetch_add(&inits_run, 1);
    return WEIR_OK;
}

static void count_destroy(void *state, weir_status reason)
{
    (void)state;
    (void)reason;
    atomic_fetch_add(&destroys_run, 1);
}

static void core_required_fails_the_start_and_nothing_is_half_started(void **state)
{
    (void)state;
    int32_t cores[] = { 0, NO_SUCH_CORE };
    int32_t last;
    usable_cores(&cores[0], &last);
    atomic_store(&inits_run, 0);
    atomic_store(&destroys_run, 0);
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    const uint64_t tasks = test_task_count();
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    const weir_thread fine = test_thread_add(engine, WEIR_THREAD(.name = "fine"));
    (void)test_thread_add(engine, WEIR_THREAD(.name = "choosy", .cores = cores, .core_count = 2,
                                              .core_required = true));
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder,
                               .init = count_init, .destroy = count_destroy));
    assert_int_equal(WEIR_OK, test_post(engine, to, 1));
    for (int attempt = 0; attempt < 3; attempt++) {
        weir_error error = WEIR_ERROR_INIT;
        const weir_status status = weir_engine_start(engine, &error);
        assert_true(status < 0);
        assert_int_equal(status, error.status);
        char line[512];
        (void)weir_error_format(&error, line, sizeof(line));
        assert_non_null(strstr(line, "choosy"));
        assert_non_null(strstr(line, "1000"));
        TEST_UNTIL(test_task_count() <= tasks);
        assert_int_equal(0, counters_of(engine, fine).system_id);
        assert_int_equal(atomic_load(&inits_run), atomic_load(&destroys_run));
    }
    assert_true(weir_engine_start(engine, NULL) < 0); /* nobody wants to know why */
    weir_engine_destroy(engine);
    assert_int_equal(0, test_recorder_handled(&recorder));
    assert_int_equal(atomic_load(&inits_run), atomic_load(&destroys_run));
}

/* ---- priorities ---- */

static void a_nice_value_is_given_to_that_thread_only(void **state)
{
    (void)state;
    const int own = getpriority(PRIO_PROCESS, 0);
    if (own >= 19) {
        test_skip("already as nice as can be");
    }
    weir_engine *engine = test_engine_create(NULL);
    const weir_thread nice_one =
        test_thread_add(engine, WEIR_THREAD(.priority = WEIR_PRIORITY_NICE, .priority_value = 19));
    const weir_thread usual = test_thread_add(engine, NULL);
    test_engine_start(engine);
    assert_int_equal(19, getpriority(PRIO_PROCESS, (id_t)task_of(engine, nice_one)));
    assert_int_equal(own, getpriority(PRIO_PROCESS, (id_t)task_of(engine, usual)));
    (void)test_engine_end(engine);
    assert_int_equal(own, getpriority(PRIO_PROCESS, 0));
}

typedef struct priority_case {
    weir_priority priority;
    int32_t value;
    test_log log;
    weir_status status;
    bool handled;
    bool privileged; /* it could not give its privilege away */
} priority_case;

/* A thread's privilege is its own and passes to the threads that it makes. */
static bool give_privilege_away(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof(data));
    if (syscall(SYS_capget, &header, data) != 0) {
        return false;
    }
    data[0].effective &= ~(1u << CAP_SYS_NICE);
    data[0].permitted &= ~(1u << CAP_SYS_NICE);
    struct rlimit none = { 0, 0 };
    return syscall(SYS_capset, &header, data) == 0 && setrlimit(RLIMIT_RTPRIO, &none) == 0;
}

static void *start_without_privilege(void *argument)
{
    priority_case *c = argument;
    c->privileged = !give_privilege_away();
    weir_error error = WEIR_ERROR_INIT;
    test_recorder *recorder = calloc(1, sizeof(*recorder));
    weir_engine *engine =
        weir_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &c->log), &error);
    (void)weir_thread_add(
        engine, WEIR_THREAD(.name = "urgent", .priority = c->priority, .priority_value = c->value),
        &error);
    const weir_processor to = weir_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = recorder), &error);
    (void)weir_engine_start(engine, &error);
    c->status = error.status;
    if (test_post(engine, to, 1) == WEIR_OK) {
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        c->handled =
            weir_engine_stop(engine, TEST_PATIENCE, &report) == WEIR_OK && report.handled == 1;
    }
    weir_engine_destroy(engine);
    free(recorder);
    return NULL;
}

static void a_priority_that_the_system_refuses_warns_and_the_thread_runs(void **state)
{
    (void)state;
    static const weir_priority policies[] = { WEIR_PRIORITY_FIFO, WEIR_PRIORITY_ROUND_ROBIN,
                                              WEIR_PRIORITY_NICE };
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        priority_case c = { .priority = policies[i],
                            .value = policies[i] == WEIR_PRIORITY_NICE ? -20 : 50 };
        test_log_init(&c.log);
        pthread_t thread;
        assert_int_equal(0, pthread_create(&thread, NULL, start_without_privilege, &c));
        assert_int_equal(0, pthread_join(thread, NULL));
        if (c.privileged) {
            test_skip("the privilege cannot be given away");
        }
        assert_int_equal(WEIR_OK, c.status);
        assert_true(c.handled);
        assert_int_equal(1, c.log.count);
        assert_int_equal(WEIR_LOG_WARNING, c.log.lines[0].level);
        assert_int_equal(WEIR_E_SYSTEM, c.log.lines[0].status);
        assert_string_equal("thread urgent", c.log.lines[0].component);
        assert_non_null(strstr(c.log.lines[0].text, "priority"));
        assert_string_equal(c.value == 50 ? "priority=50" : "priority=-20", c.log.lines[0].fields);
    }
}

/* ---- dedicated ---- */

static void a_dedicated_processor_has_a_dispatcher_and_a_thread_of_its_own(void **state)
{
    (void)state;
    test_recorder shared, dedicated;
    test_recorder_init(&shared, false);
    test_recorder_init(&dedicated, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor common = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &shared));
    const weir_processor own =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &dedicated, .dedicated = true));
    test_engine_start(engine);
    assert_int_equal(2, test_engine_counters(engine).threads);
    assert_int_equal(2, test_engine_counters(engine).dispatchers);
    assert_int_equal(WEIR_OK, test_post(engine, own, 1));
    test_sem_wait(&dedicated.entered);
    for (int i = 0; i < 100; i++) { /* the other one goes on meanwhile */
        handles_an_event(engine, common, &shared);
    }
    test_recorder_pass(&dedicated, 1);
    TEST_UNTIL(test_recorder_handled(&dedicated) == 1);
    assert_int_not_equal(atomic_load(&shared.thread), atomic_load(&dedicated.thread));
    (void)test_engine_end(engine);
}

static void the_thread_of_a_dedicated_processor_goes_with_it(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    test_engine_start(engine);
    const uint64_t tasks = test_task_count();
    for (int i = 0; i < 50; i++) {
        const weir_processor own = test_processor_add(
            engine, WEIR_PROCESSOR(.name = "again", .dedicated = true,
                                   .handler = test_recorder_handle, .argument = &recorder));
        handles_an_event(engine, own, &recorder);
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, own, 0, NULL));
        TEST_UNTIL(test_task_count() <= tasks);
        TEST_UNTIL(test_engine_counters(engine).threads == 1);
    }
    (void)test_engine_end(engine);
}

static bool note_visit(void *context, const char *name)
{
    char *names = context;
    (void)snprintf(names + strlen(names), 64 - strlen(names), "<%s>", name);
    return true;
}

static void the_dispatcher_of_a_dedicated_processor_is_nobody_elses(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("open")));
    (void)test_processor_add(
        engine, WEIR_PROCESSOR(.name = "own", .handler = test_recorder_handle, .dedicated = true));
    char names[64] = "";
    weir_dispatcher_visit(engine, note_visit, names);
    assert_string_equal("<open>", names);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, weir_processor_add(engine,
                                           WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                          .dispatcher = "\ndedicated-1"),
                                           &error)
                            .id);
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_string_equal("weir_processor_options.dispatcher", error.path);
    assert_non_null(strstr(error.text, "valid: \"open\""));
    assert_null(strstr(strstr(error.text, "valid:"), "dedicated"));
    weir_engine_destroy(engine);
}

/* A handle belongs to its engine: the same place in another one is somebody else's. */
static void a_thread_of_another_engine_is_unknown(void **state)
{
    (void)state;
    weir_engine *engines[2];
    weir_thread loops[2];
    for (size_t i = 0; i < 2; i++) {
        engines[i] = test_engine_create(NULL);
        loops[i] = test_thread_add(engines[i], WEIR_THREAD(.external = true));
        test_engine_start(engines[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        const weir_thread next = { loops[i].id + 1 };
        weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
        assert_true(weir_thread_fd(engines[i], loops[i]) >= 0);
        assert_int_equal(0, weir_thread_run_once(engines[i], loops[i], 0));
        assert_int_equal(-1, weir_thread_fd(engines[i], loops[1 - i]));
        assert_int_equal(-1, weir_thread_fd(engines[i], next));
        assert_int_equal(-1, weir_thread_fd(engines[i], (weir_thread){ 0 }));
        assert_int_equal(WEIR_E_INVALID, weir_thread_run_once(engines[i], loops[1 - i], 0));
        assert_int_equal(WEIR_UNKNOWN, weir_thread_counters_get(engines[i], loops[1 - i], &c));
    }
    for (size_t i = 0; i < 2; i++) {
        test_external_end(engines[i], loops[i]);
    }
}

static weir_status fail_init(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)argument;
    return weir_turn_fail(turn, WEIR_E_USER, "not today");
}

/* A batch that is taken back leaves a thread and its dispatcher behind, for the next one to use. */
static void a_dedicated_thread_that_was_taken_back_serves_the_next_one_fully(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    for (int times = 1; times <= 4; times++) {
        const bool fails = times % 2 == 1;
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
        const weir_processor_options *const batch[] = {
            WEIR_PROCESSOR(.name = "own", .handler = test_recorder_handle, .dedicated = true),
            WEIR_PROCESSOR(.name = "own", .handler = test_recorder_handle),
        };
        for (int time = 0; time < times; time++) {
            weir_processor out[2] = { { 7 }, { 7 } };
            assert_int_equal(WEIR_E_TAKEN, weir_processor_add_many(engine, batch, 2, out, NULL));
            assert_int_equal(0, out[0].id);
            assert_int_equal(0, out[1].id);
            assert_int_equal(0, weir_processor_find(engine, "own").id);
            assert_int_equal(0, weir_thread_find(engine, "own").id);
        }
        const weir_processor own = test_processor_add(
            engine,
            WEIR_PROCESSOR(.name = "own", .handler = test_recorder_handle, .argument = &recorder,
                           .dedicated = true, .init = fails ? fail_init : count_init));
        assert_true(weir_thread_find(engine, "own").id != 0);
        weir_error error = WEIR_ERROR_INIT;
        if (fails) { /* a start waits for the inits on every thread that it starts */
            assert_int_equal(WEIR_E_USER, weir_engine_start(engine, &error));
            assert_int_equal(WEIR_E_USER, error.status);
            assert_string_equal("processor own", error.path);
            assert_non_null(strstr(error.text, "not today"));
        } else {
            test_engine_start(engine);
            assert_int_equal(2, test_engine_counters(engine).dispatchers);
            assert_int_equal(2, test_engine_counters(engine).threads);
            handles_an_event(engine, own, &recorder);
            (void)test_engine_stop(engine);
        }
        weir_engine_destroy(engine);
    }
}

static void a_dedicated_processor_names_no_dispatcher(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        0, weir_processor_add(engine,
                              WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder,
                                             .dedicated = true, .dispatcher = ""),
                              &error)
               .id);
    assert_int_equal(WEIR_E_INVALID, error.status);
    assert_non_null(strstr(error.path, "weir_processor_options.d"));
    assert_int_equal(0, test_engine_counters(engine).processors);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_has_its_name_in_the_system_too),
        cmocka_unit_test(a_name_that_is_taken_is_refused),
        cmocka_unit_test(a_default_name_gives_way_to_one_that_was_chosen),
        cmocka_unit_test(an_engine_has_one_thread_by_default_and_none_beside_those_that_were_added),
        cmocka_unit_test(a_thread_may_be_added_while_the_engine_runs),
        cmocka_unit_test(a_pinned_thread_is_allowed_on_its_cores_only),
        cmocka_unit_test(a_forbidden_core_warns_and_the_thread_runs_unpinned),
        cmocka_unit_test(core_required_fails_the_start_and_nothing_is_half_started),
        cmocka_unit_test(a_nice_value_is_given_to_that_thread_only),
        cmocka_unit_test(a_priority_that_the_system_refuses_warns_and_the_thread_runs),
        cmocka_unit_test(a_dedicated_processor_has_a_dispatcher_and_a_thread_of_its_own),
        cmocka_unit_test(the_thread_of_a_dedicated_processor_goes_with_it),
        cmocka_unit_test(the_dispatcher_of_a_dedicated_processor_is_nobody_elses),
        cmocka_unit_test(a_thread_of_another_engine_is_unknown),
        cmocka_unit_test(a_dedicated_thread_that_was_taken_back_serves_the_next_one_fully),
        cmocka_unit_test(a_dedicated_processor_names_no_dispatcher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
