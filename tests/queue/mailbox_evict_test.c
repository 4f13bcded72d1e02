/*
 * queue/mailbox_evict_test.c - mailboxes that drop their oldest event, on one thread: single facts,
 * then a walk against a model, which is a plain list of events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mailbox_support.h"

static weir__pop box_pop(box *b, weir__lone *copy)
{
    weir__lone *spent = copy;
    const weir__pop pop = weir__mailbox_pop(&b->mailbox, &b->lock, &b->stock, copy, &spent);
    assert_true(pop == WEIR__POP_EVENT || spent == NULL);
    lone_put(&b->stock, spent);
    return pop;
}

static weir__pop box_evict(box *b, uint64_t *before, weir__lone *copy)
{
    weir__lone *spent = copy;
    assert_true(weir__stock_fill(&b->stock, b->mailbox.page_class, 1));
    const weir__pop pop =
        weir__mailbox_evict(&b->mailbox, &b->lock, &b->evicted, &b->stock, before, copy, &spent);
    assert_true(pop == WEIR__POP_EVENT || spent == NULL);
    lone_put(&b->stock, spent);
    return pop;
}

/* The number of the oldest one, which is gone. */
static uint64_t evict_for(box *b, uint64_t number)
{
    weir__lone copy;
    uint64_t before = 0;
    if (box_evict(b, &before, &copy) != WEIR__POP_EVENT) {
        return BOX_NOTHING;
    }
    box_fill(b, WEIR__CLAIM_OK, before, 0, number);
    return envelope_read(&copy.envelope);
}

static uint64_t pop_number(box *b)
{
    weir__lone copy;
    return box_pop(b, &copy) == WEIR__POP_EVENT ? envelope_read(&copy.envelope) : BOX_NOTHING;
}

static void drain_and_close(box *b)
{
    while (pop_number(b) != BOX_NOTHING) {
    }
    assert_true(weir__mailbox_idle(&b->mailbox, box_word(b), 0, &b->stock));
    assert_true(weir__trylock_take(&b->lock)); /* nobody left it locked */
    box_close(b);
}

static void an_evicting_mailbox_hands_out_copies_in_order_and_their_places_are_free(void **state)
{
    (void)state;
    box b;
    weir__lone copy;
    box_open(&b, 7, true);
    assert_int_equal(WEIR__POP_NONE, box_pop(&b, &copy));
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(i == 0 ? WEIR__CLAIM_FIRST : WEIR__CLAIM_OK, box_post(&b, i));
    }
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(WEIR__POP_EVENT, box_pop(&b, &copy));
        assert_int_equal(i, envelope_read(&copy.envelope));
        assert_int_equal(6 - i, weir__mailbox_count(box_word(&b)));
    }
    assert_int_equal(WEIR__POP_NONE, box_pop(&b, &copy));
    drain_and_close(&b);
}

