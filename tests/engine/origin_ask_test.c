/*
 * origin_ask_test.c - a question that was asked with an origin: it holds that until what comes back
 * has ended, whoever answers, and whether anybody does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "origin_support.h"

/* An asker asks to[0] at its first event, as `ask` says; an answerer answers, or keeps the ticket.
 */
typedef struct player {
    actor a; /* first */
    weir_ask_options ask;
    weir_ticket ticket;
    weir_status asked;
    weir_status replied;
    bool fails;
} player;

static weir_status ask_once(actor *a, weir_turn *turn, const weir_event *event)
{
    player *p = (player *)(void *)a;
    if (event->from.ask == 0 && event->tag == 0 && p->ask.struct_size != 0) {
        p->asked = weir_turn_ask(turn, a->to[0], event, &p->ask);
    }
    return p->fails && event->tag != 0 ? WEIR_E_USER : WEIR_OK;
}

static weir_status answer_now(actor *a, weir_turn *turn, const weir_event *event)
{
    player *p = (player *)(void *)a;
    p->replied = weir_turn_reply(turn, event->from, event);
    return WEIR_OK;
}

/* A question is noted; whatever comes next is its answer. */
static weir_status answer_later(actor *a, weir_turn *turn, const weir_event *event)
{
    player *p = (player *)(void *)a;
    if (event->from.ask != 0) {
        p->ticket = event->from;
    } else {
        p->replied = weir_turn_reply(turn, p->ticket, event);
    }
    return WEIR_OK;
}

typedef struct pair {
    scene s;
    player asker, answerer;
    weir_processor asks, answers;
} pair;

static void pair_open(pair *p, weir_processor_options options,
                      weir_status (*answer)(actor *, weir_turn *, const weir_event *),
                      weir_ns timeout)
{
    memset(p, 0, sizeof(*p));
    scene_open(&p->s);
    p->answerer.a.act = answer;
    p->asker.a.act = ask_once;
    p->asker.ask =
        (weir_ask_options){ .struct_size = sizeof(p->asker.ask), .timeout = timeout, .tag = 7 };
    p->answers = add(&p->s, &p->answerer.a);
    options.struct_size = sizeof(options);
    options.handler = actor_handle;
    options.argument = &p->asker;
    p->asker.a.on = &p->s;
    p->asker.a.to[0] = p->answers;
    p->asks = test_processor_add(p->s.engine, &options);
    scene_start(&p->s);
}

static const weir_event *sized(uint32_t size)
{
    static const unsigned char bytes[64] = { 1 };
    static weir_event event;
    event = (weir_event){ .type = &weir_bytes_type, .data = bytes, .size = size };
    return &event;
}

static void turn_until_handled(const pair *p, uint64_t handled)
{
    const weir_ns end = test_now() + TEST_PATIENCE;
    while (p->asker.a.handled < handled) {
        assert_true(test_now() < end);
        (void)weir_thread_run_once(p->s.engine, p->s.thread, 0);
        (void)sched_yield();
    }
}

static void question_answer_and_what_follows_have_the_askers_origin(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 0, 8, 16, 17, 24, 25, 32, 33, 64 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        pair p;
        pair_open(&p, (weir_processor_options){ .name = NULL }, answer_now, WEIR_FOREVER);
        assert_int_equal(WEIR_OK, token_post(p.s.engine, &p.s.t, p.asks, sized(sizes[i])));
        scene_turn(&p.s);
        assert_int_equal(WEIR_OK, p.asker.asked);
        assert_int_equal(WEIR_OK, p.answerer.replied);
        assert_int_equal(1, p.answerer.a.with_token);
        assert_int_equal(2, p.asker.a.with_token);
        assert_int_equal(sizes[i] > 0 ? 2 : 0, p.asker.a.sum);
        assert_int_equal(0, token_held(&p.s.t));
        scene_close(&p.s);
    }
}

