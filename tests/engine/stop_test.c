/*
 * stop_test.c - how things end: a processor, its children, the engine. SPEC: P-8, S-19 to S-21.
 *
 * Where the machine's noise could break a limit of time, the best of a few attempts counts. What a
 * stop reports is compared with what the handlers counted themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

enum { ATTEMPTS = 5, STOPPERS = 8 };

/* A processor with one gate for all its events and its own counts. */
typedef struct subject {
    blocker hold;
    weir_engine *engine;
    weir_processor handle;
} subject;

/* An engine of two threads that runs, and a processor whose handler waits at the gate. */
static void subject_open(subject *s)
{
    blocker_init(&s->hold);
    s->engine = engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF, .threads = 2));
    s->handle =
        engine_add(s->engine, WEIR_PROCESSOR(.handler = block_until_let_go, .argument = &s->hold));
    engine_start(s->engine);
}

static void subject_post(subject *s, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(WEIR_OK, weir_engine_post(s->engine, s->handle, WEIR_EVENT(mark, 0)));
    }
}

/* Posts `count`, of which the first is inside the handler when it returns. */
static void subject_fill(subject *s, size_t count)
{
    subject_post(s, count);
    assert_true(sem_wait_seconds(&s->hold.entered, WAIT_SECONDS));
}

static void an_empty_processor_stops_in_less_than_100_ms(void **unused)
{
    (void)unused;
    int64_t best = INT64_MAX;
    for (int i = 0; i < ATTEMPTS && best >= 100 * WEIR_MS; i++) {
        weir_engine *engine = engine_quiet();
        const weir_processor p = engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event));
        engine_start(engine);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        const int64_t begin = now_ns();
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, p, 0, &report));
        const int64_t took = now_ns() - begin;
        best = took < best ? took : best;
        assert_int_equal(0, report.accepted);
        assert_int_equal(0, engine_counters(engine).processors);
        engine_finish(engine, 0);
    }
    assert_true(best < 100 * WEIR_MS);
}

static void an_empty_engine_stops_in_less_than_100_ms(void **unused)
{
    (void)unused;
    int64_t best = INT64_MAX;
    for (int i = 0; i < ATTEMPTS && best >= 100 * WEIR_MS; i++) {
        weir_engine *engine = engine_quiet();
        engine_add_threads(engine, "", 8, WEIR_IDLE_DEFAULT, NULL);
        for (int n = 0; n < 100; n++) {
            (void)engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event));
        }
        engine_start(engine);
        const int64_t begin = now_ns();
        assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, NULL));
        const int64_t took = now_ns() - begin;
        best = took < best ? took : best;
        weir_engine_destroy(engine);
    }
    assert_true(best < 100 * WEIR_MS);
}

static void a_processors_stop_drains_10000(void **unused)
{
    (void)unused;
    static subject s;
    subject_open(&s);
    subject_fill(&s, 10000);
    gate_open(&s.hold.leave);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_processor_stop(s.engine, s.handle, 0, &report));
    assert_int_equal(10000, atomic_load(&s.hold.handled)); /* before it returned */
    assert_int_equal(10000, report.accepted);
    assert_int_equal(10000, report.handled);
    assert_int_equal(0, report.left);
    assert_int_equal(WEIR_UNKNOWN, weir_engine_post(s.engine, s.handle, WEIR_EVENT(mark, 0)));
    engine_finish(s.engine, 10000);
}

static void an_engines_stop_drains_10000(void **unused)
{
    (void)unused;
    static subject s;
    subject_open(&s);
    subject_fill(&s, 10000);
    gate_open(&s.hold.leave);
    engine_finish(s.engine, 10000);
    assert_int_equal(10000, atomic_load(&s.hold.handled));
}

/* The one in the handler counts as left too: it has not returned. */
static void a_processors_stop_that_times_out_reports_the_number_left(void **unused)
{
    (void)unused;
    static subject s;
    subject_open(&s);
    subject_fill(&s, 100);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    const int64_t begin = now_ns();
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(s.engine, s.handle, 50 * WEIR_MS, &report));
    assert_true(now_ns() - begin >= 50 * WEIR_MS);
    assert_int_equal(100, report.accepted);
    assert_int_equal(100, report.left);
    assert_report_adds_up(&report);
    const weir_status late = weir_engine_post(s.engine, s.handle, WEIR_EVENT(mark, 0));
    assert_true(late == WEIR_STOPPING || late == WEIR_UNKNOWN);

    gate_open(&s.hold.leave); /* it unregisters when the handler has returned */
    const int64_t end = now_ns() + WAIT_SECONDS * WEIR_S;
    while (weir_engine_post(s.engine, s.handle, WEIR_EVENT(mark, 0)) != WEIR_UNKNOWN &&
           now_ns() < end) {
        (void)sched_yield();
    }
    assert_int_equal(WEIR_UNKNOWN, weir_processor_stop(s.engine, s.handle, 0, NULL));
    assert_int_equal(1, atomic_load(&s.hold.handled)); /* what was left is never handled */
    weir_stop_report whole = WEIR_STOP_REPORT_INIT;
    (void)weir_engine_stop(s.engine, 0, &whole);
    assert_int_equal(100, whole.accepted);
    assert_int_equal(100, whole.left);
    assert_report_adds_up(&whole);
    weir_engine_destroy(s.engine);
}

