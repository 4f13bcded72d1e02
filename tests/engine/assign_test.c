/*
 * assign_test.c - which thread serves which dispatcher: rows, and the three strategies of the
 * shorthand (S-01, S-02).
 *
 * Each dispatcher gets a few processors that write down the system's number of every thread they
 * ran on. What was asked for is compared with that and with the dispatchers' counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { TASKS_MAX = 16, PROCESSORS = 4, NAMES_MAX = 16 };

/* Where the processors of one dispatcher ran. Posted to one event at a time. */
typedef struct place {
    const char *dispatcher;
    test_recorder recorders[PROCESSORS];
    weir_processor processors[PROCESSORS];
    int tasks[TASKS_MAX];
    size_t task_count;
} place;

static void place_add(weir_engine *engine, place *p, const char *dispatcher)
{
    memset(p, 0, sizeof(*p));
    p->dispatcher = dispatcher;
    for (size_t i = 0; i < PROCESSORS; i++) {
        test_recorder_init(&p->recorders[i], false);
        p->processors[i] = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &p->recorders[i],
                                   .dispatcher = dispatcher));
    }
}

static void place_note(place *p, int task)
{
    for (size_t i = 0; i < p->task_count; i++) {
        if (p->tasks[i] == task) {
            return;
        }
    }
    assert_true(p->task_count < TASKS_MAX);
    p->tasks[p->task_count++] = task;
}

static void place_run(weir_engine *engine, place *p, uint64_t events)
{
    for (uint64_t n = 0; n < events; n++) {
        test_recorder *recorder = &p->recorders[n % PROCESSORS];
        const uint64_t before = test_recorder_handled(recorder);
        assert_int_equal(WEIR_OK, test_post(engine, p->processors[n % PROCESSORS], n));
        TEST_UNTIL(test_recorder_handled(recorder) == before + 1);
        place_note(p, atomic_load(&recorder->thread));
    }
}

static bool places_share_a_thread(const place *a, const place *b)
{
    for (size_t i = 0; i < a->task_count; i++) {
        for (size_t j = 0; j < b->task_count; j++) {
            if (a->tasks[i] == b->tasks[j]) {
                return true;
            }
        }
    }
    return false;
}

static uint64_t threads_of(weir_engine *engine, const char *dispatcher)
{
    weir_dispatcher_counters counters = WEIR_DISPATCHER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_dispatcher_counters_get(engine, dispatcher, &counters));
    return counters.threads;
}

typedef struct names {
    char seen[NAMES_MAX][16]; /* copies: a name is valid during the visit */
    size_t count, stop_after;
} names;

static bool note_name(void *context, const char *name)
{
    names *n = context;
    (void)snprintf(n->seen[n->count++], sizeof(n->seen[0]), "%s", name);
    return n->count < n->stop_after;
}

static void assign(weir_engine *engine, const weir_assignment_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(error.status, weir_assign_strategy(engine, options, &error));
    test_error_none(&error);
}

static void a_row_is_a_thread_and_serves_the_names_in_it(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_OK, weir_assign(engine,
                                          WEIR_ROWS(WEIR_NAMES(""), WEIR_NAMES("api", "realtime"),
                                                    WEIR_NAMES("api"), WEIR_NAMES("batch")),
                                          &error));
    test_error_none(&error);
    place unnamed, api, realtime, batch;
    place_add(engine, &unnamed, "");
    place_add(engine, &api, "api");
    place_add(engine, &realtime, "realtime");
    place_add(engine, &batch, "batch");
    test_engine_start(engine);
    assert_int_equal(4, test_engine_counters(engine).threads);
    assert_int_equal(4, test_engine_counters(engine).dispatchers);
    assert_int_equal(1, threads_of(engine, ""));
    assert_int_equal(2, threads_of(engine, "api"));
    assert_int_equal(1, threads_of(engine, "realtime"));
    assert_int_equal(1, threads_of(engine, "batch"));
    place_run(engine, &unnamed, 100);
    place_run(engine, &api, 100);
    place_run(engine, &realtime, 100);
    place_run(engine, &batch, 100);
    (void)test_engine_end(engine);
    assert_int_equal(1, unnamed.task_count);
    assert_in_range(api.task_count, 1, 2);
    assert_int_equal(1, realtime.task_count);
    assert_int_equal(1, batch.task_count);
    assert_false(places_share_a_thread(&unnamed, &api));
    assert_false(places_share_a_thread(&batch, &api));
    assert_false(places_share_a_thread(&unnamed, &batch));
    assert_false(places_share_a_thread(&unnamed, &realtime));
}