static void a_copy_has_what_a_handler_needs(void **state)
{
    (void)state;
    static const weir_event_type type = { .name = "test.evict" };
    static const char data[] = "data";
    box b;
    box_open(&b, 4, true);
    uint64_t before = 0;
    for (uint32_t i = 0; i < 3; i++) { /* alone, in a page, beside */
        uint32_t one = 1;
        weir__lone *lone = i == 1 ? NULL : lone_get(&b.stock);
        const weir__claim claim =
            i == 2 ? weir__mailbox_claim_beside(&b.mailbox, &before) : box_claim(&b, &one, &before);
        assert_int_equal(i == 0 ? WEIR__CLAIM_FIRST : WEIR__CLAIM_OK, claim);
        weir__envelope *e =
            i == 1 ? weir__mailbox_place(&b.mailbox, before, weir__mailbox_ticket(before), &b.stock)
                   : &lone->envelope;
        e->type = &type;
        e->size = 100 + i;
        e->sender = 200 + i;
        e->flow = 300 + i;
        e->payload.shared.block = (weir_block *)(void *)&b;
        e->payload.shared.data = data;
        if (i == 2) {
            lone->ask = 400;
            lone->tag = 500;
            lone->ticket = weir__mailbox_ticket(before);
        }
        weir__envelope_fill(e, WEIR__ENVELOPE_BLOCK | (i == 2 ? WEIR__ENVELOPE_ALONE : 0) | 7u);
        if (i == 0) {
            weir__mailbox_put_first(&b.mailbox, before, lone);
        } else if (i == 2) {
            weir__mailbox_put_beside(&b.mailbox, lone);
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        weir__lone copy;
        memset(&copy, 0x5a, sizeof(copy));
        assert_int_equal(WEIR__POP_EVENT, box_pop(&b, &copy));
        const uint32_t flags = weir__load(&copy.envelope.state, relaxed);
        assert_int_equal(7, flags & 0xffffu);
        assert_true((flags & WEIR__ENVELOPE_BLOCK) != 0);
        assert_int_equal(i == 2, (flags & WEIR__ENVELOPE_ALONE) != 0);
        assert_ptr_equal(&type, copy.envelope.type);
        assert_int_equal(100 + i, copy.envelope.size);
        assert_int_equal(200 + i, copy.envelope.sender);
        assert_int_equal(300 + i, copy.envelope.flow);
        assert_ptr_equal(&b, copy.envelope.payload.shared.block);
        assert_ptr_equal(data, copy.envelope.payload.shared.data);
        assert_true(i != 2 || (copy.ask == 400 && copy.tag == 500));
    }
    drain_and_close(&b);
}

static void a_poster_that_evicts_uses_the_place_again(void **state)
{
    (void)state;
    box b;
    box_open(&b, 1, true);
    assert_int_equal(WEIR__CLAIM_FIRST, box_post(&b, 0));
    for (uint32_t i = 1; i < 4000; i++) { /* round the ring of pages */
        assert_int_equal(WEIR__CLAIM_FULL, box_post(&b, i));
        const uint64_t before = box_word(&b);
        assert_int_equal(i - 1, evict_for(&b, i));
        assert_int_equal(i, weir__load(&b.evicted, relaxed));
        assert_int_equal(1, weir__mailbox_count(box_word(&b)));
        assert_int_equal(i + 1, weir__mailbox_outstanding(box_word(&b), 0));
        /* An owner's old look is stale. */
        assert_false(weir__mailbox_idle(&b.mailbox, before, 1, &b.stock));
    }
    drain_and_close(&b);
}

static void a_promised_place_counts_towards_full(void **state)
{
    (void)state;
    box b;
    box_open(&b, 4, true);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(i == 0 ? WEIR__CLAIM_FIRST : WEIR__CLAIM_OK, box_post(&b, i));
        assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&b.mailbox));
    }
    assert_int_equal(WEIR__CLAIM_FULL, box_post(&b, 2));
    assert_int_equal(WEIR__CLAIM_FULL, weir__mailbox_reserve(&b.mailbox));
    assert_int_equal(0, evict_for(&b, 2));
    assert_int_equal(1, weir__load(&b.evicted, relaxed));
    assert_int_equal(2, weir__mailbox_owed(box_word(&b))); /* promised as before */
    weir__mailbox_unreserve(&b.mailbox);
    weir__mailbox_unreserve(&b.mailbox);
    drain_and_close(&b);
}

static void a_held_lock_is_busy_and_changes_nothing(void **state)
{
    (void)state;
    box b;
    weir__lone copy;
    uint64_t before = 0;
    box_open(&b, 1, true);
    assert_int_equal(WEIR__CLAIM_FIRST, box_post(&b, 0));
    const uint64_t word = box_word(&b);
    assert_true(weir__trylock_take(&b.lock));
    assert_int_equal(WEIR__POP_BUSY, box_pop(&b, &copy));
    assert_int_equal(WEIR__POP_BUSY, box_evict(&b, &before, &copy));
    assert_int_equal(0, weir__load(&b.evicted, relaxed));
    assert_int_equal(word, box_word(&b));
    weir__trylock_release(&b.lock);
    assert_int_equal(WEIR__POP_EVENT, box_pop(&b, &copy));
    drain_and_close(&b);
}

/* Every way in which there is nothing to evict leaves the mailbox as it was. */
static void assert_nothing_to_evict(box *b)
{
    weir__lone copy;
    uint64_t before = 0;
    const uint64_t word = box_word(b);
    const uint64_t evicted = weir__load(&b->evicted, relaxed);
    assert_int_equal(WEIR__POP_NONE, box_evict(b, &before, &copy));
    assert_int_equal(evicted, weir__load(&b->evicted, relaxed));
    assert_int_equal(word, box_word(b));
}

static void only_a_full_and_open_mailbox_evicts(void **state)
{
    (void)state;
    box b;
    box_open(&b, 2, true);
    assert_nothing_to_evict(&b); /* empty */
    assert_int_equal(WEIR__CLAIM_FIRST, box_post(&b, 0));
    assert_nothing_to_evict(&b); /* has room by now */
    assert_int_equal(WEIR__CLAIM_OK, box_post(&b, 1));
    assert_false(weir__mailbox_close(&b.mailbox));
    weir__mailbox_settle_evictions(&b.lock);
    assert_nothing_to_evict(&b); /* what was accepted before the close stays */
    assert_int_equal(0, pop_number(&b));
    assert_int_equal(1, pop_number(&b));
    weir__mailbox_retire(&b.mailbox, box_word(&b), &b.stock);
    box_close(&b);
}

