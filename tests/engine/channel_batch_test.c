/*
 * channel_batch_test.c - many events in one broadcast: as many single ones in a row, whatever the
 * subscribers' policies, payloads and bounds, and counted like those.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "channel_support.h"

enum { MANY = 200 };

static listener a, b;

/* `count` numbers from `first` on, every third of them in a block if asked. */
typedef struct parcel_set {
    number numbers[MANY];
    weir_event events[MANY];
    const weir_event *pointers[MANY];
    weir_block *blocks[MANY];
} parcel_set;

static parcel_set set;

static const weir_event *const *make(weir_engine *engine, uint64_t first, size_t count,
                                     bool with_blocks)
{
    for (size_t i = 0; i < count; i++) {
        set.numbers[i].value = first + i;
        set.events[i] =
            (weir_event){ .type = &number_type, .data = &set.numbers[i], .size = sizeof(number) };
        set.blocks[i] = NULL;
        if (with_blocks && i % 3 == 0) {
            assert_int_equal(WEIR_OK, weir_block_reserve(engine, sizeof(number), &set.blocks[i]));
            memcpy(weir_block_data(set.blocks[i]), &set.numbers[i], sizeof(number));
            set.events[i].block = set.blocks[i];
            set.events[i].data = weir_block_data(set.blocks[i]);
        }
        set.pointers[i] = &set.events[i];
    }
    return set.pointers;
}

static void release(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        weir_block_release(set.blocks[i]);
    }
}

static void assert_heard(listener *l, uint64_t first, uint64_t count)
{
    assert_int_equal(count, heard(l));
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(first + i, l->heard[i]);
    }
}

static void a_batch_is_as_many_broadcasts_in_a_row(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_channel x = channel_open(engine, "x");
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, listener_add(engine, &a)));
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, listener_add(engine, &b)));
    test_engine_start(engine);
    weir_delivery d = { 7, 7 };
    weir_status status = WEIR_FULL;
    assert_int_equal(MANY, weir_engine_broadcast_batch(engine, x, make(engine, 0, MANY, true), MANY,
                                                       &d, &status));
    release(MANY);
    assert_int_equal(WEIR_OK, status);
    assert_int_equal(2 * MANY, d.delivered);
    assert_int_equal(0, d.refused);
    assert_int_equal(0, weir_engine_broadcast_batch(engine, x, NULL, 0, NULL, NULL));
    const weir_channel silent = channel_open(engine, "silent");
    assert_int_equal(
        3, weir_engine_broadcast_batch(engine, silent, make(engine, 0, 3, true), 3, &d, NULL));
    release(3);
    assert_int_equal(0, d.delivered);
    (void)test_engine_stop(engine);
    assert_heard(&a, 0, MANY);
    assert_heard(&b, 0, MANY);
    const weir_counters c = test_engine_counters(engine);
    assert_int_equal(MANY + 3, c.broadcasts);
    assert_int_equal(3, c.unheard);
    assert_int_equal(2 * MANY, c.delivered);
    assert_int_equal(0, c.block_bytes);
    weir_engine_destroy(engine);
}

static void a_run_that_does_not_fit_is_treated_as_the_policy_says(void **state)
{
    (void)state;
    static const struct {
        weir_overflow overflow;
        uint64_t delivered, refused, first, count;
    } rows[] = {
        { WEIR_OVERFLOW_FAIL, 5, 95, 0, 5 },
        { WEIR_OVERFLOW_BLOCK, 5, 95, 0, 5 },
        { WEIR_OVERFLOW_DROP_NEWEST, 100, 0, 0, 5 },
        { WEIR_OVERFLOW_DROP_OLDEST, 100, 0, 95, 5 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_engine *engine = test_engine_create(NULL);
        const weir_channel x = channel_open(engine, "x");
        listener_init(&a);
        const weir_processor p = test_processor_add(
            engine, WEIR_PROCESSOR(.handler = listen, .argument = &a, .mailbox_max = 5,
                                   .overflow = rows[i].overflow));
        assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, p));
        assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, listener_add(engine, &b)));
        weir_delivery d; /* not started yet: nobody makes room */
        assert_int_equal(
            100, weir_engine_broadcast_batch(engine, x, make(engine, 0, 100, true), 100, &d, NULL));
        release(100);
        assert_int_equal(100 + rows[i].delivered, d.delivered);
        assert_int_equal(rows[i].refused, d.refused);
        test_engine_start(engine);
        (void)test_engine_stop(engine);
        assert_heard(&a, rows[i].first, rows[i].count);
        assert_heard(&b, 0, 100);
        const weir_counters c = test_engine_counters(engine);
        assert_int_equal(rows[i].refused, c.undelivered);
        assert_int_equal(rows[i].refused, c.refused_full);
        assert_int_equal(0, c.block_bytes);
        weir_engine_destroy(engine);
    }
}