static void the_valid_names_are_readable_in_the_order_of_the_threads(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        WEIR_OK,
        weir_assign(engine, WEIR_ROWS(WEIR_NAMES("x", "b"), WEIR_NAMES("b", "a"), WEIR_NAMES("")),
                    &error));
    static const char *const expected[] = { "x", "b", "a", "" };
    names all = { .stop_after = NAMES_MAX };
    weir_dispatcher_visit(engine, note_name, &all);
    assert_int_equal(4, all.count);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(expected[i], all.seen[i]);
    }
    names first = { .stop_after = 1 };
    weir_dispatcher_visit(engine, note_name, &first);
    assert_int_equal(1, first.count);
    weir_engine_destroy(engine);
}

static void an_assignment_that_is_wrong_adds_nothing(void **state)
{
    (void)state;
    static const char *const none[] = { NULL };
    const char *many[66];
    char texts[66][8];
    for (size_t i = 0; i < 65; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "d%zu", i);
        many[i] = texts[i];
    }
    many[65] = NULL;
    weir_engine *engine = test_engine_create(NULL);
    const char *const *const bad[][3] = { { WEIR_NAMES("a"), none, NULL },
                                          { WEIR_NAMES("a"), many, NULL },
                                          { NULL, NULL, NULL } };
    for (size_t i = 0; i < 3; i++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_E_INVALID, weir_assign(engine, bad[i], &error));
        assert_int_equal(WEIR_E_INVALID, error.status);
        assert_true(error.text[0] != '\0');
    }
    assert_int_equal(WEIR_E_INVALID, weir_assign(engine, NULL, NULL));
    assert_int_equal(0, test_engine_counters(engine).threads);
    assert_int_equal(0, test_engine_counters(engine).dispatchers);
    weir_engine_destroy(engine);
}

static void a_strategy_with_wrong_dispatchers_or_threads_says_so_and_adds_nothing(void **state)
{
    (void)state;
    char longer[257];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    const char *const none[] = { NULL };
    const char *const twice[] = { "a", "b", "a", NULL };
    const char *const too_long[] = { "a", longer, NULL };
    const char *const *const bad[] = { NULL, none, twice, too_long };
    weir_engine *engine = test_engine_create(NULL);
    for (size_t i = 0; i < 4; i++) {
        for (int strategy = WEIR_STRATEGY_PARTITION; strategy <= WEIR_STRATEGY_PER_DISPATCHER;
             strategy++) {
            weir_error error = WEIR_ERROR_INIT;
            assert_int_equal(
                WEIR_E_INVALID,
                weir_assign_strategy(engine,
                                     WEIR_ASSIGNMENT(.strategy = (weir_strategy)strategy,
                                                     .threads = 1, .dispatchers = bad[i]),
                                     &error));
            assert_int_equal(WEIR_E_INVALID, error.status);
            assert_string_equal("weir_assignment_options.dispatchers", error.path);
            assert_true(error.text[0] != '\0');
        }
    }
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(
        WEIR_E_INVALID,
        weir_assign_strategy(engine,
                             WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED, .threads = 1025,
                                             .dispatchers = WEIR_NAMES("a")),
                             &error));
    assert_string_equal("weir_assignment_options.threads", error.path);
    assert_string_equal("is 1025, must be 1 to 1024 (0 = the cores that can be used)", error.text);
    static const uint32_t counts[] = { 1025, 1024 };
    for (size_t i = 0; i < 2; i++) { /* the engine does not run yet: nor does a thread */
        weir_error why = WEIR_ERROR_INIT;
        weir_engine *full = test_engine_create(NULL);
        const weir_status status = weir_assign_strategy(
            full,
            WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_PER_DISPATCHER,
                            .dispatchers = WEIR_NAMES("a"), .counts = &counts[i]),
            &why);
        assert_int_equal(i == 0 ? WEIR_E_INVALID : WEIR_OK, status);
        assert_int_equal(i == 0 ? 0 : 1024, test_engine_counters(full).threads);
        weir_engine_destroy(full);
    }
    assert_int_equal(0, test_engine_counters(engine).threads);
    assert_int_equal(0, test_engine_counters(engine).dispatchers);
    weir_engine_destroy(engine);
}