static void an_open_question_holds_it_and_a_late_answer_goes_on_with_it(void **state)
{
    (void)state;
    static const weir_overflow policies[] = { WEIR_OVERFLOW_FAIL, WEIR_OVERFLOW_DROP_OLDEST };
    for (size_t i = 0; i < 2; i++) { /* the answer in a mailbox that hands out copies, too */
        pair p;
        pair_open(&p, (weir_processor_options){ .mailbox_max = 4, .overflow = policies[i] },
                  answer_later, WEIR_FOREVER);
        assert_int_equal(WEIR_OK, token_post(p.s.engine, &p.s.t, p.asks, small()));
        scene_turn(&p.s);
        assert_int_equal(WEIR_OK, p.asker.asked);
        assert_int_equal(1, token_held(&p.s.t)); /* both their events are over */
        assert_int_equal(WEIR_OK, weir_engine_post(p.s.engine, p.answers, small()));
        scene_turn(&p.s);
        assert_int_equal(WEIR_OK, p.answerer.replied);
        assert_int_equal(1, p.answerer.a.with_token);
        assert_int_equal(2, p.asker.a.with_token);
        assert_int_equal(0, token_held(&p.s.t));
        scene_close(&p.s);
    }
}

static void an_answer_has_the_answerers_origin_if_its_asker_had_none(void **state)
{
    (void)state;
    pair p;
    pair_open(&p, (weir_processor_options){ .name = NULL }, answer_later, WEIR_FOREVER);
    assert_int_equal(WEIR_OK, weir_engine_post(p.s.engine, p.asks, small()));
    scene_turn(&p.s);
    assert_int_equal(WEIR_OK, token_post(p.s.engine, &p.s.t, p.answers, sized(64)));
    scene_turn(&p.s);
    assert_int_equal(WEIR_OK, p.answerer.replied);
    assert_int_equal(2, p.asker.a.handled);
    assert_int_equal(1, p.asker.a.with_token);
    assert_int_equal(0, token_held(&p.s.t));
    scene_close(&p.s);
}

static void an_answer_with_two_origins_holds_both(void **state)
{
    (void)state;
    pair p;
    token other;
    token_open(&other);
    pair_open(&p, (weir_processor_options){ .name = NULL }, answer_later, WEIR_FOREVER);
    assert_int_equal(WEIR_OK, token_post(p.s.engine, &p.s.t, p.asks, small()));
    scene_turn(&p.s);
    assert_int_equal(WEIR_OK, token_post(p.s.engine, &other, p.answers, small()));
    while (p.answerer.a.handled < 2) {
        assert_int_equal(1, weir_thread_run_once(p.s.engine, p.s.thread, 1));
    }
    assert_int_equal(1, token_held(&other));
    assert_int_equal(1, token_held(&p.s.t));
    scene_turn(&p.s);
    assert_int_equal(2, p.asker.a.with_token);
    token_close(&other);
    scene_close(&p.s);
}

static void a_timeout_has_the_askers_origin(void **state)
{
    (void)state;
    pair p;
    pair_open(&p, (weir_processor_options){ .name = NULL }, answer_later, WEIR_MS);
    assert_int_equal(WEIR_OK, token_post(p.s.engine, &p.s.t, p.asks, small()));
    scene_turn(&p.s);
    turn_until_handled(&p, 2);
    assert_int_equal(1, p.asker.a.timeouts);
    assert_int_equal(2, p.asker.a.with_token);
    assert_int_equal(0, token_held(&p.s.t));
    assert_int_equal(WEIR_OK, weir_engine_post(p.s.engine, p.answers, small()));
    scene_turn(&p.s);
    assert_int_equal(WEIR_UNKNOWN, p.answerer.replied); /* too late */
    scene_close(&p.s);
}