static void an_engines_stop_that_times_out_reports_the_number_left(void **unused)
{
    (void)unused;
    static subject s;
    subject_open(&s);
    subject_fill(&s, 100);
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(s.engine, 50 * WEIR_MS, &report));
    assert_int_equal(100, report.accepted);
    assert_int_equal(100, report.left);
    assert_report_adds_up(&report);
    weir_stop_report again = WEIR_STOP_REPORT_INIT;
    const weir_status second = weir_engine_stop(s.engine, 50 * WEIR_MS, &again);
    assert_int_equal(WEIR_ALREADY, second);
    assert_memory_equal(&report, &again, sizeof(report));
    gate_open(&s.hold.leave);
    weir_engine_destroy(s.engine); /* waits for the handler */
    assert_int_equal(1, atomic_load(&s.hold.handled));
}

/* What the log says of it, S-20: a warning when a drain begins with mail waiting, an error with
 * the number left at a timeout. */
typedef struct heard {
    _Atomic int warnings, errors;
    _Atomic bool number_left; /* the error says 100 */
} heard;

static void listen_to_log(void *context, const weir_log_entry *entry)
{
    heard *h = context;
    atomic_fetch_add(&h->warnings, entry->level == WEIR_LOG_WARNING);
    if (entry->level != WEIR_LOG_ERROR) {
        return;
    }
    atomic_fetch_add(&h->errors, 1);
    bool found = strstr(entry->text, "100") != NULL;
    for (size_t i = 0; i < entry->field_count; i++) {
        found = found || strcmp(entry->fields[i].value, "100") == 0;
    }
    if (found) {
        atomic_store(&h->number_left, true);
    }
}

static void a_stop_warns_of_mail_waiting_and_says_how_many_it_left(void **unused)
{
    (void)unused;
    static subject s;
    static heard h;
    blocker_init(&s.hold);
    s.engine = engine_make(WEIR_ENGINE(.log = listen_to_log, .log_context = &h));
    s.handle = engine_add(s.engine, WEIR_PROCESSOR(.name = "orders", .argument = &s.hold,
                                                   .handler = block_until_let_go));
    engine_start(s.engine);
    assert_int_equal(0, atomic_load(&h.warnings));
    subject_fill(&s, 100);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(s.engine, s.handle, 20 * WEIR_MS, NULL));
    assert_true(atomic_load(&h.warnings) >= 1);
    assert_true(atomic_load(&h.errors) >= 1);
    assert_true(atomic_load(&h.number_left));
    gate_open(&s.hold.leave);
    (void)weir_engine_stop(s.engine, 0, NULL);
    weir_engine_destroy(s.engine);
}

/* A thread that stops something and keeps the answer. */
typedef struct stopper {
    subject *subject;
    bool engine; /* the engine, not the processor */
    _Atomic pid_t tid;
    _Atomic bool back;
    weir_status status;
    weir_stop_report report;
    pthread_t thread;
} stopper;

static void *stop_it(void *argument)
{
    stopper *s = argument;
    s->report = (weir_stop_report)WEIR_STOP_REPORT_INIT;
    atomic_store(&s->tid, test_tid());
    s->status = s->engine
                    ? weir_engine_stop(s->subject->engine, 0, &s->report)
                    : weir_processor_stop(s->subject->engine, s->subject->handle, 0, &s->report);
    atomic_store(&s->back, true);
    return NULL;
}

/* Starts them and waits until every one sleeps in its call. */
static void stoppers_begin(stopper *stoppers, size_t count, subject *s, bool engine)
{
    pid_t tids[STOPPERS];
    for (size_t i = 0; i < count; i++) {
        stoppers[i] = (stopper){ .subject = s, .engine = engine };
        assert_int_equal(0, pthread_create(&stoppers[i].thread, NULL, stop_it, &stoppers[i]));
    }
    for (size_t i = 0; i < count; i++) {
        while ((tids[i] = atomic_load(&stoppers[i].tid)) == 0) { /* ends: it has been created */
            (void)sched_yield();
        }
    }
    assert_true(tasks_settle(tids, count, 5 * WEIR_MS));
}

static void stoppers_join(stopper *stoppers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(0, pthread_join(stoppers[i].thread, NULL));
    }
}

