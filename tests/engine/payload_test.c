/*
 * payload_test.c - event types and what travels: small payloads inside the event, large ones
 * copied into a block, types that own something dropped exactly once, sizes that must fit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

/* ---- copies ---- */

enum { LARGEST = 1 << 20, SIZES_MAX = 16 };

typedef struct checker {
    uint64_t handled, wrong, in_block;
    uint32_t sizes[SIZES_MAX];
} checker;

static unsigned char pattern(size_t size, size_t i)
{
    return (unsigned char)(size * 31 + i * 7);
}

static weir_status checker_handle(void *state, weir_turn *turn, const weir_event *event)
{
    checker *c = state;
    (void)turn;
    const unsigned char *bytes = event->data;
    bool right = bytes != NULL && ((uintptr_t)bytes & 7u) == 0;
    for (size_t i = 0; right && i < event->size; i++) {
        right = bytes[i] == pattern(event->size, i);
    }
    c->wrong += !right;
    c->in_block += event->block != NULL;
    if (c->handled < SIZES_MAX) {
        c->sizes[c->handled] = event->size;
    }
    c->handled++;
    return WEIR_OK;
}

static void a_posted_payload_is_copied_whatever_its_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 0,  1,  7,  8,   15,   16,    17,     31,
                                      32, 33, 64, 100, 4096, 65537, LARGEST };
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
    checker c = { .handled = 0 };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = checker_handle, .argument = &c));
    unsigned char *buffer = malloc(LARGEST);
    assert_non_null(buffer);
    for (size_t s = 0; s < COUNT; s++) {
        for (size_t i = 0; i < sizes[s]; i++) {
            buffer[i] = pattern(sizes[s], i);
        }
        const weir_event event = { .type = &weir_bytes_type, .data = buffer, .size = sizes[s] };
        assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &event));
        memset(buffer, 0xaa, LARGEST); /* it is the caller's again */
        if (sizes[s] <= WEIR_EVENT_INLINE_MAX) {
            assert_int_equal(0, test_engine_counters(engine).block_bytes);
        } else {
            assert_true(test_engine_counters(engine).block_bytes >= sizes[s]);
        }
    }
    free(buffer);
    test_engine_start(engine);
    assert_int_equal(COUNT, test_engine_stop(engine).handled);
    assert_int_equal(0, c.wrong);
    for (size_t s = 0; s < COUNT; s++) {
        assert_int_equal(sizes[s], c.sizes[s]);
    }
    assert_int_equal(0, test_engine_counters(engine).block_bytes);
    weir_engine_destroy(engine);
}

/* ---- flags ---- */

enum { FLAGS_MAX = 64 };

typedef struct flag_reader {
    uint32_t flags[FLAGS_MAX];
    uint64_t flows[FLAGS_MAX];
    size_t count;
} flag_reader;

static weir_status read_flags(void *state, weir_turn *turn, const weir_event *event)
{
    flag_reader *r = state;
    (void)turn;
    if (r->count < FLAGS_MAX) {
        r->flags[r->count] = event->flags;
        r->flows[r->count] = event->flow;
    }
    r->count++;
    return WEIR_OK;
}

/* The engine marks envelopes in the same word: its marks are not the handler's to see. */
static void a_handler_sees_the_flags_of_the_sender_and_no_others(void **state)
{
    (void)state;
    static const unsigned char bytes[WEIR_EVENT_INLINE_MAX + 1];
    static flag_reader r;
    size_t posted = 0;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = read_flags, .argument = &r));
    for (uint32_t bit = 0; bit <= 16; bit++) {
        for (size_t way = 0; way < 3; way++) { /* in the envelope, in a block, with a flow */
            const weir_event event = { .type = &weir_bytes_type,
                                       .data = bytes,
                                       .size = way == 1 ? sizeof(bytes) : 1,
                                       .flags = bit < 16 ? 1u << bit : 0u,
                                       .flow = way == 2 ? 77 : 0 };
            assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &event));
            posted++;
        }
    }
    test_engine_start(engine);
    assert_int_equal(posted, test_engine_end(engine).handled);
    assert_int_equal(posted, r.count);
    for (size_t i = 0; i < posted; i++) {
        assert_int_equal(i / 3 < 16 ? 1u << (i / 3) : 0u, r.flags[i]);
        assert_int_equal(i % 3 == 2 ? 77 : 0, r.flows[i]);
    }
}

/* ---- sizes ---- */

