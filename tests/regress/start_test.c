/*
 * start_test.c - bugs that were: starts that fail, and what comes while a start is under way. A
 * failed start joined threads that were withdrawn before, slept through its own undo, kept names,
 * and waited for itself when a destroy hook called stop; a thread added during a start was started
 * by nobody; an assignment and a stop joined the same threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regress_support.h"

#include "../engine/fault_support.h"

static const int32_t core_of_nobody = CORE_OF_NOBODY;

static weir_status start_of(weir_engine *engine)
{
    weir_error error = WEIR_ERROR_INIT;
    return weir_engine_start(engine, &error);
}

typedef struct starter {
    weir_engine *engine;
    weir_status status;
} starter;

static void start_aside(void *argument)
{
    starter *s = argument;
    s->status = start_of(s->engine);
}

/* A batch that fails withdraws the thread that it had made for its dedicated processor. */
static void start_beside_a_withdrawn_thread(void *argument)
{
    weir_status *statuses = argument;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine =
        weir_engine_create(WEIR_ENGINE(.threads = 1, .log_level = WEIR_LOG_OFF), &error);
    (void)weir_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing, .name = "a"),
                             &error);
    weir_processor out[2];
    const weir_processor_options *batch[] = {
        WEIR_PROCESSOR(.handler = handle_nothing, .dedicated = true),
        WEIR_PROCESSOR(.handler = handle_nothing, .name = "a"),
    };
    statuses[0] = weir_processor_add_many(engine, batch, 2, out, &error);
    error = (weir_error)WEIR_ERROR_INIT;
    (void)weir_thread_add(engine,
                          WEIR_THREAD(.name = "choosy", .cores = &core_of_nobody, .core_count = 1,
                                      .core_required = true),
                          &error);
    statuses[1] = error.status;
    statuses[2] = start_of(engine);
    weir_engine_destroy(engine);
}

static void a_failed_start_leaves_withdrawn_threads_alone(void **state)
{
    (void)state;
    const uint64_t tasks = test_task_count();
    weir_status statuses[3] = { 0 };
    aside_do(start_beside_a_withdrawn_thread, statuses);
    assert_int_equal(WEIR_E_TAKEN, statuses[0]);
    assert_int_equal(WEIR_OK, statuses[1]);
    assert_int_equal(WEIR_E_SYSTEM, statuses[2]);
    TEST_UNTIL(test_task_count() <= tasks);
}

/* The undo must reach threads that are just about to wait for the start. */
static void start_in_vain(void *argument)
{
    const uint64_t *rounds = argument;
    for (uint64_t i = 0; i < *rounds; i++) {
        weir_error error = WEIR_ERROR_INIT;
        weir_engine *engine = weir_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF), &error);
        (void)weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")), &error);
        (void)weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")), &error);
        (void)weir_thread_add(
            engine, WEIR_THREAD(.cores = &core_of_nobody, .core_count = 1, .core_required = true),
            &error);
        (void)weir_engine_start(engine, &error);
        weir_engine_destroy(engine);
    }
}

static void a_failing_start_does_not_sleep_through_its_own_undo(void **state)
{
    (void)state;
    uint64_t rounds = test_load(10000, 200);
    aside_do(start_in_vain, &rounds);
}

typedef struct crowd {
    weir_engine *engine;
    atomic_bool go;
    weir_status status; /* the first that was not OK */
} crowd;

enum { CROWD = 24 };

static void add_a_crowd(void *argument)
{
    crowd *c = argument;
    while (!atomic_load(&c->go)) {
        (void)sched_yield();
    }
    weir_error error = WEIR_ERROR_INIT;
    for (int i = 0; i < CROWD; i++) {
        (void)weir_processor_add(
            c->engine,
            WEIR_PROCESSOR(.handler = handle_nothing, .init = init_well, .dedicated = true),
            &error);
    }
    c->status = error.status;
}

/* Each has a thread of its own, which either the start or the adder must start. */
static void threads_that_are_added_during_a_start_all_run(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(300, 10);
    for (uint64_t i = 0; i < rounds; i++) {
        crowd c = { .engine = quiet_engine(1) };
        (void)test_processor_add(c.engine,
                                 WEIR_PROCESSOR(.handler = handle_nothing, .init = init_well));
        atomic_init(&c.go, false);
        aside adding, starting;
        aside_begin(&adding, add_a_crowd, &c);
        atomic_store(&c.go, true);
        starter s = { .engine = c.engine };
        aside_begin(&starting, start_aside, &s);
        aside_end(&starting);
        assert_int_equal(WEIR_OK, s.status);
        aside_end(&adding);
        assert_int_equal(WEIR_OK, c.status);
        (void)test_engine_end(c.engine); /* OK: every init has run */
    }
}

