/*
 * supervise_others_test.c - failures and those who hear of them: dead letters, watchers, questions
 * that are open, subscriptions that stay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "supervise_support.h"

enum { LETTERS_MAX = 16 };

/* Hears of ends. */
typedef struct listener {
    weir_processor target;
    weir_down down;
    uint64_t downs;
    sem_t told;
} listener;

static weir_status listener_begin(void *state, weir_turn *turn, void *argument)
{
    listener *l = argument;
    (void)state;
    return weir_turn_watch(turn, l->target, 1);
}

static weir_status listener_hear(void *state, weir_turn *turn, const weir_event *event)
{
    listener *l = state;
    const weir_down *down = weir_event_as(event, &weir_down_type);
    (void)turn;
    if (down == NULL) {
        return WEIR_UNHANDLED;
    }
    l->down = *down;
    l->downs++;
    (void)sem_post(&l->told);
    return WEIR_OK;
}

static void listen_to(listener *l, weir_engine *engine, weir_processor target)
{
    memset(l, 0, sizeof(*l));
    assert_int_equal(0, sem_init(&l->told, 0, 0));
    l->target = target;
    (void)test_processor_add(
        engine, WEIR_PROCESSOR(.handler = listener_hear, .argument = l, .init = listener_begin));
}

static size_t read_letters(weir_engine *engine, weir_dead_letter *letters)
{
    memset(letters, 0, LETTERS_MAX * sizeof(*letters));
    letters[0].struct_size = sizeof(*letters);
    return weir_dead_letter_read(engine, 0, letters, LETTERS_MAX);
}

/* ---- dead letters ---- */

static void an_event_that_is_tried_again_is_one_letter_at_its_end(void **state)
{
    (void)state;
    life l;
    weir_dead_letter letters[LETTERS_MAX];
    life_init(&l);
    weir_engine *engine = quiet_engine(2);
    const weir_processor p = worker_add(
        engine, &l,
        WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_max = 2, .retry_delay = WEIR_US));
    test_engine_start(engine);
    give(engine, p, 1, 2); /* in the end it is handled: no letter */
    give(engine, p, 2, 3);
    give(engine, p, 3, 0);
    test_sem_wait(&l.told);
    test_sem_wait(&l.told);
    assert_int_equal(1, read_letters(engine, letters));
    assert_int_equal(WEIR_DEAD_FAILED, letters[0].reason);
    assert_int_equal(BAD, letters[0].status);
    assert_string_equal("as it was told", letters[0].text);
    task t;
    memcpy(&t, letters[0].head, sizeof(t));
    assert_int_equal(2, t.number);
    (void)test_engine_end(engine);
}

static void
each_directive_leaves_one_letter_for_the_event_and_one_for_each_that_waited(void **state)
{
    (void)state;
    static const weir_directive directives[] = { WEIR_RESUME, WEIR_RESTART, WEIR_STOP,
                                                 WEIR_ESCALATE };
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
        life l;
        test_recorder gate;
        weir_dead_letter letters[LETTERS_MAX];
        life_init(&l);
        test_recorder_init(&gate, true);
        weir_engine *engine = quiet_engine(1);
        const weir_processor door = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &gate));
        const weir_processor p =
            worker_add(engine, &l, WEIR_PROCESSOR(.on_failure = directives[i]));
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, test_post(engine, door, 1));
        test_sem_wait(&gate.entered);
        give(engine, p, 1, 1);
        give(engine, p, 2, 0);
        test_recorder_pass(&gate, 1);
        (void)test_engine_stop(engine);
        const bool ends = directives[i] == WEIR_STOP || directives[i] == WEIR_ESCALATE;
        assert_int_equal(ends ? 2 : 1, read_letters(engine, letters));
        assert_int_equal(WEIR_DEAD_FAILED, letters[0].reason);
        if (ends) {
            assert_int_equal(WEIR_DEAD_STOPPED, letters[1].reason);
            assert_int_equal(BAD, letters[1].status);
            assert_string_equal("as it was told", letters[1].text);
        }
        weir_engine_destroy(engine);
    }
}

/* ---- watchers ---- */

static void who_watches_a_failed_processor_hears_why_and_how_many_waited(void **state)
{
    (void)state;
    life l;
    listener ear;
    test_recorder gate;
    life_init(&l);
    test_recorder_init(&gate, true);
    weir_engine *engine = quiet_engine(1);
    const weir_processor door = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &gate));
    const weir_processor p = worker_add(engine, &l, WEIR_PROCESSOR(.on_failure = WEIR_STOP));
    listen_to(&ear, engine, p);
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, door, 1));
    test_sem_wait(&gate.entered);
    give(engine, p, 1, 1);
    give(engine, p, 2, 0);
    give(engine, p, 3, 0);
    test_recorder_pass(&gate, 1);
    test_sem_wait(&ear.told);
    (void)test_engine_end(engine);
    assert_int_equal(1, ear.downs);
    assert_int_equal(p.id, ear.down.processor.id);
    assert_int_equal(BAD, ear.down.reason);
    assert_string_equal("as it was told", ear.down.text);
    assert_int_equal(2, ear.down.left);
}

