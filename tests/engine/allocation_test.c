/*
 * allocation_test.c - every create and start path with its nth allocation failing, n = 1, 2, 3,
 * ...: an error, no leak, no half-started engine.
 *
 * Each operation runs on a new engine for every n, once with that allocation alone failing and once
 * with all from there on. Then memory is back: the same operation must succeed, the engine must
 * start, handle an event and stop, and after destroy nothing may be out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "allocation_support.h"

#include "sync/crash.h"

enum { NTH_MAX = 10000, MANY = 20 };

/* ---- operations ---- */

static weir_status add_thread(scene *s)
{
    static const int32_t cores[] = { 0 };
    (void)weir_thread_add(s->engine,
                          WEIR_THREAD(.name = "worker", .cores = cores, .core_count = 1,
                                      .dispatchers = WEIR_NAMES("", "new", "newer")),
                          &s->error);
    return s->error.status;
}

static weir_status add_external_thread(scene *s)
{
    (void)weir_thread_add(
        s->engine, WEIR_THREAD(.name = "loop", .external = true, .dispatchers = WEIR_NAMES("loop")),
        &s->error);
    return s->error.status;
}

static void no_thread_was_added(scene *s)
{
    const weir_counters counters = test_engine_counters(s->engine);
    assert_int_equal(s->before.threads, counters.threads);
    assert_int_equal(s->before.dispatchers, counters.dispatchers);
}

static weir_status assign_rows(scene *s)
{
    return weir_assign(s->engine, WEIR_ROWS(WEIR_NAMES(""), WEIR_NAMES("x", "y"), WEIR_NAMES("y")),
                       &s->error);
}

static weir_status assign_by_strategy(scene *s)
{
    return weir_assign_strategy(s->engine,
                                WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED, .threads = 3,
                                                .dispatchers = WEIR_NAMES("", "x", "y")),
                                &s->error);
}

static void *move_as_a_guest(void *argument)
{
    scene *s = argument;
    (void)weir_processor_move(s->engine, s->parent, "b", &s->error);
    return NULL;
}

static weir_status move_from_a_new_thread(scene *s)
{
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, move_as_a_guest, s));
    assert_int_equal(0, pthread_join(thread, NULL));
    return s->error.status;
}

static void nothing_was_moved(scene *s)
{
    char name[8] = "?";
    assert_int_equal(WEIR_OK, weir_processor_dispatcher(s->engine, s->parent, name, sizeof(name)));
    assert_string_equal("", name);
}

/* Whatever fails, a thread that is to go goes. */
static weir_status remove_thread(scene *s)
{
    const weir_thread thread = weir_thread_find(s->engine, "weir-2");
    const weir_status status = weir_thread_remove(s->engine, thread, &s->error);
    return status == WEIR_UNKNOWN ? WEIR_OK : status;
}

static weir_status add_processor(scene *s)
{
    weir_processor_options options = processor_options(s, "child");
    options.parent = s->parent;
    options.on_failure = WEIR_RETRY;
    (void)weir_processor_add(s->engine, &options, &s->error);
    return s->error.status;
}

static weir_status add_dedicated(scene *s)
{
    weir_processor_options options = processor_options(s, "own");
    options.dedicated = true;
    (void)weir_processor_add(s->engine, &options, &s->error);
    return s->error.status;
}

/* Without memory it stays what it is. */
static weir_status become_often(void *state, weir_turn *turn, const weir_event *event)
{
    scene *s = *(scene **)state;
    weir_status status = WEIR_OK;
    for (int i = 0; i < 20 && status == WEIR_OK; i++) {
        status = weir_turn_become(turn, count_event, true);
    }
    atomic_store(&s->became, status);
    return count_event(state, turn, event);
}

static weir_status become(scene *s)
{
    weir_processor_options options = processor_options(s, NULL);
    options.handler = become_often;
    const weir_processor p = weir_processor_add(s->engine, &options, &s->error);
    if (s->error.status != WEIR_OK) {
        return s->error.status;
    }
    const weir_status status = test_post(s->engine, p, 1);
    s->posted += status == WEIR_OK ? 1 : 0;
    if (status == WEIR_OK) {
        TEST_UNTIL(atomic_load(&s->handled) == s->posted);
    }
    return status == WEIR_OK ? atomic_load(&s->became) : status;
}

