/*
 * queue/mailbox_test.c - the mailbox on one thread, against a model: the number of the next event
 * to come, which are there, three counts and two flags. mailbox_order_test.c goes round tickets,
 * pages and epochs, mailbox_race_test.c has the threads, mailbox_evict_test.c the mailboxes that
 * drop their oldest event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mailbox_support.h"

/* ---- single facts ---- */

static void a_fresh_mailbox_is_idle_and_owns_no_memory(void **state)
{
    (void)state;
    box b;
    box_open(&b, 5, false);
    assert_int_equal(0, box_word(&b));
    assert_int_equal(0, weir__load(&b.mailbox.first, relaxed));
    assert_int_equal(0, weir__load(&b.mailbox.root, relaxed));
    assert_null(weir__load(&b.mailbox.beside, relaxed));
    assert_int_equal(5, b.mailbox.limit);
    assert_false(weir__mailbox_evicts(&b.mailbox));
    assert_int_equal(0, weir__load(&b.memory.calls, relaxed));
    box_close(&b);
}

/* The slot of a processor is used again, in whatever epoch the one before ended. */
static void opening_a_used_mailbox_makes_it_fresh(void **state)
{
    (void)state;
    box b;
    box_open(&b, 5, false);
    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t i = 0; i <= round % 3; i++) {
            (void)(round % 2 == 0 ? box_post(&b, i) : box_post_beside(&b, i));
        }
        (void)weir__mailbox_close(&b.mailbox);
        box_own(&b);
        for (uint32_t i = 0; i <= round % 3; i++) {
            assert_int_equal(i, box_take(&b));
        }
        box_credit(&b);
        weir__mailbox_retire(&b.mailbox, box_word(&b), &b.stock);
        weir__mailbox_retire(&b.mailbox, box_word(&b), &b.stock); /* twice does no harm */
        weir__mailbox_open(&b.mailbox, 5, 64, false);
        assert_int_equal(0, box_word(&b));
        assert_int_equal(WEIR__CLAIM_FIRST, box_post(&b, 7));
        box_own(&b);
        assert_int_equal(7, box_take(&b));
        assert_true(box_idle(&b));
        weir__mailbox_open(&b.mailbox, 5, 64, false);
    }
    box_close(&b);
}

static void credits_come_in_steps_of_a_128th_of_the_limit(void **state)
{
    (void)state;
    static const struct {
        uint32_t limit, batch;
        bool evicting;
        uint32_t every;
    } rows[] = {
        { 1, 64, false, 1 },      { 127, 64, false, 1 },           { 128, 64, false, 1 },
        { 255, 64, false, 1 },    { 256, 64, false, 2 },           { 1280, 64, false, 10 },
        { 10000, 64, false, 64 }, { 1000000, 64, false, 64 },      { 1000000, 1, false, 1 },
        { 1000000, 64, true, 0 }, { 1000000, 10000, false, 7812 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir__mailbox mailbox = { 0 };
        weir__mailbox_open(&mailbox, rows[i].limit, rows[i].batch, rows[i].evicting);
        assert_int_equal(rows[i].every, mailbox.credit_every);
        assert_int_equal(rows[i].evicting, weir__mailbox_evicts(&mailbox));
    }
}

static void open_with_zero(void)
{
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, 0, 64, false);
}

static void open_with_too_much(void)
{
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, WEIR__MAILBOX_MAX + 1, 64, false);
}

static void unreserve_what_nobody_reserved(void)
{
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, 2, 64, false);
    weir__mailbox_unreserve(&mailbox);
}

static void claim_owed_what_nobody_owes(void)
{
    weir__mailbox mailbox = { 0 };
    uint64_t before = 0;
    weir__mailbox_open(&mailbox, 2, 64, false);
    (void)weir__mailbox_claim_owed(&mailbox, &before);
}

static void pop_from_one_that_does_not_evict(void)
{
    box b;
    weir__lone copy;
    weir__lone *spent;
    box_open(&b, 2, false);
    (void)weir__mailbox_pop(&b.mailbox, &b.lock, &b.stock, &copy, &spent);
}

static void broken_contracts_abort(void **state)
{
    (void)state;
    assert_true(test_aborts(open_with_zero));
    assert_true(test_aborts(open_with_too_much));
    assert_true(test_aborts(unreserve_what_nobody_reserved));
    assert_true(test_aborts(claim_owed_what_nobody_owes));
    assert_true(test_aborts(pop_from_one_that_does_not_evict));
}

