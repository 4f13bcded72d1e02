/*
 * turn_test.c - all that a handler can do with its turn: who it is, what time it is, whether more
 * waits behind, posting, committing, answering, flows, tables.
 *
 * Handlers record; the test's thread asserts after the stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include "engine/engine.h"

/* Runs one handler over `count` numbers, in turns of `batch_max`, all waiting before the start. */
static void run_numbers(weir_handler handler, void *state, uint64_t count, uint32_t batch_max)
{
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = handler, .argument = state, .batch_max = batch_max));
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(WEIR_OK, test_post(engine, to, i));
    }
    test_engine_start(engine);
    assert_int_equal(count, test_engine_end(engine).handled);
}

/* ---- time and what is behind ---- */

enum { LOOKS_MAX = 8 };

typedef struct looks {
    uint64_t count;
    weir_ns first[LOOKS_MAX], second[LOOKS_MAX], real[LOOKS_MAX];
    bool more[LOOKS_MAX];
} looks;

static weir_status look(void *state, weir_turn *turn, const weir_event *event)
{
    looks *l = state;
    (void)event;
    l->first[l->count] = weir_turn_now(turn);
    const weir_ns end = test_now() + WEIR_MS;
    while (test_now() < end) { /* work, so that a second reading of the clock would differ */
    }
    l->second[l->count] = weir_turn_now(turn);
    l->real[l->count] = weir_time_now(weir_turn_engine(turn));
    l->more[l->count] = weir_turn_more(turn);
    l->count++;
    return WEIR_OK;
}

static void the_clock_of_a_turn_is_read_once_at_the_first_call(void **state)
{
    (void)state;
    looks l = { .count = 0 };
    const weir_ns before = test_now();
    run_numbers(look, &l, 4, 2);
    assert_int_equal(4, l.count);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(l.first[i], l.second[i]);
        assert_int_equal(l.first[i - i % 2], l.first[i]); /* of one turn: the same */
        assert_true(l.first[i] >= before);
        assert_true(l.first[i] <= l.real[i] - WEIR_MS);
    }
    assert_true(l.first[2] >= l.real[1]); /* of the next turn: anew */
    assert_true(l.real[3] <= test_now());
}

static void more_is_said_until_the_last_event_of_the_batch(void **state)
{
    (void)state;
    static const bool expected[] = { true, true, false, true, false };
    looks l = { .count = 0 };
    run_numbers(look, &l, 5, 3);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(expected[i], l.more[i]);
    }
}

typedef struct init_look {
    bool more;
    weir_ns now;
    weir_engine *engine;
    weir_processor self;
} init_look;

static weir_status look_in_init(void *state, weir_turn *turn, void *argument)
{
    init_look *l = argument;
    (void)state;
    *l = (init_look){ weir_turn_more(turn), weir_turn_now(turn), weir_turn_engine(turn),
                      weir_turn_self(turn) };
    return WEIR_OK;
}

static void in_an_init_the_turn_is_the_processors_and_no_event_is_ahead(void **state)
{
    (void)state;
    init_look l = { .more = true };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .state_size = sizeof(test_recorder),
                               .init = look_in_init, .argument = &l));
    const weir_ns before = test_now();
    for (uint64_t i = 0; i < 3; i++) { /* they wait, and are not part of it */
        assert_int_equal(WEIR_OK, test_post(engine, to, i));
    }
    test_engine_start(engine);
    assert_int_equal(3, test_engine_stop(engine).handled);
    assert_false(l.more);
    assert_in_range(l.now, before, test_now());
    assert_ptr_equal(engine, l.engine);
    assert_int_equal(to.id, l.self.id);
    weir_engine_destroy(engine);
}

typedef struct ends {
    uint64_t count, last_of_turn[LOOKS_MAX], turns;
} ends;

static weir_status note_end(void *state, weir_turn *turn, const weir_event *event)
{
    ends *e = state;
    (void)event;
    e->count++;
    if (!weir_turn_more(turn) && e->turns < LOOKS_MAX) {
        e->last_of_turn[e->turns++] = e->count;
    }
    return WEIR_OK;
}

static void a_turn_has_64_events_by_default(void **state)
{
    (void)state;
    ends e = { .count = 0 };
    run_numbers(note_end, &e, 150, 0);
    assert_int_equal(3, e.turns);
    assert_int_equal(64, e.last_of_turn[0]);
    assert_int_equal(128, e.last_of_turn[1]);
    assert_int_equal(150, e.last_of_turn[2]);
}

