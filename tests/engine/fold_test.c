/*
 * fold_test.c - a batch of events that are alike travels in fewer lines than events (queue/fold.h).
 * Nobody can tell: each arrives whole, once, in its order, is counted by itself, and whatever
 * happens in the middle happens to that one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "supervise_support.h"

enum { BATCH = 150, SIZE_MAX_HERE = 32, FEW = 12 };

/* ---- what arrives ---- */

/* Written in turns, read after the stop. */
typedef struct sight {
    unsigned char bytes[SIZE_MAX_HERE];
    uint32_t size, flags;
    uint64_t flow, sender;
    bool more;
} sight;

typedef struct witness {
    sight seen[BATCH];
    uint32_t count;
    const weir_event_type *type; /* what all of them are */
    uint32_t strange;
    uint32_t becomes_at; /* from this one on another handler sees them; 0: none */
    uint32_t others;
} witness;

static weir_status note(witness *w, weir_turn *turn, const weir_event *event)
{
    w->strange += event->type != w->type || (uintptr_t)event->data % 8 != 0 ||
                  event->block != NULL || event->tag != 0 || event->from.ask != 0;
    if (w->count < BATCH && event->size <= SIZE_MAX_HERE) {
        sight *s = &w->seen[w->count];
        memcpy(s->bytes, event->data, event->size);
        s->size = event->size;
        s->flags = event->flags;
        s->flow = event->flow;
        s->sender = event->from.sender.id;
        s->more = weir_turn_more(turn);
    }
    w->count++;
    return WEIR_OK;
}

static weir_status handle_after(void *state, weir_turn *turn, const weir_event *event)
{
    witness *w = state;
    w->others++;
    return note(w, turn, event);
}

static weir_status handle(void *state, weir_turn *turn, const weir_event *event)
{
    witness *w = state;
    const weir_status status = note(w, turn, event);
    return w->becomes_at != 0 && w->count == w->becomes_at
               ? weir_turn_become(turn, handle_after, false)
               : status;
}

typedef struct batch {
    unsigned char bytes[BATCH][SIZE_MAX_HERE];
    weir_event events[BATCH];
    const weir_event *pointers[BATCH];
} batch;

static unsigned char byte_of(uint32_t event, uint32_t at)
{
    return (unsigned char)(event * 29 + at * 13 + 5);
}

static void batch_fill(batch *b, const weir_event_type *type, uint32_t size)
{
    memset(b, 0, sizeof(*b));
    for (uint32_t n = 0; n < BATCH; n++) {
        for (uint32_t i = 0; i < size; i++) {
            b->bytes[n][i] = byte_of(n, i);
        }
        b->events[n] = (weir_event){ .type = type, .data = b->bytes[n], .size = size };
        b->pointers[n] = &b->events[n];
    }
}

/* Posts it in pieces of so many, before the engine runs, so that all of it waits. */
static void batch_post(weir_engine *engine, weir_processor to, const batch *b, uint32_t piece)
{
    for (uint32_t at = 0; at < BATCH; at += piece) {
        const uint32_t count = BATCH - at < piece ? BATCH - at : piece;
        assert_int_equal(count,
                         weir_engine_post_batch(engine, &to, 1, b->pointers + at, count, NULL));
    }
}

static void assert_all_seen(const witness *w, const batch *b)
{
    assert_int_equal(BATCH, w->count);
    assert_int_equal(0, w->strange);
    for (uint32_t n = 0; n < BATCH; n++) {
        assert_int_equal(b->events[n].size, w->seen[n].size);
        assert_memory_equal(b->bytes[n], w->seen[n].bytes, b->events[n].size);
        assert_int_equal(b->events[n].flags, w->seen[n].flags);
        assert_int_equal(b->events[n].flow, w->seen[n].flow);
        assert_int_equal(0, w->seen[n].sender);
    }
}

