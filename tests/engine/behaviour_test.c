/*
 * behaviour_test.c - the stack of handlers: become, unbecome, and both asked for from outside
 * (S-14, S-15).
 *
 * Every handler writes its letter behind what the processor has handled so far, so a test compares
 * one line of text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

enum { LETTERS_MAX = 4096, DEPTH_MAX = 1024 };

/* What an event asks of its handler. */
typedef enum wish {
    JUST_NOTE,
    PUSH_B,
    PUSH_C,
    PUT_B,
    PUSH_TABLE,
    POP,
    PUSH_MANY, /* until it is refused */
    POP_MANY
} wish;

typedef struct order {
    uint32_t wish;
    uint32_t count;
} order;
WEIR_EVENT_TYPE(order, "behaviour.order");
WEIR_EMPTY_TYPE(plain, "behaviour.plain");
WEIR_EMPTY_TYPE(other, "behaviour.other");

typedef struct player {
    char letters[LETTERS_MAX + 1];
    uint32_t count;
    weir_status answers[DEPTH_MAX + 8];
    uint32_t answered;
    sem_t told; /* at every event */
} player;

static void player_init(player *p)
{
    memset(p, 0, sizeof(*p));
    assert_int_equal(0, sem_init(&p->told, 0, 0));
}

static weir_status letter_b(void *state, weir_turn *turn, const weir_event *event);
static weir_status letter_c(void *state, weir_turn *turn, const weir_event *event);
static weir_status letter_t(void *state, weir_turn *turn, const weir_event *event);

static const weir_case table_rows[] = { { &order_type, letter_t }, { &plain_type, letter_t } };
static const weir_cases table = WEIR_CASES(table_rows);

static weir_status carry_out(weir_turn *turn, uint32_t what)
{
    switch (what) {
    case PUSH_B:
        return weir_turn_become(turn, letter_b, true);
    case PUSH_C:
        return weir_turn_become(turn, letter_c, true);
    case PUT_B:
        return weir_turn_become(turn, letter_b, false);
    case PUSH_TABLE:
        return weir_turn_become_cases(turn, &table, true);
    case POP:
        return weir_turn_unbecome(turn);
    default:
        return WEIR_OK;
    }
}

static weir_status note(player *p, weir_turn *turn, const weir_event *event, char letter)
{
    const order *o = weir_event_as(event, &order_type);
    weir_status status = WEIR_OK;
    if (p->count < LETTERS_MAX) {
        p->letters[p->count++] = letter;
    }
    const uint32_t times = o == NULL ? 0 : o->count != 0 ? o->count : 1;
    for (uint32_t i = 0; i < times; i++) {
        const uint32_t what = o->wish == PUSH_MANY ? PUSH_B : o->wish == POP_MANY ? POP : o->wish;
        status = carry_out(turn, what);
        if (p->answered < DEPTH_MAX + 8) {
            p->answers[p->answered++] = status;
        }
    }
    (void)sem_post(&p->told);
    return WEIR_OK;
}

static weir_status letter_a(void *state, weir_turn *turn, const weir_event *event)
{
    return note(state, turn, event, 'a');
}

static weir_status letter_b(void *state, weir_turn *turn, const weir_event *event)
{
    return note(state, turn, event, 'b');
}

static weir_status letter_c(void *state, weir_turn *turn, const weir_event *event)
{
    return note(state, turn, event, 'c');
}

static weir_status letter_t(void *state, weir_turn *turn, const weir_event *event)
{
    return note(state, turn, event, 't');
}

static weir_status letter_u(void *state, weir_turn *turn, const weir_event *event)
{
    return note(state, turn, event, 'u');
}

typedef struct play {
    weir_engine *engine;
    weir_processor processor;
    player player;
} play;

static void play_open(play *p, const weir_processor_options *options)
{
    weir_processor_options o = WEIR_PROCESSOR_OPTIONS_INIT;
    player_init(&p->player);
    if (options != NULL) {
        o = *options;
    }
    if (o.cases.rows == NULL) {
        o.handler = letter_a;
    }
    o.argument = &p->player;
    p->engine = test_engine_create(WEIR_ENGINE(.threads = 2, .log_level = WEIR_LOG_OFF));
    p->processor = test_processor_add(p->engine, &o);
    test_engine_start(p->engine);
}

static void tell(play *p, wish what)
{
    assert_int_equal(WEIR_OK, weir_engine_post(p->engine, p->processor,
                                               WEIR_EVENT(order, .wish = (uint32_t)what)));
}

static void tell_many(play *p, wish what, uint32_t count)
{
    assert_int_equal(WEIR_OK,
                     weir_engine_post(p->engine, p->processor,
                                      WEIR_EVENT(order, .wish = (uint32_t)what, .count = count)));
}