/* ---- commit ---- */

static atomic_int drops;

static void count_drop(void *payload)
{
    (void)payload;
    atomic_fetch_add(&drops, 1);
}

static const weir_event_type heavy_type = {
    sizeof(weir_event_type), "test.heavy", sizeof(uint64_t), false, count_drop, NULL
};

typedef struct giver {
    weir_processor to;
    weir_status reserved, given, refused;
    const void *sent, *arrived; /* addresses: shared, not copied */
    int drops_when_refused, drops_on_arrival;
    uint64_t value;
    weir_processor from;
} giver;

static weir_event heavy(weir_engine *engine, uint64_t value, weir_status *status)
{
    weir_event event = { .type = &heavy_type, .size = sizeof(value) };
    *status = weir_block_reserve(engine, sizeof(value), &event.block);
    if (*status == WEIR_OK) {
        event.data = weir_block_data(event.block);
        memcpy(weir_block_data(event.block), &value, sizeof(value));
    }
    return event;
}

static weir_status give(void *state, weir_turn *turn, const weir_event *event)
{
    giver *g = state;
    (void)event;
    const weir_event lost = heavy(weir_turn_engine(turn), 1, &g->reserved);
    g->refused = weir_turn_commit(turn, (weir_processor){ 0 }, &lost);
    g->drops_when_refused = atomic_load(&drops);
    const weir_event sent = heavy(weir_turn_engine(turn), 77, &g->reserved);
    g->sent = sent.data;
    g->given = weir_turn_commit(turn, g->to, &sent);
    return WEIR_OK;
}

static weir_status receive(void *state, weir_turn *turn, const weir_event *event)
{
    giver *g = state;
    (void)turn;
    const uint64_t *value = weir_event_as(event, &heavy_type);
    g->arrived = value;
    g->value = value != NULL ? *value : 0;
    g->from = event->from.sender;
    g->drops_on_arrival = atomic_load(&drops);
    return WEIR_OK;
}

static void a_handler_commits_a_block_that_arrives_uncopied_with_its_sender(void **state)
{
    (void)state;
    giver g = { .given = WEIR_E_FAILED };
    atomic_store(&drops, 0);
    weir_engine *engine = test_engine_create(NULL);
    g.to = test_processor_add(engine, WEIR_PROCESSOR(.handler = receive, .argument = &g));
    const weir_processor from =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = give, .argument = &g));
    assert_int_equal(WEIR_OK, test_post(engine, from, 0));
    test_engine_start(engine);
    assert_int_equal(2, test_engine_stop(engine).handled);
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    weir_engine_destroy(engine);
    assert_int_equal(WEIR_OK, g.reserved);
    assert_int_equal(WEIR_UNKNOWN, g.refused);
    assert_int_equal(1, g.drops_when_refused);
    assert_int_equal(WEIR_OK, g.given);
    assert_ptr_equal(g.sent, g.arrived);
    assert_int_equal(77, g.value);
    assert_int_equal(from.id, g.from.id);
    assert_int_equal(1, g.drops_on_arrival); /* alive while its reader is */
    assert_int_equal(2, atomic_load(&drops));
}

/* A commit that cannot be tried at all still ends the caller's ownership. */
static void a_commit_without_an_engine_or_a_turn_drops_its_payload_once(void **state)
{
    (void)state;
    weir_status reserved;
    weir_engine *engine = test_engine_create(NULL);
    atomic_store(&drops, 0);
    weir_event event = heavy(engine, 1, &reserved);
    assert_int_equal(WEIR_OK, reserved);
    assert_int_equal(WEIR_E_INVALID, weir_engine_commit(NULL, (weir_processor){ 1 }, &event));
    assert_int_equal(1, atomic_load(&drops));
    event = heavy(engine, 2, &reserved);
    assert_int_equal(WEIR_E_INVALID, weir_turn_commit(NULL, (weir_processor){ 1 }, &event));
    assert_int_equal(2, atomic_load(&drops));
    event = heavy(engine, 3, &reserved);
    event.type = NULL; /* then there is nobody to drop it, but the block goes back */
    assert_int_equal(WEIR_E_INVALID, weir_turn_commit(NULL, (weir_processor){ 1 }, &event));
    assert_int_equal(2, atomic_load(&drops));
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    weir_engine_destroy(engine);
}