/* The first rows have their threads by then, asleep most of them; all of them go again. */
static void an_assignment_that_fails_while_the_engine_runs_takes_its_threads_back(void **state)
{
    (void)state;
    enum { ROWS = 6 };
    static const char *const row[] = { "w", NULL };
    static const char *const bad[] = { "w", "w", NULL };
    const char *const *rows[ROWS + 2] = { NULL };
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = row;
    }
    rows[ROWS] = bad;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 1));
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    test_engine_start(engine);
    const uint64_t tasks = test_task_count();
    for (uint64_t round = 0; round < 10; round++) {
        weir_error error = WEIR_ERROR_INIT;
        assert_int_equal(WEIR_E_INVALID, weir_assign(engine, rows, &error));
        assert_int_equal(WEIR_E_INVALID, error.status);
        TEST_UNTIL(test_task_count() <= tasks + 1); /* the monitor, which stays */
        assert_int_equal(1, test_engine_counters(engine).threads);
        error = (weir_error)WEIR_ERROR_INIT;
        assert_int_equal(
            0,
            weir_processor_add(
                engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .dispatcher = "w"), &error)
                .id);
        assert_int_equal(WEIR_E_INVALID, error.status); /* nobody serves it */
        assert_int_equal(WEIR_OK, test_post(engine, to, round));
        TEST_UNTIL(test_recorder_handled(&recorder) == round + 1);
    }
    (void)test_engine_end(engine);
}

static void partition_gives_no_two_dispatchers_a_thread_in_common(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    assign(engine, WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_PARTITION, .threads = 5,
                                   .dispatchers = WEIR_NAMES("a", "b", "c")));
    place places[3];
    static const char *const dispatchers[] = { "a", "b", "c" };
    for (size_t i = 0; i < 3; i++) {
        place_add(engine, &places[i], dispatchers[i]);
    }
    test_engine_start(engine);
    assert_int_equal(5, test_engine_counters(engine).threads);
    assert_int_equal(2, threads_of(engine, "a")); /* spare threads: the first names first */
    assert_int_equal(2, threads_of(engine, "b"));
    assert_int_equal(1, threads_of(engine, "c"));
    for (size_t i = 0; i < 3; i++) {
        place_run(engine, &places[i], 200);
    }
    (void)test_engine_end(engine);
    for (size_t i = 0; i < 3; i++) {
        assert_false(places_share_a_thread(&places[i], &places[(i + 1) % 3]));
    }
}

static void partition_deals_more_dispatchers_than_threads_out_in_turn(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    assign(engine, WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_PARTITION, .threads = 2,
                                   .dispatchers = WEIR_NAMES("a", "b", "c", "d", "e")));
    static const char *const dispatchers[] = { "a", "b", "c", "d", "e" };
    place places[5];
    for (size_t i = 0; i < 5; i++) {
        place_add(engine, &places[i], dispatchers[i]);
        assert_int_equal(1, threads_of(engine, dispatchers[i]));
    }
    test_engine_start(engine);
    assert_int_equal(2, test_engine_counters(engine).threads);
    for (size_t i = 0; i < 5; i++) {
        place_run(engine, &places[i], 50);
        assert_int_equal(1, places[i].task_count);
    }
    (void)test_engine_end(engine);
    for (size_t i = 0; i < 5; i++) { /* thread i serves i, i + threads, ... */
        assert_int_equal(places[i % 2].tasks[0], places[i].tasks[0]);
    }
    assert_int_not_equal(places[0].tasks[0], places[1].tasks[0]);
}

static void shared_lets_every_thread_serve_every_dispatcher(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    assign(engine, WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED, .threads = 3,
                                   .dispatchers = WEIR_NAMES("a", "b")));
    place a, b;
    place_add(engine, &a, "a");
    place_add(engine, &b, "b");
    test_engine_start(engine);
    assert_int_equal(3, test_engine_counters(engine).threads);
    assert_int_equal(3, threads_of(engine, "a"));
    assert_int_equal(3, threads_of(engine, "b"));
    place_run(engine, &a, 100);
    place_run(engine, &b, 100);
    (void)test_engine_end(engine);
    assert_in_range(a.task_count, 1, 3);
    assert_in_range(b.task_count, 1, 3);
}