/* All of it is handled, and by whom. */
static weir_stop_report play_close(play *p, const char *letters)
{
    const weir_stop_report report = test_engine_stop(p->engine);
    weir_engine_destroy(p->engine);
    assert_string_equal(letters, p->player.letters);
    return report;
}

/* ---- from inside ---- */

static void a_pushed_handler_gets_the_next_event_and_a_pop_brings_the_old_one_back(void **state)
{
    (void)state;
    play p;
    play_open(&p, NULL);
    tell(&p, PUSH_B);
    tell(&p, PUSH_C);
    tell(&p, JUST_NOTE);
    tell(&p, POP);
    tell(&p, POP);
    tell(&p, JUST_NOTE);
    (void)play_close(&p, "abccba");
}

static void a_replacement_takes_the_place_of_the_top_and_of_the_base(void **state)
{
    (void)state;
    play p;
    play_open(&p, NULL);
    tell(&p, PUSH_C);
    tell(&p, PUT_B); /* over a */
    tell(&p, POP);
    tell(&p, PUT_B); /* the base itself */
    tell(&p, POP);   /* nothing is below it */
    tell(&p, JUST_NOTE);
    (void)play_close(&p, "acbabb");
    assert_int_equal(WEIR_ALREADY, p.player.answers[4]);
}

static void a_pop_never_takes_the_base_and_counts_as_handled(void **state)
{
    (void)state;
    play p;
    play_open(&p, NULL);
    tell_many(&p, POP_MANY, 3);
    tell(&p, JUST_NOTE);
    const weir_stop_report report = play_close(&p, "aa");
    assert_int_equal(2, report.handled);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(WEIR_ALREADY, p.player.answers[i]);
    }
}

static void a_hundred_handlers_come_back_in_order(void **state)
{
    (void)state;
    char expected[256] = "";
    play p;
    play_open(&p, NULL);
    for (int i = 0; i < 100; i++) {
        tell(&p, i % 2 == 0 ? PUSH_B : PUSH_C);
        expected[i] = i == 0 ? 'a' : i % 2 == 1 ? 'b' : 'c';
    }
    for (int i = 0; i < 100; i++) {
        tell(&p, POP);
        expected[100 + i] = i % 2 == 0 ? 'c' : 'b';
    }
    tell(&p, JUST_NOTE);
    expected[200] = 'a';
    (void)play_close(&p, expected);
}

static void the_limit_of_1024_handlers_is_a_status_and_changes_nothing(void **state)
{
    (void)state;
    play p;
    play_open(&p, NULL);
    tell_many(&p, PUSH_MANY, DEPTH_MAX); /* the base is one of them */
    tell(&p, PUT_B);                     /* a replacement needs no place */
    tell_many(&p, POP_MANY, DEPTH_MAX - 1);
    tell(&p, JUST_NOTE);
    const weir_stop_report report = play_close(&p, "abba");
    assert_int_equal(0, report.dead);
    assert_int_equal(WEIR_OK, p.player.answers[DEPTH_MAX - 2]);
    assert_int_equal(WEIR_E_LIMIT, p.player.answers[DEPTH_MAX - 1]);
    assert_int_equal(WEIR_OK, p.player.answers[DEPTH_MAX]);
}

static void a_table_may_be_pushed_and_what_it_lacks_is_unhandled(void **state)
{
    (void)state;
    play p;
    play_open(&p, WEIR_PROCESSOR(.unhandled = letter_u));
    tell(&p, PUSH_TABLE);
    assert_int_equal(WEIR_OK, weir_engine_post(p.engine, p.processor, WEIR_EMPTY(plain)));
    assert_int_equal(WEIR_OK, weir_engine_post(p.engine, p.processor, WEIR_EMPTY(other)));
    tell(&p, PUSH_B);
    assert_int_equal(WEIR_OK, weir_engine_post(p.engine, p.processor, WEIR_EMPTY(other)));
    tell(&p, POP);
    tell(&p, POP);
    assert_int_equal(WEIR_OK, weir_engine_post(p.engine, p.processor, WEIR_EMPTY(other)));
    (void)play_close(&p, "atutbbta");
}

static void a_processor_with_a_table_finds_it_again_below_a_function(void **state)
{
    (void)state;
    play p;
    play_open(&p, WEIR_PROCESSOR(.cases = WEIR_CASES(table_rows), .unhandled = letter_u));
    tell(&p, PUSH_B);
    assert_int_equal(WEIR_OK, weir_engine_post(p.engine, p.processor, WEIR_EMPTY(other)));
    tell(&p, POP);
    assert_int_equal(WEIR_OK, weir_engine_post(p.engine, p.processor, WEIR_EMPTY(other)));
    tell(&p, JUST_NOTE);
    (void)play_close(&p, "tbbut");
}

static weir_ns no_time(void *state, const weir_event *event)
{
    (void)state;
    (void)event;
    return 1;
}

