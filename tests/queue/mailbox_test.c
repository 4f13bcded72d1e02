/*
 * queue/mailbox_test.c - the mailbox on one thread, against a model: a plain list of events, three
 * counts and two flags. tests/queue/mailbox_race_test.c has the threads, mailbox_evict_test.c the
 * mailboxes that drop their oldest event.
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

/* ---- single facts ---- */

static void a_fresh_mailbox_is_idle_and_owns_no_memory(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, 5, 64, false);
    assert_int_equal(0, word_of(&mailbox));
    assert_null(weir__load(&mailbox.tail, relaxed));
    assert_int_equal(0, weir__load(&mailbox.head, relaxed));
    assert_int_equal(5, mailbox.limit);
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
        { 1000000, 64, true, 1 }, { 1000000, 10000, false, 7812 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir__mailbox mailbox = { 0 };
        weir__mailbox_open(&mailbox, rows[i].limit, rows[i].batch, rows[i].evicting);
        assert_int_equal(rows[i].every, mailbox.credit_every);
        assert_int_equal(rows[i].evicting, mailbox.evicting);
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
    weir__mailbox_open(&mailbox, 2, 64, false);
    (void)weir__mailbox_claim_owed(&mailbox);
}

static void broken_contracts_abort(void **state)
{
    (void)state;
    assert_true(test_aborts(open_with_zero));
    assert_true(test_aborts(open_with_too_much));
    assert_true(test_aborts(unreserve_what_nobody_reserved));
    assert_true(test_aborts(claim_owed_what_nobody_owes));
}

static void the_largest_mailbox_fills_to_its_last_place(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, WEIR__MAILBOX_MAX, 64, false);
    uint32_t count = WEIR__MAILBOX_MAX - 1;
    assert_int_equal(WEIR__CLAIM_FIRST, weir__mailbox_claim(&mailbox, &count));
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_reserve(&mailbox));
    assert_int_equal(WEIR__CLAIM_FULL, claim_one(&mailbox));
    assert_int_equal(WEIR__CLAIM_FULL, weir__mailbox_reserve(&mailbox));
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_claim_owed(&mailbox));
    assert_int_equal(WEIR__MAILBOX_MAX, weir__mailbox_count(word_of(&mailbox)));
    assert_int_equal(0, weir__mailbox_owed(word_of(&mailbox)));
    assert_int_equal(WEIR__MAILBOX_MAX, weir__mailbox_outstanding(word_of(&mailbox), 0));
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
        assert_true(weir__mailbox_claim(&mailbox, &count) <= WEIR__CLAIM_FIRST);
        assert_int_equal(count, weir__mailbox_outstanding(word_of(&mailbox), done));
        done += count;
        assert_int_equal(0, weir__mailbox_outstanding(word_of(&mailbox), done));
        assert_int_equal(0, weir__mailbox_count(weir__mailbox_credit(&mailbox, count)));
        assert_int_equal(WEIR__MAILBOX_READY, word_of(&mailbox) & 15);
    }
}

static void a_claim_gets_what_is_left_and_says_how_much(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, 10, 64, false);
    uint32_t count = 7;
    assert_int_equal(WEIR__CLAIM_FIRST, weir__mailbox_claim(&mailbox, &count));
    assert_int_equal(7, count);
    assert_int_equal(WEIR__CLAIM_OK, weir__mailbox_claim(&mailbox, &count));
    assert_int_equal(3, count);
    count = 5;
    assert_int_equal(WEIR__CLAIM_FULL, weir__mailbox_claim(&mailbox, &count));
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

static void an_idle_that_was_overtaken_is_refused(void **state)
{
    (void)state;
    weir__mailbox mailbox = { 0 };
    weir__mailbox_open(&mailbox, 10, 64, false);
    assert_true(weir__mailbox_rouse(&mailbox));
    const uint64_t word = word_of(&mailbox);
    assert_int_equal(WEIR__CLAIM_OK, claim_one(&mailbox));
    assert_false(weir__mailbox_idle(&mailbox, word, 0));
    assert_int_equal(WEIR__MAILBOX_READY, word_of(&mailbox) & 15);
    /* Claimed, taken and credited in between: the count is as it was, the ticket is not. */
    (void)weir__mailbox_credit(&mailbox, 1);
    assert_false(weir__mailbox_idle(&mailbox, word, 0));
    assert_true(weir__mailbox_idle(&mailbox, word_of(&mailbox), 0));
    assert_int_equal(0, word_of(&mailbox) & 15);
}

/* ---- the walk ---- */

enum { ENVELOPES = 256, PENDING_MAX = 16, CHAIN_MAX = 6 };

typedef enum place { FREE, PENDING, QUEUED, STUB } place;

typedef struct chain {
    weir__envelope *first, *last;
    uint32_t count;
} chain;