typedef struct stopping_hook {
    weir_engine *engine;
    weir_status reason, stop;
    int runs;
} stopping_hook;

static void stop_in_destroy(void *state, weir_status reason)
{
    stopping_hook *h = state;
    h->runs++;
    h->reason = reason;
    h->stop = weir_engine_stop(h->engine, WEIR_NOW, NULL);
}

static void a_destroy_hook_of_a_failed_start_cannot_wait_for_that_start(void **state)
{
    (void)state;
    stopping_hook hook = { .engine = quiet_engine(1) };
    (void)test_processor_add(
        hook.engine,
        WEIR_PROCESSOR(.handler = handle_nothing, .argument = &hook, .destroy = stop_in_destroy));
    (void)test_processor_add(hook.engine,
                             WEIR_PROCESSOR(.handler = handle_nothing, .init = init_badly));
    starter s = { .engine = hook.engine };
    aside_do(start_aside, &s);
    assert_int_equal(WEIR_E_FAILED, s.status);
    assert_int_equal(1, hook.runs);
    assert_int_equal(WEIR_E_FAILED, hook.reason);
    assert_int_equal(WEIR_E_BLOCKING, hook.stop);
    weir_engine_destroy(hook.engine);
    assert_int_equal(1, hook.runs);
}

static void a_failed_start_leaves_no_processor_and_no_name(void **state)
{
    (void)state;
    weir_engine *engine = quiet_engine(1);
    const weir_processor fine =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing, .name = "fine"));
    const weir_processor bad = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = handle_nothing, .name = "bad", .init = init_badly));
    assert_int_equal(WEIR_E_FAILED, start_of(engine));
    assert_int_equal(0, weir_processor_find(engine, "fine").id);
    assert_int_equal(0, weir_processor_find(engine, "bad").id);
    assert_true(is_gone(engine, fine));
    assert_true(is_gone(engine, bad));
    assert_int_equal(0, test_engine_counters(engine).processors);
    weir_engine_destroy(engine);
}

/* The thread gives its core up, but not the memory that it was given for the list. */
static void cores_that_cannot_be_had_are_freed_by_their_size(void **state)
{
    (void)state;
    static const int32_t cores[] = { CORE_OF_NOBODY, CORE_OF_NOBODY + 1, CORE_OF_NOBODY + 2 };
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF));
    (void)test_thread_add(engine, WEIR_THREAD(.cores = cores, .core_count = 3));
    test_engine_start(engine);
    (void)test_engine_end(engine);
    assert_int_equal(0, atomic_load(&fault.wrong));
    assert_int_equal(0, atomic_load(&fault.bytes));
}

enum { ROWS = 40 };

typedef struct assigner {
    weir_engine *engine;
    weir_status status, stop_status;
} assigner;

static void stop_assigned(void *argument)
{
    assigner *a = argument;
    a->stop_status = weir_engine_stop(a->engine, TEST_PATIENCE, NULL);
}

static void assign_rows(void *argument)
{
    static const char *const row[] = { "w", NULL };
    const char *const *rows[ROWS + 1] = { NULL };
    for (int i = 0; i < ROWS; i++) {
        rows[i] = row;
    }
    assigner *a = argument;
    weir_error error = WEIR_ERROR_INIT;
    a->status = weir_assign(a->engine, rows, &error);
}

/* What the assignment takes back, the stop may have joined already. */
static void an_assignment_that_a_stop_interrupts_adds_all_or_none(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(60, 8);
    const uint64_t tasks = test_task_count();
    for (uint64_t i = 0; i < rounds; i++) {
        assigner a = { .engine = quiet_engine(1) };
        test_engine_start(a.engine);
        aside assigning;
        aside_begin(&assigning, assign_rows, &a);
        const uint64_t some = 1 + i % ROWS;
        TEST_UNTIL(test_engine_counters(a.engine).threads >= some);
        aside_do(stop_assigned, &a);
        assert_int_equal(WEIR_OK, a.stop_status);
        aside_end(&assigning);
        assert_true(a.status == WEIR_OK || a.status == WEIR_E_INVALID);
        weir_engine_destroy(a.engine);
    }
    TEST_UNTIL(test_task_count() <= tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_start_leaves_withdrawn_threads_alone),
        cmocka_unit_test(a_failing_start_does_not_sleep_through_its_own_undo),
        cmocka_unit_test(threads_that_are_added_during_a_start_all_run),
        cmocka_unit_test(a_destroy_hook_of_a_failed_start_cannot_wait_for_that_start),
        cmocka_unit_test(a_failed_start_leaves_no_processor_and_no_name),
        cmocka_unit_test(cores_that_cannot_be_had_are_freed_by_their_size),
        cmocka_unit_test(an_assignment_that_a_stop_interrupts_adds_all_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
