/*
 * event_time_test.c - weir_turn_trigger_after, by the engine's clock and by the time of events
 * (S-45).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { STEPS_MAX = 64 };

typedef struct moment {
    weir_ns time; /* 0: it has none of its own */
    uint64_t value;
    weir_ns trigger; /* not 0: asks to be triggered so much later */
} moment;
WEIR_EVENT_TYPE(moment, "test.moment");

typedef struct step {
    uint64_t value, tag;
    weir_ns now;
    uint64_t flow;
} step;

typedef struct clockwork {
    step steps[STEPS_MAX];
    size_t count;
    weir_status asked[STEPS_MAX];
    weir_status answer; /* to triggers */
    uint64_t triggers_of_trigger;
    bool by_event;
    sem_t done;
} clockwork;

static weir_ns time_of(void *state, const weir_event *event)
{
    const moment *m = weir_event_as(event, &moment_type);
    (void)state;
    return m != NULL ? m->time : 0;
}

static weir_status work(void *state, weir_turn *turn, const weir_event *event)
{
    clockwork *c = state;
    const moment *m = weir_event_as(event, &moment_type);
    const number *n = weir_event_as(event, &number_type);
    if (c->count < STEPS_MAX) {
        c->steps[c->count++] =
            (step){ m != NULL ? m->value : n->value, event->tag, weir_turn_now(turn), event->flow };
    }
    if (m != NULL && m->trigger != 0) {
        c->asked[c->count - 1] = weir_turn_trigger_after(
            turn, m->trigger, WEIR_EVENT(number, 1000 + m->value), m->value);
    }
    if (n != NULL && c->triggers_of_trigger > 0) {
        c->triggers_of_trigger--;
        c->asked[c->count - 1] =
            weir_turn_trigger_after(turn, 10, WEIR_EVENT(number, n->value + 1), event->tag);
    }
    if (n != NULL && !c->by_event) {
        (void)sem_post(&c->done);
    }
    return n != NULL ? c->answer : WEIR_OK;
}

static weir_processor make(weir_engine **engine, clockwork *c, bool by_event, uint32_t mailbox_max)
{
    memset(c, 0, sizeof(*c));
    c->by_event = by_event;
    assert_int_equal(0, sem_init(&c->done, 0, 0));
    *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_ERROR));
    const weir_processor processor = test_processor_add(
        *engine, WEIR_PROCESSOR(.handler = work, .argument = c, .mailbox_max = mailbox_max,
                                .event_time = by_event ? time_of : NULL));
    test_engine_start(*engine);
    return processor;
}

static void post(weir_engine *engine, weir_processor to, weir_ns time, uint64_t value,
                 weir_ns trigger)
{
    assert_int_equal(WEIR_OK,
                     weir_engine_post(engine, to, WEIR_EVENT(moment, time, value, trigger)));
}

static void a_trigger_comes_to_oneself_after_its_delay_with_its_tag(void **state)
{
    (void)state;
    clockwork c;
    weir_engine *engine;
    const weir_processor to = make(&engine, &c, false, 0);
    post(engine, to, 0, 5, 20 * WEIR_MS);
    test_sem_wait(&c.done);
    test_engine_end(engine);
    assert_int_equal(2, c.count);
    assert_int_equal(1005, c.steps[1].value);
    assert_int_equal(5, c.steps[1].tag);
    assert_true(c.steps[1].now - c.steps[0].now >= 20 * WEIR_MS);
}

static void a_trigger_takes_its_place_in_the_mailbox_at_once(void **state)
{
    (void)state;
    clockwork c;
    weir_engine *engine;
    const weir_processor to = make(&engine, &c, false, 2);
    post(engine, to, 0, 1, 3600 * WEIR_S);
    TEST_UNTIL(test_processor_counters(engine, to).rooms == 1);
    TEST_UNTIL(test_engine_counters(engine).depth == 0);
    post(engine, to, 0, 2, 3600 * WEIR_S);
    TEST_UNTIL(test_processor_counters(engine, to).rooms == 2);
    assert_int_equal(WEIR_FULL, weir_engine_post(engine, to, WEIR_EVENT(moment, 0, 3, 0)));
    test_engine_end(engine);
}

static void triggers_by_event_time_come_before_the_event_that_makes_them_due(void **state)
{
    (void)state;
    clockwork c;
    weir_engine *engine;
    const weir_processor to = make(&engine, &c, true, 0);
    post(engine, to, 100, 1, 50); /* due at 150 */
    post(engine, to, 110, 2, 20); /* at 130 */
    post(engine, to, 120, 3, 10); /* at 130, after the other */
    post(engine, to, 129, 4, 0);  /* none yet */
    post(engine, to, 150, 5, 0);  /* all three first */
    post(engine, to, 90, 6, 5);   /* time does not go back: due at 155 */
    post(engine, to, 0, 7, 0);    /* nor forward */
    post(engine, to, 1000, 8, 1); /* never due */
    test_engine_stop(engine);
    static const step expected[] = {
        { 1, 0, 100, 0 },    { 2, 0, 110, 0 },    { 3, 0, 120, 0 },    { 4, 0, 129, 0 },
        { 1002, 2, 130, 0 }, { 1003, 3, 130, 0 }, { 1001, 1, 150, 0 }, { 5, 0, 150, 0 },
        { 6, 0, 150, 0 },    { 7, 0, 150, 0 },    { 1006, 6, 155, 0 }, { 8, 0, 1000, 0 },
    };
    assert_int_equal(sizeof(expected) / sizeof(expected[0]), c.count);
    for (size_t i = 0; i < c.count; i++) {
        assert_int_equal(expected[i].value, c.steps[i].value);
        assert_int_equal(expected[i].tag, c.steps[i].tag);
        assert_int_equal(expected[i].now, c.steps[i].now);
    }
    weir_engine_destroy(engine);
}