static void no_processor_was_added(scene *s)
{
    assert_int_equal(1, test_engine_counters(s->engine).processors);
    assert_int_equal(0, weir_processor_find(s->engine, "child").id);
    assert_int_equal(0, weir_processor_find(s->engine, "own").id);
    assert_int_equal(0, weir_processor_find(s->engine, "p0").id);
    TEST_UNTIL(test_engine_counters(s->engine).threads == s->before.threads);
    TEST_UNTIL(test_engine_counters(s->engine).dispatchers == s->before.dispatchers);
}

static weir_status add_many(scene *s)
{
    char names[MANY][16];
    weir_processor_options options[MANY];
    const weir_processor_options *pointers[MANY];
    weir_processor out[MANY];
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "p%d", i);
        options[i] = processor_options(s, i % 2 == 0 ? names[i] : NULL);
        options[i].parent = s->parent;
        options[i].dedicated = i == MANY - 1;
        pointers[i] = &options[i];
    }
    return weir_processor_add_many(s->engine, pointers, MANY, out, &s->error);
}

static weir_status start(scene *s)
{
    const weir_status status = weir_engine_start(s->engine, &s->error);
    s->started = status == WEIR_OK;
    return status;
}

static void nothing_is_half_started(scene *s)
{
    TEST_UNTIL(test_task_count() <= s->tasks);
    assert_int_equal(0, atomic_load(&s->handled));
    assert_int_equal(atomic_load(&s->inits), atomic_load(&s->destroys));
}

static weir_status post_small_and_large(scene *s)
{
    unsigned char large[3000] = { 0 };
    weir_status worst = WEIR_OK;
    for (uint32_t n = 0; n < 1500; n++) {
        const weir_event event = { .type = &weir_bytes_type,
                                   .data = large,
                                   .size = n % 10 == 0 ? n : 8 };
        const weir_status status = weir_engine_post(s->engine, s->parent, &event);
        s->posted += status == WEIR_OK;
        worst = status != WEIR_OK ? status : worst;
    }
    return worst;
}

static void *post_as_a_guest(void *argument)
{
    scene *s = argument;
    s->error.status = test_post(s->engine, s->parent, 0);
    s->posted += s->error.status == WEIR_OK;
    return NULL;
}

static weir_status post_from_a_new_thread(scene *s)
{
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, post_as_a_guest, s));
    assert_int_equal(0, pthread_join(thread, NULL));
    return s->error.status;
}

static weir_status reserve_blocks(scene *s)
{
    static const size_t sizes[] = { 1, 40, 100, 500, 2000, 10000, 70000, 3000000 };
    unsigned char own[64];
    weir_status worst = WEIR_OK;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        weir_block *block = NULL;
        const weir_status status = weir_block_reserve(s->engine, sizes[i], &block);
        worst = status != WEIR_OK ? status : worst;
        weir_block_release(block);
    }
    weir_block *adopted = NULL;
    const weir_status adopt = weir_block_adopt(s->engine, own, sizeof(own), NULL, NULL, &adopted);
    weir_block_release(adopted);
    weir_event kept = { .type = NULL };
    const weir_status keep = weir_event_keep(s->engine, WEIR_EVENT(number, 1), &kept);
    weir_event_release(&kept);
    worst = adopt != WEIR_OK ? adopt : worst;
    return keep != WEIR_OK ? keep : worst;
}

/* Whatever was accepted has come back when it returns. */
static weir_status ask_in_a_turn(scene *s)
{
    weir_status status = test_post(s->engine, s->asker, 0);
    if (status == WEIR_OK) {
        test_sem_wait(&s->has_asked);
        status = s->asked;
        s->posted += status == WEIR_OK ? 3 : 1;
        TEST_UNTIL(atomic_load(&s->handled) == s->posted);
    }
    return status;
}

static void nothing_is_promised(scene *s)
{
    assert_int_equal(0, test_processor_counters(s->engine, s->asker).rooms);
}