static void a_question_that_is_refused_holds_nothing(void **state)
{
    (void)state;
    pair p;
    pair_open(&p, (weir_processor_options){ .name = NULL }, answer_now, WEIR_FOREVER);
    p.asker.a.to[0] = (weir_processor){ p.answers.id + 100 };
    assert_int_equal(WEIR_OK, token_post(p.s.engine, &p.s.t, p.asks, small()));
    scene_turn(&p.s);
    assert_int_equal(WEIR_UNKNOWN, p.asker.asked);
    assert_int_equal(0, token_held(&p.s.t));
    scene_close(&p.s);
}

static void an_answer_that_fails_and_is_tried_again_holds_it_meanwhile(void **state)
{
    (void)state;
    pair p;
    pair_open(&p,
              (weir_processor_options){
                  .on_failure = WEIR_RETRY, .retry_max = 2, .retry_delay = WEIR_MS },
              answer_now, WEIR_FOREVER);
    p.asker.fails = true;
    assert_int_equal(WEIR_OK, token_post(p.s.engine, &p.s.t, p.asks, small()));
    turn_until_handled(&p, 2);
    assert_int_equal(2, token_held(&p.s.t)); /* the asker's, and what the question had */
    turn_until_handled(&p, 4);
    scene_turn(&p.s);
    assert_int_equal(4, p.asker.a.with_token);
    assert_int_equal(0, token_held(&p.s.t));
    scene_close(&p.s);
}

static weir_status then_nothing(void *state, weir_turn *turn, const weir_event *event)
{
    return actor_handle(state, turn, event);
}

static void a_stop_of_the_asker_ends_what_is_open(void **state)
{
    (void)state;
    pair p;
    pair_open(&p, (weir_processor_options){ .name = NULL }, answer_later, WEIR_FOREVER);
    assert_int_equal(WEIR_OK, token_post(p.s.engine, &p.s.t, p.asks, small()));
    scene_turn(&p.s);
    assert_int_equal(1, token_held(&p.s.t));
    assert_int_equal(WEIR_OK, weir_processor_stop_async(p.s.engine, p.asks, WEIR_S));
    scene_turn(&p.s);
    assert_int_equal(1, p.asker.a.timeouts);
    assert_int_equal(2, p.asker.a.with_token);
    assert_int_equal(0, token_held(&p.s.t));
    scene_close(&p.s);
}

static weir_status fail_it(actor *a, weir_turn *turn, const weir_event *event)
{
    (void)a;
    (void)turn;
    (void)event;
    return WEIR_E_USER;
}

static void an_asker_that_fails_for_good_lets_go_of_what_is_open(void **state)
{
    (void)state;
    for (int restarts = 0; restarts < 2; restarts++) {
        pair p;
        pair_open(
            &p, (weir_processor_options){ .on_failure = restarts != 0 ? WEIR_RESTART : WEIR_STOP },
            answer_later, WEIR_FOREVER);
        p.asker.ask.then = then_nothing;
        assert_int_equal(WEIR_OK, token_post(p.s.engine, &p.s.t, p.asks, small()));
        scene_turn(&p.s);
        assert_int_equal(1, token_held(&p.s.t));
        p.asker.a.act = fail_it;
        assert_int_equal(WEIR_OK, weir_engine_post(p.s.engine, p.asks, small()));
        scene_turn(&p.s);
        assert_int_equal(0, token_held(&p.s.t));
        scene_close(&p.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(question_answer_and_what_follows_have_the_askers_origin),
        cmocka_unit_test(an_open_question_holds_it_and_a_late_answer_goes_on_with_it),
        cmocka_unit_test(an_answer_has_the_answerers_origin_if_its_asker_had_none),
        cmocka_unit_test(an_answer_with_two_origins_holds_both),
        cmocka_unit_test(a_timeout_has_the_askers_origin),
        cmocka_unit_test(a_question_that_is_refused_holds_nothing),
        cmocka_unit_test(an_answer_that_fails_and_is_tried_again_holds_it_meanwhile),
        cmocka_unit_test(a_stop_of_the_asker_ends_what_is_open),
        cmocka_unit_test(an_asker_that_fails_for_good_lets_go_of_what_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