static void play(witness *w, const batch *b, uint32_t piece, uint32_t batch_max, uint32_t bound)
{
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 1));
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle, .argument = w,
                                                  .batch_max = batch_max, .mailbox_max = bound));
    batch_post(engine, to, b, piece);
    test_engine_start(engine);
    assert_int_equal(BATCH, test_engine_end(engine).handled);
}

static void events_of_every_size_arrive_as_they_were_sent(void **state)
{
    (void)state;
    for (uint32_t size = 0; size <= SIZE_MAX_HERE; size++) {
        static witness w;
        static batch b;
        const weir_event_type type = { .struct_size = sizeof(type),
                                       .name = "fold.any",
                                       .size = size };
        memset(&w, 0, sizeof(w));
        w.type = &type;
        batch_fill(&b, &type, size);
        play(&w, &b, 64, 0, 0);
        assert_all_seen(&w, &b);
    }
}

static void it_does_not_matter_where_a_turn_ends_or_how_long_a_batch_is(void **state)
{
    (void)state;
    static const uint32_t pieces[] = { 1, 2, 3, 4, 5, 7, 31, 32, 33, 64, BATCH };
    for (uint32_t batch_max = 1; batch_max <= 40; batch_max += batch_max < 8 ? 1 : 8) {
        for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
            static witness w;
            static batch b;
            memset(&w, 0, sizeof(w));
            w.type = &number_type;
            batch_fill(&b, &number_type, sizeof(number));
            play(&w, &b, pieces[i], batch_max, i % 2 == 0 ? 0 : 300);
            assert_all_seen(&w, &b);
        }
    }
}

static void what_differs_in_anything_but_its_payload_keeps_that(void **state)
{
    (void)state;
    static witness w;
    static batch b;
    for (uint32_t what = 0; what < 3; what++) {
        memset(&w, 0, sizeof(w));
        w.type = &number_type;
        batch_fill(&b, &number_type, sizeof(number));
        for (uint32_t n = 0; n < BATCH; n++) { /* runs of several lengths, and single ones */
            const bool odd = n / (1 + n % 9) % 2 != 0;
            b.events[n].flow = what == 0 && odd ? 1000 + n / 20 : 0;
            b.events[n].flags = what == 1 && odd ? 1u << n % 16 : 0;
        }
        play(&w, &b, 50, 0, 0);
        assert_all_seen(&w, &b);
    }
}

static void types_take_turns_within_one_batch(void **state)
{
    (void)state;
    enum { KINDS = 3 };
    static const weir_event_type types[KINDS] = {
        { .struct_size = sizeof(weir_event_type), .name = "fold.a", .size = 8 },
        { .struct_size = sizeof(weir_event_type), .name = "fold.b", .size = 8 },
        { .struct_size = sizeof(weir_event_type), .name = "fold.c", .size = 24 },
    };
    static witness w[KINDS];
    static batch b;
    weir_processor to[BATCH];
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 1));
    weir_processor all[KINDS];
    memset(w, 0, sizeof(w));
    batch_fill(&b, &types[0], 24);
    for (uint32_t k = 0; k < KINDS; k++) {
        w[k].type = &types[k];
        all[k] = test_processor_add(engine, WEIR_PROCESSOR(.handler = handle, .argument = &w[k]));
    }
    for (uint32_t n = 0; n < BATCH; n++) { /* each type has its processor: who gets another's? */
        const uint32_t k = n / 10 % KINDS;
        b.events[n].type = &types[k];
        b.events[n].size = types[k].size;
        to[n] = all[k];
    }
    assert_int_equal(BATCH, weir_engine_post_batch(engine, to, BATCH, b.pointers, BATCH, NULL));
    test_engine_start(engine);
    assert_int_equal(BATCH, test_engine_end(engine).handled);
    for (uint32_t k = 0; k < KINDS; k++) {
        assert_int_equal(BATCH / KINDS, w[k].count);
        assert_int_equal(0, w[k].strange);
    }
}