typedef struct walk {
    weir__mailbox mailbox;
    weir__envelope envelopes[ENVELOPES];
    place places[ENVELOPES];
    weir__cursor cursor;
    /* The model. */
    uint32_t count, owed, uncredited;
    uint64_t accepted, done;
    bool ready, closed;
    weir__envelope *queued[ENVELOPES]; /* published, oldest first */
    uint32_t queued_count;
    weir__envelope *stub;       /* the last one taken */
    chain pending[PENDING_MAX]; /* claimed, not yet published */
    uint32_t pending_count;
    uint64_t edges, idles; /* from idle to ready and back */
} walk;

static place *place_of(walk *w, const weir__envelope *event)
{
    return &w->places[event - w->envelopes];
}

static void move(walk *w, const weir__envelope *event, place from, place to)
{
    assert_int_equal(from, *place_of(w, event));
    *place_of(w, event) = to;
}

static weir__envelope *find_free(walk *w)
{
    for (uint32_t i = 0; i < ENVELOPES; i++) {
        if (w->places[i] == FREE) {
            return &w->envelopes[i];
        }
    }
    fail_msg("the mailbox keeps envelopes back");
    return NULL;
}

static void walk_check(walk *w)
{
    const uint64_t word = word_of(&w->mailbox);
    assert_int_equal(w->count, weir__mailbox_count(word));
    assert_int_equal(w->owed, weir__mailbox_owed(word));
    assert_int_equal(w->ready, (word & WEIR__MAILBOX_READY) != 0);
    assert_int_equal(w->closed, (word & WEIR__MAILBOX_CLOSED) != 0);
    assert_true(w->count + w->owed <= w->mailbox.limit);
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

static void hold_chain(walk *w, uint32_t count)
{
    chain c = { NULL, NULL, count };
    for (uint32_t i = 0; i < count; i++) {
        weir__envelope *event = find_free(w);
        move(w, event, FREE, PENDING);
        if (c.last != NULL) {
            weir__store(&c.last->pooled.next, &event->pooled, relaxed);
        }
        c.first = c.first == NULL ? event : c.first;
        c.last = event;
    }
    w->pending[w->pending_count++] = c;
}

static void walk_claim(walk *w, uint64_t choice)
{
    const uint32_t wanted = 1 + (uint32_t)choice % CHAIN_MAX;
    const uint32_t room = w->mailbox.limit - w->count - w->owed;
    uint32_t got = wanted;
    if (w->pending_count == PENDING_MAX) {
        return;
    }
    const weir__claim claim = weir__mailbox_claim(&w->mailbox, &got);
    if (w->closed) {
        assert_int_equal(WEIR__CLAIM_CLOSED, claim);
    } else if (room == 0) {
        assert_int_equal(WEIR__CLAIM_FULL, claim);
    } else {
        assert_int_equal(wanted < room ? wanted : room, got);
        assert_int_equal(accept(w, got), claim);
        hold_chain(w, got);
    }
}

static void walk_publish(walk *w, uint64_t choice)
{
    if (w->pending_count == 0) {
        return;
    }
    const uint32_t nth = (uint32_t)(choice % w->pending_count);
    const chain c = w->pending[nth];
    w->pending[nth] = w->pending[--w->pending_count];
    weir__envelope *event = c.first;
    for (uint32_t i = 0; i < c.count; i++) {
        move(w, event, PENDING, QUEUED);
        w->queued[w->queued_count++] = event;
        event = (weir__envelope *)(void *)weir__load(&event->pooled.next, relaxed);
    }
    weir__mailbox_publish(&w->mailbox, c.first, c.last);
}

static void walk_owe(walk *w, uint64_t choice)
{
    if (choice % 2 == 0) {
        const bool room = w->count + w->owed < w->mailbox.limit;
        const weir__claim expected = w->closed ? WEIR__CLAIM_CLOSED
                                     : room    ? WEIR__CLAIM_OK
                                               : WEIR__CLAIM_FULL;
        assert_int_equal(expected, weir__mailbox_reserve(&w->mailbox));
        w->owed += expected == WEIR__CLAIM_OK;
    } else if (w->owed > 0 && choice % 8 == 1) {
        weir__mailbox_unreserve(&w->mailbox); /* also after close */
        w->owed--;
    } else if (w->owed > 0 && w->closed) {
        assert_int_equal(WEIR__CLAIM_CLOSED, weir__mailbox_claim_owed(&w->mailbox));
    } else if (w->owed > 0 && w->pending_count < PENDING_MAX) {
        const weir__claim expected = accept(w, 1);
        w->owed--;
        assert_int_equal(expected, weir__mailbox_claim_owed(&w->mailbox));
        hold_chain(w, 1);
    }
}

static void walk_take(walk *w)
{
    weir__envelope *spent = w->envelopes;
    weir__envelope *event = weir__mailbox_take(&w->mailbox, &w->cursor, &spent);
    if (w->queued_count == 0) {
        assert_null(event);
        assert_null(spent);
        return;
    }
    assert_ptr_equal(w->queued[0], event);
    assert_ptr_equal(w->stub, spent);
    if (spent != NULL) {
        move(w, spent, STUB, FREE);
    }
    move(w, event, QUEUED, STUB);
    w->stub = event;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is what is moved */
    memmove(w->queued, w->queued + 1, --w->queued_count * sizeof(w->queued[0]));
    w->uncredited++;
    w->done++;
}

static void walk_credit(walk *w, uint64_t choice)
{
    const uint32_t part = (uint32_t)(choice % (w->uncredited + 1));
    w->count -= part;
    w->uncredited -= part;
    const uint64_t word = weir__mailbox_credit(&w->mailbox, part);
    assert_int_equal(word_of(&w->mailbox), word);
}

/* The owner leaves: for ever if nothing is there, else for a moment. */
static void walk_leave(walk *w)
{
    const uint64_t word = word_of(&w->mailbox);
    if (weir__mailbox_count(word) != w->uncredited || w->closed) {
        weir__mailbox_keep(&w->mailbox, w->cursor);
        w->cursor = weir__mailbox_cursor(&w->mailbox);
        return;
    }
    weir__envelope *spent = w->envelopes;
    const bool gone = weir__mailbox_retire(&w->mailbox, &w->cursor, &spent);
    assert_int_equal(w->stub != NULL, gone);
    assert_ptr_equal(w->stub, spent);
    if (gone) {
        move(w, spent, STUB, FREE);
        w->stub = NULL;
    }
    assert_true(weir__mailbox_idle(&w->mailbox, word, w->uncredited));
    assert_null(weir__load(&w->mailbox.tail, relaxed)); /* an idle mailbox owns no memory */
    assert_int_equal(0, weir__load(&w->mailbox.head, relaxed));
    w->count -= w->uncredited;
    w->uncredited = 0;
    w->ready = false;
    w->idles++;
}

static void walk_close(walk *w)
{
    assert_int_equal(!w->ready, weir__mailbox_close(&w->mailbox));
    w->edges += !w->ready;
    w->ready = true;
    w->closed = true;
}

static void walk_own(walk *w, uint64_t choice)
{
    if (choice % 8 < 4) {
        walk_take(w);
    } else if (choice % 8 < 6) {
        walk_credit(w, choice >> 8);
    } else {
        walk_leave(w);
    }
    walk_check(w);
    if (!w->ready) {
        w->cursor = (weir__cursor){ 0 };
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
        walk_publish(w, choice >> 8);
        break;
    case 4:
        walk_owe(w, choice >> 8);
        break;
    default:
        if (w->ready) { /* somebody owns it */
            if (w->cursor.head == 0) {
                w->cursor = weir__mailbox_cursor(&w->mailbox);
            }
            walk_own(w, choice >> 8);
        } else if (choice >> 56 == 0) {
            assert_true(weir__mailbox_rouse(&w->mailbox));
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
        walk_publish(w, 0);
    }
    while (w->owed > 0) {
        weir__mailbox_unreserve(&w->mailbox);
        w->owed--;
    }
    while (w->queued_count > 0) {
        walk_take(w);
    }
    walk_take(w); /* nothing more */
    (void)weir__mailbox_credit(&w->mailbox, w->uncredited);
    w->count -= w->uncredited;
    w->uncredited = 0;
    walk_check(w);
    assert_int_equal(0, w->count);
    assert_int_equal(w->accepted, w->done);
    weir__envelope *spent;
    assert_int_equal(w->stub != NULL, weir__mailbox_retire(&w->mailbox, &w->cursor, &spent));
    assert_ptr_equal(w->stub, spent);
}

static void a_random_walk_agrees_with_the_model(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const uint32_t limits[] = { 1, 2, 3, 8, 50 };
    static walk w;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        memset(&w, 0, sizeof(w));
        weir__mailbox_open(&w.mailbox, limits[i], 64, false);
        const uint32_t steps = test_load(300000);
        for (uint32_t step = 0; step < steps; step++) {
            walk_step(&w, test_random(&random), (step / 128) % 2 == 1);
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
        memset(&w, 0, sizeof(w));
        weir__mailbox_open(&w.mailbox, 1 + (uint32_t)(test_random(&random) % 8), 64, false);
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
        cmocka_unit_test(credits_come_in_steps_of_a_128th_of_the_limit),
        cmocka_unit_test(broken_contracts_abort),
        cmocka_unit_test(the_largest_mailbox_fills_to_its_last_place),
        cmocka_unit_test(outstanding_is_exact_when_the_ticket_goes_round),
        cmocka_unit_test(a_claim_gets_what_is_left_and_says_how_much),
        cmocka_unit_test(rouse_makes_ready_once),
        cmocka_unit_test(an_idle_that_was_overtaken_is_refused),
        cmocka_unit_test(a_random_walk_agrees_with_the_model),
        cmocka_unit_test(a_walk_that_is_closed_at_any_point_delivers_what_it_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