static void per_dispatcher_gives_each_its_own_number_of_threads(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 3, 1, 2 };
    static const char *const dispatchers[] = { "a", "b", "c", NULL };
    weir_engine *engine = test_engine_create(NULL);
    assign(engine, WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_PER_DISPATCHER,
                                   .dispatchers = dispatchers, .counts = counts));
    place places[3];
    for (size_t i = 0; i < 3; i++) {
        place_add(engine, &places[i], dispatchers[i]);
    }
    test_engine_start(engine);
    assert_int_equal(6, test_engine_counters(engine).threads);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(counts[i], threads_of(engine, dispatchers[i]));
        place_run(engine, &places[i], 100);
    }
    (void)test_engine_end(engine);
    for (size_t i = 0; i < 3; i++) {
        assert_in_range(places[i].task_count, 1, counts[i]);
        assert_false(places_share_a_thread(&places[i], &places[(i + 1) % 3]));
    }
}

static void per_dispatcher_is_one_thread_each_by_default(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    assign(engine, WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_PER_DISPATCHER,
                                   .dispatchers = WEIR_NAMES("a", "b")));
    assert_int_equal(2, test_engine_counters(engine).threads);
    assert_int_equal(1, threads_of(engine, "a"));
    assert_int_equal(1, threads_of(engine, "b"));
    weir_engine_destroy(engine);
}

static void the_usable_cores_are_the_default_number_of_threads(void **state)
{
    (void)state;
    cpu_set_t set;
    assert_int_equal(0, sched_getaffinity(0, sizeof(set), &set));
    weir_engine *engine = test_engine_create(NULL);
    assign(engine,
           WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED, .dispatchers = WEIR_NAMES("a")));
    /* A cgroup's quota may allow fewer than the mask does. */
    assert_in_range(test_engine_counters(engine).threads, 1, CPU_COUNT(&set));
    weir_engine_destroy(engine);
}

static void assignments_and_single_threads_combine(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.name = "one", .dispatchers = WEIR_NAMES("a")));
    assign(engine, WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED, .threads = 2,
                                   .dispatchers = WEIR_NAMES("a", "b")));
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(WEIR_OK, weir_assign(engine, WEIR_ROWS(WEIR_NAMES("b", "c")), &error));
    test_engine_start(engine);
    assert_int_equal(4, test_engine_counters(engine).threads);
    assert_int_equal(3, threads_of(engine, "a"));
    assert_int_equal(3, threads_of(engine, "b"));
    assert_int_equal(1, threads_of(engine, "c"));
    (void)test_engine_end(engine);
}

static void at_most_1024_threads_can_be_added(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    for (size_t i = 0; i < 1024; i++) {
        (void)test_thread_add(engine, NULL);
    }
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(0, weir_thread_add(engine, NULL, &error).id);
    assert_int_equal(WEIR_E_LIMIT, error.status);
    assert_non_null(strstr(error.text, "1024"));
    assert_int_equal(1024, test_engine_counters(engine).threads);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_a_thread_and_serves_the_names_in_it),
        cmocka_unit_test(the_valid_names_are_readable_in_the_order_of_the_threads),
        cmocka_unit_test(an_assignment_that_is_wrong_adds_nothing),
        cmocka_unit_test(a_strategy_with_wrong_dispatchers_or_threads_says_so_and_adds_nothing),
        cmocka_unit_test(an_assignment_that_fails_while_the_engine_runs_takes_its_threads_back),
        cmocka_unit_test(partition_gives_no_two_dispatchers_a_thread_in_common),
        cmocka_unit_test(partition_deals_more_dispatchers_than_threads_out_in_turn),
        cmocka_unit_test(shared_lets_every_thread_serve_every_dispatcher),
        cmocka_unit_test(per_dispatcher_gives_each_its_own_number_of_threads),
        cmocka_unit_test(per_dispatcher_is_one_thread_each_by_default),
        cmocka_unit_test(the_usable_cores_are_the_default_number_of_threads),
        cmocka_unit_test(assignments_and_single_threads_combine),
        cmocka_unit_test(at_most_1024_threads_can_be_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
