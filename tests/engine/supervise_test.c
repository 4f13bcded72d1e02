/*
 * supervise_test.c - what a failure leads to, for one processor: resume, retry, restart, stop
 * (S-17). Families are in supervise_family_test.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "supervise_support.h"

/* One worker on an engine of its own. */
typedef struct shop {
    weir_engine *engine;
    weir_processor worker;
    life life;
    test_recorder gate;
} shop;

static void shop_open(shop *s, const weir_processor_options *options)
{
    life_init(&s->life);
    s->engine = quiet_engine(2);
    s->worker = worker_add(s->engine, &s->life, options);
    test_engine_start(s->engine);
}

/* The same, but the only thread stands in a gate: what is given waits until the gate is opened. */
static void shop_open_gated(shop *s, const weir_processor_options *options)
{
    life_init(&s->life);
    test_recorder_init(&s->gate, true);
    s->engine = quiet_engine(1);
    const weir_processor door = test_processor_add(
        s->engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &s->gate));
    s->worker = worker_add(s->engine, &s->life, options);
    test_engine_start(s->engine);
    assert_int_equal(WEIR_OK, test_post(s->engine, door, 1));
    test_sem_wait(&s->gate.entered);
}

/* What became of all events; its life as a line. */
static void shop_close(shop *s, uint64_t handled, uint64_t dead, const char *text)
{
    const weir_stop_report report = test_engine_end(s->engine);
    assert_string_equal(text, s->life.text);
    assert_int_equal(handled, report.handled);
    assert_int_equal(dead, report.dead);
}

/* ---- resume ---- */

static void resume_is_the_default_and_goes_on_with_the_next_event(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RESUME));
    give(s.engine, s.worker, 1, 0);
    give(s.engine, s.worker, 2, 1);
    give(s.engine, s.worker, 3, 0);
    shop_close(&s, 2, 1, "i h1 f2 h3 d ");
}

/* ---- retry ---- */

static void a_retried_event_is_handled_before_those_behind_it(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = WEIR_MS));
    give(s.engine, s.worker, 1, 2);
    give(s.engine, s.worker, 2, 0);
    give(s.engine, s.worker, 3, 1);
    give(s.engine, s.worker, 4, 0);
    for (int i = 0; i < 4; i++) {
        test_sem_wait(&s.life.told);
    }
    const weir_counters c = test_processor_counters(s.engine, s.worker);
    assert_int_equal(3, c.retries);
    assert_int_equal(3, test_engine_counters(s.engine).retries);
    shop_close(&s, 4, 0, "i f1 f1 h1 h2 f3 h3 h4 d ");
}

static void an_event_that_keeps_failing_is_dead_once_after_its_last_retry(void **state)
{
    (void)state;
    shop s;
    shop_open(
        &s, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_max = 2, .retry_delay = 100 * WEIR_US));
    give(s.engine, s.worker, 1, 3);
    give(s.engine, s.worker, 2, 0);
    test_sem_wait(&s.life.told);
    const weir_counters c = test_processor_counters(s.engine, s.worker);
    assert_int_equal(1, c.dead);
    assert_int_equal(2, c.retries);
    shop_close(&s, 1, 1, "i f1 f1 f1 h2 d ");
}

static void delays_grow_and_no_thread_sleeps_through_them(void **state)
{
    (void)state;
    const weir_ns first = 20 * WEIR_MS;
    shop s;
    test_recorder other;
    test_recorder_init(&other, false);
    life_init(&s.life);
    s.engine = quiet_engine(1); /* one thread for both: it must not be held up */
    s.worker =
        worker_add(s.engine, &s.life,
                   WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_max = 3, .retry_delay = first));
    const weir_processor beside = test_processor_add(
        s.engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &other));
    test_engine_start(s.engine);
    give(s.engine, s.worker, 1, 3);
    const weir_ns begin = test_now();
    uint64_t posted = 0;
    /* The other one is served all the time that this one waits. */
    while (test_now() - begin < first) {
        if (test_post(s.engine, beside, posted + 1) == WEIR_OK) {
            posted++;
        }
        TEST_UNTIL(test_recorder_handled(&other) == posted);
    }
    test_sem_wait(&s.life.told);
    assert_int_equal(4, s.life.begun);
    for (int i = 1; i < 4; i++) {
        assert_true(s.life.times[i] - s.life.times[i - 1] >= first << (i - 1));
    }
    assert_true(posted > 10);
    shop_close(&s, 1 + posted, 0, "i f1 f1 f1 h1 d ");
}

