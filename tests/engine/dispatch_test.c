/*
 * dispatch_test.c - who runs what: events reach their processor once, on a thread that serves its
 * dispatcher, and threads that share a dispatcher run side by side.
 *
 * Every test keeps its own books (a ledger of event numbers, collectors that note their threads)
 * and compares them with what the engine reports. SPEC: P-1, P-3, P-4, S-01, S-03, S-08.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

enum { EVENTS = 100000, PRODUCERS = 4 };

/* One of several threads that share out the numbers 0..count-1 and post each to its target. */
typedef struct producer {
    weir_engine *engine;
    const weir_processor *targets;
    size_t target_count;
    uint64_t first, count, step;
    uint64_t refused; /* written by the producer, read after the join */
} producer;

static void *produce(void *argument)
{
    producer *p = argument;
    for (uint64_t i = p->first; i < p->count; i += p->step) {
        const weir_processor to = p->targets[i % p->target_count];
        p->refused += post_when_room(p->engine, to, WEIR_EVENT(mark, .number = i)) != WEIR_OK;
    }
    return NULL;
}

/* Posts 0..count-1 from PRODUCERS threads, event i to targets[i % target_count]. */
static void post_from_all_sides(weir_engine *engine, const weir_processor *targets,
                                size_t target_count, uint64_t count)
{
    producer producers[PRODUCERS];
    pthread_t threads[PRODUCERS];
    for (size_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (producer){ engine, targets, target_count, i, count, PRODUCERS, 0 };
        assert_int_equal(0, pthread_create(&threads[i], NULL, produce, &producers[i]));
    }
    uint64_t refused = 0;
    for (size_t i = 0; i < PRODUCERS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        refused += producers[i].refused;
    }
    assert_int_equal(0, refused);
}

static void assert_ran_on(const collector *c, const pid_t *tids, size_t count)
{
    assert_true(c->thread_count > 0);
    for (uint32_t i = 0; i < c->thread_count; i++) {
        assert_true(tid_among(c->threads[i], tids, count));
    }
    assert_int_equal(0, c->overlaps);
}

static void
sixteen_threads_on_four_dispatchers_lose_double_and_misplace_none_of_100000_events(void **unused)
{
    (void)unused;
    enum { DISPATCHERS = 4, THREADS_EACH = 4, PROCESSORS_EACH = 4, PROCESSORS = 16 };
    static const char *const names[DISPATCHERS] = { "", "api", "realtime", "batch" };
    static ledger book;
    static collector collectors[PROCESSORS];
    weir_thread threads[DISPATCHERS][THREADS_EACH];
    pid_t tids[DISPATCHERS][THREADS_EACH];
    weir_processor targets[PROCESSORS];
    weir_engine *engine = engine_quiet();
    ledger_open(&book, EVENTS);
    for (size_t d = 0; d < DISPATCHERS; d++) {
        engine_add_threads(engine, names[d], THREADS_EACH, WEIR_IDLE_DEFAULT, threads[d]);
    }
    for (size_t i = 0; i < PROCESSORS; i++) {
        collectors[i] = (collector){ .book = &book };
        targets[i] =
            engine_add(engine, WEIR_PROCESSOR(.dispatcher = names[i % DISPATCHERS],
                                              .handler = collect, .argument = &collectors[i]));
    }
    engine_start(engine);
    for (size_t d = 0; d < DISPATCHERS; d++) {
        engine_thread_ids(engine, threads[d], THREADS_EACH, tids[d]);
    }

    post_from_all_sides(engine, targets, PROCESSORS, EVENTS);
    assert_true(goal_wait(&book.done));
    uint64_t handled[DISPATCHERS];
    for (size_t d = 0; d < DISPATCHERS; d++) {
        assert_int_equal(PROCESSORS_EACH, dispatcher_counters(engine, names[d]).processors);
    }
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, &report));
    for (size_t d = 0; d < DISPATCHERS; d++) {
        handled[d] = dispatcher_counters(engine, names[d]).handled;
        assert_int_equal(EVENTS / DISPATCHERS, handled[d]);
    }
    assert_int_equal(EVENTS, report.handled);
    ledger_check(&book);
    for (size_t i = 0; i < PROCESSORS; i++) {
        assert_int_equal(EVENTS / PROCESSORS, collectors[i].handled);
        assert_ran_on(&collectors[i], tids[i % DISPATCHERS], THREADS_EACH);
    }
    weir_engine_destroy(engine);
    ledger_close(&book);
}

