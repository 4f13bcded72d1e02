/*
 * helper_test.c - threads of weir's own that serve no dispatcher, as the system sees them: names,
 * cores, priorities (S-79).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "log_support.h"

#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>

enum { NO_SUCH_CORE = 1000 };

/* The task of this process with that name; 0: none. */
static int task_called(const char *name)
{
    int found = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL && found == 0;
         entry = readdir(folder)) {
        char text[64] = "";
        char *end = NULL;
        const int task = (int)strtol(entry->d_name, &end, 10);
        if (task > 0 && *end == '\0' &&
            test_task_line(task, "status", "Name:", text, sizeof(text)) &&
            strcmp(text, name) == 0) {
            found = task;
        }
    }
    (void)closedir(folder);
    return found;
}

/* It names itself first, and is placed then. */
static bool is_allowed_on(const char *name, const char *cores)
{
    char list[256] = "";
    const int task = task_called(name);
    return task != 0 && test_task_line(task, "status", "Cpus_allowed_list:", list, sizeof(list)) &&
           strcmp(list, cores) == 0;
}

static void own_cores(char *out, size_t size)
{
    assert_true(test_proc_line("/proc/self/status", "Cpus_allowed_list:", out, size));
}

/* The first and the last core that this process may use. */
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

WEIR_EMPTY_TYPE(tick, "test.tick");

static void need_a_timer(weir_engine *engine, weir_processor to)
{
    weir_timer timer;
    assert_int_equal(WEIR_OK, weir_timer_add(engine, to, WEIR_EMPTY(tick),
                                             WEIR_TIMER(.after = 1000 * WEIR_S), &timer));
}

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static void end(void *state, weir_status reason)
{
    (void)state;
    (void)reason;
}

static weir_processor start(weir_engine *engine)
{
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = take, .destroy = end));
    test_engine_start(engine);
    return to;
}

static void they_are_where_they_were_told_under_their_names(void **state)
{
    (void)state;
    int32_t first, last;
    char one[16], other[16];
    usable_cores(&first, &last);
    (void)snprintf(one, sizeof(one), "%d", first);
    (void)snprintf(other, sizeof(other), "%d", last);
    weir_engine *engine = test_engine_create(
        WEIR_ENGINE(.threads = 2, .scheduler_threads = 1,
                    .scheduler_thread = WEIR_HELPER(.name = "clock", .cores = &first,
                                                    .core_count = 1, .core_required = true),
                    .helper_thread = WEIR_HELPER(.name = "a-name-of-28-letters-is-cut",
                                                 .cores = &last, .core_count = 1)));
    const weir_processor to = start(engine);
    need_a_timer(engine, to);
    TEST_UNTIL(is_allowed_on("clock-timer", one));
    TEST_UNTIL(is_allowed_on("a-name-watchdog", other)); /* 15 bytes, the end of it whole */
    TEST_UNTIL(is_allowed_on("a-name--monitor", other));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, to, WEIR_S));
    TEST_UNTIL(is_allowed_on("a-name-o-keeper", other));
    weir_engine_destroy(engine);
    TEST_UNTIL(task_called("clock-timer") == 0); /* a joined one is listed for a moment longer */
}

static void without_a_word_they_run_anywhere_although_a_pinned_thread_starts_them(void **state)
{
    (void)state;
    int32_t first, last;
    char all[256];
    cpu_set_t before, one;
    usable_cores(&first, &last);
    own_cores(all, sizeof(all));
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = start(engine);
    assert_int_equal(0, sched_getaffinity(0, sizeof(before), &before));
    CPU_ZERO(&one);
    CPU_SET((size_t)first, &one);
    assert_int_equal(0, sched_setaffinity(0, sizeof(one), &one));
    need_a_timer(engine, to);
    assert_int_equal(0, sched_setaffinity(0, sizeof(before), &before));
    TEST_UNTIL(is_allowed_on("weir-timer", all));
    weir_engine_destroy(engine);
}

static void one_that_a_pinned_thread_starts_may_be_pinned_elsewhere(void **state)
{
    (void)state;
    int32_t first, last;
    char other[16];
    cpu_set_t before, one;
    usable_cores(&first, &last);
    if (first == last) {
        test_skip("one core");
    }
    (void)snprintf(other, sizeof(other), "%d", last);
    weir_engine *engine = test_engine_create(
        WEIR_ENGINE(.scheduler_thread = WEIR_HELPER(.cores = &last, .core_count = 1)));
    const weir_processor to = start(engine);
    assert_int_equal(0, sched_getaffinity(0, sizeof(before), &before));
    CPU_ZERO(&one);
    CPU_SET((size_t)first, &one);
    assert_int_equal(0, sched_setaffinity(0, sizeof(one), &one));
    need_a_timer(engine, to);
    assert_int_equal(0, sched_setaffinity(0, sizeof(before), &before));
    TEST_UNTIL(is_allowed_on("weir-timer", other));
    weir_engine_destroy(engine);
}

