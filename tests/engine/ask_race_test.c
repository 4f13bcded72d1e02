/*
 * ask_race_test.c - an answer against its timeout, over and over, and a great many questions at
 * once: each has one outcome.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ask_support.h"

/* ---- both orders of the race ---- */

enum { OPEN_AT_ONCE = 64 };

typedef struct racer {
    weir_processor self, target;
    uint64_t seed, races;
    weir_ns timeout_max;
    uint64_t asked, answers, timeouts;
    uint64_t wrong; /* came twice, or for nothing */
    uint8_t *outcomes;
    sem_t done;
} racer;

static weir_status racer_then(void *state, weir_turn *turn, const weir_event *event);

static weir_status race_on(racer *r, weir_turn *turn)
{
    const uint64_t number_of = r->asked++;
    return weir_turn_ask(
        turn, r->target, WEIR_EVENT(number, number_of),
        WEIR_ASK(.timeout = (weir_ns)(1 + test_random(&r->seed) % (uint64_t)r->timeout_max),
                 .then = racer_then, .tag = number_of));
}

static weir_status racer_then(void *state, weir_turn *turn, const weir_event *event)
{
    racer *r = state;
    const number *n = weir_event_as(event, &number_type);
    const bool known = event->tag < r->asked && r->outcomes[event->tag] == 0 &&
                       (n == NULL || n->value == event->tag);
    r->wrong += !known;
    if (event->tag < r->asked) {
        r->outcomes[event->tag]++;
    }
    r->answers += n != NULL;
    r->timeouts += n == NULL;
    if (r->answers + r->timeouts == r->races) {
        (void)sem_post(&r->done);
    }
    return r->asked < r->races ? race_on(r, turn) : WEIR_OK;
}

static weir_status racer_begin(void *state, weir_turn *turn, const weir_event *event)
{
    racer *r = state;
    (void)event;
    for (int i = 0; i < OPEN_AT_ONCE && r->asked < r->races; i++) {
        const weir_status status = race_on(r, turn);
        if (status != WEIR_OK) {
            return status;
        }
    }
    return WEIR_OK;
}

/* Answers, in time or not. */
typedef struct judge {
    uint64_t accepted, late, other;
} judge;

static weir_status judge_handle(void *state, weir_turn *turn, const weir_event *event)
{
    judge *j = state;
    const weir_status status = weir_turn_reply(turn, event->from, event);
    j->accepted += status == WEIR_OK;
    j->late += status == WEIR_UNKNOWN;
    j->other += status != WEIR_OK && status != WEIR_UNKNOWN;
    return WEIR_OK;
}

static void every_race_of_an_answer_and_its_timeout_has_one_winner(void **state)
{
    (void)state;
    racer r = { .seed = test_seed(), .races = test_load(200000, 20000) };
    judge j = { 0 };
    r.timeout_max = 200 * WEIR_US;
    r.outcomes = calloc(r.races, 1);
    assert_non_null(r.outcomes);
    assert_int_equal(0, sem_init(&r.done, 0, 0));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("judge")));
    r.self = test_processor_add(engine, WEIR_PROCESSOR(.handler = racer_begin, .argument = &r));
    /* Room for all: a judge that does not get its core for a while has thousands that are too late,
     * and a question that is refused would end its chain. */
    r.target = test_processor_add(engine, WEIR_PROCESSOR(.handler = judge_handle, .argument = &j,
                                                         .dispatcher = "judge",
                                                         .mailbox_max = (uint32_t)r.races));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, r.self, 0));
    test_sem_wait(&r.done);
    assert_no_place_is_promised(engine, r.self);
    const weir_stop_report report = test_engine_end(engine);
    (void)fprintf(stderr, "# %llu answers, %llu timeouts\n", (unsigned long long)r.answers,
                  (unsigned long long)r.timeouts);
    assert_int_equal(0, r.wrong);
    assert_int_equal(r.races, r.answers + r.timeouts);
    assert_int_equal(r.answers, j.accepted);
    assert_int_equal(r.timeouts, j.late);
    assert_int_equal(0, j.other);
    assert_int_equal(1 + 2 * r.races, report.handled);
    assert_true(r.answers > r.races / 1000);
    assert_true(r.timeouts > r.races / 1000);
    free(r.outcomes);
}

/* ---- the order of one sender ---- */

typedef struct sequence {
    weir_processor target;
    uint64_t rounds, next, disorder;
    sem_t done;
} sequence;

/* Post, answer, post: three numbers in a row. */
static weir_status say_three(void *state, weir_turn *turn, const weir_event *event)
{
    const uint64_t first = ((const number *)event->data)->value;
    (void)state;
    weir_status status = weir_turn_post(turn, event->from.sender, WEIR_EVENT(number, first));
    status = status == WEIR_OK ? weir_turn_reply(turn, event->from, WEIR_EVENT(number, first + 1))
                               : status;
    return status == WEIR_OK
               ? weir_turn_post(turn, event->from.sender, WEIR_EVENT(number, first + 2))
               : status;
}