/* Eight handlers that wait for each other: they can only all arrive if they run at once. */
enum { MEETING = 8 };

typedef struct meeting {
    goal arrived;
    gate all_here;
    _Atomic uint64_t alone; /* handlers that nobody came to meet */
} meeting;

static weir_status meet(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    meeting *m = state;
    goal_add(&m->arrived);
    if (!gate_pass(&m->all_here)) {
        atomic_fetch_add(&m->alone, 1);
    }
    return WEIR_OK;
}

static void
eight_threads_on_one_dispatcher_run_handlers_of_different_processors_at_the_same_time(void **unused)
{
    (void)unused;
    static meeting m;
    goal_init(&m.arrived, MEETING);
    m.all_here = (gate)GATE_INIT;
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "", MEETING, WEIR_IDLE_DEFAULT, NULL);
    weir_processor targets[MEETING];
    for (size_t i = 0; i < MEETING; i++) {
        targets[i] = engine_add(engine, WEIR_PROCESSOR(.handler = meet, .argument = &m));
    }
    engine_start(engine);
    for (size_t i = 0; i < MEETING; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(engine, targets[i], WEIR_EVENT(mark, 0)));
    }
    const bool all = goal_wait(&m.arrived);
    gate_open(&m.all_here);
    assert_true(all);
    engine_finish(engine, MEETING);
    assert_int_equal(0, atomic_load(&m.alone));
}

static void eight_threads_on_one_dispatcher_handle_100000_events_exactly(void **unused)
{
    (void)unused;
    enum { THREADS = 8, PROCESSORS = 32 };
    static ledger book;
    static collector collectors[PROCESSORS];
    weir_thread threads[THREADS];
    pid_t tids[THREADS];
    weir_processor targets[PROCESSORS];
    weir_engine *engine = engine_quiet();
    ledger_open(&book, EVENTS);
    engine_add_threads(engine, "", THREADS, WEIR_IDLE_DEFAULT, threads);
    for (size_t i = 0; i < PROCESSORS; i++) {
        collectors[i] = (collector){ .book = &book };
        targets[i] =
            engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &collectors[i]));
    }
    engine_start(engine);
    engine_thread_ids(engine, threads, THREADS, tids);
    post_from_all_sides(engine, targets, PROCESSORS, EVENTS);
    assert_true(goal_wait(&book.done));
    engine_finish(engine, EVENTS);
    ledger_check(&book);
    for (size_t i = 0; i < PROCESSORS; i++) {
        assert_ran_on(&collectors[i], tids, THREADS);
    }
    ledger_close(&book);
}

static void overlapping_assignments_serve_every_dispatcher_and_cross_none(void **unused)
{
    (void)unused;
    enum { DISPATCHERS = 4, THREADS = 6, PROCESSORS = 8 };
    static const char *const names[DISPATCHERS] = { "a", "b", "c", "d" };
    static const char *const rows[THREADS][4] = { { "a", "b", NULL },      { "b", "c", NULL },
                                                  { "c", "a", NULL },      { "d", NULL },
                                                  { "d", "a", "b", NULL }, { "b", NULL } };
    static ledger book;
    static collector collectors[PROCESSORS];
    weir_thread threads[THREADS];
    pid_t tids[THREADS];
    weir_processor targets[PROCESSORS];
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_quiet();
    ledger_open(&book, EVENTS);
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = weir_thread_add(engine, WEIR_THREAD(.dispatchers = rows[i]), &error);
    }
    assert_no_error(&error);
    for (size_t i = 0; i < PROCESSORS; i++) {
        collectors[i] = (collector){ .book = &book };
        targets[i] =
            engine_add(engine, WEIR_PROCESSOR(.dispatcher = names[i % DISPATCHERS],
                                              .handler = collect, .argument = &collectors[i]));
    }
    engine_start(engine);
    engine_thread_ids(engine, threads, THREADS, tids);
    post_from_all_sides(engine, targets, PROCESSORS, EVENTS);
    assert_true(goal_wait(&book.done));
    engine_finish(engine, EVENTS);
    ledger_check(&book);
    for (size_t p = 0; p < PROCESSORS; p++) {
        pid_t allowed[THREADS];
        size_t count = 0;
        for (size_t i = 0; i < THREADS; i++) {
            for (const char *const *name = rows[i]; *name != NULL; name++) {
                if (strcmp(*name, names[p % DISPATCHERS]) == 0) {
                    allowed[count++] = tids[i];
                }
            }
        }
        assert_ran_on(&collectors[p], allowed, count);
    }
    ledger_close(&book);
}