/* Twenty delays that doubled from a millisecond on would take a quarter of an hour. */
static void delays_grow_no_longer_than_they_may(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_max = 20, .retry_delay = WEIR_MS,
                                 .retry_delay_max = 2 * WEIR_MS));
    const weir_ns begin = test_now();
    give(s.engine, s.worker, 1, 20);
    test_sem_wait(&s.life.told);
    assert_int_equal(21, s.life.begun);
    assert_true(test_now() - begin >= 39 * WEIR_MS);
    char expected[128] = "i ";
    for (int i = 0; i < 20; i++) {
        memcpy(expected + 2 + (size_t)i * 3, "f1 ", 4);
    }
    memcpy(expected + 62, "h1 d ", 6);
    shop_close(&s, 1, 0, expected);
}

static void after_the_last_retry_comes_what_retry_then_says(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_max = 1, .retry_delay = WEIR_US,
                                 .retry_then = WEIR_RESTART));
    give(s.engine, s.worker, 1, 2);
    give(s.engine, s.worker, 2, 0);
    test_sem_wait(&s.life.told);
    shop_close(&s, 1, 1, "i f1 f1 d i h2 d ");
}

static void a_stop_of_the_engine_does_not_wait_for_a_delay(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = 3600 * WEIR_S));
    give(s.engine, s.worker, 1, 1);
    give(s.engine, s.worker, 2, 0);
    TEST_UNTIL(test_engine_counters(s.engine).retries == 1);
    shop_close(&s, 2, 0, "i f1 h1 h2 d ");
}

static void an_event_that_fails_during_a_stop_is_not_put_off(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = 3600 * WEIR_S));
    give(s.engine, s.worker, 1, EVER);
    TEST_UNTIL(test_engine_counters(s.engine).retries == 1);
    shop_close(&s, 0, 1, "i f1 f1 d ");
}

static void
a_processor_whose_stop_runs_out_of_time_leaves_what_it_would_have_tried_again(void **state)
{
    (void)state;
    shop s;
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = 50 * WEIR_MS));
    give(s.engine, s.worker, 1, EVER);
    give(s.engine, s.worker, 2, 0);
    TEST_UNTIL(test_engine_counters(s.engine).retries == 1);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(s.engine, s.worker, WEIR_MS, &report));
    assert_int_equal(2, report.accepted);
    assert_int_equal(2, report.left);
    until_gone(s.engine, s.worker);
    assert_int_equal(WEIR_OK, weir_engine_stop(s.engine, 0, &report));
    assert_int_equal(2, report.left);
    weir_engine_destroy(s.engine);
    assert_string_equal("i f1 d ", s.life.text);
}

typedef struct parcel {
    uint64_t number;
    unsigned char bytes[200];
} parcel;
static atomic_uint dropped;
static void drop_parcel(void *payload)
{
    (void)payload;
    atomic_fetch_add(&dropped, 1);
}
static const weir_event_type parcel_type = {
    sizeof(weir_event_type), "supervise.parcel", sizeof(parcel), false, drop_parcel, NULL
};

static weir_status fail_twice(void *state, weir_turn *turn, const weir_event *event)
{
    life *l = state;
    const parcel *p = weir_event_as(event, &parcel_type);
    (void)turn;
    if (p == NULL || p->number != 7 || p->bytes[199] != 9 || l->tries++ < 2) {
        return BAD;
    }
    l->handled++;
    (void)sem_post(&l->told);
    return WEIR_OK;
}

