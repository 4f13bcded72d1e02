/*
 * ask_test.c - weir_turn_ask and weir_turn_reply (S-16): one answer or one timeout, whatever
 * happens meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ask_support.h"

#include "engine/ask.h"

static void the_answer_comes_back_once_with_its_tag_after_the_asking_handler(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, AT_ONCE);
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 7));
    test_sem_wait(&b.asker.told);
    const weir_stop_report report = test_engine_end(b.engine);
    assert_came(&b.asker, 1);
    assert_answer(&b.asker.came[0], 7);
    assert_false(b.asker.came[0].then);
    assert_int_equal(b.oracle.self.id, b.asker.came[0].sender);
    assert_int_equal(3, report.handled); /* what made it ask, the question, the answer */
    assert_int_equal(3, report.accepted);
}

typedef struct changing {
    asker asker; /* first: it is also the state of asker_then */
    atomic_uint_least64_t other;
} changing;

static weir_status other_handler(void *state, weir_turn *turn, const weir_event *event)
{
    changing *c = state;
    (void)turn;
    (void)event;
    atomic_fetch_add(&c->other, 1);
    return WEIR_OK;
}

static weir_status ask_and_change(void *state, weir_turn *turn, const weir_event *event)
{
    const weir_status status = asker_handle(state, turn, event);
    return status == WEIR_OK ? weir_turn_become(turn, other_handler, false) : status;
}

static void then_handles_the_answer_and_survives_a_become(void **state)
{
    (void)state;
    changing c = { .other = 0 };
    oracle o;
    asker_init(&c.asker);
    oracle_init(&o, KEEPS);
    weir_engine *engine = test_engine_create(NULL);
    c.asker.options.then = asker_then;
    c.asker.self =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = ask_and_change, .argument = &c));
    o.self = test_processor_add(engine, WEIR_PROCESSOR(.handler = oracle_handle, .argument = &o));
    c.asker.target = o.self;
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, let_ask(engine, &c.asker, 1));
    assert_int_equal(WEIR_OK, test_post(engine, c.asker.self, 2));
    test_sem_wait(&o.got);
    assert_int_equal(WEIR_OK, weir_engine_post(engine, o.self, WEIR_EMPTY(go_on)));
    test_sem_wait(&c.asker.told);
    (void)test_engine_end(engine);
    assert_came(&c.asker, 1);
    assert_answer(&c.asker.came[0], 1);
    assert_true(c.asker.came[0].then);
    assert_int_equal(1, atomic_load(&c.other));
}

static void without_an_answer_one_timeout_comes_and_never_early(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, SILENT);
    b.asker.options = (weir_ask_options){ .timeout = 20 * WEIR_MS, .then = asker_then };
    const weir_ns before = test_now();
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 3));
    test_sem_wait(&b.asker.told);
    assert_timeout(&b.asker.came[0], 3);
    assert_true(b.asker.came[0].then);
    assert_true(b.asker.came[0].when - before >= 20 * WEIR_MS);
    assert_int_equal(b.oracle.self.id, b.asker.came[0].sender);
    assert_no_place_is_promised(b.engine, b.asker.self);
    assert_int_equal(3, test_engine_end(b.engine).handled);
    assert_came(&b.asker, 1);
}

/* When it was asked is known from both sides only: those that may have had one time are not
 * compared. */
static void timeouts_come_in_the_order_of_their_times(void **state)
{
    (void)state;
    static const weir_ns after[] = { 40, 10, 30, 20, 10 };
    weir_ns earliest[5];
    weir_ns latest[5];
    ask_bed b;
    ask_bed_make(&b, SILENT);
    for (uint64_t i = 0; i < 5; i++) {
        b.asker.options.timeout = after[i] * WEIR_MS;
        earliest[i] = test_now() + after[i] * WEIR_MS;
        assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, i));
        latest[i] = test_now() + after[i] * WEIR_MS;
    }
    for (size_t i = 0; i < 5; i++) {
        test_sem_wait(&b.asker.told);
    }
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 5);
    for (size_t i = 0; i < 5; i++) {
        const uint64_t tag = b.asker.came[i].tag;
        assert_timeout(&b.asker.came[i], tag);
        assert_true(b.asker.came[i].when >= earliest[tag]);
        for (size_t later = i + 1; later < 5; later++) {
            assert_true(latest[b.asker.came[later].tag] >= earliest[tag]);
        }
    }
}