static weir_status hear_three(void *state, weir_turn *turn, const weir_event *event)
{
    sequence *s = state;
    if (event->from.sender.id != 0) {
        s->disorder += ((const number *)event->data)->value != s->next;
        s->disorder += event->tag != (s->next % 3 == 1 ? 5u : 0u);
        s->next++;
    }
    if (s->next == 3 * s->rounds) {
        (void)sem_post(&s->done);
        return WEIR_OK;
    }
    return s->next % 3 == 0
               ? weir_turn_ask(turn, s->target, WEIR_EVENT(number, s->next), WEIR_ASK(.tag = 5))
               : WEIR_OK;
}

static void answers_and_posts_of_one_sender_arrive_in_the_order_sent(void **state)
{
    (void)state;
    sequence s = { .rounds = test_load(50000, 5000) };
    assert_int_equal(0, sem_init(&s.done, 0, 0));
    weir_engine *engine = test_engine_create(NULL);
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("")));
    (void)test_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("other")));
    s.target =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = say_three, .dispatcher = "other"));
    const weir_processor self =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = hear_three, .argument = &s));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, self, 0));
    test_sem_wait(&s.done);
    assert_int_equal(1 + 4 * s.rounds, test_engine_end(engine).handled);
    assert_int_equal(0, s.disorder);
}

/* ---- many at once ---- */

typedef struct crowd {
    weir_processor target;
    uint64_t count;
    weir_ns timeout;
    uint64_t refused, answers, timeouts, doubled;
    uint8_t *seen;
    sem_t asked, done;
} crowd;

static weir_status crowd_handle(void *state, weir_turn *turn, const weir_event *event)
{
    crowd *c = state;
    if (event->from.sender.id == 0) {
        for (uint64_t i = 0; i < c->count; i++) {
            c->refused += weir_turn_ask(turn, c->target, WEIR_EVENT(number, i),
                                        WEIR_ASK(.timeout = c->timeout, .tag = i)) != WEIR_OK;
        }
        (void)sem_post(&c->asked);
        return WEIR_OK;
    }
    const bool timeout = weir_event_as(event, &weir_timeout_type) != NULL;
    c->doubled += c->seen[event->tag]++;
    c->timeouts += timeout;
    c->answers += !timeout;
    if (c->timeouts + c->answers == c->count) {
        (void)sem_post(&c->done);
    }
    return WEIR_OK;
}

/* Answers every other one, the latest first, when it is told to. */
typedef struct library {
    uint64_t count;
    weir_ticket *tickets;
    uint64_t kept, refused;
} library;

static weir_status library_handle(void *state, weir_turn *turn, const weir_event *event)
{
    library *l = state;
    if (weir_event_as(event, &number_type) != NULL) {
        l->tickets[l->kept++] = event->from;
        return WEIR_OK;
    }
    for (uint64_t i = l->kept; i > 0; i--) {
        l->refused += i % 2 == 0 && weir_turn_reply(turn, l->tickets[i - 1], event) != WEIR_OK;
    }
    return WEIR_OK;
}

static void run_crowd(crowd *c, library *l, bool stops)
{
    c->count = test_load(100000, 10000);
    c->seen = calloc(c->count, 1);
    l->tickets = calloc(c->count, sizeof(*l->tickets));
    assert_non_null(c->seen);
    assert_non_null(l->tickets);
    assert_int_equal(0, sem_init(&c->asked, 0, 0));
    assert_int_equal(0, sem_init(&c->done, 0, 0));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    c->target = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = library_handle, .argument = l, .mailbox_max = 200000));
    const weir_processor self = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = crowd_handle, .argument = c, .mailbox_max = 200000));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, self, 0));
    test_sem_wait(&c->asked);
    assert_int_equal(0, c->refused);
    assert_int_equal(WEIR_OK, weir_engine_post(engine, c->target, WEIR_EMPTY(go_on)));
    if (stops) {
        assert_int_equal(WEIR_OK, weir_processor_stop(engine, self, TEST_PATIENCE, NULL));
    }
    test_sem_wait(&c->done);
    (void)test_engine_end(engine);
    assert_int_equal(0, c->doubled);
    assert_int_equal(c->count, c->answers + c->timeouts);
    free(c->seen);
    free(l->tickets);
}

static void a_hundred_thousand_open_questions_of_one_processor_all_come_back(void **state)
{
    (void)state;
    crowd c = { .timeout = 2 * WEIR_S };
    library l = { 0 };
    run_crowd(&c, &l, false);
    assert_int_equal(0, l.refused);
    assert_int_equal(c.count / 2, c.answers);
    assert_int_equal(c.count / 2, c.timeouts);
}

static void they_all_come_back_at_once_if_their_asker_stops(void **state)
{
    (void)state;
    crowd c = { .timeout = WEIR_FOREVER };
    library l = { 0 };
    run_crowd(&c, &l, true);
    assert_true(c.timeouts >= c.count / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_race_of_an_answer_and_its_timeout_has_one_winner),
        cmocka_unit_test(answers_and_posts_of_one_sender_arrive_in_the_order_sent),
        cmocka_unit_test(a_hundred_thousand_open_questions_of_one_processor_all_come_back),
        cmocka_unit_test(they_all_come_back_at_once_if_their_asker_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