static void the_payload_of_a_retried_event_lives_as_long_as_it_does(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    atomic_store(&dropped, 0);
    weir_engine *engine = quiet_engine(2);
    const weir_processor p = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = fail_twice, .argument = &l, .on_failure = WEIR_RETRY,
                               .retry_delay = WEIR_US));
    test_engine_start(engine);
    for (unsigned i = 1; i <= 3; i++) {
        weir_block *block;
        l.tries = 0;
        assert_int_equal(WEIR_OK, weir_block_reserve(engine, sizeof(parcel), &block));
        parcel *payload = weir_block_data(block);
        *payload = (parcel){ .number = 7 };
        payload->bytes[199] = 9;
        assert_int_equal(WEIR_OK, weir_engine_commit(engine, p,
                                                     &(weir_event){ .type = &parcel_type,
                                                                    .data = payload,
                                                                    .block = block,
                                                                    .size = sizeof(parcel) }));
        test_sem_wait(&l.told);
        TEST_UNTIL(atomic_load(&dropped) == i);
    }
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(3, report.handled);
    assert_int_equal(3, l.handled);
}

static void append(char *to, size_t size, const char *text)
{
    const size_t length = strlen(to);
    (void)snprintf(to + length, size - length, "%s", text);
}

static void every_kind_of_mailbox_keeps_the_order_behind_a_retry(void **state)
{
    (void)state;
    static const weir_overflow kinds[] = { WEIR_OVERFLOW_FAIL, WEIR_OVERFLOW_DROP_NEWEST,
                                           WEIR_OVERFLOW_DROP_OLDEST, WEIR_OVERFLOW_BLOCK };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (uint32_t bound = 16; bound <= 4096; bound *= 16) {
            shop s;
            char expected[LIFE_MAX] = "i ";
            shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = WEIR_US,
                                         .mailbox_max = bound, .overflow = kinds[k]));
            for (uint64_t i = 0; i < 16; i++) {
                char one[48];
                give(s.engine, s.worker, i, i % 3 == 1 ? 1 : 0);
                if (i % 3 == 1) {
                    (void)snprintf(one, sizeof(one), "f%" PRIu64 " h%" PRIu64 " ", i, i);
                } else {
                    (void)snprintf(one, sizeof(one), "h%" PRIu64 " ", i);
                }
                append(expected, sizeof(expected), one);
            }
            append(expected, sizeof(expected), "d ");
            for (int i = 0; i < 16; i++) {
                test_sem_wait(&s.life.told);
            }
            shop_close(&s, 16, 0, expected);
        }
    }
}

/* ---- restart ---- */

static void a_restart_destroys_and_makes_anew_exactly_once_and_keeps_the_mailbox(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RESTART));
    give(s.engine, s.worker, 1, 0);
    give(s.engine, s.worker, 2, 1);
    give(s.engine, s.worker, 3, 0);
    shop_close(&s, 2, 1, "i h1 f2 d i h3 d ");
}

static weir_status become_other(void *state, weir_turn *turn, const weir_event *event)
{
    worker *w = state;
    const task *t = weir_event_as(event, &task_type);
    if (t == NULL) {
        return WEIR_UNHANDLED;
    }
    life_write(w->life, "o%" PRIu64 " ", t->number);
    return t->fails > 0 ? weir_turn_fail(turn, BAD, "the other one") : WEIR_OK;
}

static void a_restart_goes_back_to_the_handler_it_was_registered_with(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RESTART));
    assert_int_equal(WEIR_OK,
                     weir_processor_request_become(s.engine, s.worker, become_other, false));
    assert_int_equal(WEIR_OK,
                     weir_processor_request_become(s.engine, s.worker, become_other, true));
    give(s.engine, s.worker, 1, 0);
    give(s.engine, s.worker, 2, 1);
    give(s.engine, s.worker, 3, 0);
    test_sem_wait(&s.life.told);
    shop_close(&s, 2 + 2, 1, "i o1 o2 d i h3 d ");
}

static void too_many_restarts_stop_it_and_the_rest_of_its_mailbox_is_dead(void **state)
{
    (void)state;
    shop s;
    shop_open_gated(&s, WEIR_PROCESSOR(.on_failure = WEIR_RESTART, .restart_max = 2,
                                       .restart_window = 3600 * WEIR_S));
    for (uint64_t i = 1; i <= 20; i++) {
        give(s.engine, s.worker, i, EVER);
    }
    test_recorder_pass(&s.gate, 1);
    until_gone(s.engine, s.worker);
    assert_int_equal(WEIR_UNKNOWN,
                     weir_engine_post(s.engine, s.worker, WEIR_EVENT(task, .number = 21)));
    assert_int_equal(2, test_engine_counters(s.engine).restarts);
    shop_close(&s, 1, 20, "i f1 d i f2 d i f3 d ");
    assert_int_equal(BAD, s.life.last_reason);
}