static void a_mailbox_full_of_promises_or_gaps_has_nothing_to_evict(void **state)
{
    (void)state;
    box b;
    box_open(&b, 2, true);
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&b.mailbox));
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&b.mailbox));
    assert_nothing_to_evict(&b);
    weir__mailbox_unreserve(&b.mailbox);
    uint32_t one = 1;
    uint64_t before = 0;
    assert_int_equal(WEIR__CLAIM_FIRST, box_claim(&b, &one, &before)); /* not yet filled */
    assert_nothing_to_evict(&b);
    box_fill(&b, WEIR__CLAIM_FIRST, before, 0, 5);
    assert_int_equal(5, evict_for(&b, 6));
    assert_int_equal(6, pop_number(&b));
    weir__mailbox_unreserve(&b.mailbox);
    drain_and_close(&b);
}

static void a_gap_behind_what_lies_beside_is_not_jumped(void **state)
{
    (void)state;
    box b;
    uint32_t one = 1;
    uint64_t before = 0;
    box_open(&b, 3, true);
    assert_int_equal(WEIR__CLAIM_FIRST, box_post_beside(&b, 0));
    assert_int_equal(WEIR__CLAIM_OK, box_claim(&b, &one, &before));
    assert_int_equal(WEIR__CLAIM_OK, box_post(&b, 2));
    assert_nothing_to_evict(&b);
    box_fill(&b, WEIR__CLAIM_OK, before, 0, 1);
    assert_int_equal(1, evict_for(&b, 3));
    assert_int_equal(0, pop_number(&b));
    assert_int_equal(2, pop_number(&b));
    assert_int_equal(3, pop_number(&b));
    drain_and_close(&b);
}

/* Every way to lie for the events of a full mailbox; then so many evictions as it has others. */
static void what_lies_beside_is_not_evicted_and_keeps_its_order(void **state)
{
    (void)state;
    enum { SPAN = 9 };
    for (uint32_t start = 0; start < 6; start++) { /* pages have four places */
        for (uint32_t way = 0; way < 1u << SPAN; way += TEST_SANITIZED ? 5 : 1) {
            box b;
            box_open(&b, SPAN, true);
            for (uint32_t i = 0; i < start; i++) {
                (void)box_post(&b, i);
                assert_int_equal(i, pop_number(&b));
            }
            for (uint32_t i = 0; i < SPAN; i++) {
                (void)((way >> i & 1) != 0 ? box_post_beside(&b, i) : box_post(&b, i));
            }
            uint64_t number = SPAN;
            for (uint32_t i = 0; i < SPAN; i++) {
                if ((way >> i & 1) == 0) {
                    assert_int_equal(i, evict_for(&b, number++));
                }
            }
            if (number == SPAN) {
                assert_nothing_to_evict(&b); /* all of it is owed */
            }
            for (uint32_t i = 0; i < SPAN; i++) {
                if ((way >> i & 1) != 0) {
                    assert_int_equal(i, pop_number(&b));
                }
            }
            for (uint64_t i = SPAN; i < number; i++) {
                assert_int_equal(i, pop_number(&b));
            }
            drain_and_close(&b);
        }
    }
}

/* Under the lock nobody looks at them again and again. */
static void thousands_that_lie_beside_do_not_make_evictions_slow(void **state)
{
    (void)state;
    enum { BESIDE = 30000, EVICTIONS = 300 };
    box b;
    box_open(&b, BESIDE + 1, true);
    for (uint64_t i = 0; i < BESIDE; i++) {
        assert_true(box_post_beside(&b, i) <= WEIR__CLAIM_FIRST);
    }
    assert_int_equal(WEIR__CLAIM_OK, box_post(&b, BESIDE));
    const weir_ns begin = weir__clock_now();
    for (uint64_t i = 0; i < EVICTIONS; i++) {
        assert_int_equal(BESIDE + i, evict_for(&b, BESIDE + i + 1));
    }
    /* Some milliseconds each if it grew with the square: minutes. */
    assert_true(weir__clock_now() - begin < (TEST_SANITIZED ? 40 : 10) * WEIR_S);
    for (uint64_t i = 0; i < BESIDE; i++) {
        assert_int_equal(i, pop_number(&b));
    }
    assert_int_equal(BESIDE + EVICTIONS, pop_number(&b));
    drain_and_close(&b);
}

static void settling_evictions_leaves_the_lock_free(void **state)
{
    (void)state;
    weir__trylock lock = { 0 };
    weir__mailbox_settle_evictions(&lock);
    assert_true(weir__trylock_take(&lock));
}

/* ---- the walk ---- */

