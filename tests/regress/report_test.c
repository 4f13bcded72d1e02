/*
 * report_test.c - bugs that were: what a stop says, and when. Reports that counted what posters
 * were about to count; deadlines that nobody watched while the engine stopped; stops that nobody
 * answered when the engine gave up, or was over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regress_support.h"

#include "../engine/log_support.h"

enum { POSTERS = 3, WAITING = 8 };

/* Posts until it is told to quit, and knows how many were accepted. */
typedef struct hammer {
    weir_engine *engine;
    weir_processor to;
    atomic_bool quit;
    atomic_uint_least64_t accepted;
    aside posters[POSTERS];
} hammer;

static void hammer_post(void *argument)
{
    hammer *h = argument;
    while (!atomic_load(&h->quit)) {
        switch (test_post(h->engine, h->to, 1)) {
        case WEIR_OK:
            atomic_fetch_add(&h->accepted, 1);
            break;
        case WEIR_FULL:
            (void)sched_yield(); /* others have work to do */
            break;
        default: /* stopping: those that are refused at this moment are the point */
            break;
        }
    }
}

static void hammer_begin(hammer *h, weir_engine *engine, weir_processor to)
{
    h->engine = engine;
    h->to = to;
    atomic_init(&h->quit, false);
    atomic_init(&h->accepted, 0);
    for (int i = 0; i < POSTERS; i++) {
        aside_begin(&h->posters[i], hammer_post, h);
    }
    TEST_UNTIL(atomic_load(&h->accepted) > 10);
}

static uint64_t hammer_end(hammer *h)
{
    atomic_store(&h->quit, true);
    for (int i = 0; i < POSTERS; i++) {
        aside_end(&h->posters[i]);
    }
    return atomic_load(&h->accepted);
}

static void an_engines_report_is_exact_while_others_post(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(60, 10);
    for (uint64_t i = 0; i < rounds; i++) {
        weir_engine *engine = quiet_engine(1);
        const weir_processor to =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
        test_engine_start(engine);
        hammer h;
        hammer_begin(&h, engine, to);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        const weir_status status = weir_engine_stop(engine, TEST_PATIENCE, &report);
        const uint64_t accepted = hammer_end(&h);
        assert_int_equal(WEIR_OK, status);
        assert_int_equal(accepted, report.accepted);
        assert_int_equal(accepted, report.handled);
        assert_int_equal(0, report.left);
        weir_engine_destroy(engine);
    }
}

static void the_report_of_an_engine_that_never_ran_is_exact_while_others_post(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(60, 10);
    for (uint64_t i = 0; i < rounds; i++) {
        weir_engine *engine = quiet_engine(1);
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = handle_nothing, .mailbox_max = 100));
        hammer h;
        hammer_begin(&h, engine, to);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        const weir_status status = weir_engine_stop(engine, 0, &report);
        const uint64_t accepted = hammer_end(&h);
        assert_int_equal(WEIR_TIMEOUT, status);
        assert_int_equal(accepted, report.left);
        assert_int_equal(accepted, report.accepted);
        assert_int_equal(accepted, test_engine_counters(engine).left);
        weir_engine_destroy(engine);
    }
}

/* Nothing may be accepted between the count and the close: and a parent stays open until its
 * children have ended, or until the stop gives up. */
static void a_parents_stop_that_gives_up_counts_all_that_was_accepted(void **state)
{
    (void)state;
    const uint64_t rounds = test_load(200, 20);
    weir_engine *engine = quiet_engine(2);
    test_engine_start(engine);
    uint64_t total = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        test_recorder recorder;
        test_recorder_init(&recorder, true);
        const weir_processor parent = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = handle_nothing, .mailbox_max = 1000000));
        const weir_processor child =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                      .argument = &recorder, .parent = parent));
        put_in_hand(engine, child, &recorder);
        hammer h;
        hammer_begin(&h, engine, parent);
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        const weir_status status = weir_processor_stop(engine, parent, WEIR_NOW, &report);
        const uint64_t accepted = hammer_end(&h) + 1;
        assert_int_equal(WEIR_TIMEOUT, status);
        assert_int_equal(accepted, report.accepted);
        assert_true(report.left > 0);
        assert_adds_up(&report);
        test_recorder_pass(&recorder, 1);
        TEST_UNTIL(is_gone(engine, parent));
        total += accepted;
    }
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    (void)weir_engine_stop(engine, TEST_PATIENCE, &report);
    assert_int_equal(total, report.accepted);
    assert_adds_up(&report);
    weir_engine_destroy(engine);
}

/* ---- deadlines while the engine stops ---- */