static void a_stop_during_handling_waits_for_the_handler(void **unused)
{
    (void)unused;
    static subject s;
    static stopper one;
    for (int engine = 0; engine < 2; engine++) {
        subject_open(&s);
        subject_fill(&s, 1);
        stoppers_begin(&one, 1, &s, engine == 1);
        assert_false(atomic_load(&one.back));
        assert_int_equal(0, atomic_load(&s.hold.handled));
        const weir_status late = weir_engine_post(s.engine, s.handle, WEIR_EVENT(mark, 0));
        assert_int_equal(WEIR_STOPPING, late);
        gate_open(&s.hold.leave);
        stoppers_join(&one, 1);
        assert_int_equal(WEIR_OK, one.status);
        assert_int_equal(1, one.report.handled);
        assert_int_equal(1, atomic_load(&s.hold.handled));
        (void)weir_engine_stop(s.engine, 0, NULL);
        weir_engine_destroy(s.engine);
    }
}

static void concurrent_stops_of_a_processor_from_8_threads_all_get_the_same_answer(void **unused)
{
    (void)unused;
    static subject s;
    static stopper stoppers[STOPPERS];
    subject_open(&s);
    subject_fill(&s, 500);
    stoppers_begin(stoppers, STOPPERS, &s, false);
    gate_open(&s.hold.leave);
    stoppers_join(stoppers, STOPPERS);
    for (size_t i = 0; i < STOPPERS; i++) {
        assert_int_equal(WEIR_OK, stoppers[i].status);
        assert_int_equal(500, stoppers[i].report.handled);
        assert_memory_equal(&stoppers[0].report, &stoppers[i].report, sizeof(weir_stop_report));
    }
    engine_finish(s.engine, 500);
}

static void concurrent_stops_of_the_engine_from_8_threads_all_get_the_same_answer(void **unused)
{
    (void)unused;
    static subject s;
    static stopper stoppers[STOPPERS];
    subject_open(&s);
    subject_fill(&s, 500);
    stoppers_begin(stoppers, STOPPERS, &s, true);
    gate_open(&s.hold.leave);
    stoppers_join(stoppers, STOPPERS);
    size_t first = 0;
    for (size_t i = 0; i < STOPPERS; i++) { /* one did it, the others were told */
        assert_true(stoppers[i].status == WEIR_OK || stoppers[i].status == WEIR_ALREADY);
        first += stoppers[i].status == WEIR_OK;
        assert_int_equal(500, stoppers[i].report.handled);
        assert_memory_equal(&stoppers[0].report, &stoppers[i].report, sizeof(weir_stop_report));
    }
    assert_true(first >= 1);
    assert_int_equal(WEIR_ALREADY, weir_engine_stop(s.engine, 0, NULL));
    weir_engine_destroy(s.engine);
}

static void a_stop_of_the_unknown_is_a_status(void **unused)
{
    (void)unused;
    weir_engine *engine = engine_quiet();
    const weir_processor p = engine_add(engine, WEIR_PROCESSOR(.handler = ignore_event));
    engine_start(engine);
    const weir_processor none = { 0 };
    const weir_processor no_such = { p.id + 12345 };
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_UNKNOWN, weir_processor_stop(engine, none, 0, &report));
    assert_int_equal(WEIR_UNKNOWN, weir_processor_stop(engine, no_such, 0, &report));
    assert_int_equal(WEIR_UNKNOWN, weir_processor_stop_async(engine, no_such, 0));
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, p, 0, &report));
    assert_int_equal(WEIR_UNKNOWN, weir_processor_stop(engine, p, 0, &report));
    assert_int_equal(WEIR_E_INVALID, weir_processor_stop(NULL, p, 0, &report));
    assert_int_equal(WEIR_E_INVALID, weir_engine_stop(NULL, 0, &report));
    weir_engine_destroy(NULL);
    engine_finish(engine, 0);
}

static void a_second_start_or_stop_is_a_status(void **unused)
{
    (void)unused;
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = engine_quiet();
    engine_start(engine);
    const uint64_t threads = engine_counters(engine).threads;
    assert_int_equal(WEIR_ALREADY, weir_engine_start(engine, &error));
    assert_int_equal(threads, engine_counters(engine).threads);
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, NULL));
    assert_int_equal(WEIR_ALREADY, weir_engine_stop(engine, 0, NULL));
    assert_int_equal(WEIR_STOPPING, weir_engine_start(engine, &error));
    assert_int_equal(0, error.status);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_processor_stops_in_less_than_100_ms),
        cmocka_unit_test(an_empty_engine_stops_in_less_than_100_ms),
        cmocka_unit_test(a_processors_stop_drains_10000),
        cmocka_unit_test(an_engines_stop_drains_10000),
        cmocka_unit_test(a_processors_stop_that_times_out_reports_the_number_left),
        cmocka_unit_test(an_engines_stop_that_times_out_reports_the_number_left),
        cmocka_unit_test(a_stop_warns_of_mail_waiting_and_says_how_many_it_left),
        cmocka_unit_test(a_stop_during_handling_waits_for_the_handler),
        cmocka_unit_test(concurrent_stops_of_a_processor_from_8_threads_all_get_the_same_answer),
        cmocka_unit_test(concurrent_stops_of_the_engine_from_8_threads_all_get_the_same_answer),
        cmocka_unit_test(a_stop_of_the_unknown_is_a_status),
        cmocka_unit_test(a_second_start_or_stop_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