/* ---- answers ---- */

typedef struct talk {
    weir_processor partner;
    weir_ticket kept;
    weir_status to_thread, to_partner, later, null_turn;
    uint64_t answer;
    weir_processor answer_from;
} talk;

/* The first event comes from a thread, the second from the asker; both are answered. */
static weir_status answer(void *state, weir_turn *turn, const weir_event *event)
{
    talk *t = state;
    if (event->from.sender.id == 0) {
        t->to_thread = weir_turn_reply(turn, event->from, WEIR_EVENT(number, 1));
        if (t->kept.sender.id != 0) {
            t->later = weir_turn_reply(turn, t->kept, WEIR_EVENT(number, 1));
        }
        return WEIR_OK;
    }
    t->kept = event->from;
    t->to_partner = weir_turn_reply(turn, event->from, WEIR_EVENT(number, 42));
    t->null_turn = weir_turn_reply(NULL, event->from, WEIR_EVENT(number, 1));
    return WEIR_OK;
}

static weir_status ask(void *state, weir_turn *turn, const weir_event *event)
{
    talk *t = state;
    if (event->from.sender.id == 0) {
        return weir_turn_post(turn, t->partner, WEIR_EVENT(number, 5));
    }
    const number *n = weir_event_as(event, &number_type);
    t->answer = n != NULL ? n->value : 0;
    t->answer_from = event->from.sender;
    return WEIR_OK;
}

static void a_reply_goes_to_the_sender_and_is_unknown_without_one(void **state)
{
    (void)state;
    talk t = { .to_thread = WEIR_E_FAILED, .to_partner = WEIR_E_FAILED, .later = WEIR_E_FAILED };
    weir_engine *engine = test_engine_create(NULL);
    t.partner = test_processor_add(engine, WEIR_PROCESSOR(.handler = answer, .argument = &t));
    const weir_processor asker =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = ask, .argument = &t));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, asker, 0));
    TEST_UNTIL(test_engine_counters(engine).handled == 3); /* post, question, answer */
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, asker, 0, NULL));
    assert_int_equal(WEIR_OK, test_post(engine, t.partner, 0));
    assert_int_equal(4, test_engine_end(engine).handled);
    assert_int_equal(WEIR_OK, t.to_partner);
    assert_int_equal(42, t.answer);
    assert_int_equal(t.partner.id, t.answer_from.id);
    assert_int_equal(asker.id, t.kept.sender.id);
    assert_int_equal(WEIR_UNKNOWN, t.to_thread); /* an ordinary thread has no mailbox */
    assert_int_equal(WEIR_UNKNOWN, t.later);     /* the sender is gone */
    assert_int_equal(WEIR_E_INVALID, t.null_turn);
}

/* ---- flags ---- */

enum { FLAGS = 6 };

typedef struct flag_book {
    uint32_t flags[2 * FLAGS];
    uint64_t count;
} flag_book;

static weir_status note_flags(void *state, weir_turn *turn, const weir_event *event)
{
    flag_book *book = state;
    (void)turn;
    book->flags[book->count++ % (2 * FLAGS)] = event->flags;
    return WEIR_OK;
}

/* The upper half is weir's own. */
static void flags_of_the_lower_half_arrive_as_they_were_sent(void **state)
{
    (void)state;
    static const uint32_t sent[FLAGS] = { 0, 1, WEIR_EVENT_NO_FLOW, 0x8000, 0xffff, 0xffff0001 };
    static const unsigned char large[500];
    flag_book book = { .count = 0 };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = note_flags, .argument = &book));
    for (size_t i = 0; i < FLAGS; i++) {
        weir_event small = *WEIR_EVENT(number, 1);
        small.flags = sent[i];
        small.flow = i % 2; /* envelopes of both kinds */
        assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &small));
        const weir_event block = {
            .type = &weir_bytes_type, .data = large, .size = sizeof(large), .flags = sent[i]
        };
        assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &block));
    }
    test_engine_start(engine);
    assert_int_equal(2 * FLAGS, test_engine_end(engine).handled);
    for (size_t i = 0; i < 2 * FLAGS; i++) {
        assert_int_equal(sent[i / 2] & 0xffff, book.flags[i]);
    }
}

/* ---- flows ---- */

enum { HOPS = 4 };