/* One in hand, WAITING behind it. */
static weir_processor add_stuck(weir_engine *engine, test_recorder *recorder)
{
    const weir_processor to = add_recorder(engine, recorder, NULL);
    test_engine_start(engine);
    put_in_hand(engine, to, recorder);
    for (uint64_t i = 0; i < WAITING; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, to, 2 + i));
    }
    return to;
}

typedef struct engine_stop {
    weir_engine *engine;
    bool async;
    weir_status status;
    weir_stop_report report;
} engine_stop;

static void stop_engine_aside(void *argument)
{
    engine_stop *s = argument;
    s->report = (weir_stop_report)WEIR_STOP_REPORT_INIT;
    if (s->async) {
        (void)weir_engine_stop_async(s->engine, TEST_PATIENCE);
        s->status = weir_engine_wait(s->engine, 0, &s->report);
    } else {
        s->status = weir_engine_stop(s->engine, TEST_PATIENCE, &s->report);
    }
}

static void keep_deadline_during_engine_stop(bool async)
{
    test_log log;
    test_log_init(&log);
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.log = test_log_hook, .log_context = &log));
    const weir_processor to = add_stuck(engine, &recorder);
    engine_stop s = { .engine = engine, .async = async };
    aside stopping;
    assert_int_equal(WEIR_OK, weir_processor_stop_async(engine, to, 10 * WEIR_MS));
    aside_begin(&stopping, stop_engine_aside, &s);
    /* The handler is still inside, so the engine's stop goes on: the shorter deadline counts. */
    TEST_UNTIL(test_log_matches(&log, WEIR_LOG_ERROR, "out of time", "left=9") == 1);
    test_recorder_pass(&recorder, 1 + WAITING);
    aside_end(&stopping);
    assert_int_equal(1 + WAITING, s.report.accepted);
    assert_int_equal(1 + WAITING, s.report.left);
    assert_int_equal(1, test_recorder_handled(&recorder)); /* what is left is never handled */
    weir_engine_destroy(engine);
}

static void a_processors_deadline_is_kept_while_the_engine_stops(void **state)
{
    (void)state;
    keep_deadline_during_engine_stop(false);
    keep_deadline_during_engine_stop(true);
}

static void an_engine_that_gives_up_answers_the_stops_that_wait(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = quiet_engine(1);
    const weir_processor to = add_stuck(engine, &recorder);
    aside_stop patient = { .engine = engine, .processor = to, .timeout = WEIR_FOREVER };
    aside stopping;
    aside_begin(&stopping, aside_stop_processor, &patient);
    uint64_t more = 0; /* until that stop has begun; the mailbox may be full before */
    weir_status status;
    TEST_UNTIL((status = test_post(engine, to, 0)) == WEIR_STOPPING ||
               (more += status == WEIR_OK ? 1 : 0, false));
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(engine, WEIR_NOW, &report));
    aside_end(&stopping); /* while the handler is still in its gate */
    assert_int_equal(WEIR_TIMEOUT, patient.status);
    assert_int_equal(1 + WAITING + more, patient.report.left);
    assert_int_equal(1 + WAITING + more, report.left);
    assert_adds_up(&patient.report);
    assert_adds_up(&report);
    test_recorder_pass(&recorder, 1);
    weir_engine_destroy(engine);
}

static void a_processors_stop_without_threads_is_answered_at_once(void **state)
{
    (void)state;
    weir_engine *engine = quiet_engine(1);
    const weir_processor never =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
    const weir_processor late =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle_nothing));
    assert_int_equal(WEIR_OK, test_post(engine, never, 1));
    aside_stop before = { .engine = engine, .processor = never, .timeout = WEIR_FOREVER };
    aside_do(aside_stop_processor, &before);
    assert_int_equal(WEIR_TIMEOUT, before.status);
    assert_int_equal(1, before.report.left);
    assert_int_equal(WEIR_STOPPING, test_post(engine, never, 2));
    test_engine_start(engine);
    TEST_UNTIL(is_gone(engine, never));
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &report));
    aside_stop after = { .engine = engine, .processor = late, .timeout = WEIR_FOREVER };
    aside_do(aside_stop_processor, &after);
    assert_true(after.status == WEIR_OK || after.status == WEIR_UNKNOWN);
    assert_int_equal(0, after.report.left);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engines_report_is_exact_while_others_post),
        cmocka_unit_test(the_report_of_an_engine_that_never_ran_is_exact_while_others_post),
        cmocka_unit_test(a_parents_stop_that_gives_up_counts_all_that_was_accepted),
        cmocka_unit_test(a_processors_deadline_is_kept_while_the_engine_stops),
        cmocka_unit_test(an_engine_that_gives_up_answers_the_stops_that_wait),
        cmocka_unit_test(a_processors_stop_without_threads_is_answered_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