/* An entry of the table is used again while the alarm still has its old time. */
static void a_question_in_the_place_of_an_answered_one_is_not_early_and_not_forgotten(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, AT_ONCE);
    b.asker.options.timeout = 30 * WEIR_MS;
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 1));
    test_sem_wait(&b.asker.told);
    test_sem_wait(&b.oracle.got);
    b.oracle.mode = SILENT; /* nobody asks at this moment */
    for (uint64_t i = 2; i < 6; i++) {
        b.asker.options.timeout = (i % 2 == 0 ? 60 : 5) * WEIR_MS;
        const weir_ns before = test_now();
        assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, i));
        test_sem_wait(&b.asker.told);
        assert_timeout(&b.asker.came[i - 1], i);
        assert_true(b.asker.came[i - 1].when - before >= b.asker.options.timeout);
    }
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 5);
}

static void a_short_time_in_the_place_of_a_long_one_is_kept(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, AT_ONCE);
    b.asker.options.timeout = TEST_PATIENCE;
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 1));
    test_sem_wait(&b.asker.told);
    test_sem_wait(&b.oracle.got);
    b.oracle.mode = SILENT;
    b.asker.options.timeout = WEIR_MS;
    const weir_ns before = test_now();
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 2));
    test_sem_wait(&b.asker.told);
    assert_true(test_now() - before < TEST_PATIENCE / 2);
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 2);
    assert_timeout(&b.asker.came[1], 2);
}

static void a_second_answer_is_unknown_and_nothing_else_happens(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, TWICE);
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 5));
    test_sem_wait(&b.asker.told);
    test_sem_wait(&b.oracle.replies);
    test_sem_wait(&b.oracle.replies);
    const weir_counters c = test_engine_counters(b.engine);
    assert_int_equal(WEIR_OK, b.oracle.replied[0]);
    assert_int_equal(WEIR_UNKNOWN, b.oracle.replied[1]);
    assert_int_equal(1, c.refused_unknown);
    assert_int_equal(3, test_engine_end(b.engine).handled);
    assert_came(&b.asker, 1);
    assert_answer(&b.asker.came[0], 5);
}

static void an_answer_after_the_timeout_is_unknown(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, KEEPS);
    b.asker.options.timeout = WEIR_MS;
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 5));
    test_sem_wait(&b.asker.told);
    test_sem_wait(&b.oracle.got);
    /* The entry is free, and then another question's: the ticket names neither. */
    for (uint64_t again = 6; again < 8; again++) {
        oracle_goes_on(&b);
        test_sem_wait(&b.oracle.got);
        assert_int_equal(WEIR_UNKNOWN, b.oracle.replied[0]);
        if (again == 6) {
            b.oracle.kept_count = 1;
            atomic_store(&b.oracle.replied_count, 0);
            b.asker.options.timeout = WEIR_FOREVER;
            b.oracle.mode = SILENT;
            assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, again));
            test_sem_wait(&b.oracle.got);
        }
    }
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 2); /* the stop has answered the second */
    assert_timeout(&b.asker.came[0], 5);
    assert_timeout(&b.asker.came[1], 6);
}

static void a_ticket_can_be_answered_later_and_by_another_processor(void **state)
{
    (void)state;
    ask_bed b;
    oracle deputy;
    oracle_init(&deputy, AT_ONCE);
    ask_bed_open(&b, HANDS_ON, WEIR_PROCESSOR(.name = "asker"));
    (void)test_thread_add(b.engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("deputy")));
    deputy.self =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = oracle_handle, .argument = &deputy,
                                                    .dispatcher = "deputy"));
    b.oracle.deputy = deputy.self;
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 9));
    test_sem_wait(&b.asker.told);
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 1);
    assert_answer(&b.asker.came[0], 9);
    assert_int_equal(deputy.self.id, b.asker.came[0].sender);
    assert_int_equal(WEIR_OK, deputy.replied[0]);
}

static void a_full_mailbox_of_the_asker_is_its_status_and_nothing_has_happened(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_open(&b, SILENT, WEIR_PROCESSOR(.name = "asker", .mailbox_max = 3));
    test_engine_start(b.engine);
    b.asker.options.timeout = WEIR_FOREVER;
    /* The event that makes it ask has given its place back when its handler begins. */
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, i));
        test_sem_wait(&b.oracle.got);
    }
    assert_int_equal(3, test_processor_counters(b.engine, b.asker.self).rooms);
    assert_int_equal(WEIR_FULL, test_post(b.engine, b.asker.self, 1));
    assert_int_equal(3, test_processor_counters(b.engine, b.oracle.self).accepted);
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 3);
}