typedef struct pair {
    uint64_t a, b;
} pair;
WEIR_EVENT_TYPE(pair, "test.pair");
WEIR_EMPTY_TYPE(tick, "test.tick");

static void a_payload_that_does_not_fit_its_type_is_e_type(void **state)
{
    (void)state;
    test_recorder recorder;
    test_recorder_init(&recorder, false);
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to = test_processor_add(
        engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &recorder));
    const pair two = { 1, 2 };
    weir_event event = { .type = &pair_type, .data = &two, .size = sizeof(two) - 1 };
    assert_int_equal(WEIR_E_TYPE, weir_engine_post(engine, to, &event));
    event.size = sizeof(two) + 1;
    assert_int_equal(WEIR_E_TYPE, weir_engine_post(engine, to, &event));
    event.size = 0;
    assert_int_equal(WEIR_E_TYPE, weir_engine_post(engine, to, &event));
    event = (weir_event){ .type = &tick_type, .data = &two, .size = sizeof(two) };
    assert_int_equal(WEIR_E_TYPE, weir_engine_post(engine, to, &event));
    event = (weir_event){ .type = &pair_type, .data = NULL, .size = sizeof(two) };
    assert_int_equal(WEIR_E_INVALID, weir_engine_post(engine, to, &event));
    event = (weir_event){ .type = NULL, .data = &two, .size = sizeof(two) };
    assert_int_equal(WEIR_E_INVALID, weir_engine_post(engine, to, &event));
    assert_int_equal(WEIR_E_INVALID, weir_engine_post(engine, to, NULL));
    assert_int_equal(0, test_engine_counters(engine).accepted);
    assert_int_equal(7, test_engine_counters(engine).refused_other);
    weir_engine_destroy(engine);
}

/* As two plugins would have it: their own descriptors of one name. */
static const weir_event_type pair_again = {
    sizeof(weir_event_type), "test.pair", sizeof(pair), false, NULL, NULL
};
static const weir_event_type pair_wider = {
    sizeof(weir_event_type), "test.pair", sizeof(pair) + 8, false, NULL, NULL
};

static weir_status by_table(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    const pair *p = weir_event_as(event, &pair_again);
    *(uint64_t *)state += p != NULL ? p->a : 1000000;
    return WEIR_OK;
}

static void two_descriptors_of_one_name_and_size_are_one_type(void **state)
{
    (void)state;
    static const weir_case rows[] = { { &pair_again, by_table } };
    uint64_t sum = 0;
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.cases = WEIR_CASES(rows), .argument = &sum));
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, WEIR_EVENT(pair, 5, 6)));
    const pair seven = { 7, 8 };
    const weir_event again = { .type = &pair_again, .data = &seven, .size = sizeof(seven) };
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &again));
    test_engine_start(engine);
    (void)test_engine_stop(engine);
    assert_int_equal(12, sum);
    assert_int_equal(0, test_engine_counters(engine).unhandled);
    weir_engine_destroy(engine);
    assert_non_null(weir_event_as(&again, &pair_type));
    assert_null(weir_event_as(&again, &number_type));
}

static weir_status note_first(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    *(uint64_t *)state += 1;
    return WEIR_OK;
}

static weir_status note_second(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    *(uint64_t *)state += 100;
    return WEIR_OK;
}

/* Wherever its row is; a row of the very descriptor is preferred, and the first of two. */
static void a_table_finds_a_type_by_either_descriptor_in_every_row(void **state)
{
    (void)state;
    static const weir_case first[] = { { &pair_again, note_first }, { &tick_type, note_second } };
    static const weir_case last[] = { { &tick_type, note_second }, { &pair_again, note_first } };
    static const weir_case both[] = { { &pair_again, note_second }, { &pair_type, note_first } };
    static const weir_case twice[] = { { &pair_type, note_first }, { &pair_type, note_second } };
    static const weir_case *const tables[] = { first, last, both, twice };
    for (size_t t = 0; t < 4; t++) {
        uint64_t sum = 0;
        weir_engine *engine = test_engine_create(NULL);
        const weir_processor to =
            test_processor_add(engine, WEIR_PROCESSOR(.cases = { tables[t], 2 }, .argument = &sum));
        assert_int_equal(WEIR_OK, weir_engine_post(engine, to, WEIR_EVENT(pair, 5, 6)));
        test_engine_start(engine);
        assert_int_equal(1, test_engine_stop(engine).handled);
        assert_int_equal(0, test_engine_counters(engine).unhandled);
        weir_engine_destroy(engine);
        assert_int_equal(1, sum);
    }
}