/* Who answers may have had no memory for it: then no answer comes. One that is late on a busy
 * machine is asked for again, with more patience. */
static weir_status ask_from_outside(scene *s)
{
    weir_status status = WEIR_TIMEOUT;
    for (weir_ns patience = 20 * WEIR_MS; status == WEIR_TIMEOUT; patience *= 4) {
        weir_event reply;
        status = weir_engine_ask(s->engine, s->parent, WEIR_EVENT(number, 1), patience, &reply);
        s->posted += status == WEIR_OK || status == WEIR_TIMEOUT;
        weir_event_release(&reply);
        if (status == WEIR_TIMEOUT && test_fault_is_armed(&s->fault) &&
            atomic_load(&s->fault.hits) > 0) {
            return WEIR_E_NOMEM;
        }
    }
    return status;
}

static void no_block_is_out(scene *s)
{
    assert_int_equal(0, test_engine_counters(s->engine).block_bytes);
}

static weir_status open_signals(scene *s)
{
    (void)weir_signal_open(s->engine, s->parent, 1000, &s->error);
    return s->error.status;
}

static weir_status stop_processor(scene *s)
{
    const weir_status status = weir_processor_stop(s->engine, s->parent, TEST_PATIENCE, NULL);
    return status == WEIR_UNKNOWN || status == WEIR_ALREADY ? WEIR_OK : status; /* again: gone */
}

static weir_status stop_processor_async(scene *s)
{
    const weir_status status = weir_processor_stop_async(s->engine, s->parent, TEST_PATIENCE);
    return status == WEIR_UNKNOWN || status == WEIR_ALREADY ? WEIR_OK : status;
}

static weir_status stop_engine(scene *s)
{
    const weir_status status = weir_engine_stop(s->engine, TEST_PATIENCE, NULL);
    return status == WEIR_ALREADY ? WEIR_OK : status;
}

static weir_status stop_engine_async(scene *s)
{
    const weir_status status = weir_engine_stop_async(s->engine, TEST_PATIENCE);
    return status == WEIR_ALREADY ? WEIR_OK : status;
}

static const operation operations[] = {
    { "thread_add", NULL, add_thread, no_thread_was_added, false, true },
    { "thread_add, external", NULL, add_external_thread, no_thread_was_added, false, true },
    { "thread_add, running", prepare_running, add_thread, no_thread_was_added, false, true },
    { "thread_add, on a seat that is left", prepare_seats, add_thread, no_thread_was_added, false,
      true },
    { "thread_remove", prepare_seats, remove_thread, NULL, false, true },
    { "processor_move", prepare_seats, move_from_a_new_thread, nothing_was_moved, false, true },
    { "assign", NULL, assign_rows, no_thread_was_added, false, true },
    { "assign_strategy", NULL, assign_by_strategy, no_thread_was_added, false, true },
    { "processor_add", prepare_parent, add_processor, no_processor_was_added, false, true },
    { "processor_add, dedicated", prepare_parent, add_dedicated, no_processor_was_added, false,
      true },
    { "processor_add, running", prepare_running, add_processor, no_processor_was_added, false,
      true },
    { "processor_add, dedicated, running", prepare_running, add_dedicated, no_processor_was_added,
      false, true },
    { "processor_add_many", prepare_parent, add_many, no_processor_was_added, false, true },
    { "processor_add_many, running", prepare_running, add_many, no_processor_was_added, false,
      true },
    { "start, alone", NULL, start, nothing_is_half_started, false, true },
    { "start", prepare_for_start, start, nothing_is_half_started, false, true },
    { "post", prepare_parent, post_small_and_large, NULL, false, false },
    { "post from a new thread", prepare_parent, post_from_a_new_thread, NULL, false, false },
    { "blocks", prepare_parent, reserve_blocks, no_block_is_out, false, false },
    { "turn_ask", prepare_asker, ask_in_a_turn, nothing_is_promised, true, false },
    { "engine_ask", prepare_running, ask_from_outside, NULL, false, false },
    { "signal_open", prepare_parent, open_signals, NULL, false, true },
    { "become", prepare_running, become, NULL, false, false },
    { "processor_stop", prepare_running, stop_processor, NULL, true, false },
    { "processor_stop_async", prepare_running, stop_processor_async, NULL, true, false },
    { "engine_stop", prepare_running, stop_engine, NULL, true, false },
    { "engine_stop_async", prepare_running, stop_engine_async, NULL, true, false },
};