static void a_bad_event_ends_a_batch_and_those_before_it_are_broadcast(void **state)
{
    (void)state;
    weir_engine *engine = test_engine_create(NULL);
    const weir_channel x = channel_open(engine, "x");
    const weir_channel letters = channel_open(engine, WEIR_CHANNEL_DEAD_LETTERS);
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, x, listener_add(engine, &a)));
    test_engine_start(engine);
    weir_delivery d = { 7, 7 };
    weir_status status;
    (void)make(engine, 0, 100, false);
    set.events[70].size = 3;
    assert_int_equal(70, weir_engine_broadcast_batch(engine, x, set.pointers, 100, &d, &status));
    assert_int_equal(WEIR_E_TYPE, status);
    assert_int_equal(70, d.delivered);
    set.pointers[0] = NULL;
    assert_int_equal(0, weir_engine_broadcast_batch(engine, x, set.pointers, 100, &d, &status));
    assert_int_equal(WEIR_E_INVALID, status);
    assert_int_equal(0, d.delivered);
    const weir_event *const *one = make(engine, 0, 1, false);
    assert_int_equal(0, weir_engine_broadcast_batch(engine, letters, one, 1, &d, &status));
    assert_int_equal(WEIR_E_INVALID, status);
    assert_int_equal(0, weir_engine_broadcast_batch(engine, x, NULL, 1, &d, &status));
    assert_int_equal(WEIR_E_INVALID, status);
    assert_int_equal(0, weir_engine_broadcast_batch(NULL, x, one, 1, &d, &status));
    assert_int_equal(WEIR_E_INVALID, status);
    assert_int_equal(0, weir_turn_broadcast_batch(NULL, x, one, 1, &d, &status));
    assert_int_equal(WEIR_E_INVALID, status);
    assert_int_equal(4, test_engine_counters(engine).refused_other);
    (void)test_engine_stop(engine);
    assert_int_equal(0, weir_engine_broadcast_batch(engine, x, one, 1, &d, &status));
    assert_int_equal(WEIR_STOPPING, status);
    assert_heard(&a, 0, 70);
    weir_engine_destroy(engine);
}

/* Broadcasts a batch once it is ordered to, and keeps what it is told. */
typedef struct batcher {
    speaker s;
    const weir_event *const *events;
    size_t count, sent;
} batcher;

static weir_status speak_in_batches(void *state, weir_turn *turn, const weir_event *event)
{
    batcher *k = state;
    if (weir_event_as(event, &order_type) == NULL) {
        return listen(&k->s.own, turn, event);
    }
    k->sent = weir_turn_broadcast_batch(turn, k->s.channels[0], k->events, k->count, &k->s.last,
                                        &k->s.status);
    atomic_fetch_add_explicit(&k->s.spoken, 1, memory_order_release);
    return WEIR_OK;
}

static void a_processor_is_told_of_each_copy_of_a_batch_that_was_refused(void **state)
{
    (void)state;
    static batcher k;
    sem_t gate;
    memset(&k, 0, sizeof(k));
    listener_init(&k.s.own);
    assert_int_equal(0, sem_init(&gate, 0, 0));
    weir_engine *engine = test_engine_create(NULL);
    const weir_processor self =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = speak_in_batches, .argument = &k));
    listener_init(&a);
    a.gate = &gate;
    const weir_processor full =
        test_processor_add(engine, WEIR_PROCESSOR(.handler = listen, .argument = &a,
                                                  .mailbox_max = 2, .dedicated = true));
    k.s.channels[0] = channel_open(engine, "x");
    assert_int_equal(WEIR_OK, weir_channel_subscribe(engine, k.s.channels[0], full));
    k.events = make(engine, 0, 10, false);
    k.count = 10;
    test_engine_start(engine);
    assert_int_equal(WEIR_OK, test_post(engine, full, 100));
    test_sem_wait(&a.entered); /* two places are free, and stay so */
    order_and_wait(engine, self, &k.s, 1);
    assert_int_equal(10, k.sent);
    assert_int_equal(2, k.s.last.delivered);
    assert_int_equal(8, k.s.last.refused);
    TEST_UNTIL(atomic_load(&k.s.own.told_count) == 8);
    assert_int_equal(full.id, k.s.own.told[7].target.id);
    for (int i = 0; i < 3; i++) {
        (void)sem_post(&gate);
    }
    (void)test_engine_end(engine);
    assert_int_equal(3, heard(&a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_as_many_broadcasts_in_a_row),
        cmocka_unit_test(a_run_that_does_not_fit_is_treated_as_the_policy_says),
        cmocka_unit_test(a_bad_event_ends_a_batch_and_those_before_it_are_broadcast),
        cmocka_unit_test(a_processor_is_told_of_each_copy_of_a_batch_that_was_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