static void a_handler_knows_whether_more_of_the_batch_follow(void **state)
{
    (void)state;
    static witness w;
    static batch b;
    memset(&w, 0, sizeof(w));
    w.type = &number_type;
    batch_fill(&b, &number_type, sizeof(number));
    play(&w, &b, BATCH, 50, 0);
    for (uint32_t n = 0; n < BATCH; n++) {
        assert_int_equal(n % 50 != 49, w.seen[n].more);
    }
}

static void another_handler_sees_the_rest_from_the_event_on_at_which_it_came(void **state)
{
    (void)state;
    for (uint32_t at = 1; at <= 40; at++) {
        static witness w;
        static batch b;
        memset(&w, 0, sizeof(w));
        w.type = &number_type;
        w.becomes_at = at;
        batch_fill(&b, &number_type, sizeof(number));
        play(&w, &b, BATCH, 0, 0);
        assert_all_seen(&w, &b);
        assert_int_equal(BATCH - at, w.others);
    }
}

/* ---- who takes events from whom ---- */

static void a_full_mailbox_that_drops_the_oldest_keeps_the_newest_in_order(void **state)
{
    (void)state;
    enum { BOUND = 40 };
    static witness w;
    static batch b;
    memset(&w, 0, sizeof(w));
    w.type = &number_type;
    batch_fill(&b, &number_type, sizeof(number));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 1));
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = handle, .argument = &w, .mailbox_max = BOUND,
                               .overflow = WEIR_OVERFLOW_DROP_OLDEST));
    batch_post(engine, to, &b, 30);
    test_engine_start(engine);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(BOUND, report.handled);
    assert_int_equal(BATCH - BOUND, report.dropped);
    for (uint32_t n = 0; n < BOUND; n++) {
        assert_memory_equal(b.bytes[BATCH - BOUND + n], w.seen[n].bytes, sizeof(number));
    }
}

static void a_small_mailbox_takes_the_beginning_of_a_batch(void **state)
{
    (void)state;
    for (uint32_t bound = 1; bound <= FEW; bound++) {
        static witness w;
        static batch b;
        memset(&w, 0, sizeof(w));
        w.type = &number_type;
        batch_fill(&b, &number_type, sizeof(number));
        weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 1));
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = handle, .argument = &w, .mailbox_max = bound));
        assert_int_equal(bound, weir_engine_post_batch(engine, &to, 1, b.pointers, FEW, NULL));
        test_engine_start(engine);
        assert_int_equal(bound, test_engine_end(engine).handled);
        for (uint32_t n = 0; n < bound; n++) {
            assert_memory_equal(b.bytes[n], w.seen[n].bytes, sizeof(number));
        }
    }
}

/* ---- measured ---- */

static void of_a_batch_as_many_are_measured_as_of_single_events(void **state)
{
    (void)state;
    enum { EVERY = 8, TIMES = 20 };
    static witness w;
    static batch b;
    weir_latency queueing = WEIR_LATENCY_INIT, handling = WEIR_LATENCY_INIT;
    memset(&w, 0, sizeof(w));
    w.type = &number_type;
    batch_fill(&b, &number_type, sizeof(number));
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 1, .latency_every = EVERY));
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = handle, .argument = &w));
    for (uint32_t i = 0; i < TIMES; i++) {
        batch_post(engine, to, &b, BATCH);
    }
    test_engine_start(engine);
    assert_int_equal(TIMES * BATCH, test_engine_stop(engine).handled);
    assert_int_equal(WEIR_OK, weir_dispatcher_latency(engine, "", &queueing, &handling));
    /* At random: one in EVERY on average; half or twice as many are ten times the deviation. */
    assert_in_range(queueing.count, TIMES * BATCH / EVERY / 2, TIMES * BATCH / EVERY * 2);
    assert_int_equal(queueing.count, handling.count);
    weir_engine_destroy(engine);
}

