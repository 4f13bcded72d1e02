/*
 * supervise_mixed_test.c - failures that meet something else: a stop that runs out of time, a
 * child's failure while an event waits for its next try, an answer that does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "supervise_support.h"

enum { LETTERS_MAX = 16 };

#define HOUR (3600 * WEIR_S)

static size_t read_letters(weir_engine *engine, weir_dead_letter *letters)
{
    memset(letters, 0, LETTERS_MAX * sizeof(*letters));
    letters[0].struct_size = sizeof(*letters);
    return weir_dead_letter_read(engine, 0, letters, LETTERS_MAX);
}

/* ---- stops that run out of time ---- */

/* Fails, and from the second time on only when it is let. */
typedef struct staller {
    uint32_t tries, waits_from;
    sem_t entered, let;
    weir_status answer;
} staller;

static weir_status stall(void *state, weir_turn *turn, const weir_event *event)
{
    staller *s = state;
    (void)turn;
    (void)event;
    if (++s->tries >= s->waits_from) {
        (void)sem_post(&s->entered);
        (void)test_sem_taken(&s->let);
    }
    return s->answer;
}

static weir_processor staller_add(weir_engine *engine, staller *s, uint32_t waits_from,
                                  weir_status answer, const weir_processor_options *options)
{
    weir_processor_options o = *options;
    *s = (staller){ .waits_from = waits_from, .answer = answer };
    assert_int_equal(0, sem_init(&s->entered, 0, 0));
    assert_int_equal(0, sem_init(&s->let, 0, 0));
    o.handler = stall;
    o.argument = s;
    return test_processor_add(engine, &o);
}

/* Some are left. */
static weir_stop_report end_with_left(weir_engine *engine)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &report));
    weir_engine_destroy(engine);
    return report;
}

/* Its handler is under way, and returns only then. */
static void run_out_of_time(weir_engine *engine, weir_processor which, staller *s)
{
    test_sem_wait(&s->entered);
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, which, WEIR_US, NULL));
    assert_int_equal(0, sem_post(&s->let));
    until_gone(engine, which);
}

static void a_second_try_that_its_stop_does_not_wait_for_is_nobody_elses(void **state)
{
    (void)state;
    staller first, second;
    weir_engine *engine = quiet_engine(1);
    const weir_processor a = staller_add(
        engine, &first, 2, BAD, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = WEIR_US));
    const weir_processor b =
        staller_add(engine, &second, 1, WEIR_OK, WEIR_PROCESSOR(.name = "other"));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, a, 1));
    run_out_of_time(engine, a, &first);
    assert_int_equal(WEIR_OK, test_post(engine, b, 1));
    run_out_of_time(engine, b, &second);
    const weir_stop_report report = end_with_left(engine);
    assert_int_equal(2, report.accepted);
    assert_int_equal(2, report.left);
}

static void a_stop_that_runs_out_of_time_does_not_wait_for_the_next_try(void **state)
{
    (void)state;
    life l, other;
    life_init(&l);
    life_init(&other);
    weir_engine *engine = quiet_engine(1);
    const weir_processor p =
        worker_add(engine, &l, WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_delay = HOUR));
    const weir_processor next = worker_add(engine, &other, WEIR_PROCESSOR(.name = "next"));
    test_engine_start(engine);
    give(engine, p, 1, EVER);
    give(engine, p, 2, 0);
    TEST_UNTIL(test_engine_counters(engine).retries == 1);
    give(engine, next, 3, 0);
    test_sem_wait(&other.told); /* by the only thread: it has put the first one aside */
    weir_stop_report stopped = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, p, WEIR_US, &stopped));
    assert_int_equal(2, stopped.left);
    until_gone(engine, p);
    const weir_stop_report report = end_with_left(engine);
    assert_int_equal(2, report.left);
    assert_string_equal("i f1 d ", l.text);
    assert_int_equal(WEIR_TIMEOUT, l.last_reason);
}

static void a_handler_that_fails_after_its_stop_ran_out_of_time_leaves_no_letter(void **state)
{
    (void)state;
    static const weir_directive directives[] = { WEIR_RESUME, WEIR_RESTART, WEIR_STOP };
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
        staller s;
        weir_dead_letter letters[LETTERS_MAX];
        weir_engine *engine = quiet_engine(1);
        const weir_processor p =
            staller_add(engine, &s, 1, BAD, WEIR_PROCESSOR(.on_failure = directives[i]));
        test_engine_start(engine);
        assert_int_equal(WEIR_OK, test_post(engine, p, 1));
        run_out_of_time(engine, p, &s);
        assert_int_equal(0, read_letters(engine, letters));
        assert_int_equal(1, end_with_left(engine).left); /* the stop speaks of it */
    }
}

/* ---- a child's failure while an event waits for its next try ---- */