static weir__claim claim_one(weir__mailbox *mailbox)
{
    uint32_t one = 1;
    uint64_t before = 0;
    return weir__mailbox_claim(mailbox, &one, &before);
}

static void the_largest_mailbox_fills_to_its_last_place(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, WEIR__MAILBOX_MAX, 64, false);
    uint32_t count = WEIR__MAILBOX_MAX - 1;
    uint64_t before = 0;
    assert_int_equal(WEIR__CLAIM_FIRST, weir__mailbox_claim(&mailbox, &count, &before));
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&mailbox));
    assert_int_equal(WEIR__CLAIM_FULL, claim_one(&mailbox));
    assert_int_equal(WEIR__CLAIM_FULL, weir__mailbox_claim_beside(&mailbox, &before));
    assert_int_equal(WEIR__CLAIM_FULL, weir__mailbox_reserve(&mailbox));
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_claim_owed(&mailbox, &before));
    assert_int_equal(WEIR__MAILBOX_MAX - 1, weir__mailbox_ticket(before));
    const uint64_t word = weir__load(&mailbox.word, relaxed);
    assert_int_equal(WEIR__MAILBOX_MAX, weir__mailbox_count(word));
    assert_int_equal(0, weir__mailbox_owed(word));
    assert_int_equal(WEIR__MAILBOX_MAX, weir__mailbox_outstanding(word, 0));
}

/* 2^20 tickets and more: the field goes round, the difference stays exact. */
static void outstanding_is_exact_when_the_ticket_goes_round(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, WEIR__MAILBOX_MAX, 64, false);
    uint64_t done = 0;
    for (uint32_t i = 0; i < 30; i++) {
        uint32_t count = i % 2 == 0 ? WEIR__MAILBOX_MAX : 77777;
        uint64_t before = 0;
        assert_true(weir__mailbox_claim(&mailbox, &count, &before) <= WEIR__CLAIM_FIRST);
        assert_int_equal(done & WEIR__MAILBOX_FIELD, weir__mailbox_ticket(before));
        const uint64_t word = weir__load(&mailbox.word, relaxed);
        assert_int_equal(count, weir__mailbox_outstanding(word, done));
        assert_int_equal(done & WEIR__MAILBOX_FIELD, weir__mailbox_cursor(word, 0).ticket);
        done += count;
        assert_int_equal(0, weir__mailbox_outstanding(word, done));
        assert_int_equal(done & WEIR__MAILBOX_FIELD, weir__mailbox_cursor(word, count).ticket);
        assert_int_equal(0, weir__mailbox_count(weir__mailbox_credit(&mailbox, count)));
        assert_int_equal(WEIR__MAILBOX_READY | WEIR__MAILBOX_FIRST,
                         weir__load(&mailbox.word, relaxed) & 15);
    }
}

static void a_claim_gets_what_is_left_and_says_how_much_and_where(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, 10, 64, false);
    uint32_t count = 7;
    uint64_t before = 0;
    assert_int_equal(WEIR__CLAIM_FIRST, weir__mailbox_claim(&mailbox, &count, &before));
    assert_int_equal(7, count);
    assert_int_equal(0, weir__mailbox_ticket(before));
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_claim(&mailbox, &count, &before));
    assert_int_equal(3, count);
    assert_int_equal(7, weir__mailbox_ticket(before));
    count = 5;
    assert_int_equal(WEIR__CLAIM_FULL, weir__mailbox_claim(&mailbox, &count, &before));
}

static void rouse_makes_ready_once(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, 10, 64, false);
    assert_true(weir__mailbox_rouse(&mailbox));
    assert_false(weir__mailbox_rouse(&mailbox));
    assert_int_equal(WEIR__CLAIM_OK, claim_one(&mailbox)); /* somebody is on the way already */
    assert_false(weir__mailbox_close(&mailbox));
}