static void a_core_that_cannot_be_had_is_a_warning_or_an_error_if_required(void **state)
{
    (void)state;
    static const int32_t forbidden[] = { NO_SUCH_CORE, 1000000, INT32_MAX };
    char all[256];
    own_cores(all, sizeof(all));
    for (size_t i = 0; i < 3; i++) {
        test_log log;
        char core[24];
        weir_error error = WEIR_ERROR_INIT;
        test_log_init(&log);
        (void)snprintf(core, sizeof(core), "%d", forbidden[i]);
        weir_engine *engine = test_engine_create(
            WEIR_ENGINE(.log = test_log_hook, .log_context = &log,
                        .helper_thread = WEIR_HELPER(.cores = &forbidden[i], .core_count = 1)));
        (void)start(engine);
        TEST_UNTIL(test_log_matches(&log, WEIR_LOG_WARNING, "weir-watchdog", core) == 1);
        TEST_UNTIL(is_allowed_on("weir-watchdog", all));
        weir_engine_destroy(engine);
        assert_null(weir_engine_create(
            WEIR_ENGINE(.scheduler_thread = WEIR_HELPER(.cores = &forbidden[i], .core_count = 1,
                                                        .core_required = true)),
            &error));
        assert_int_equal(WEIR_E_SYSTEM, error.status);
        assert_string_equal("weir_engine_options.scheduler_thread", error.path);
        assert_non_null(strstr(error.text, core));
    }
}

static void a_nice_value_is_theirs_alone_and_a_refusal_is_a_warning(void **state)
{
    (void)state;
    const int own = getpriority(PRIO_PROCESS, 0);
    if (own >= 19) {
        test_skip("already as nice as can be");
    }
    weir_engine *engine = test_engine_create(
        WEIR_ENGINE(.scheduler_thread =
                        WEIR_HELPER(.priority = WEIR_PRIORITY_NICE, .priority_value = 19)));
    const weir_processor to = start(engine);
    need_a_timer(engine, to);
    TEST_UNTIL(task_called("weir-timer") != 0 &&
               getpriority(PRIO_PROCESS, (id_t)task_called("weir-timer")) == 19);
    assert_int_equal(own, getpriority(PRIO_PROCESS, 0));
    TEST_UNTIL(task_called("weir-watchdog") != 0);
    assert_int_equal(own, getpriority(PRIO_PROCESS, (id_t)task_called("weir-watchdog")));
    weir_engine_destroy(engine);

    /* Without the right to it. */
    const struct rlimit none = { 0, 0 };
    struct rlimit before;
    test_log log;
    test_log_init(&log);
    if (geteuid() == 0 || getrlimit(RLIMIT_RTPRIO, &before) != 0 || before.rlim_cur != 0 ||
        setrlimit(RLIMIT_RTPRIO, &none) != 0) {
        return; /* the system does not refuse it */
    }
    engine =
        test_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &log,
                                       .helper_thread = WEIR_HELPER(.priority = WEIR_PRIORITY_FIFO,
                                                                    .priority_value = 50)));
    (void)start(engine);
    TEST_UNTIL(test_log_matches(&log, WEIR_LOG_WARNING, "refused its priority", "50") == 1);
    weir_engine_destroy(engine);
}

static void options_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const int32_t below[] = { 0, -1 };
    const weir_helper_options *const wrong[] = {
        WEIR_HELPER(.core_count = 1),
        WEIR_HELPER(.cores = below, .core_count = 2),
        WEIR_HELPER(.cores = below, .core_count = 2000),
        WEIR_HELPER(.priority = WEIR_PRIORITY_NICE, .priority_value = 20),
        WEIR_HELPER(.priority = WEIR_PRIORITY_FIFO),
        WEIR_HELPER(.priority = (weir_priority)9),
        &(const weir_helper_options){ .struct_size = 3 },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        for (int k = 0; k < 2; k++) {
            weir_error error = WEIR_ERROR_INIT;
            weir_engine_options o = WEIR_ENGINE_OPTIONS_INIT;
            o.scheduler_thread = k == 0 ? wrong[i] : NULL;
            o.helper_thread = k == 1 ? wrong[i] : NULL;
            assert_null(weir_engine_create(&o, &error));
            assert_int_equal(WEIR_E_INVALID, error.status);
            assert_non_null(strstr(error.path, "weir_helper_options"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_where_they_were_told_under_their_names),
        cmocka_unit_test(without_a_word_they_run_anywhere_although_a_pinned_thread_starts_them),
        cmocka_unit_test(one_that_a_pinned_thread_starts_may_be_pinned_elsewhere),
        cmocka_unit_test(a_core_that_cannot_be_had_is_a_warning_or_an_error_if_required),
        cmocka_unit_test(a_nice_value_is_theirs_alone_and_a_refusal_is_a_warning),
        cmocka_unit_test(options_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