static void restarts_that_are_further_apart_than_the_window_do_not_add_up(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RESTART, .restart_max = 1,
                                 .restart_window = WEIR_MS));
    for (uint64_t i = 0; i < 4; i++) {
        give(s.engine, s.worker, 1, EVER);
        TEST_UNTIL(test_engine_counters(s.engine).restarts == i + 1);
        const weir_ns end = test_now() + 2 * WEIR_MS;
        TEST_UNTIL(test_now() > end); /* it is the clock that is waited for */
    }
    shop_close(&s, 0, 4, "i f1 d i f1 d i f1 d i f1 d i d ");
}

static void an_init_that_fails_in_a_restart_stops_it_without_another_destroy(void **state)
{
    (void)state;
    shop s;
    shop_open_gated(&s, WEIR_PROCESSOR(.on_failure = WEIR_RESTART));
    s.life.init_fails = BAD;
    give(s.engine, s.worker, 1, EVER);
    give(s.engine, s.worker, 2, 0);
    test_recorder_pass(&s.gate, 1);
    until_gone(s.engine, s.worker);
    shop_close(&s, 1, 2, "i f1 d i ");
}

/* ---- stop ---- */

static void an_init_that_finds_what_it_watches_watched_already_has_not_failed(void **state)
{
    (void)state;
    shop s;
    shop_open(&s, WEIR_PROCESSOR(.on_failure = WEIR_RESTART));
    s.life.init_fails = WEIR_ALREADY;
    give(s.engine, s.worker, 1, 1);
    give(s.engine, s.worker, 2, 0);
    shop_close(&s, 1, 1, "i f1 d i h2 d ");
}

static void stop_ends_it_and_the_rest_of_its_mailbox_is_dead(void **state)
{
    (void)state;
    shop s;
    shop_open_gated(&s, WEIR_PROCESSOR(.on_failure = WEIR_STOP));
    give(s.engine, s.worker, 1, 0);
    give(s.engine, s.worker, 2, 1);
    give(s.engine, s.worker, 3, 0);
    give(s.engine, s.worker, 4, 0);
    test_recorder_pass(&s.gate, 1);
    until_gone(s.engine, s.worker);
    shop_close(&s, 2, 3, "i h1 f2 d ");
    assert_int_equal(BAD, s.life.last_reason);
}

static void a_stop_that_was_asked_for_meanwhile_gets_its_answer(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        shop s;
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        shop_open(&s, WEIR_PROCESSOR(.on_failure = round % 2 == 0 ? WEIR_STOP : WEIR_RESTART));
        for (uint64_t i = 0; i < 5; i++) {
            const weir_status status = weir_engine_post(
                s.engine, s.worker, WEIR_EVENT(task, .number = i, .fails = i == 2 ? 1 : 0));
            assert_true(status == WEIR_OK || status == WEIR_STOPPING || status == WEIR_UNKNOWN);
        }
        const weir_status status = weir_processor_stop(s.engine, s.worker, 0, &report);
        assert_true(status == WEIR_OK || status == WEIR_UNKNOWN);
        if (status == WEIR_OK) {
            assert_int_equal(report.accepted, report.handled + report.dead);
        }
        (void)test_engine_end(s.engine);
        assert_int_equal(s.life.inits, s.life.destroys);
    }
}