/* ---- the loop ---- */

static void assert_nothing_is_out(scene *s)
{
    assert_int_equal(0, atomic_load(&s->fault.bytes));
    assert_int_equal(0, atomic_load(&s->fault.wrong));
}

static void scene_open(scene *s)
{
    memset(s, 0, sizeof(*s));
    test_fault_init(&s->fault);
    s->error = (weir_error)WEIR_ERROR_INIT;
    s->tasks = test_task_count();
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &s->fault };
    s->engine = test_engine_create(
        WEIR_ENGINE(.allocator = &allocator, .log_level = WEIR_LOG_OFF, .mailbox_max = 20000));
}

/* Memory is back: the engine works as if nothing had been. */
static void scene_close(scene *s)
{
    if (!s->started) {
        s->error = (weir_error)WEIR_ERROR_INIT;
        (void)weir_engine_start(s->engine, &s->error);
        test_error_none(&s->error);
    }
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const weir_status status = weir_engine_stop(s->engine, TEST_PATIENCE, &report);
    assert_true(status == WEIR_OK || status == WEIR_ALREADY);
    assert_int_equal(s->posted, report.accepted);
    assert_int_equal(s->posted, report.handled);
    assert_int_equal(s->posted, atomic_load(&s->handled));
    weir_engine_destroy(s->engine);
    assert_int_equal(atomic_load(&s->inits), atomic_load(&s->destroys));
    assert_nothing_is_out(s);
    TEST_UNTIL(test_task_count() <= s->tasks);
}

/* One n. True: the operation needs no more than n allocations. */
static bool run_with_nth(const operation *op, long nth, bool lasting)
{
    static scene s;
    scene_open(&s);
    if (op->prepare != NULL) {
        op->prepare(&s);
    }
    s.before = test_engine_counters(s.engine);
    test_fault_arm(&s.fault, nth, lasting);
    const weir_status status = op->act(&s);
    const bool hit = test_fault_disarm(&s.fault) > 0;
    if (status == WEIR_OK) {
        assert_true(!hit || op->may_do_without);
    } else {
        assert_true(hit);
        assert_int_equal(WEIR_E_NOMEM, status);
        if (op->says_why) {
            assert_int_equal(WEIR_E_NOMEM, s.error.status);
            assert_true(s.error.text[0] != '\0');
        }
        if (op->check != NULL) {
            op->check(&s);
        }
        s.error = (weir_error)WEIR_ERROR_INIT;
        assert_int_equal(WEIR_OK, op->act(&s));
    }
    scene_close(&s);
    return !hit;
}

static void every_operation_survives_its_nth_allocation_failing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        long counts[2] = { 0, 0 };
        for (int lasting = 0; lasting < 2; lasting++) {
            long nth = 0;
            while (!run_with_nth(&operations[i], nth, lasting != 0)) {
                nth++;
                assert_true(nth < NTH_MAX);
            }
            counts[lasting] = nth;
        }
        fprintf(stderr, "# %s: %ld and %ld allocations failed\n", operations[i].name, counts[0],
                counts[1]);
    }
}

static void create_survives_its_nth_allocation_failing(void **state)
{
    (void)state;
    for (int lasting = 0; lasting < 2; lasting++) {
        long nth = 0;
        bool done = false;
        while (!done) {
            test_fault fault;
            test_fault_init(&fault);
            const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
            test_fault_arm(&fault, nth, lasting != 0);
            weir_error error = WEIR_ERROR_INIT;
            weir_engine *engine = weir_engine_create(
                WEIR_ENGINE(.name = "small", .allocator = &allocator, .threads = 2), &error);
            done = test_fault_disarm(&fault) == 0;
            assert_true(done == (engine != NULL));
            assert_int_equal(done ? WEIR_OK : WEIR_E_NOMEM, error.status);
            assert_true(done == (error.text[0] == '\0'));
            assert_true(done || atomic_load(&fault.bytes) == 0);
            weir_engine_destroy(engine);
            assert_int_equal(0, atomic_load(&fault.bytes));
            assert_int_equal(0, atomic_load(&fault.wrong));
            nth++;
            assert_true(nth < NTH_MAX);
        }
        assert_true(nth > 1); /* it did inject at least one failure */
    }
}