static void a_trigger_may_ask_for_the_next_one_and_time_passes_through_all_of_them(void **state)
{
    (void)state;
    clockwork c;
    weir_engine *engine;
    const weir_processor to = make(&engine, &c, true, 0);
    c.triggers_of_trigger = 3;
    post(engine, to, 100, 1, 10);
    post(engine, to, 135, 2, 0);
    test_engine_end(engine);
    assert_int_equal(5, c.count); /* 1, at 110, 120, 130, 2; the one at 140 is not due */
    assert_int_equal(130, c.steps[3].now);
    assert_int_equal(2, c.steps[4].value);
}

static void triggers_inherit_the_flow_and_are_counted_apart(void **state)
{
    (void)state;
    clockwork c;
    weir_engine *engine;
    const weir_processor to = make(&engine, &c, true, 0);
    weir_event first = *WEIR_EVENT(moment, 1, 1, 1);
    first.flow = 42;
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &first));
    post(engine, to, 10, 2, 0);
    TEST_UNTIL(test_processor_counters(engine, to).handled == 2);
    assert_int_equal(1, test_processor_counters(engine, to).triggers);
    assert_int_equal(2, test_engine_end(engine).handled);
    assert_int_equal(42, c.steps[1].flow);
    assert_int_equal(0, c.steps[2].flow);
}

static void so_many_triggers_wait_as_the_mailbox_has_places(void **state)
{
    (void)state;
    clockwork c;
    weir_engine *engine;
    const weir_processor to = make(&engine, &c, true, 20);
    for (uint64_t i = 0; i < 21; i++) {
        TEST_UNTIL(test_engine_counters(engine).depth == 0);
        post(engine, to, 1, i, 100);
    }
    test_engine_end(engine);
    for (uint64_t i = 0; i < 21; i++) {
        assert_int_equal(i < 20 ? WEIR_OK : WEIR_FULL, c.asked[i]);
    }
}

static void a_trigger_that_fails_hurts_nobody(void **state)
{
    (void)state;
    clockwork c;
    weir_engine *engine;
    const weir_processor to = make(&engine, &c, true, 0);
    c.answer = WEIR_E_USER;
    post(engine, to, 1, 1, 1);
    post(engine, to, 5, 2, 0);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(2, report.handled);
    assert_int_equal(3, c.count);
}

typedef struct refusals {
    weir_status none, negative, zero, type;
    sem_t done;
} refusals;

static weir_status ask_wrongly(void *state, weir_turn *turn, const weir_event *event)
{
    refusals *r = state;
    r->none = weir_turn_trigger_after(turn, WEIR_S, NULL, 0);
    r->negative = weir_turn_trigger_after(turn, -7, event, 0);
    r->zero = weir_turn_trigger_after(turn, 0, event, 0);
    r->type = weir_turn_trigger_after(turn, WEIR_S, &(weir_event){ .type = &number_type }, 0);
    (void)sem_post(&r->done);
    return WEIR_OK;
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    for (int by_event = 0; by_event < 2; by_event++) {
        refusals r;
        assert_int_equal(0, sem_init(&r.done, 0, 0));
        weir_engine *engine = test_engine_create(NULL);
        const weir_processor to =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = ask_wrongly, .argument = &r,
                                                      .event_time = by_event ? time_of : NULL));
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, test_post(engine, to, 1));
        test_sem_wait(&r.done);
        test_engine_end(engine);
        assert_int_equal(WEIR_E_INVALID, r.none);
        assert_int_equal(WEIR_E_INVALID, r.negative);
        assert_int_equal(WEIR_E_INVALID, r.zero);
        assert_int_equal(WEIR_E_TYPE, r.type);
        assert_int_equal(WEIR_E_INVALID, weir_turn_trigger_after(NULL, 1, NULL, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trigger_comes_to_oneself_after_its_delay_with_its_tag),
        cmocka_unit_test(a_trigger_takes_its_place_in_the_mailbox_at_once),
        cmocka_unit_test(triggers_by_event_time_come_before_the_event_that_makes_them_due),
        cmocka_unit_test(a_trigger_may_ask_for_the_next_one_and_time_passes_through_all_of_them),
        cmocka_unit_test(triggers_inherit_the_flow_and_are_counted_apart),
        cmocka_unit_test(so_many_triggers_wait_as_the_mailbox_has_places),
        cmocka_unit_test(a_trigger_that_fails_hurts_nobody),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