static void a_closed_mailbox_accepts_nothing_and_gives_what_it_has(void **state)
{
    (void)state;
    box b;
    uint64_t before = 0;
    box_open(&b, 10, false);
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&b.mailbox));
    assert_int_equal(WEIR__CLAIM_FIRST, box_post(&b, 0));
    assert_int_equal(WEIR__CLAIM_OK, box_post(&b, 1));
    assert_int_equal(WEIR__CLAIM_OK, box_post_beside(&b, 2));
    assert_false(weir__mailbox_close(&b.mailbox));
    assert_false(weir__mailbox_close(&b.mailbox));
    assert_int_equal(WEIR__CLAIM_CLOSED, box_post(&b, 3));
    assert_int_equal(WEIR__CLAIM_CLOSED, box_post_beside(&b, 3));
    assert_int_equal(WEIR__CLAIM_CLOSED, weir__mailbox_reserve(&b.mailbox));
    assert_int_equal(WEIR__CLAIM_CLOSED, weir__mailbox_claim_owed(&b.mailbox, &before));
    assert_int_equal(1, weir__mailbox_owed(box_word(&b))); /* still to be given back */
    weir__mailbox_unreserve(&b.mailbox);
    box_own(&b);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(i, box_take(&b));
    }
    box_credit(&b);
    assert_int_equal(0, weir__mailbox_count(box_word(&b)));
    weir__mailbox_retire(&b.mailbox, box_word(&b), &b.stock);
    box_close(&b);
}

static void an_idle_that_was_overtaken_is_refused(void **state)
{
    (void)state;
    box b;
    box_open(&b, 10, false);
    assert_true(weir__mailbox_rouse(&b.mailbox));
    const uint64_t word = box_word(&b);
    box_own(&b);
    assert_int_equal(WEIR__CLAIM_OK, box_post(&b, 0));
    assert_false(weir__mailbox_idle(&b.mailbox, word, 0, &b.stock));
    assert_int_equal(WEIR__MAILBOX_READY, box_word(&b) & 15);
    /* Claimed, taken and credited in between: the count is as it was, the ticket is not. */
    assert_int_equal(0, box_take(&b));
    box_credit(&b);
    assert_false(weir__mailbox_idle(&b.mailbox, word, 0, &b.stock));
    assert_true(box_idle(&b));
    assert_int_equal(WEIR__MAILBOX_EPOCH, box_word(&b) & 15); /* the next one is another */
    box_close(&b);
}

/* ---- the walk ---- */

enum { PENDING_MAX = 16, CHAIN_MAX = 6, SPAN = 256 /* more than a limit */ };

/* Claimed places that are not filled yet. */
typedef struct chain {
    weir__claim claim;
    uint64_t before, number; /* of the first: events are numbered as they are accepted */
    uint32_t count;
    bool beside;
} chain;

typedef struct walk {
    box b;
    bool owned; /* the cursor is set */
    /* The model. */
    uint32_t count, owed;
    uint64_t accepted, done;
    bool ready, closed, holds;
    bool filled[SPAN];          /* by number, modulo */
    chain pending[PENDING_MAX]; /* claimed, not yet filled */
    uint32_t pending_count;
    uint64_t edges, idles; /* from idle to ready and back */
} walk;

static void walk_check(walk *w)
{
    const uint64_t word = box_word(&w->b);
    assert_int_equal(w->count, weir__mailbox_count(word));
    assert_int_equal(w->owed, weir__mailbox_owed(word));
    assert_int_equal(w->ready, (word & WEIR__MAILBOX_READY) != 0);
    assert_int_equal(w->closed, (word & WEIR__MAILBOX_CLOSED) != 0);
    assert_true(w->count + w->owed <= w->b.mailbox.limit);
    assert_int_equal(w->accepted & WEIR__MAILBOX_FIELD, weir__mailbox_ticket(word));
    assert_int_equal(w->accepted - w->done, weir__mailbox_outstanding(word, w->done));
    assert_int_equal(w->edges - w->idles, w->ready);
}

/* What a claim must answer when there is room, and what it does to the model. */
static weir__claim accept(walk *w, uint32_t count)
{
    const weir__claim expected = w->ready ? WEIR__CLAIM_OK : WEIR__CLAIM_FIRST;
    w->edges += !w->ready;
    w->ready = true;
    w->count += count;
    w->accepted += count;
    return expected;
}

static void hold_chain(walk *w, weir__claim claim, uint64_t before, uint32_t count, bool beside)
{
    assert_int_equal((w->accepted - count) & WEIR__MAILBOX_FIELD, weir__mailbox_ticket(before));
    w->pending[w->pending_count++] = (chain){ claim, before, w->accepted - count, count, beside };
}