static void nothing_is_allocated_once_per_event(void **state)
{
    (void)state;
    static scene s;
    scene_open(&s);
    /* Turned by hand, so that as many wait in each round as in the one before. */
    const weir_thread loop = test_thread_add(s.engine, WEIR_THREAD(.external = true));
    prepare_parent(&s);
    test_engine_start(s.engine);
    for (int round = 0; round < 6; round++) {
        if (round == 3) { /* by now pools and caches are full */
            test_fault_arm(&s.fault, 0, true);
        }
        assert_int_equal(WEIR_OK, post_small_and_large(&s));
        TEST_UNTIL(weir_thread_run_once(s.engine, loop, 0) == 0);
        assert_int_equal(s.posted, atomic_load(&s.handled));
    }
    assert_int_equal(0, test_fault_disarm(&s.fault));
    test_external_end(s.engine, loop);
    assert_nothing_is_out(&s);
}

static void *destroy_as_a_guest(void *argument)
{
    weir_engine_destroy(((scene *)argument)->engine);
    return NULL;
}

/* It was never started, so what was posted is thrown away; the thread that does so has nothing to
 * do with the engine, and gets nothing from it. */
static void a_thread_for_which_there_is_no_memory_destroys_an_engine_full_of_events(void **state)
{
    (void)state;
    static scene s;
    pthread_t thread;
    scene_open(&s);
    prepare_parent(&s);
    assert_int_equal(WEIR_OK, post_small_and_large(&s));
    test_fault_arm(&s.fault, 0, true);
    assert_int_equal(0, pthread_create(&thread, NULL, destroy_as_a_guest, &s));
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_true(test_fault_disarm(&s.fault) > 0);
    assert_nothing_is_out(&s);
}

/* What a thread takes from the engine's allocator when it is added. */
static size_t bytes_of_a_thread(weir_crash_report report, bool external)
{
    test_fault fault;
    test_fault_init(&fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &fault };
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.allocator = &allocator, .crash_report = report));
    const size_t before = atomic_load(&fault.bytes);
    (void)test_thread_add(engine, WEIR_THREAD(.external = external));
    const size_t taken = atomic_load(&fault.bytes) - before;
    weir_engine_destroy(engine);
    assert_int_equal(0, atomic_load(&fault.bytes));
    assert_int_equal(0, atomic_load(&fault.wrong));
    return taken;
}

/* A handler that overflows its stack can be reported on another one only. */
static void a_thread_has_a_stack_for_reports_unless_there_are_none(void **state)
{
    (void)state;
    const size_t without = bytes_of_a_thread(WEIR_CRASH_REPORT_OFF, false);
    assert_true(without > 0);
    assert_int_equal(without + weir__crash_stack_size(),
                     bytes_of_a_thread(WEIR_CRASH_REPORT_ON, false));
    assert_int_equal(without + weir__crash_stack_size(),
                     bytes_of_a_thread(WEIR_CRASH_REPORT_DEFAULT, false));
    /* The application's threads bring their own along. */
    assert_int_equal(without, bytes_of_a_thread(WEIR_CRASH_REPORT_ON, true));
    assert_int_equal(without, bytes_of_a_thread(WEIR_CRASH_REPORT_OFF, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_survives_its_nth_allocation_failing),
        cmocka_unit_test(every_operation_survives_its_nth_allocation_failing),
        cmocka_unit_test(nothing_is_allocated_once_per_event),
        cmocka_unit_test(a_thread_for_which_there_is_no_memory_destroys_an_engine_full_of_events),
        cmocka_unit_test(a_thread_has_a_stack_for_reports_unless_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