static weir_status ask_until_full(void *state, weir_turn *turn, const weir_event *event)
{
    asker *a = state;
    if (weir_event_as(event, &number_type) == NULL) {
        note_what_came(a, event, false);
        return WEIR_OK;
    }
    for (uint64_t i = 0; i < 5; i++) {
        a->asked[a->asked_count++] =
            weir_turn_ask(turn, a->target, event, WEIR_ASK(.timeout = WEIR_FOREVER, .tag = i));
    }
    (void)sem_post(&a->done);
    return WEIR_OK;
}

static void full_is_either_mailbox(void **state)
{
    (void)state;
    for (uint32_t of_asker = 2; of_asker <= 10; of_asker += 8) {
        ask_bed b;
        asker_init(&b.asker);
        oracle_init(&b.oracle, SILENT);
        b.engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
        (void)test_thread_add(b.engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("", "oracle")));
        ask_bed_add(&b, WEIR_PROCESSOR(.handler = ask_until_full, .mailbox_max = of_asker),
                    of_asker == 2 ? 10 : 3);
        test_engine_start(b.engine);
        (void)let_ask(b.engine, &b.asker, 0);
        const size_t accepted = of_asker == 2 ? 2 : 3;
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(i < accepted ? WEIR_OK : WEIR_FULL, b.asker.asked[i]);
        }
        assert_int_equal(accepted, test_processor_counters(b.engine, b.asker.self).rooms);
        (void)test_engine_end(b.engine);
        assert_came(&b.asker, accepted);
        assert_int_equal(accepted, b.oracle.kept_count + accepted);
    }
}

static void a_target_that_is_gone_is_unknown_and_nothing_comes(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, AT_ONCE);
    assert_int_equal(WEIR_OK, weir_processor_stop(b.engine, b.oracle.self, 0, NULL));
    assert_int_equal(WEIR_UNKNOWN, let_ask(b.engine, &b.asker, 1));
    b.asker.target = (weir_processor){ 0 };
    assert_int_equal(WEIR_UNKNOWN, let_ask(b.engine, &b.asker, 2));
    assert_no_place_is_promised(b.engine, b.asker.self);
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 0);
}

static weir_status echo(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    return weir_turn_reply(turn, event->from, event);
}

static void too_many_timers_are_a_limit_and_one_is_enough_for_all_questions(void **state)
{
    (void)state;
    asker askers[2];
    oracle o;
    oracle_init(&o, AT_ONCE);
    weir_engine *engine =
        test_engine_create(WEIR_ENGINE(.timers_max = 1, .log_level = WEIR_LOG_OFF));
    o.self = test_processor_add(engine, WEIR_PROCESSOR(.handler = oracle_handle, .argument = &o));
    for (int i = 0; i < 2; i++) {
        asker_init(&askers[i]);
        askers[i].target = o.self;
        askers[i].self = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = asker_handle, .argument = &askers[i]));
    }
    test_engine_start(engine);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR_OK, let_ask(engine, &askers[0], i));
        test_sem_wait(&askers[0].told);
        assert_int_equal(WEIR_E_LIMIT, let_ask(engine, &askers[1], i));
    }
    assert_int_equal(WEIR_OK, weir_processor_stop(engine, askers[0].self, 0, NULL));
    assert_int_equal(WEIR_OK, let_ask(engine, &askers[1], 3)); /* it has gone with the first */
    test_sem_wait(&askers[1].told);
    (void)test_engine_end(engine);
    assert_came(&askers[0], 3);
    assert_came(&askers[1], 1);
}

typedef struct dropping {
    asker asker;
    weir_processor crammed;
} dropping;

static weir_status ask_the_crammed(void *state, weir_turn *turn, const weir_event *event)
{
    dropping *d = state;
    if (event->from.sender.id != 0) {
        note_what_came(&d->asker, event, false);
        return WEIR_OK;
    }
    for (size_t i = 0; i < 2; i++) {
        d->asker.asked[i] = weir_turn_ask(turn, d->crammed, event, WEIR_ASK(.tag = i));
    }
    (void)sem_post(&d->asker.done);
    return WEIR_OK;
}