static void event_time_keeps_going_under_another_handler(void **state)
{
    (void)state;
    play p;
    play_open(&p, WEIR_PROCESSOR(.event_time = no_time));
    tell(&p, PUSH_B);
    tell(&p, PUSH_C);
    tell(&p, POP);
    tell(&p, JUST_NOTE);
    (void)play_close(&p, "abcb");
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const weir_case no_handler[] = { { &plain_type, NULL } };
    const weir_cases bad = WEIR_CASES(no_handler);
    play p;
    play_open(&p, NULL);
    assert_int_equal(WEIR_E_INVALID, weir_turn_become(NULL, letter_b, true));
    assert_int_equal(WEIR_E_INVALID, weir_turn_become_cases(NULL, &table, true));
    assert_int_equal(WEIR_E_INVALID, weir_turn_unbecome(NULL));
    assert_int_equal(WEIR_E_INVALID,
                     weir_processor_request_become(p.engine, p.processor, NULL, true));
    assert_int_equal(WEIR_E_INVALID,
                     weir_processor_request_become_cases(p.engine, p.processor, NULL, true));
    assert_int_equal(WEIR_E_INVALID,
                     weir_processor_request_become_cases(p.engine, p.processor, &bad, true));
    assert_int_equal(WEIR_E_INVALID,
                     weir_processor_request_become(NULL, p.processor, letter_b, true));
    assert_int_equal(WEIR_E_INVALID, weir_processor_request_unbecome(NULL, p.processor));
    (void)play_close(&p, "");
}

/* ---- from outside ---- */

static void a_request_takes_effect_between_the_events_around_it(void **state)
{
    (void)state;
    play p;
    play_open(&p, NULL);
    tell(&p, JUST_NOTE);
    assert_int_equal(WEIR_OK, weir_processor_request_become(p.engine, p.processor, letter_b, true));
    tell(&p, JUST_NOTE);
    assert_int_equal(WEIR_OK,
                     weir_processor_request_become(p.engine, p.processor, letter_c, false));
    tell(&p, JUST_NOTE);
    assert_int_equal(WEIR_OK,
                     weir_processor_request_become_cases(p.engine, p.processor, &table, true));
    tell(&p, JUST_NOTE);
    assert_int_equal(WEIR_OK, weir_processor_request_unbecome(p.engine, p.processor));
    assert_int_equal(WEIR_OK, weir_processor_request_unbecome(p.engine, p.processor));
    tell(&p, JUST_NOTE);
    assert_int_equal(WEIR_OK, weir_processor_request_unbecome(p.engine, p.processor));
    tell(&p, JUST_NOTE);
    const weir_stop_report report = play_close(&p, "abctaa");
    assert_int_equal(6 + 6, report.handled); /* a request is an event like any other */
}

static void a_request_beyond_the_limit_is_dead_and_the_processor_goes_on(void **state)
{
    (void)state;
    play p;
    play_open(&p, WEIR_PROCESSOR(.on_failure = WEIR_STOP)); /* it is not its own failure */
    for (uint32_t i = 0; i < DEPTH_MAX; i++) {
        assert_int_equal(WEIR_OK,
                         weir_processor_request_become(p.engine, p.processor, letter_b, true));
    }
    tell(&p, JUST_NOTE);
    const weir_stop_report report = play_close(&p, "b");
    assert_int_equal(1, report.dead);
    assert_int_equal(DEPTH_MAX, report.handled);
}

static void a_request_has_the_statuses_of_a_post(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, true);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor full =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = test_recorder_handle,
                                                  .argument = &recorder, .mailbox_max = 1));
    const weir_processor gone = test_processor_add(engine, WEIR_PROCESSOR(.handler = letter_a));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, gone, 0, NULL));
    assert_int_equal(WEIR_UNKNOWN, weir_processor_request_become(engine, gone, letter_b, true));
    assert_int_equal(WEIR_UNKNOWN, weir_processor_request_unbecome(engine, gone));
    assert_int_equal(WEIR_OK, test_post(engine, full, 1));
    test_sem_wait(&recorder.entered);
    assert_int_equal(WEIR_OK, test_post(engine, full, 2));
    assert_int_equal(WEIR_FULL, weir_processor_request_unbecome(engine, full));
    test_recorder_pass(&recorder, 2);
    (void)test_engine_stop(engine);
    assert_int_equal(WEIR_STOPPING, weir_processor_request_unbecome(engine, full));
    weir_engine_destroy(engine);
}

/* ---- under load ---- */

typedef struct crowd {
    weir_engine *engine;
    weir_processor processor;
    uint64_t events;   /* of each member */
    uint64_t switches; /* of each member */
    _Atomic uint64_t accepted;
    uint64_t by_a, by_b; /* the processor's own: P-1 */
    uint64_t last[128];  /* of each member: the last event seen, plus one */
    uint64_t disordered;
} crowd;

