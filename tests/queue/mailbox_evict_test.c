/*
 * queue/mailbox_evict_test.c - mailboxes that drop their oldest event, on one thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "inner_support.h"

#include "queue/mailbox.h"

static uint64_t word_of(weir__mailbox *mailbox)
{
    return weir__load(&mailbox->word, acquire);
}

static weir__claim claim_one(weir__mailbox *mailbox)
{
    uint32_t one = 1;
    return weir__mailbox_claim(mailbox, &one);
}

static void an_evicting_mailbox_hands_out_copies_in_order(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__envelope events[3] = { { .size = 0 } };
    weir__envelope_wide copy;
    weir__envelope *spent = NULL;
    weir__mailbox_open(&mailbox, 3, 64, true);
    assert_int_equal(WEIR__POP_NONE, weir__mailbox_pop(&mailbox, &copy, &spent));
    for (uint32_t i = 0; i < 3; i++) {
        events[i].size = i + 1;
        assert_int_equal(i == 0 ? WEIR__CLAIM_FIRST : WEIR__CLAIM_OK, claim_one(&mailbox));
        weir__mailbox_publish(&mailbox, &events[i], &events[i]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(WEIR__POP_EVENT, weir__mailbox_pop(&mailbox, &copy, &spent));
        assert_int_equal(i + 1, copy.envelope.size);
        assert_ptr_equal(i == 0 ? NULL : &events[i - 1], spent);
    }
    assert_int_equal(WEIR__POP_NONE, weir__mailbox_pop(&mailbox, &copy, &spent));
    assert_null(spent);
    weir__cursor cursor = { 0 };
    assert_true(weir__mailbox_retire(&mailbox, &cursor, &spent));
    assert_ptr_equal(&events[2], spent);
    assert_false(weir__mailbox_retire(&mailbox, &cursor, &spent));
    assert_null(spent);
    assert_true(weir__trylock_take(&mailbox.head_lock)); /* nobody left it locked */
}

static void a_poster_that_evicts_uses_the_place_again(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__envelope events[4] = { { .size = 0 } };
    weir__envelope_wide copy;
    weir__envelope *spent;
    weir__atomic_u64 evicted = { 0 };
    weir__mailbox_open(&mailbox, 1, 64, true);
    assert_int_equal(WEIR__CLAIM_FIRST, claim_one(&mailbox));
    weir__mailbox_publish(&mailbox, &events[0], &events[0]);
    for (uint32_t i = 1; i < 4; i++) {
        assert_int_equal(WEIR__CLAIM_FULL, claim_one(&mailbox));
        const uint64_t before = word_of(&mailbox);
        assert_int_equal(WEIR__POP_EVENT, weir__mailbox_evict(&mailbox, &evicted, &copy, &spent));
        assert_int_equal(i, weir__load(&evicted, relaxed));
        weir__mailbox_publish(&mailbox, &events[i], &events[i]);
        assert_int_equal(1, weir__mailbox_count(word_of(&mailbox)));
        assert_int_equal(i + 1, weir__mailbox_outstanding(word_of(&mailbox), 0));
        assert_false(weir__mailbox_idle(&mailbox, before, 1)); /* an owner's old look is stale */
    }
}

static void a_promised_place_counts_towards_full(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__envelope events[3] = { { .size = 0 } };
    weir__envelope_wide copy;
    weir__envelope *spent;
    weir__atomic_u64 evicted = { 0 };
    weir__mailbox_open(&mailbox, 4, 64, true);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(i == 0 ? WEIR__CLAIM_FIRST : WEIR__CLAIM_OK, claim_one(&mailbox));
        weir__mailbox_publish(&mailbox, &events[i], &events[i]);
        assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&mailbox));
    }
    assert_int_equal(WEIR__CLAIM_FULL, claim_one(&mailbox));
    assert_int_equal(WEIR__CLAIM_FULL, weir__mailbox_reserve(&mailbox));
    assert_int_equal(WEIR__POP_EVENT, weir__mailbox_evict(&mailbox, &evicted, &copy, &spent));
    assert_int_equal(1, weir__load(&evicted, relaxed));
    assert_int_equal(2, weir__mailbox_owed(word_of(&mailbox))); /* promised as before */
}

static void a_held_head_lock_is_busy_and_changes_nothing(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__envelope event = { .size = 0 };
    weir__envelope_wide copy;
    weir__envelope *spent = &event;
    weir__mailbox_open(&mailbox, 1, 64, true);
    assert_int_equal(WEIR__CLAIM_FIRST, claim_one(&mailbox));
    weir__mailbox_publish(&mailbox, &event, &event);
    assert_true(weir__trylock_take(&mailbox.head_lock));
    assert_int_equal(WEIR__POP_BUSY, weir__mailbox_pop(&mailbox, &copy, &spent));
    assert_null(spent);
    weir__atomic_u64 evicted = { 0 };
    assert_int_equal(WEIR__POP_BUSY, weir__mailbox_evict(&mailbox, &evicted, &copy, &spent));
    assert_int_equal(0, weir__load(&evicted, relaxed));
    weir__trylock_release(&mailbox.head_lock);
    assert_int_equal(WEIR__POP_EVENT, weir__mailbox_pop(&mailbox, &copy, &spent));
}