static void a_restart_is_no_end_and_a_failure_passed_over_is_no_reason(void **state)
{
    (void)state;
    life l, above;
    listener ear;
    life_init(&l);
    life_init(&above);
    weir_engine *engine = quiet_engine(2);
    const weir_processor parent = worker_add(engine, &above, WEIR_PROCESSOR(.name = "above"));
    const weir_processor p =
        worker_add(engine, &l, WEIR_PROCESSOR(.on_failure = WEIR_ESCALATE, .parent = parent));
    listen_to(&ear, engine, p);
    test_engine_start(engine);
    give(engine, p, 1, 1); /* its parent resumes */
    give(engine, p, 2, 0);
    test_sem_wait(&l.told);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, p, 0, NULL));
    test_sem_wait(&ear.told);
    (void)test_engine_end(engine);
    assert_int_equal(1, ear.downs);
    assert_int_equal(WEIR_OK, ear.down.reason);
    assert_string_equal("", ear.down.text);
}

static void watchers_hear_of_a_failed_end_during_the_stop_of_the_engine(void **state)
{
    (void)state;
    for (int round = 0; round < 100; round++) {
        life l;
        listener ear;
        life_init(&l);
        weir_engine *engine = quiet_engine(2);
        const weir_processor p = worker_add(engine, &l, WEIR_PROCESSOR(.on_failure = WEIR_STOP));
        listen_to(&ear, engine, p);
        test_engine_start(engine);
        give(engine, p, 1, 1);
        (void)test_engine_end(engine);
        assert_int_equal(1, ear.downs);
        assert_int_equal(BAD, ear.down.reason);
    }
}

/* ---- questions ---- */

WEIR_EMPTY_TYPE(question, "supervise.question");
WEIR_EMPTY_TYPE(answer, "supervise.answer");
WEIR_EMPTY_TYPE(fail_now, "supervise.fail-now");

typedef struct asker_life {
    weir_processor target;
    _Atomic uint32_t then, usual, inits, then_tries;
    bool retries;
} asker_life;

/* Keeps a ticket until it is told to answer. */
typedef struct oracle {
    weir_ticket open;
    sem_t asked;
    weir_status answered;
    sem_t done;
} oracle;

static weir_status oracle_handle(void *state, weir_turn *turn, const weir_event *event)
{
    oracle *o = state;
    if (weir_event_as(event, &question_type) != NULL) {
        o->open = event->from;
        (void)sem_post(&o->asked);
        return WEIR_OK;
    }
    o->answered = weir_turn_reply(turn, o->open, WEIR_EMPTY(answer));
    (void)sem_post(&o->done);
    return WEIR_OK;
}

static weir_status asker_begin(void *state, weir_turn *turn, void *argument)
{
    *(asker_life **)state = argument;
    (void)turn;
    atomic_fetch_add(&((asker_life *)argument)->inits, 1);
    return WEIR_OK;
}

static weir_status asker_then(void *state, weir_turn *turn, const weir_event *event)
{
    asker_life *l = *(asker_life **)state;
    (void)turn;
    if (l->retries && atomic_fetch_add(&l->then_tries, 1) < 2) {
        return BAD;
    }
    atomic_fetch_add(&l->then, weir_event_as(event, &answer_type) != NULL && event->tag == 9);
    return WEIR_OK;
}

static weir_status asker_handle(void *state, weir_turn *turn, const weir_event *event)
{
    asker_life *l = *(asker_life **)state;
    if (weir_event_as(event, &fail_now_type) != NULL) {
        return BAD;
    }
    if (weir_event_as(event, &answer_type) != NULL) {
        atomic_fetch_add(&l->usual, 1);
        return WEIR_OK;
    }
    const number *with_then = weir_event_as(event, &number_type);
    if (with_then == NULL) {
        return WEIR_UNHANDLED;
    }
    return weir_turn_ask(turn, l->target, WEIR_EMPTY(question),
                         WEIR_ASK(.timeout = TEST_PATIENCE, .tag = 9,
                                  .then = with_then->value != 0 ? asker_then : NULL));
}