typedef struct trail {
    weir_processor next;
    uint64_t flows[HOPS];
    uint64_t count;
} trail;

/* Sends on: without a word, with a flow of its own, and with none. */
static weir_status send_on(void *state, weir_turn *turn, const weir_event *event)
{
    trail *t = state;
    (void)event;
    weir_event next = *WEIR_EVENT(number, 1);
    const weir_event *const both[] = { &next, &next };
    weir_status status = weir_turn_post(turn, t->next, &next);
    next.flow = 9;
    status = status == WEIR_OK ? weir_turn_post(turn, t->next, &next) : status;
    next.flow = 0;
    next.flags = WEIR_EVENT_NO_FLOW;
    status = status == WEIR_OK ? weir_turn_post(turn, t->next, &next) : status;
    next.flags = 0;
    return status == WEIR_OK && weir_turn_post_batch(turn, &t->next, 1, both, 1, NULL) == 1
               ? WEIR_OK
               : WEIR_E_FAILED;
}

static weir_status note_flow(void *state, weir_turn *turn, const weir_event *event)
{
    trail *t = state;
    (void)turn;
    if (t->count < HOPS) {
        t->flows[t->count] = event->flow;
    }
    t->count++;
    return WEIR_OK;
}

static void what_a_handler_posts_inherits_its_flow_unless_it_says_otherwise(void **state)
{
    (void)state;
    trail t = { .count = 0 };
    weir_engine *engine = test_engine_create(NULL);
    t.next = test_processor_add(engine, WEIR_PROCESSOR(.handler = note_flow, .argument = &t));
    const weir_processor first =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = send_on, .argument = &t));
    weir_event event = *WEIR_EVENT(number, 1);
    event.flow = 7;
    assert_int_equal(WEIR_OK, weir_engine_post(engine, first, &event));
    test_engine_start(engine);
    assert_int_equal(1 + HOPS, test_engine_end(engine).handled);
    assert_int_equal(HOPS, t.count);
    assert_int_equal(7, t.flows[0]);
    assert_int_equal(9, t.flows[1]);
    assert_int_equal(0, t.flows[2]);
    assert_int_equal(7, t.flows[3]);
}

static void an_event_without_a_flow_leaves_none_behind(void **state)
{
    (void)state;
    trail t = { .count = 0 };
    weir_engine *engine = test_engine_create(NULL);
    t.next = test_processor_add(engine, WEIR_PROCESSOR(.handler = note_flow, .argument = &t));
    weir_event event = *WEIR_EVENT(number, 1);
    for (uint64_t i = 0; i < HOPS; i++) { /* envelopes of both kinds, in turns */
        event.flow = i % 2 == 0 ? UINT64_MAX : 0;
        assert_int_equal(WEIR_OK, weir_engine_post(engine, t.next, &event));
    }
    test_engine_start(engine);
    assert_int_equal(HOPS, test_engine_end(engine).handled);
    for (uint64_t i = 0; i < HOPS; i++) {
        assert_true(t.flows[i] == (i % 2 == 0 ? UINT64_MAX : 0));
    }
}

/* ---- tables ---- */

typedef struct other {
    uint64_t value;
} other;
WEIR_EVENT_TYPE(other, "test.other");
typedef struct small {
    uint32_t value;
} small;
WEIR_EVENT_TYPE(small, "test.number"); /* the name of `number` with another size */

static weir_status say_one(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    *(uint64_t *)state += 1;
    return WEIR_OK;
}

static weir_status say_hundred(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    *(uint64_t *)state += 100;
    return WEIR_E_USER - 5;
}

typedef struct tabled {
    uint64_t sum;
    weir_status number, copy, other, missing, clash, no_turn, no_cases, no_event;
} tabled;