static void an_assignment_in_one_call_serves_every_name_in_its_rows(void **unused)
{
    (void)unused;
    static ledger book;
    static collector collectors[4];
    static const char *const names[4] = { "", "api", "realtime", "batch" };
    weir_processor targets[4];
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_quiet();
    ledger_open(&book, 4000);
    assert_int_equal(WEIR_OK, weir_assign(engine,
                                          WEIR_ROWS(WEIR_NAMES(""), WEIR_NAMES("api", "realtime"),
                                                    WEIR_NAMES("api"), WEIR_NAMES("batch")),
                                          &error));
    assert_no_error(&error);
    for (size_t i = 0; i < 4; i++) {
        collectors[i] = (collector){ .book = &book };
        targets[i] = engine_add(engine, WEIR_PROCESSOR(.dispatcher = names[i], .handler = collect,
                                                       .argument = &collectors[i]));
    }
    engine_start(engine);
    assert_int_equal(4, engine_counters(engine).threads);
    assert_int_equal(4, engine_counters(engine).dispatchers);
    assert_int_equal(2, dispatcher_counters(engine, "api").threads);
    assert_int_equal(1, dispatcher_counters(engine, "realtime").threads);
    post_from_all_sides(engine, targets, 4, 4000);
    assert_true(goal_wait(&book.done));
    engine_finish(engine, 4000);
    ledger_check(&book);
    ledger_close(&book);
}

static void registration_under_load_loses_and_doubles_nothing(void **unused)
{
    (void)unused;
    enum { OLD = 8, NEW = 500, EACH = 20, LOAD = 40000, TOTAL = LOAD + NEW * EACH };
    static ledger book;
    static collector collectors[OLD + NEW];
    static producer producers[2];
    pthread_t threads[2];
    weir_processor old[OLD];
    weir_engine *engine = engine_quiet();
    ledger_open(&book, TOTAL);
    engine_add_threads(engine, "", 4, WEIR_IDLE_DEFAULT, NULL);
    for (size_t i = 0; i < OLD + NEW; i++) {
        collectors[i] = (collector){ .book = &book };
    }
    for (size_t i = 0; i < OLD; i++) {
        old[i] = engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &collectors[i]));
    }
    engine_start(engine);
    for (size_t i = 0; i < 2; i++) {
        producers[i] = (producer){ engine, old, OLD, i, LOAD, 2, 0 };
        assert_int_equal(0, pthread_create(&threads[i], NULL, produce, &producers[i]));
    }
    uint64_t number = LOAD;
    for (size_t i = OLD; i < OLD + NEW; i++) { /* registered, and posted to at once */
        char name[32];
        (void)snprintf(name, sizeof(name), "new-%zu", i);
        const weir_processor p =
            engine_add(engine, WEIR_PROCESSOR(.name = i % 2 == 0 ? name : NULL, .handler = collect,
                                              .argument = &collectors[i]));
        for (size_t n = 0; n < EACH; n++) {
            assert_int_equal(WEIR_OK,
                             weir_engine_post(engine, p, WEIR_EVENT(mark, .number = number++)));
        }
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, producers[i].refused);
    }
    assert_true(goal_wait(&book.done));
    assert_int_equal(OLD + NEW, engine_counters(engine).processors);
    engine_finish(engine, TOTAL);
    ledger_check(&book);
    for (size_t i = OLD; i < OLD + NEW; i++) {
        assert_int_equal(EACH, collectors[i].handled);
    }
    ledger_close(&book);
}