static weir_processor add_asker(weir_engine *engine, asker_life *l, oracle *o,
                                const weir_processor_options *options, weir_processor *target)
{
    weir_processor_options p = *options;
    memset(o, 0, sizeof(*o));
    assert_int_equal(0, sem_init(&o->asked, 0, 0));
    assert_int_equal(0, sem_init(&o->done, 0, 0));
    *target = test_processor_add(engine, WEIR_PROCESSOR(.handler = oracle_handle, .argument = o));
    l->target = *target;
    p.handler = asker_handle;
    p.init = asker_begin;
    p.argument = l;
    p.state_size = sizeof(asker_life *);
    return test_processor_add(engine, &p);
}

static void a_restart_forgets_questions_with_a_then_and_keeps_the_others(void **state)
{
    (void)state;
    for (uint64_t with_then = 0; with_then < 2; with_then++) {
        asker_life l = { .retries = false };
        oracle o;
        weir_processor target;
        weir_engine *engine = quiet_engine(2);
        const weir_processor asker =
            add_asker(engine, &l, &o, WEIR_PROCESSOR(.on_failure = WEIR_RESTART), &target);
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, test_post(engine, asker, with_then));
        test_sem_wait(&o.asked);
        assert_int_equal(WEIR_OK, weir_engine_post(engine, asker, WEIR_EMPTY(fail_now)));
        TEST_UNTIL(atomic_load(&l.inits) == 2);
        TEST_UNTIL(test_engine_counters(engine).depth == 0);
        assert_int_equal(WEIR_OK, test_post(engine, target, 1));
        test_sem_wait(&o.done);
        (void)test_engine_stop(engine);
        assert_int_equal(0, atomic_load(&l.then));
        assert_int_equal(with_then != 0 ? 0 : 1, atomic_load(&l.usual));
        assert_int_equal(with_then != 0 ? WEIR_UNKNOWN : WEIR_OK, o.answered);
        assert_int_equal(with_then, test_engine_counters(engine).letters_late);
        weir_engine_destroy(engine);
    }
}

static void an_answer_whose_handler_fails_is_tried_again_by_the_same_handler(void **state)
{
    (void)state;
    asker_life l = { .retries = true };
    oracle o;
    weir_processor target;
    weir_engine *engine = quiet_engine(2);
    const weir_processor asker = add_asker(
        engine, &l, &o, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = WEIR_US), &target);
    test_engine_start(engine);
    for (uint32_t round = 1; round <= 20; round++) {
        atomic_store(&l.then_tries, 0);
        assert_int_equal(WEIR_OK, test_post(engine, asker, 1));
        test_sem_wait(&o.asked);
        assert_int_equal(WEIR_OK, test_post(engine, target, 1));
        test_sem_wait(&o.done);
        assert_int_equal(WEIR_OK, o.answered);
        TEST_UNTIL(atomic_load(&l.then) == round);
        assert_int_equal(3, atomic_load(&l.then_tries));
    }
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(0, report.dead);
}

/* ---- subscriptions ---- */

static void a_restart_keeps_subscriptions_and_an_end_does_not(void **state)
{
    (void)state;
    life l;
    life_init(&l);
    weir_error error = WEIR_ERROR_INIT;
    weir_delivery delivery;
    weir_engine *engine = quiet_engine(2);
    const weir_channel channel = weir_channel_open(engine, "tasks", &error);
    const weir_processor p =
        worker_add(engine, &l, WEIR_PROCESSOR(.on_failure = WEIR_RESTART, .restart_max = 1));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, channel, p));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_engine_broadcast(engine, channel,
                                                    WEIR_EVENT(task, 1, .fails = EVER), &delivery));
    TEST_UNTIL(test_engine_counters(engine).restarts == 1);
    assert_int_equal(WEIR_OK, weir_engine_broadcast(engine, channel,
                                                    WEIR_EVENT(task, 2, .fails = EVER), &delivery));
    assert_int_equal(1, delivery.delivered);
    until_gone(engine, p);
    assert_int_equal(
        WEIR_OK, weir_engine_broadcast(engine, channel, WEIR_EVENT(task, .number = 3), &delivery));
    assert_int_equal(0, delivery.delivered);
    assert_int_equal(0, delivery.refused);
    (void)test_engine_end(engine);
    assert_string_equal("i f1 d i f2 d ", l.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_that_is_tried_again_is_one_letter_at_its_end),
        cmocka_unit_test(
            each_directive_leaves_one_letter_for_the_event_and_one_for_each_that_waited),
        cmocka_unit_test(who_watches_a_failed_processor_hears_why_and_how_many_waited),
        cmocka_unit_test(a_restart_is_no_end_and_a_failure_passed_over_is_no_reason),
        cmocka_unit_test(watchers_hear_of_a_failed_end_during_the_stop_of_the_engine),
        cmocka_unit_test(a_restart_forgets_questions_with_a_then_and_keeps_the_others),
        cmocka_unit_test(an_answer_whose_handler_fails_is_tried_again_by_the_same_handler),
        cmocka_unit_test(a_restart_keeps_subscriptions_and_an_end_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