static void a_question_that_is_dropped_is_a_status_and_nothing_comes(void **state)
{
    (void)state;
    dropping d;
    asker_init(&d.asker);
    weir_engine *engine = test_engine_create(NULL); /* one thread: nobody handles the first */
    d.crammed = test_processor_add(engine, WEIR_PROCESSOR(.handler = echo, .mailbox_max = 1,
                                                          .overflow = WEIR_OVERFLOW_DROP_NEWEST));
    d.asker.self =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = ask_the_crammed, .argument = &d));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, d.asker.self, 1));
    test_sem_wait(&d.asker.done);
    assert_int_equal(WEIR_OK, d.asker.asked[0]);
    assert_int_equal(WEIR_DROPPED, d.asker.asked[1]);
    test_sem_wait(&d.asker.told);
    assert_no_place_is_promised(engine, d.asker.self);
    (void)test_engine_end(engine);
    assert_came(&d.asker, 1);
    assert_int_equal(0, d.asker.came[0].tag);
}

typedef struct block_payload {
    uint64_t words[20];
} block_payload;

typedef struct payloads {
    weir_processor target;
    uint64_t right;
    sem_t done;
} payloads;

static bool counts_up(const weir_event *event)
{
    const uint64_t *words = event->data;
    bool right = event->size > 0 && event->size % sizeof(*words) == 0;
    for (uint32_t i = 0; right && i < event->size / sizeof(*words); i++) {
        right = words[i] == i + 1;
    }
    return right;
}

static weir_status send_payloads(void *state, weir_turn *turn, const weir_event *event)
{
    payloads *p = state;
    static const block_payload all = { { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                         11, 12, 13, 14, 15, 16, 17, 18, 19, 20 } };
    if (event->from.sender.id == p->target.id) {
        p->right += counts_up(event);
        (void)sem_post(&p->done);
        return WEIR_OK;
    }
    /* Inside the envelope, in front of the number of the question and where that is; and blocks. */
    static const uint32_t sizes[] = { 8, 24, 32, 40, 160 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const weir_event question = { .type = &weir_bytes_type, .data = &all, .size = sizes[i] };
        if (weir_turn_ask(turn, p->target, &question, NULL) != WEIR_OK) {
            return WEIR_E_FAILED;
        }
    }
    return WEIR_OK;
}

static void payloads_of_every_size_make_the_way_there_and_back(void **state)
{
    (void)state;
    payloads p = { .right = 0 };
    assert_int_equal(0, sem_init(&p.done, 0, 0));
    weir_engine *engine = test_engine_create(NULL);
    p.target = test_processor_add(engine, WEIR_PROCESSOR(.handler = echo));
    const weir_processor self =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = send_payloads, .argument = &p));
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, self, 0));
    for (int i = 0; i < 5; i++) {
        test_sem_wait(&p.done);
    }
    assert_int_equal(5, p.right);
    TEST_UNTIL(test_engine_counters(engine).block_bytes == 0);
    assert_int_equal(11, test_engine_end(engine).handled);
}

/* Answers are owed: a mailbox that drops its oldest does not drop them. */
static void an_answer_is_not_dropped_by_a_mailbox_that_drops_its_oldest(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_open(
        &b, KEEPS,
        WEIR_PROCESSOR(.name = "asker", .mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    test_recorder gate;
    test_recorder_init(&gate, true);
    const weir_processor held = test_processor_add(
        b.engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &gate));
    test_engine_start(b.engine);
    b.asker.options.then = asker_then;
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 1));
    test_sem_wait(&b.oracle.got);
    assert_int_equal(WEIR_OK, test_post(b.engine, held, 0)); /* its thread is busy from now on */
    test_sem_wait(&gate.entered);
    oracle_goes_on(&b);
    test_sem_wait(&b.oracle.replies);
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(WEIR_OK, test_post(b.engine, b.asker.self, 10 + i));
    }
    b.asker.options.timeout = WEIR_FOREVER;
    test_recorder_pass(&gate, 1);
    test_sem_wait(&b.asker.told);
    (void)test_engine_end(b.engine);
    assert_answer(&b.asker.came[0], 1);
}