typedef struct listed {
    uint64_t number;
    bool beside;
} listed;

typedef struct walk {
    box b;
    listed list[256]; /* oldest first */
    uint32_t count, owed;
    uint64_t next;
} walk;

static void walk_remove(walk *w, uint32_t nth)
{
    w->count--;
    memmove(&w->list[nth], &w->list[nth + 1], (w->count - nth) * sizeof(w->list[0]));
}

static void walk_add(walk *w, bool beside)
{
    w->list[w->count++] = (listed){ w->next++, beside };
}

static void walk_post(walk *w)
{
    if (w->count + w->owed < w->b.mailbox.limit) {
        assert_true(box_post(&w->b, w->next) <= WEIR__CLAIM_FIRST);
        walk_add(w, false);
        return;
    }
    assert_int_equal(WEIR__CLAIM_FULL, box_post(&w->b, w->next));
    uint32_t oldest = 0;
    while (oldest < w->count && w->list[oldest].beside) {
        oldest++;
    }
    if (oldest == w->count) {
        assert_nothing_to_evict(&w->b);
        return;
    }
    assert_int_equal(w->list[oldest].number, evict_for(&w->b, w->next));
    walk_remove(w, oldest);
    walk_add(w, false);
}

static void walk_beside(walk *w, bool owed)
{
    uint64_t before = 0;
    if (owed && w->owed > 0) {
        assert_true(weir__mailbox_claim_owed(&w->b.mailbox, &before) <= WEIR__CLAIM_FIRST);
        box_fill_beside(&w->b, before, w->next);
        w->owed--;
        walk_add(w, true);
    } else if (w->count + w->owed == w->b.mailbox.limit) {
        assert_int_equal(WEIR__CLAIM_FULL, box_post_beside(&w->b, w->next));
    } else if (owed) {
        assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&w->b.mailbox));
        w->owed++;
    } else {
        assert_true(box_post_beside(&w->b, w->next) <= WEIR__CLAIM_FIRST);
        walk_add(w, true);
    }
}

static void walk_pop(walk *w)
{
    assert_int_equal(w->count > 0 ? w->list[0].number : BOX_NOTHING, pop_number(&w->b));
    if (w->count > 0) {
        walk_remove(w, 0);
    } else if ((box_word(&w->b) & WEIR__MAILBOX_READY) != 0) {
        assert_true(weir__mailbox_idle(&w->b.mailbox, box_word(&w->b), 0, &w->b.stock));
    }
}

static void a_random_walk_agrees_with_the_model(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const uint32_t limits[] = { 1, 2, 3, 5, 16, 17, 33, 100 };
    static walk w;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        memset(&w, 0, sizeof(w));
        box_open(&w.b, limits[i], true);
        for (uint32_t step = test_load(300000); step > 0; step--) {
            const uint64_t choice = test_random(&random);
            const uint32_t pops = (step / 1024) % 3; /* mostly full, in between, mostly empty */
            if (choice % 16 == 0) {
                walk_beside(&w, choice % 64 < 32);
            } else if (choice % 16 < 4 * (pops + 1)) {
                walk_pop(&w);
            } else {
                walk_post(&w);
            }
            assert_int_equal(w.count, weir__mailbox_count(box_word(&w.b)));
            assert_int_equal(w.owed, weir__mailbox_owed(box_word(&w.b)));
        }
        for (; w.owed > 0; w.owed--) {
            weir__mailbox_unreserve(&w.b.mailbox);
        }
        while (w.count > 0) {
            walk_pop(&w);
        }
        assert_true(weir__load(&w.b.evicted, relaxed) > 100);
        (void)weir__mailbox_rouse(&w.b.mailbox);
        drain_and_close(&w.b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_evicting_mailbox_hands_out_copies_in_order_and_their_places_are_free),
        cmocka_unit_test(a_copy_has_what_a_handler_needs),
        cmocka_unit_test(a_poster_that_evicts_uses_the_place_again),
        cmocka_unit_test(a_promised_place_counts_towards_full),
        cmocka_unit_test(a_held_lock_is_busy_and_changes_nothing),
        cmocka_unit_test(only_a_full_and_open_mailbox_evicts),
        cmocka_unit_test(a_mailbox_full_of_promises_or_gaps_has_nothing_to_evict),
        cmocka_unit_test(a_gap_behind_what_lies_beside_is_not_jumped),
        cmocka_unit_test(what_lies_beside_is_not_evicted_and_keeps_its_order),
        cmocka_unit_test(thousands_that_lie_beside_do_not_make_evictions_slow),
        cmocka_unit_test(settling_evictions_leaves_the_lock_free),
        cmocka_unit_test(a_random_walk_agrees_with_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