static void a_burst_after_idleness_is_handled_as_the_first_one_was(void **unused)
{
    (void)unused;
    enum { THREADS = 4, PROCESSORS = 16, BURSTS = 20, BURST = 2000 };
    static ledger book;
    static collector collectors[PROCESSORS];
    weir_thread threads[THREADS];
    pid_t tids[THREADS];
    weir_processor targets[PROCESSORS];
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "", THREADS, WEIR_IDLE_DEFAULT, threads);
    for (size_t i = 0; i < PROCESSORS; i++) {
        collectors[i] = (collector){ .book = &book };
        targets[i] =
            engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &collectors[i]));
    }
    engine_start(engine);
    engine_thread_ids(engine, threads, THREADS, tids);
    for (size_t burst = 0; burst < BURSTS; burst++) {
        ledger_open(&book, BURST); /* nothing is in flight: the handlers see the new book */
        post_from_all_sides(engine, targets, PROCESSORS, BURST);
        assert_true(goal_wait(&book.done));
        assert_true(tasks_settle(tids, THREADS, 2000000)); /* all parked */
        ledger_check(&book);
        assert_int_equal(0, engine_counters(engine).depth);
        assert_int_equal(0, dispatcher_counters(engine, "").ready);
        ledger_close(&book);
    }
    engine_finish(engine, BURSTS * BURST);
}

static void a_dispatcher_counts_the_processors_that_it_has(void **unused)
{
    (void)unused;
    weir_engine *engine = engine_quiet();
    engine_add_threads(engine, "a", 1, WEIR_IDLE_PARK, NULL);
    weir_processor added[4];
    for (size_t i = 0; i < 4; i++) {
        added[i] = engine_add(engine, WEIR_PROCESSOR(.dispatcher = "a", .handler = ignore_event));
        assert_int_equal(i + 1, dispatcher_counters(engine, "a").processors);
    }
    engine_start(engine);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, added[i], 0, NULL));
        assert_int_equal(3 - i, dispatcher_counters(engine, "a").processors);
        assert_int_equal(3 - i, engine_counters(engine).processors);
    }
    engine_finish(engine, 0);
}

static void a_thread_on_a_and_b_serves_b_though_nothing_is_registered_on_a(void **unused)
{
    (void)unused;
    enum { COUNT = 10000 };
    static ledger book;
    static collector c;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_quiet();
    ledger_open(&book, COUNT);
    c = (collector){ .book = &book };
    (void)weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("a", "b")), &error);
    assert_no_error(&error);
    const weir_processor b =
        engine_add(engine, WEIR_PROCESSOR(.dispatcher = "b", .handler = collect, .argument = &c));
    engine_start(engine);
    post_from_all_sides(engine, &b, 1, COUNT);
    assert_true(goal_wait(&book.done));
    assert_int_equal(0, dispatcher_counters(engine, "a").processors);
    assert_int_equal(1, dispatcher_counters(engine, "b").processors);
    engine_finish(engine, COUNT);
    ledger_check(&book);
    ledger_close(&book);
}

static void what_was_posted_before_the_start_is_handled_then(void **unused)
{
    (void)unused;
    enum { COUNT = 5000 };
    static ledger book;
    static collector c;
    weir_engine *engine = engine_quiet();
    ledger_open(&book, COUNT);
    c = (collector){ .book = &book };
    const weir_processor p = engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(engine, p, WEIR_EVENT(mark, .number = i)));
    }
    assert_int_equal(0, goal_count(&book.done));
    engine_start(engine);
    assert_true(goal_wait(&book.done));
    engine_finish(engine, COUNT);
    ledger_check(&book);
    ledger_close(&book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            sixteen_threads_on_four_dispatchers_lose_double_and_misplace_none_of_100000_events),
        cmocka_unit_test(
            eight_threads_on_one_dispatcher_run_handlers_of_different_processors_at_the_same_time),
        cmocka_unit_test(eight_threads_on_one_dispatcher_handle_100000_events_exactly),
        cmocka_unit_test(overlapping_assignments_serve_every_dispatcher_and_cross_none),
        cmocka_unit_test(an_assignment_in_one_call_serves_every_name_in_its_rows),
        cmocka_unit_test(registration_under_load_loses_and_doubles_nothing),
        cmocka_unit_test(a_burst_after_idleness_is_handled_as_the_first_one_was),
        cmocka_unit_test(a_dispatcher_counts_the_processors_that_it_has),
        cmocka_unit_test(a_thread_on_a_and_b_serves_b_though_nothing_is_registered_on_a),
        cmocka_unit_test(what_was_posted_before_the_start_is_handled_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