static void walk_claim(walk *w, uint64_t choice)
{
    const bool beside = choice % 16 == 0;
    const uint32_t wanted = beside ? 1 : 1 + (uint32_t)(choice >> 8) % CHAIN_MAX;
    const uint32_t room = w->b.mailbox.limit - w->count - w->owed;
    uint32_t got = wanted;
    uint64_t before = 0;
    if (w->pending_count == PENDING_MAX) {
        return;
    }
    const weir__claim claim = beside ? weir__mailbox_claim_beside(&w->b.mailbox, &before)
                                     : box_claim(&w->b, &got, &before);
    if (w->closed) {
        assert_int_equal(WEIR__CLAIM_CLOSED, claim);
    } else if (room == 0) {
        assert_int_equal(WEIR__CLAIM_FULL, claim);
    } else {
        assert_int_equal(wanted < room ? wanted : room, got);
        assert_int_equal(accept(w, got), claim);
        hold_chain(w, claim, before, got, beside);
    }
}

/* Whoever claimed first need not be the first to fill. */
static void walk_fill(walk *w, uint64_t choice)
{
    if (w->pending_count == 0) {
        return;
    }
    const uint32_t nth = (uint32_t)(choice % w->pending_count);
    const chain c = w->pending[nth];
    w->pending[nth] = w->pending[--w->pending_count];
    for (uint32_t i = 0; i < c.count; i++) {
        if (c.beside) {
            box_fill_beside(&w->b, c.before, c.number);
        } else {
            box_fill(&w->b, c.claim, c.before, i, c.number + i);
        }
        w->filled[(c.number + i) % SPAN] = true;
    }
}

static void walk_owe(walk *w, uint64_t choice)
{
    uint64_t before = 0;
    if (choice % 2 == 0) {
        const bool room = w->count + w->owed < w->b.mailbox.limit;
        const weir__claim expected = w->closed ? WEIR__CLAIM_CLOSED
                                     : room    ? WEIR__CLAIM_OK
                                               : WEIR__CLAIM_FULL;
        assert_int_equal(expected, weir__mailbox_reserve(&w->b.mailbox));
        w->owed += expected == WEIR__CLAIM_OK;
    } else if (w->owed > 0 && choice % 8 == 1) {
        weir__mailbox_unreserve(&w->b.mailbox); /* also after close */
        w->owed--;
    } else if (w->owed > 0 && w->closed) {
        assert_int_equal(WEIR__CLAIM_CLOSED, weir__mailbox_claim_owed(&w->b.mailbox, &before));
    } else if (w->owed > 0 && w->pending_count < PENDING_MAX) {
        const weir__claim expected = accept(w, 1);
        w->owed--;
        assert_int_equal(expected, weir__mailbox_claim_owed(&w->b.mailbox, &before));
        hold_chain(w, expected, before, 1, true);
    }
}

static void walk_let_go(walk *w)
{
    if (w->holds) {
        assert_int_equal(w->done - 1, envelope_read(w->b.cursor.held));
        box_let_go(&w->b);
        w->holds = false;
    }
}

static void walk_take(walk *w)
{
    walk_let_go(w);
    const uint64_t number = box_hold(&w->b);
    bool *filled = &w->filled[w->done % SPAN];
    if (w->done == w->accepted || !*filled) { /* nothing, or a gap */
        assert_int_equal(BOX_NOTHING, number);
        return;
    }
    assert_int_equal(w->done, number);
    const weir__envelope *held = w->b.cursor.held;
    if ((weir__load(&((weir__envelope *)(uintptr_t)held)->state, relaxed) & WEIR__ENVELOPE_ALONE) !=
        0) {
        assert_int_equal(number + 2, weir__lone_of(w->b.cursor.held)->tag);
    }
    *filled = false;
    w->holds = true;
    w->done++;
}

/* All that were taken, the one that is held, too: its place is given back before it is handled. */
static void walk_credit(walk *w)
{
    w->count -= w->b.uncredited;
    box_credit(&w->b);
}

/* The owner leaves: for ever if nothing is there, else for a moment. */
static void walk_leave(walk *w)
{
    walk_let_go(w);
    if (w->count != w->b.uncredited || w->closed) {
        walk_credit(w);
        box_own(&w->b);
        return;
    }
    w->count = 0;
    assert_true(box_idle(&w->b));
    assert_null(w->b.mailbox.beside_taken);
    assert_null(weir__load(&w->b.mailbox.beside, relaxed));
    w->ready = false;
    w->owned = false;
    w->idles++;
}