typedef struct pair {
    weir_engine *engine;
    weir_processor parent, child;
    life above, below;
} pair;

static void pair_open(pair *p, weir_directive then)
{
    life_init(&p->above);
    life_init(&p->below);
    p->engine = quiet_engine(2);
    p->parent = worker_add(p->engine, &p->above,
                           WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_max = 2,
                                          .retry_delay = 50 * WEIR_MS, .retry_then = then));
    p->child = worker_add(p->engine, &p->below,
                          WEIR_PROCESSOR(.on_failure = WEIR_ESCALATE, .parent = p->parent));
    test_engine_start(p->engine);
}

static void an_event_that_waits_for_its_next_try_is_a_letter_when_its_processor_ends(void **state)
{
    (void)state;
    pair p;
    weir_dead_letter letters[LETTERS_MAX];
    pair_open(&p, WEIR_STOP);
    give(p.engine, p.parent, 1, EVER);
    TEST_UNTIL(test_engine_counters(p.engine).retries == 1);
    give(p.engine, p.parent, 2, 0);
    give(p.engine, p.child, 3, EVER);
    until_gone(p.engine, p.parent);
    assert_int_equal(3, read_letters(p.engine, letters));
    assert_int_equal(WEIR_DEAD_FAILED, letters[0].reason);
    assert_int_equal(p.child.id, letters[0].to.id);
    for (uint64_t i = 1; i < 3; i++) { /* in the order of the mailbox */
        task t;
        memcpy(&t, letters[i].head, sizeof(t));
        assert_int_equal(WEIR_DEAD_STOPPED, letters[i].reason);
        assert_int_equal(BAD, letters[i].status);
        assert_int_equal(p.parent.id, letters[i].to.id);
        assert_int_equal(i, t.number);
    }
    const weir_stop_report report = test_engine_end(p.engine);
    assert_int_equal(3, report.dead);
}

WEIR_EMPTY_TYPE(question, "mixed.question");
WEIR_EMPTY_TYPE(answer, "mixed.answer");

static weir_status reply_at_once(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    return weir_turn_reply(turn, event->from, WEIR_EMPTY(answer));
}

/* Outlives restarts. */
typedef struct patient {
    weir_processor oracle;
    _Atomic uint32_t inits, then;
} patient;

static weir_status patient_begin(void *state, weir_turn *turn, void *argument)
{
    patient *p = argument;
    (void)turn;
    *(patient **)state = p;
    atomic_fetch_add(&p->inits, 1);
    return WEIR_OK;
}

static weir_status patient_then(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    atomic_fetch_add(&(*(patient **)state)->then, 1);
    return BAD;
}

static weir_status patient_ask(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    return weir_turn_ask(turn, (*(patient **)state)->oracle, WEIR_EMPTY(question),
                         WEIR_ASK(.then = patient_then));
}

static void a_restart_forgets_an_answer_that_waits_for_its_next_try(void **state)
{
    (void)state;
    patient p = { .inits = 0 };
    life below;
    weir_dead_letter letters[LETTERS_MAX];
    life_init(&below);
    weir_engine *engine = quiet_engine(2);
    p.oracle = test_processor_add(engine, WEIR_PROCESSOR(.handler = reply_at_once));
    const weir_processor asker = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = patient_ask, .init = patient_begin, .argument = &p,
                               .state_size = sizeof(patient *), .on_failure = WEIR_RETRY,
                               .retry_delay = 50 * WEIR_MS, .retry_then = WEIR_RESTART));
    const weir_processor child =
        worker_add(engine, &below, WEIR_PROCESSOR(.on_failure = WEIR_ESCALATE, .parent = asker));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, asker, 1));
    TEST_UNTIL(test_engine_counters(engine).retries == 1);
    give(engine, child, 1, EVER);
    TEST_UNTIL(atomic_load(&p.inits) == 2);
    (void)test_engine_stop(engine);
    assert_int_equal(1, atomic_load(&p.then));
    assert_int_equal(2, read_letters(engine, letters));
    assert_int_equal(WEIR_DEAD_FAILED, letters[1].reason);
    assert_int_equal(WEIR_UNKNOWN, letters[1].status);
    assert_int_equal(asker.id, letters[1].to.id);
    assert_ptr_equal(&answer_type, letters[1].type);
    weir_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_try_that_its_stop_does_not_wait_for_is_nobody_elses),
        cmocka_unit_test(a_stop_that_runs_out_of_time_does_not_wait_for_the_next_try),
        cmocka_unit_test(a_handler_that_fails_after_its_stop_ran_out_of_time_leaves_no_letter),
        cmocka_unit_test(an_event_that_waits_for_its_next_try_is_a_letter_when_its_processor_ends),
        cmocka_unit_test(a_restart_forgets_an_answer_that_waits_for_its_next_try),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