static void what_cannot_be_meant_is_refused(void **state)
{
    (void)state;
    static const struct {
        weir_processor_options options;
        const char *where;
    } rows[] = {
        { { .struct_size = sizeof(weir_processor_options), .on_failure = (weir_directive)9 },
          "weir_processor_options.on_failure" },
        { { .struct_size = sizeof(weir_processor_options), .retry_then = WEIR_RETRY },
          "weir_processor_options.retry_then" },
        { { .struct_size = sizeof(weir_processor_options), .retry_max = 1000001 },
          "weir_processor_options.retry_max" },
        { { .struct_size = sizeof(weir_processor_options), .retry_delay = -1 },
          "weir_processor_options.retry_delay" },
        { { .struct_size = sizeof(weir_processor_options), .retry_delay_max = -1 },
          "weir_processor_options.retry_delay_max" },
        { { .struct_size = sizeof(weir_processor_options), .restart_max = 1001 },
          "weir_processor_options.restart_max" },
        { { .struct_size = sizeof(weir_processor_options), .restart_window = -1 },
          "weir_processor_options.restart_window" },
    };
    weir_engine *engine = quiet_engine(1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_error error = WEIR_ERROR_INIT;
        weir_processor_options o = rows[i].options;
        o.handler = worker_handle;
        assert_int_equal(0, weir_processor_add(engine, &o, &error).id);
        assert_int_equal(WEIR_E_INVALID, error.status);
        assert_string_equal(rows[i].where, error.path);
    }
    weir_engine_destroy(engine);
}

/* ---- event time ---- */

static weir_ns time_of(void *state, const weir_event *event)
{
    const task *t = weir_event_as(event, &task_type);
    (void)state;
    return t != NULL ? (weir_ns)t->number : 0;
}

static weir_status trigger_and_fail(void *state, weir_turn *turn, const weir_event *event)
{
    worker *w = state;
    const task *t = weir_event_as(event, &task_type);
    if (t == NULL || event->tag != 0) {
        life_write(w->life, "t ");
        return BAD; /* the trigger */
    }
    life_write(w->life, "h%" PRIu64 " ", t->number);
    return t->number == 1 ? weir_turn_trigger_after(turn, 5, event, 1) : WEIR_OK;
}

static void a_trigger_that_fails_is_the_failure_of_the_event_that_made_it_due(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    weir_engine *engine = quiet_engine(1);
    const weir_processor p = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = trigger_and_fail, .argument = &l, .init = worker_init,
                               .destroy = worker_destroy, .state_size = sizeof(worker),
                               .event_time = time_of, .on_failure = WEIR_RESTART));
    test_engine_start(engine);
    give(engine, p, 1, 0);
    give(engine, p, 7, 0);
    give(engine, p, 8, 0);
    const weir_stop_report report = test_engine_end(engine);
    assert_string_equal("i h1 t d i h8 d ", l.text);
    assert_int_equal(2, report.handled);
    assert_int_equal(1, report.dead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume_is_the_default_and_goes_on_with_the_next_event),
        cmocka_unit_test(a_retried_event_is_handled_before_those_behind_it),
        cmocka_unit_test(an_event_that_keeps_failing_is_dead_once_after_its_last_retry),
        cmocka_unit_test(delays_grow_and_no_thread_sleeps_through_them),
        cmocka_unit_test(delays_grow_no_longer_than_they_may),
        cmocka_unit_test(after_the_last_retry_comes_what_retry_then_says),
        cmocka_unit_test(a_stop_of_the_engine_does_not_wait_for_a_delay),
        cmocka_unit_test(an_event_that_fails_during_a_stop_is_not_put_off),
        cmocka_unit_test(
            a_processor_whose_stop_runs_out_of_time_leaves_what_it_would_have_tried_again),
        cmocka_unit_test(the_payload_of_a_retried_event_lives_as_long_as_it_does),
        cmocka_unit_test(every_kind_of_mailbox_keeps_the_order_behind_a_retry),
        cmocka_unit_test(a_restart_destroys_and_makes_anew_exactly_once_and_keeps_the_mailbox),
        cmocka_unit_test(a_restart_goes_back_to_the_handler_it_was_registered_with),
        cmocka_unit_test(too_many_restarts_stop_it_and_the_rest_of_its_mailbox_is_dead),
        cmocka_unit_test(restarts_that_are_further_apart_than_the_window_do_not_add_up),
        cmocka_unit_test(an_init_that_fails_in_a_restart_stops_it_without_another_destroy),
        cmocka_unit_test(an_init_that_finds_what_it_watches_watched_already_has_not_failed),
        cmocka_unit_test(stop_ends_it_and_the_rest_of_its_mailbox_is_dead),
        cmocka_unit_test(a_stop_that_was_asked_for_meanwhile_gets_its_answer),
        cmocka_unit_test(what_cannot_be_meant_is_refused),
        cmocka_unit_test(a_trigger_that_fails_is_the_failure_of_the_event_that_made_it_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