/* ---- one of them fails ---- */

/* The life of a worker that is sent FEW tasks in one call, of which `bad` fails. */
static void assert_life(weir_directive directive, uint64_t bad, uint64_t fails, const char *after)
{
    static life l;
    task tasks[FEW];
    weir_event events[FEW];
    const weir_event *pointers[FEW];
    char expected[LIFE_MAX];
    int length = snprintf(expected, sizeof(expected), "i ");
    life_init(&l);
    weir_engine *engine = quiet_engine(1);
    const weir_processor to =
        worker_add(engine, &l, WEIR_PROCESSOR(.on_failure = directive, .retry_delay = WEIR_US));
    for (uint64_t n = 0; n < FEW; n++) {
        tasks[n] = (task){ n, n == bad ? fails : 0 };
        events[n] = (weir_event){ .type = &task_type, .data = &tasks[n], .size = sizeof(task) };
        pointers[n] = &events[n];
        if (n <= bad || directive != WEIR_STOP) {
            length += snprintf(expected + length, sizeof(expected) - (size_t)length,
                               n == bad ? after : "h%" PRIu64 " ", n, n);
        }
    }
    assert_int_equal(FEW, weir_engine_post_batch(engine, &to, 1, pointers, FEW, NULL));
    test_engine_start(engine);
    const weir_stop_report report = test_engine_end(engine);
    (void)snprintf(expected + length, sizeof(expected) - (size_t)length, "%s",
                   directive != WEIR_STOP ? "d " : "");
    assert_string_equal(expected, l.text);
    assert_int_equal(FEW, report.accepted);
    assert_int_equal(l.handled, report.handled);
    assert_int_equal(FEW - l.handled, report.dead);
}

static void the_one_that_fails_is_dead_and_no_other(void **state)
{
    (void)state;
    for (uint64_t bad = 0; bad < FEW; bad++) {
        assert_life(WEIR_RESUME, bad, EVER, "f%" PRIu64 " ");
    }
}

static void the_one_that_fails_is_tried_again_before_those_behind_it(void **state)
{
    (void)state;
    for (uint64_t bad = 0; bad < FEW; bad++) {
        assert_life(WEIR_RETRY, bad, 1, "f%" PRIu64 " h%" PRIu64 " ");
    }
}

static void a_restart_in_the_middle_loses_only_the_one_that_failed(void **state)
{
    (void)state;
    for (uint64_t bad = 0; bad < FEW; bad++) {
        assert_life(WEIR_RESTART, bad, 1, "f%" PRIu64 " d i ");
    }
}

static void after_an_end_in_the_middle_the_rest_is_dead(void **state)
{
    (void)state;
    for (uint64_t bad = 0; bad < FEW; bad++) {
        assert_life(WEIR_STOP, bad, EVER, "f%" PRIu64 " d ");
    }
}

/* ---- a stop that does not wait ---- */

static void what_a_stop_leaves_is_counted_one_by_one(void **state)
{
    (void)state;
    for (uint64_t done = 0; done < FEW; done++) {
        static test_recorder recorder;
        number values[FEW];
        weir_event events[FEW];
        const weir_event *pointers[FEW];
        weir_stop_report report = WEIR_STOP_REPORT_INIT;
        test_recorder_init(&recorder, true);
        weir_engine *engine = quiet_engine(1);
        const weir_processor to = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
        for (uint64_t n = 0; n < FEW; n++) {
            values[n].value = n;
            events[n] =
                (weir_event){ .type = &number_type, .data = &values[n], .size = sizeof(number) };
            pointers[n] = &events[n];
        }
        test_engine_start(engine);
        assert_int_equal(FEW, weir_engine_post_batch(engine, &to, 1, pointers, FEW, NULL));
        test_recorder_pass(&recorder, done);
        for (uint64_t n = 0; n <= done; n++) {
            test_sem_wait(&recorder.entered);
        }
        assert_int_equal(WEIR_TIMEOUT, weir_engine_stop(engine, WEIR_MS, &report));
        assert_int_equal(FEW, report.accepted);
        assert_int_equal(done, report.handled);
        assert_int_equal(FEW - done, report.left);
        test_recorder_pass(&recorder, FEW); /* late: nothing changes */
        weir_engine_destroy(engine);
        assert_int_equal(done + 1, test_recorder_handled(&recorder));
    }
}