typedef struct member {
    crowd *crowd;
    uint64_t number;
    pthread_t thread;
    uint64_t wrong; /* statuses */
} member;

typedef struct step {
    uint64_t member, number;
} step;
WEIR_EVENT_TYPE(step, "behaviour.step");

static void see(crowd *c, const weir_event *event)
{
    const step *s = event->data;
    c->disordered += c->last[s->member] != s->number;
    c->last[s->member] = s->number + 1;
}

static weir_status crowd_a(void *state, weir_turn *turn, const weir_event *event)
{
    crowd *c = state;
    (void)turn;
    c->by_a++;
    see(c, event);
    return WEIR_OK;
}

static weir_status crowd_b(void *state, weir_turn *turn, const weir_event *event)
{
    crowd *c = state;
    (void)turn;
    c->by_b++;
    see(c, event);
    return WEIR_OK;
}

static weir_status switch_once(const member *m, uint64_t turn)
{
    crowd *c = m->crowd;
    switch (turn % 3) {
    case 0:
        return weir_processor_request_become(c->engine, c->processor, crowd_b, true);
    case 1:
        return weir_processor_request_become(c->engine, c->processor, crowd_a, false);
    default:
        return weir_processor_request_unbecome(c->engine, c->processor);
    }
}

static void *take_part(void *argument)
{
    member *m = argument;
    crowd *c = m->crowd;
    const uint64_t every = c->events / c->switches > 0 ? c->events / c->switches : 1;
    uint64_t switched = 0;
    for (uint64_t i = 0; i < c->events; i++) {
        m->wrong += weir_engine_post(c->engine, c->processor,
                                     WEIR_EVENT(step, .member = m->number, .number = i)) != WEIR_OK;
        if (i % every == 0 && switched < c->switches) {
            m->wrong += switch_once(m, switched++) != WEIR_OK;
        }
    }
    while (switched < c->switches) {
        m->wrong += switch_once(m, switched++) != WEIR_OK;
    }
    return NULL;
}

static void run_crowd(uint32_t members, uint64_t events, uint64_t switches)
{
    crowd c = { .events = events, .switches = switches };
    member m[128];
    c.engine = test_engine_create(
        WEIR_ENGINE(.threads = 2, .overflow = WEIR_OVERFLOW_BLOCK, .block_max = TEST_PATIENCE));
    c.processor = test_processor_add(c.engine, WEIR_PROCESSOR(.handler = crowd_a, .argument = &c));
    test_engine_start(c.engine);
    for (uint32_t i = 0; i < members; i++) {
        m[i] = (member){ .crowd = &c, .number = i };
        assert_int_equal(0, pthread_create(&m[i].thread, NULL, take_part, &m[i]));
    }
    for (uint32_t i = 0; i < members; i++) {
        assert_int_equal(0, pthread_join(m[i].thread, NULL));
        assert_int_equal(0, m[i].wrong);
    }
    const weir_stop_report report = test_engine_stop(c.engine);
    assert_int_equal(members * (events + switches), report.handled);
    assert_int_equal(members * events, c.by_a + c.by_b);
    assert_int_equal(0, c.disordered);
    assert_true(c.by_b > 0);
    weir_engine_destroy(c.engine);
}

static void four_threads_switch_five_hundred_times_each_under_load(void **state)
{
    (void)state;
    run_crowd(4, test_load(50000, 5000), 500);
}

static void a_hundred_requesters_with_a_thousand_events_each_lose_nothing(void **state)
{
    (void)state;
    run_crowd(100, test_load(1000, 100), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pushed_handler_gets_the_next_event_and_a_pop_brings_the_old_one_back),
        cmocka_unit_test(a_replacement_takes_the_place_of_the_top_and_of_the_base),
        cmocka_unit_test(a_pop_never_takes_the_base_and_counts_as_handled),
        cmocka_unit_test(a_hundred_handlers_come_back_in_order),
        cmocka_unit_test(the_limit_of_1024_handlers_is_a_status_and_changes_nothing),
        cmocka_unit_test(a_table_may_be_pushed_and_what_it_lacks_is_unhandled),
        cmocka_unit_test(a_processor_with_a_table_finds_it_again_below_a_function),
        cmocka_unit_test(event_time_keeps_going_under_another_handler),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(a_request_takes_effect_between_the_events_around_it),
        cmocka_unit_test(a_request_beyond_the_limit_is_dead_and_the_processor_goes_on),
        cmocka_unit_test(a_request_has_the_statuses_of_a_post),
        cmocka_unit_test(four_threads_switch_five_hundred_times_each_under_load),
        cmocka_unit_test(a_hundred_requesters_with_a_thousand_events_each_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