static weir_status ask_wrongly(void *state, weir_turn *turn, const weir_event *event)
{
    asker *a = state;
    const weir_event no_type = { .type = NULL };
    const weir_event no_size = { .type = &number_type, .data = &no_type, .size = 4 };
    weir_ask_options options = WEIR_ASK_OPTIONS_INIT;
    (void)event;
    options.timeout = -2;
    a->asked[0] = weir_turn_ask(NULL, a->target, event, NULL);
    a->asked[1] = weir_turn_ask(turn, a->target, NULL, NULL);
    a->asked[2] = weir_turn_ask(turn, a->target, &no_type, NULL);
    a->asked[3] = weir_turn_ask(turn, a->target, &no_size, NULL);
    a->asked[4] = weir_turn_ask(turn, a->target, event, &options);
    options.struct_size = 3;
    a->asked[5] = weir_turn_ask(turn, a->target, event, &options);
    a->asked[6] = weir_turn_reply(turn, (weir_ticket){ .ask = 77 }, event);
    a->asked[7] = weir_turn_reply(turn, (weir_ticket){ a->target, 1u << 24 | 5 }, event);
    a->asked[8] = weir_turn_reply(turn, (weir_ticket){ weir_turn_self(turn), UINT64_MAX }, event);
    (void)sem_post(&a->done);
    return WEIR_OK;
}

static void what_cannot_be_asked_is_a_status_and_nothing_comes(void **state)
{
    (void)state;
    static const weir_status wanted[] = { WEIR_E_INVALID, WEIR_E_INVALID, WEIR_E_INVALID,
                                          WEIR_E_TYPE,    WEIR_E_INVALID, WEIR_E_INVALID,
                                          WEIR_UNKNOWN,   WEIR_UNKNOWN,   WEIR_UNKNOWN };
    ask_bed b;
    ask_bed_open(&b, AT_ONCE, WEIR_PROCESSOR(.handler = ask_wrongly));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, b.asker.self, 1));
    test_sem_wait(&b.asker.done);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        assert_int_equal(wanted[i], b.asker.asked[i]);
    }
    assert_no_place_is_promised(b.engine, b.asker.self);
    assert_int_equal(1, test_engine_end(b.engine).handled);
    assert_came(&b.asker, 0);
}

/* What a retry will do: here by hand, with an answer that lies in its envelope. */
static weir_status open_again(void *state, weir_turn *turn, const weir_event *event)
{
    asker *a = state;
    const size_t offset = offsetof(weir__envelope, payload);
    weir__envelope *envelope = (weir__envelope *)((uintptr_t)event->data - offset);
    const weir_handler again = weir__ask_close(turn->processor, weir__lone_of(envelope));
    const weir__asks *asks = weir__asks_of(turn->processor);
    a->early += again != open_again || asks->open != 0 || asks->free != 1 ||
                weir__ask_at((weir__asks *)(uintptr_t)asks, 0)->next != 0;
    note_what_came(a, event, true);
    return WEIR_OK;
}

static void
an_answer_that_is_opened_again_has_the_same_handler_and_frees_its_entry_once(void **state)
{
    (void)state;
    ask_bed b;
    ask_bed_make(&b, AT_ONCE);
    b.asker.options.then = open_again;
    assert_int_equal(WEIR_OK, let_ask(b.engine, &b.asker, 1));
    test_sem_wait(&b.asker.told);
    (void)test_engine_end(b.engine);
    assert_came(&b.asker, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_comes_back_once_with_its_tag_after_the_asking_handler),
        cmocka_unit_test(then_handles_the_answer_and_survives_a_become),
        cmocka_unit_test(without_an_answer_one_timeout_comes_and_never_early),
        cmocka_unit_test(timeouts_come_in_the_order_of_their_times),
        cmocka_unit_test(a_question_in_the_place_of_an_answered_one_is_not_early_and_not_forgotten),
        cmocka_unit_test(a_short_time_in_the_place_of_a_long_one_is_kept),
        cmocka_unit_test(a_second_answer_is_unknown_and_nothing_else_happens),
        cmocka_unit_test(an_answer_after_the_timeout_is_unknown),
        cmocka_unit_test(a_ticket_can_be_answered_later_and_by_another_processor),
        cmocka_unit_test(a_full_mailbox_of_the_asker_is_its_status_and_nothing_has_happened),
        cmocka_unit_test(full_is_either_mailbox),
        cmocka_unit_test(a_target_that_is_gone_is_unknown_and_nothing_comes),
        cmocka_unit_test(too_many_timers_are_a_limit_and_one_is_enough_for_all_questions),
        cmocka_unit_test(a_question_that_is_dropped_is_a_status_and_nothing_comes),
        cmocka_unit_test(payloads_of_every_size_make_the_way_there_and_back),
        cmocka_unit_test(an_answer_is_not_dropped_by_a_mailbox_that_drops_its_oldest),
        cmocka_unit_test(what_cannot_be_asked_is_a_status_and_nothing_comes),
        cmocka_unit_test(
            an_answer_that_is_opened_again_has_the_same_handler_and_frees_its_entry_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