/* Every way in which there is nothing to evict leaves the mailbox as it was. */
static void assert_nothing_to_evict(weir__mailbox *mailbox)
{
    weir__envelope_wide copy;
    weir__envelope *spent = &copy.envelope;
    weir__atomic_u64 evicted = { 0 };
    const uint64_t before = word_of(mailbox);
    assert_int_equal(WEIR__POP_NONE, weir__mailbox_evict(mailbox, &evicted, &copy, &spent));
    assert_null(spent);
    assert_int_equal(0, weir__load(&evicted, relaxed));
    assert_int_equal(before, word_of(mailbox));
}

static void only_a_full_and_open_mailbox_evicts(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__envelope events[2] = { { .size = 0 } };
    weir__mailbox_open(&mailbox, 2, 64, true);
    assert_nothing_to_evict(&mailbox); /* empty */
    assert_int_equal(WEIR__CLAIM_FIRST, claim_one(&mailbox));
    weir__mailbox_publish(&mailbox, &events[0], &events[0]);
    assert_nothing_to_evict(&mailbox); /* has room by now */
    assert_int_equal(WEIR__CLAIM_OK, claim_one(&mailbox));
    weir__mailbox_publish(&mailbox, &events[1], &events[1]);
    assert_false(weir__mailbox_close(&mailbox));
    weir__mailbox_settle_evictions(&mailbox);
    assert_nothing_to_evict(&mailbox); /* what was accepted before the close stays */

    weir__envelope_wide copy;
    weir__envelope *spent;
    assert_int_equal(WEIR__POP_EVENT, weir__mailbox_pop(&mailbox, &copy, &spent));
    assert_int_equal(WEIR__POP_EVENT, weir__mailbox_pop(&mailbox, &copy, &spent));
}

static void a_mailbox_full_of_promises_or_gaps_has_nothing_to_evict(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, 2, 64, true);
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&mailbox));
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&mailbox));
    assert_nothing_to_evict(&mailbox);
    weir__mailbox_unreserve(&mailbox);
    assert_int_equal(WEIR__CLAIM_FIRST, claim_one(&mailbox)); /* claimed, not yet published */
    assert_nothing_to_evict(&mailbox);
}

static void an_owed_event_is_handed_out_uncounted_to_be_hung_in_again(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__envelope owed = { .flags = WEIR__ENVELOPE_OWED, .size = 7 };
    weir__envelope again = { .size = 7 };
    weir__envelope_wide copy;
    weir__envelope *spent;
    weir__atomic_u64 evicted = { 0 };
    weir__mailbox_open(&mailbox, 1, 64, true);
    assert_int_equal(WEIR__CLAIM_FIRST, claim_one(&mailbox));
    weir__mailbox_publish(&mailbox, &owed, &owed);
    const uint64_t before = word_of(&mailbox);
    assert_int_equal(WEIR__POP_EVENT, weir__mailbox_evict(&mailbox, &evicted, &copy, &spent));
    assert_int_equal(WEIR__ENVELOPE_OWED, copy.envelope.flags);
    assert_int_equal(7, copy.envelope.size);
    assert_int_equal(0, weir__load(&evicted, relaxed));
    assert_int_equal(before, word_of(&mailbox)); /* its place is kept for it */
    weir__mailbox_publish(&mailbox, &again, &again);
    assert_int_equal(WEIR__POP_EVENT, weir__mailbox_pop(&mailbox, &copy, &spent));
    assert_ptr_equal(&owed, spent);
    assert_int_equal(7, copy.envelope.size);
}

static void settling_evictions_leaves_the_lock_free(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, 1, 64, false);
    assert_true(weir__trylock_take(&mailbox.head_lock));
    weir__mailbox_settle_evictions(&mailbox); /* nobody evicts here: no need to wait */
    weir__trylock_release(&mailbox.head_lock);
    weir__mailbox_open(&mailbox, 1, 64, true);
    weir__mailbox_settle_evictions(&mailbox);
    assert_true(weir__trylock_take(&mailbox.head_lock));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_evicting_mailbox_hands_out_copies_in_order),
        cmocka_unit_test(a_poster_that_evicts_uses_the_place_again),
        cmocka_unit_test(a_promised_place_counts_towards_full),
        cmocka_unit_test(a_held_head_lock_is_busy_and_changes_nothing),
        cmocka_unit_test(only_a_full_and_open_mailbox_evicts),
        cmocka_unit_test(a_mailbox_full_of_promises_or_gaps_has_nothing_to_evict),
        cmocka_unit_test(an_owed_event_is_handed_out_uncounted_to_be_hung_in_again),
        cmocka_unit_test(settling_evictions_leaves_the_lock_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