static void what_is_no_event_or_no_type_has_no_payload(void **state)
{
    (void)state;
    const weir_event *event = WEIR_EVENT(pair, 5, 6);
    const weir_event no_type = { .data = event->data, .size = event->size };
    assert_ptr_equal(event->data, weir_event_as(event, &pair_type));
    assert_null(weir_event_as(NULL, &pair_type));
    assert_null(weir_event_as(event, NULL));
    assert_null(weir_event_as(NULL, NULL));
    assert_null(weir_event_as(&no_type, &pair_type));
    assert_non_null(weir_event_as(WEIR_EMPTY(tick), &tick_type)); /* an empty one has one */
    assert_null(weir_event_as(WEIR_EMPTY(tick), &pair_type));
}

static void one_name_with_two_sizes_is_e_type(void **state)
{
    (void)state;
    uint64_t sum = 0;
    static const weir_case rows[] = { { &pair_type, by_table } };
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.cases = WEIR_CASES(rows), .argument = &sum));
    const uint64_t three[3] = { 1, 2, 3 };
    const weir_event wider = { .type = &pair_wider, .data = three, .size = sizeof(three) };
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, WEIR_EVENT(pair, 5, 6)));
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &wider)); /* well formed in itself */
    assert_null(weir_event_as(&wider, &pair_type));
    test_engine_start(engine);
    (void)test_engine_end(engine);
    assert_int_equal(5, sum);
}

/* ---- types that own something ---- */

enum { OWNED_MAX = 64 };

static atomic_int owned_drops[OWNED_MAX]; /* how often each was dropped */

typedef struct owned {
    uint64_t index;
    uint64_t canary;
} owned;

static void owned_drop(void *payload)
{
    const owned *o = payload;
    if (o->canary == 0x5ca1ab1e && o->index < OWNED_MAX) {
        atomic_fetch_add(&owned_drops[o->index], 1);
    }
}

static const weir_event_type owned_type = {
    sizeof(weir_event_type), "test.owned", sizeof(owned), false, owned_drop, NULL
};

static weir_event reserve_owned(weir_engine *engine, uint64_t index)
{
    weir_event event = { .type = &owned_type, .size = sizeof(owned) };
    assert_int_equal(WEIR_OK, weir_block_reserve(engine, sizeof(owned), &event.block));
    event.data = weir_block_data(event.block);
    *(owned *)weir_block_data(event.block) = (owned){ index, 0x5ca1ab1e };
    return event;
}

static void reset_drops(void)
{
    for (size_t i = 0; i < OWNED_MAX; i++) {
        atomic_store(&owned_drops[i], 0);
    }
}

static void assert_dropped_once(uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < OWNED_MAX; i++) {
        const bool in = i >= first && i < first + count;
        assert_int_equal(in ? 1 : 0, atomic_load(&owned_drops[i]));
    }
}

static weir_status fail_every_other(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    const owned *o = weir_event_as(event, &owned_type);
    if (o == NULL || atomic_load(&owned_drops[o->index]) != 0) {
        return WEIR_E_USER - 1; /* gone before its handler: the sums will tell */
    }
    return o->index % 2 == 0 ? WEIR_OK : WEIR_E_USER;
}

static void a_type_with_a_drop_hook_travels_in_blocks_only(void **state)
{
    (void)state;
    reset_drops();
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = fail_every_other));
    const owned local = { 1, 0x5ca1ab1e };
    const weir_event event = { .type = &owned_type, .data = &local, .size = sizeof(local) };
    assert_int_equal(WEIR_E_TYPE, weir_engine_post(engine, to, &event));
    weir_engine_destroy(engine);
    assert_dropped_once(0, 0); /* it is the caller's as before */
}

static void what_was_handled_or_failed_is_dropped_once_after_its_handler(void **state)
{
    (void)state;
    reset_drops();
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = fail_every_other));
    for (uint64_t i = 0; i < 10; i++) {
        const weir_event event = reserve_owned(engine, i);
        assert_int_equal(WEIR_OK, weir_engine_commit(engine, to, &event));
    }
    test_engine_start(engine);
    const weir_stop_report report = test_engine_end(engine);
    assert_int_equal(5, report.handled);
    assert_int_equal(5, report.dead);
    assert_dropped_once(0, 10);
}

