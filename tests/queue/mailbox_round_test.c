/*
 * queue/mailbox_round_test.c - mailboxes whose tickets go round their tables (the head is still in
 * an index when the tail comes back to it), and what they leave behind. On one thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "queue/mailbox.h"

typedef struct round_trip {
    test_memory memory;
    weir__stores stores;
    weir__stock stock;
    weir__mailbox mailbox;
    uint32_t posted, taken;
} round_trip;

static void post(round_trip *trip)
{
    weir__mailbox *mailbox = &trip->mailbox;
    weir__stock *stock = &trip->stock;
    uint32_t one = 1;
    uint64_t before = 0;
    if (!weir__stock_suffices(stock, mailbox->page_class)) {
        assert_true(weir__stock_fill(stock, mailbox->page_class, 1));
    }
    const weir__claim claim = weir__mailbox_claim(mailbox, &one, &before);
    assert_true(claim <= WEIR__CLAIM_FIRST);
    if (claim == WEIR__CLAIM_FIRST) {
        weir__lone *lone =
            (weir__lone *)(void *)weir__pool_get(&stock->stores->lones, &stock->lones);
        lone->envelope.flow = trip->posted++;
        weir__init(&lone->envelope.state, WEIR__ENVELOPE_FILLED);
        weir__mailbox_put_first(mailbox, before, lone);
        return;
    }
    const weir__envelope *short_cut = weir__mailbox_place_if_there(mailbox, before);
    weir__envelope *envelope =
        weir__mailbox_place(mailbox, before, weir__mailbox_ticket(before), stock);
    assert_true(short_cut == NULL || short_cut == envelope);
    assert_int_equal(0, weir__load(&envelope->state, relaxed));
    envelope->flow = trip->posted++;
    weir__envelope_fill(envelope, 0);
}

static void take(round_trip *trip)
{
    weir__mailbox *mailbox = &trip->mailbox;
    const uint64_t word = weir__load(&mailbox->word, acquire);
    weir__cursor cursor = weir__mailbox_cursor(word, 0);
    const weir__envelope *envelope = weir__mailbox_take(mailbox, &cursor, word);
    assert_non_null(envelope);
    assert_int_equal(trip->taken++, envelope->flow);
    weir__lone *lone = weir__mailbox_let_go(mailbox, &cursor, word, &trip->stock);
    if (lone != NULL) {
        weir__pool_put(&trip->stores.lones, &trip->stock.lones, &lone->pooled);
    }
    weir__mailbox_credit(mailbox, 1);
}

static void begin(round_trip *trip, uint32_t limit)
{
    memset(trip, 0, sizeof(*trip));
    test_memory_open(&trip->memory, 0);
    weir__stores_open(&trip->stores, &trip->memory.allocator);
    trip->stock.stores = &trip->stores;
    weir__mailbox_open(&trip->mailbox, limit, 64, false);
}

static void go_idle(round_trip *trip)
{
    weir__mailbox *mailbox = &trip->mailbox;
    assert_true(weir__mailbox_idle(mailbox, weir__load(&mailbox->word, acquire), 0, &trip->stock));
}

static void end(round_trip *trip)
{
    weir__stock_flush(&trip->stock);
    weir__stores_close(&trip->stores);
    test_memory_check(&trip->memory);
}

/* Full; a part is taken and posted anew; everything is taken. */
static void go_round(uint32_t limit, uint32_t part)
{
    round_trip trip;
    begin(&trip, limit);
    while (trip.posted < limit) {
        post(&trip);
    }
    while (trip.taken < part) {
        take(&trip);
    }
    while (trip.posted < limit + part) {
        post(&trip);
    }
    while (trip.taken < trip.posted) {
        take(&trip);
    }
    go_idle(&trip);
    end(&trip);
}

static void a_tail_that_comes_round_to_the_index_of_the_head_loses_nothing(void **state)
{
    (void)state;
    go_round(14000, 3000);
    go_round(30000, 8000);
    go_round(100000, 32000);
}

static void the_largest_mailbox_goes_round_all_tickets(void **state)
{
    (void)state;
    go_round(WEIR__MAILBOX_MAX, 200000);
}

/* `count` events that are posted, and handled, and nothing comes after them. */
static void run_epoch(round_trip *trip, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        post(trip);
    }
    for (uint32_t i = 0; i < count; i++) {
        take(trip);
    }
}

static void a_thousand_epochs_need_the_memory_of_a_few(void **state)
{
    (void)state;
    round_trip trip;
    uint64_t bytes = 0;
    begin(&trip, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        run_epoch(&trip, 1 + i % 100);
        go_idle(&trip);
        bytes = i == 99 ? weir__stores_bytes(&trip.stores) : bytes;
    }
    assert_int_equal(bytes, weir__stores_bytes(&trip.stores));
    end(&trip);
}

static void a_mailbox_that_was_retired_leaves_nothing_behind(void **state)
{
    (void)state;
    round_trip trip;
    uint64_t bytes = 0;
    begin(&trip, 16);
    for (uint32_t i = 0; i < 1000; i++) {
        weir__mailbox_open(&trip.mailbox, 16, 64, false);
        run_epoch(&trip, 7);
        weir__mailbox_close(&trip.mailbox);
        weir__mailbox_retire(&trip.mailbox, weir__load(&trip.mailbox.word, acquire), &trip.stock);
        bytes = i == 99 ? weir__stores_bytes(&trip.stores) : bytes;
    }
    assert_int_equal(bytes, weir__stores_bytes(&trip.stores));
    end(&trip);
}

static void an_idle_that_was_overtaken_is_refused(void **state)
{
    (void)state;
    round_trip trip;
    begin(&trip, 16);
    run_epoch(&trip, 1);
    const uint64_t word = weir__load(&trip.mailbox.word, acquire);
    post(&trip);
    assert_false(weir__mailbox_idle(&trip.mailbox, word, 0, &trip.stock));
    take(&trip);
    go_idle(&trip);
    end(&trip);
}

static void every_size_has_room_for_its_limit_and_two_pages(void **state)
{
    (void)state;
    for (uint32_t limit = 1; limit <= WEIR__MAILBOX_MAX; limit += limit < 1000 ? 1 : limit / 97) {
        const uint32_t page_class = weir__page_class_for(limit);
        const uint32_t bits = weir__page_bits(page_class);
        assert_true(page_class < WEIR__PAGE_CLASSES);
        assert_true(1u << (WEIR__ROOT_BITS + WEIR__INDEX_BITS + bits) >= limit + (2u << bits));
        assert_true(WEIR__ROOT_BITS + WEIR__INDEX_BITS + bits <= 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tail_that_comes_round_to_the_index_of_the_head_loses_nothing),
        cmocka_unit_test(the_largest_mailbox_goes_round_all_tickets),
        cmocka_unit_test(a_thousand_epochs_need_the_memory_of_a_few),
        cmocka_unit_test(a_mailbox_that_was_retired_leaves_nothing_behind),
        cmocka_unit_test(an_idle_that_was_overtaken_is_refused),
        cmocka_unit_test(every_size_has_room_for_its_limit_and_two_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