static void walk_close(walk *w)
{
    assert_int_equal(!w->ready, weir__mailbox_close(&w->b.mailbox));
    w->edges += !w->ready;
    w->ready = true;
    w->closed = true;
}

static void walk_own(walk *w, uint64_t choice)
{
    if (!w->owned) {
        box_own(&w->b);
        w->owned = true;
    }
    if (choice % 8 < 4) {
        walk_take(w);
    } else if (choice % 8 < 5) {
        walk_let_go(w);
    } else if (choice % 8 < 6) {
        walk_credit(w);
    } else {
        walk_leave(w);
    }
}

/* `draining`: no new events for a while, so that the walk comes to the idle end, too. */
static void walk_step(walk *w, uint64_t choice, bool draining)
{
    switch (choice % 8 + (draining && choice % 8 < 2 ? 6 : 0)) {
    case 0:
    case 1:
        walk_claim(w, choice >> 8);
        break;
    case 2:
    case 3:
        walk_fill(w, choice >> 8);
        break;
    case 4:
        walk_owe(w, choice >> 8);
        break;
    default:
        if (w->ready) { /* somebody owns it */
            walk_own(w, choice >> 8);
        } else if (choice >> 56 == 0) {
            assert_true(weir__mailbox_rouse(&w->b.mailbox));
            w->ready = true;
            w->edges++;
        }
    }
    walk_check(w);
}

/* After a close everything that was accepted still comes out. */
static void walk_finish(walk *w)
{
    walk_close(w);
    walk_check(w);
    while (w->pending_count > 0) {
        walk_fill(w, 0);
    }
    while (w->owed > 0) {
        weir__mailbox_unreserve(&w->b.mailbox);
        w->owed--;
    }
    if (!w->owned) {
        box_own(&w->b);
    }
    while (w->done < w->accepted) {
        walk_take(w);
    }
    walk_take(w); /* nothing more */
    walk_credit(w);
    walk_check(w);
    assert_int_equal(0, w->count);
    weir__mailbox_retire(&w->b.mailbox, box_word(&w->b), &w->b.stock);
    box_close(&w->b);
}

static void walk_begin(walk *w, uint32_t limit)
{
    memset(w, 0, sizeof(*w));
    box_open(&w->b, limit, false);
}

static void a_random_walk_agrees_with_the_model(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const uint32_t limits[] = { 1, 2, 3, 8, 15, 16, 17, 50, 100 };
    static walk w;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        walk_begin(&w, limits[i]);
        const uint32_t steps = test_load(300000);
        for (uint32_t step = 0; step < steps; step++) {
            walk_step(&w, test_random(&random), (step / 1024) % 2 == 1);
        }
        assert_true(w.idles > steps / 5000); /* the walk did go to and fro */
        walk_finish(&w);
    }
}

static void a_walk_that_is_closed_at_any_point_delivers_what_it_accepted(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static walk w;
    for (uint32_t round = 0; round < test_load(3000); round++) {
        walk_begin(&w, 1 + (uint32_t)(test_random(&random) % 20));
        const uint32_t close_at = (uint32_t)(test_random(&random) % 80);
        for (uint32_t step = 0; step < 100; step++) {
            if (step == close_at) {
                walk_close(&w);
                walk_check(&w);
            }
            walk_step(&w, test_random(&random), (step / 16) % 2 == 1);
        }
        walk_finish(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_mailbox_is_idle_and_owns_no_memory),
        cmocka_unit_test(opening_a_used_mailbox_makes_it_fresh),
        cmocka_unit_test(credits_come_in_steps_of_a_128th_of_the_limit),
        cmocka_unit_test(broken_contracts_abort),
        cmocka_unit_test(the_largest_mailbox_fills_to_its_last_place),
        cmocka_unit_test(outstanding_is_exact_when_the_ticket_goes_round),
        cmocka_unit_test(a_claim_gets_what_is_left_and_says_how_much_and_where),
        cmocka_unit_test(rouse_makes_ready_once),
        cmocka_unit_test(a_closed_mailbox_accepts_nothing_and_gives_what_it_has),
        cmocka_unit_test(an_idle_that_was_overtaken_is_refused),
        cmocka_unit_test(a_random_walk_agrees_with_the_model),
        cmocka_unit_test(a_walk_that_is_closed_at_any_point_delivers_what_it_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