static void what_was_refused_at_a_commit_is_dropped_once(void **state)
{
    (void)state;
    reset_drops();
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = fail_every_other, .mailbox_max = 1));
    weir_event event = reserve_owned(engine, 0);
    assert_int_equal(WEIR_OK, weir_engine_commit(engine, to, &event));
    assert_dropped_once(0, 0);
    event = reserve_owned(engine, 1);
    assert_int_equal(WEIR_FULL, weir_engine_commit(engine, to, &event));
    assert_int_equal(1, atomic_load(&owned_drops[1]));
    event = reserve_owned(engine, 2);
    assert_int_equal(WEIR_UNKNOWN, weir_engine_commit(engine, (weir_processor){ 0 }, &event));
    assert_int_equal(1, atomic_load(&owned_drops[2]));
    weir_engine_destroy(engine); /* what still waits is dropped with it */
    assert_dropped_once(0, 3);
}

static void what_a_policy_drops_is_dropped_once(void **state)
{
    (void)state;
    static const weir_overflow policies[] = { WEIR_OVERFLOW_DROP_NEWEST,
                                              WEIR_OVERFLOW_DROP_OLDEST };
    static const weir_status beyond[] = { WEIR_DROPPED, WEIR_OK };
    for (size_t p = 0; p < 2; p++) {
        reset_drops();
        weir_engine *engine = test_engine_create(NULL);
        const weir_processor to =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = fail_every_other, .mailbox_max = 4,
                                                      .overflow = policies[p]));
        for (uint64_t i = 0; i < 20; i++) {
            const weir_event event = reserve_owned(engine, i);
            assert_int_equal(i < 4 ? WEIR_OK : beyond[p], weir_engine_commit(engine, to, &event));
        }
        if (policies[p] == WEIR_OVERFLOW_DROP_NEWEST) {
            assert_dropped_once(4, 16);
        } else {
            assert_dropped_once(0, 16);
        }
        test_engine_start(engine);
        assert_int_equal(16, test_engine_end(engine).dropped);
        assert_dropped_once(0, 20);
    }
}

static void what_is_left_at_a_stop_that_timed_out_is_dropped_once(void **state)
{
    (void)state;
    reset_drops();
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor to =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = fail_every_other));
    for (uint64_t i = 0; i < 10; i++) {
        const weir_event event = reserve_owned(engine, i);
        assert_int_equal(WEIR_OK, weir_engine_commit(engine, to, &event));
    }
    /* No thread has run yet, so nothing can be drained. */
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_TIMEOUT, weir_processor_stop(engine, to, WEIR_MS, &report));
    assert_int_equal(10, report.accepted);
    assert_int_equal(10, report.left);
    weir_engine_destroy(engine);
    assert_dropped_once(0, 10);
}

static void a_shared_payload_is_dropped_once_after_its_last_reader(void **state)
{
    (void)state;
    reset_drops();
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.threads = 2));
    const weir_event event = reserve_owned(engine, 0);
    for (size_t i = 0; i < 10; i++) {
        const weir_processor to =
            test_processor_add(engine, WEIR_PROCESSOR(.handler = fail_every_other));
        assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &event));
        assert_int_equal(WEIR_OK, weir_engine_post(engine, to, &event));
    }
    test_engine_start(engine);
    assert_int_equal(20, test_engine_stop(engine).handled); /* each saw it before the drop */
    assert_dropped_once(0, 0);
    weir_block_release(event.block);
    assert_dropped_once(0, 1);
    weir_engine_destroy(engine);
    assert_dropped_once(0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_posted_payload_is_copied_whatever_its_size),
        cmocka_unit_test(a_handler_sees_the_flags_of_the_sender_and_no_others),
        cmocka_unit_test(a_payload_that_does_not_fit_its_type_is_e_type),
        cmocka_unit_test(two_descriptors_of_one_name_and_size_are_one_type),
        cmocka_unit_test(a_table_finds_a_type_by_either_descriptor_in_every_row),
        cmocka_unit_test(what_is_no_event_or_no_type_has_no_payload),
        cmocka_unit_test(one_name_with_two_sizes_is_e_type),
        cmocka_unit_test(a_type_with_a_drop_hook_travels_in_blocks_only),
        cmocka_unit_test(what_was_handled_or_failed_is_dropped_once_after_its_handler),
        cmocka_unit_test(what_was_refused_at_a_commit_is_dropped_once),
        cmocka_unit_test(what_a_policy_drops_is_dropped_once),
        cmocka_unit_test(what_is_left_at_a_stop_that_timed_out_is_dropped_once),
        cmocka_unit_test(a_shared_payload_is_dropped_once_after_its_last_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