static weir_status use_tables(void *state, weir_turn *turn, const weir_event *event)
{
    static const weir_case rows[] = { { &number_type, say_one }, { &other_type, say_hundred } };
    static const weir_cases cases = WEIR_CASES(rows);
    static const weir_cases none = { NULL, 0 };
    tabled *t = state;
    (void)event;
    const weir_event_type twin = number_type; /* the same by another descriptor */
    weir_event copy = *WEIR_EVENT(number, 1);
    copy.type = &twin;
    t->number = weir_turn_handle(turn, &cases, &t->sum, WEIR_EVENT(number, 1));
    t->copy = weir_turn_handle(turn, &cases, &t->sum, &copy);
    t->other = weir_turn_handle(turn, &cases, &t->sum, WEIR_EVENT(other, 1));
    t->missing = weir_turn_handle(turn, &none, &t->sum, WEIR_EVENT(other, 1));
    t->clash = weir_turn_handle(turn, &cases, &t->sum, WEIR_EVENT(small, 1));
    t->no_turn = weir_turn_handle(NULL, &cases, &t->sum, WEIR_EVENT(number, 1));
    t->no_cases = weir_turn_handle(turn, NULL, &t->sum, WEIR_EVENT(number, 1));
    t->no_event = weir_turn_handle(turn, &cases, &t->sum, NULL);
    return WEIR_OK;
}

static void a_table_answers_as_its_row_does_and_unhandled_without_one(void **state)
{
    (void)state;
    tabled t = { .sum = 0 };
    run_numbers(use_tables, &t, 1, 1);
    assert_int_equal(WEIR_OK, t.number);
    assert_int_equal(WEIR_OK, t.copy);
    assert_int_equal(WEIR_E_USER - 5, t.other);
    assert_int_equal(102, t.sum);
    assert_int_equal(WEIR_UNHANDLED, t.missing);
    assert_int_equal(WEIR_E_TYPE, t.clash);
    assert_int_equal(WEIR_E_INVALID, t.no_turn);
    assert_int_equal(WEIR_E_INVALID, t.no_cases);
    assert_int_equal(WEIR_E_INVALID, t.no_event);
}

/* ---- no turn ---- */

static void without_a_turn_every_call_is_a_status_or_nothing(void **state)
{
    (void)state;
    const weir_processor to = { 1 };
    const weir_event *event = WEIR_EVENT(number, 1);
    weir_status each[2] = { WEIR_OK, WEIR_OK };
    assert_null(weir_turn_engine(NULL));
    assert_int_equal(0, weir_turn_self(NULL).id);
    assert_int_equal(0, weir_turn_now(NULL));
    assert_false(weir_turn_more(NULL));
    assert_int_equal(WEIR_E_INVALID, weir_turn_post(NULL, to, event));
    assert_int_equal(WEIR_E_INVALID, weir_turn_commit(NULL, to, event));
    assert_int_equal(WEIR_E_INVALID, weir_turn_commit(NULL, to, NULL));
    assert_int_equal(0, weir_turn_post_batch(NULL, &to, 1, &event, 1, each));
    assert_int_equal(WEIR_E_INVALID, each[0]);
    assert_int_equal(WEIR_OK, each[1]);
    assert_int_equal(WEIR_E_INVALID, weir_turn_want_room(NULL, to, 0));
    assert_int_equal(WEIR_E_USER, weir_turn_fail(NULL, WEIR_E_USER, "words"));
}

static weir_status fail_without_words(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    *(weir_status *)state = weir_turn_fail(turn, WEIR_E_USER - 2, NULL);
    return WEIR_OK;
}

static void a_failure_without_words_is_its_reason_all_the_same(void **state)
{
    (void)state;
    weir_status reason = WEIR_OK;
    run_numbers(fail_without_words, &reason, 1, 1);
    assert_int_equal(WEIR_E_USER - 2, reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_of_a_turn_is_read_once_at_the_first_call),
        cmocka_unit_test(more_is_said_until_the_last_event_of_the_batch),
        cmocka_unit_test(in_an_init_the_turn_is_the_processors_and_no_event_is_ahead),
        cmocka_unit_test(a_turn_has_64_events_by_default),
        cmocka_unit_test(a_handler_commits_a_block_that_arrives_uncopied_with_its_sender),
        cmocka_unit_test(a_commit_without_an_engine_or_a_turn_drops_its_payload_once),
        cmocka_unit_test(a_reply_goes_to_the_sender_and_is_unknown_without_one),
        cmocka_unit_test(flags_of_the_lower_half_arrive_as_they_were_sent),
        cmocka_unit_test(what_a_handler_posts_inherits_its_flow_unless_it_says_otherwise),
        cmocka_unit_test(an_event_without_a_flow_leaves_none_behind),
        cmocka_unit_test(a_table_answers_as_its_row_does_and_unhandled_without_one),
        cmocka_unit_test(without_a_turn_every_call_is_a_status_or_nothing),
        cmocka_unit_test(a_failure_without_words_is_its_reason_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