/* ---- what one of them carries ---- */

typedef struct carrier {
    weir_processor to;
    uint64_t at;
    uint64_t seen, carried; /* events; those that came with a trace context */
    bool right;             /* it was that of `at` */
} carrier;

static const weir_traceparent context = { .trace = { 1 }, .parent = { 2 }, .flags = 1 };

static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    const carrier *c = state;
    const number *n = event->data;
    const weir_status status =
        n->value == c->at ? weir_turn_traceparent_set(turn, &context) : WEIR_OK;
    return status == WEIR_OK ? weir_turn_post(turn, c->to, event) : status;
}

static weir_status look(void *state, weir_turn *turn, const weir_event *event)
{
    carrier *c = state;
    weir_traceparent found;
    const number *n = event->data;
    c->seen++;
    if (weir_turn_traceparent(turn, &found) == WEIR_OK) {
        c->carried++;
        c->right = n->value == c->at && found.trace[0] == 1;
    }
    return WEIR_OK;
}

static void what_is_posted_in_one_of_them_carries_what_that_one_carries(void **state)
{
    (void)state;
    for (uint64_t at = 0; at < FEW; at++) {
        static carrier c;
        number values[FEW];
        weir_event events[FEW];
        const weir_event *pointers[FEW];
        memset(&c, 0, sizeof(c));
        c.at = at;
        weir_engine *engine = quiet_engine(1);
        c.to = test_processor_add(engine, WEIR_PROCESSOR(.handler = look, .argument = &c));
        const weir_processor to =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = pass_on, .argument = &c));
        for (uint64_t n = 0; n < FEW; n++) {
            values[n].value = n;
            events[n] =
                (weir_event){ .type = &number_type, .data = &values[n], .size = sizeof(number) };
            pointers[n] = &events[n];
        }
        assert_int_equal(FEW, weir_engine_post_batch(engine, &to, 1, pointers, FEW, NULL));
        test_engine_start(engine);
        assert_int_equal(2 * FEW, test_engine_end(engine).handled);
        assert_int_equal(FEW, c.seen);
        assert_int_equal(1, c.carried);
        assert_true(c.right);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_every_size_arrive_as_they_were_sent),
        cmocka_unit_test(it_does_not_matter_where_a_turn_ends_or_how_long_a_batch_is),
        cmocka_unit_test(what_differs_in_anything_but_its_payload_keeps_that),
        cmocka_unit_test(types_take_turns_within_one_batch),
        cmocka_unit_test(a_handler_knows_whether_more_of_the_batch_follow),
        cmocka_unit_test(another_handler_sees_the_rest_from_the_event_on_at_which_it_came),
        cmocka_unit_test(a_full_mailbox_that_drops_the_oldest_keeps_the_newest_in_order),
        cmocka_unit_test(a_small_mailbox_takes_the_beginning_of_a_batch),
        cmocka_unit_test(of_a_batch_as_many_are_measured_as_of_single_events),
        cmocka_unit_test(the_one_that_fails_is_dead_and_no_other),
        cmocka_unit_test(the_one_that_fails_is_tried_again_before_those_behind_it),
        cmocka_unit_test(a_restart_in_the_middle_loses_only_the_one_that_failed),
        cmocka_unit_test(after_an_end_in_the_middle_the_rest_is_dead),
        cmocka_unit_test(what_a_stop_leaves_is_counted_one_by_one),
        cmocka_unit_test(what_is_posted_in_one_of_them_carries_what_that_one_carries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
