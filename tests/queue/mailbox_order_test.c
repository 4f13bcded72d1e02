/*
 * queue/mailbox_order_test.c - wherever an event lies (alone, in a page, beside), and however often
 * tickets, pages and epochs have gone round, it comes in its turn; on one thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mailbox_support.h"

static box b;

static uint32_t min(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/* Posts up to `count` as one claim. Returns how many. */
static uint32_t post_run(uint64_t *next, uint32_t count)
{
    uint64_t before = 0;
    const weir__claim claim = box_claim(&b, &count, &before);
    if (claim > WEIR__CLAIM_FIRST) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        box_fill(&b, claim, before, i, (*next)++);
    }
    return count;
}

static void take_run(uint64_t *next, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(*next, box_take(&b));
        ++*next;
        if (b.uncredited >= b.mailbox.credit_every) {
            box_credit(&b);
        }
    }
}

static void finish(uint64_t posted, uint64_t *taken)
{
    take_run(taken, (uint32_t)(posted - *taken));
    assert_int_equal(BOX_NOTHING, box_take(&b));
    assert_true(box_idle(&b));
    box_close(&b);
}

/* ---- round the ring ---- */

static const uint32_t limits[] = { 1, 2, 15, 16, 17, 100, 10000, 12288, 16320, 16321, 1000000 };
enum { LIMITS = sizeof(limits) / sizeof(limits[0]) - (TEST_SANITIZED ? 1 : 0) /* too slow */ };

/* Always as full as can be, from each of several starts, until ring and tickets have gone round:
 * the oldest and the newest lie in the same index. */
static void a_mailbox_that_is_always_full_keeps_its_order_round_the_ring(void **state)
{
    (void)state;
    for (size_t i = 0; i < LIMITS; i++) {
        const uint32_t limit = limits[i];
        const uint32_t ring =
            4u << (WEIR__INDEX_BITS + weir__page_bits(weir__page_class_for(limit)));
        const uint64_t enough = ring + 2ull * limit + 5000;
        uint64_t posted = 0, taken = 0;
        box_open(&b, limit, false);
        post_run(&posted, 1);
        box_own(&b);
        while (taken < enough) {
            while (post_run(&posted, 1000) > 0) {
            }
            assert_int_equal(limit, weir__mailbox_count(box_word(&b)));
            take_run(&taken, min(limit, 1 + (uint32_t)(taken % 777)));
            box_credit(&b);
        }
        finish(posted, &taken);
    }
}

/* The place of the one that is held is given back before its handler runs: so one more than the
 * limit is under way. */
static void what_is_held_stays_whole_while_its_place_is_used_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < LIMITS; i++) {
        uint64_t posted = 0, taken = 0;
        box_open(&b, limits[i], false);
        post_run(&posted, 1);
        box_own(&b);
        for (uint32_t n = 0; n < 40000; n++) {
            while (post_run(&posted, limits[i]) > 0) {
            }
            assert_int_equal(taken, box_hold(&b));
            box_credit(&b);
            while (post_run(&posted, limits[i]) > 0) {
            }
            assert_int_equal(taken, envelope_read(b.cursor.held));
            assert_int_not_equal(0, weir__load(&b.cursor.held->state, relaxed));
            box_let_go(&b);
            taken++;
        }
        finish(posted, &taken);
    }
}

static void tickets_go_round_in_one_epoch_without_losing_order(void **state)
{
    (void)state;
    static const uint32_t some[] = { 17, 3, 1000 };
    for (size_t i = 0; i < (TEST_SANITIZED ? 1 : 3); i++) {
        uint64_t posted = 0, taken = 0;
        box_open(&b, some[i], false);
        post_run(&posted, 1);
        box_own(&b);
        while (taken < WEIR__MAILBOX_FIELD + 10000) {
            post_run(&posted, 1 + (uint32_t)posted % 7);
            take_run(&taken, (uint32_t)(posted - taken - 1)); /* one stays: never idle */
            box_credit(&b);
        }
        assert_true(posted > WEIR__MAILBOX_FIELD + 1);
        finish(posted, &taken);
    }
}

static void tickets_go_round_in_many_short_epochs_without_losing_order(void **state)
{
    (void)state;
    static const uint32_t some[] = { 17, 3, 1000 };
    for (size_t i = 0; i < (TEST_SANITIZED ? 1 : 3); i++) {
        uint64_t posted = 0, taken = 0;
        box_open(&b, some[i], false);
        while (posted < WEIR__MAILBOX_FIELD + 10000) {
            const uint32_t got = post_run(&posted, 1 + (uint32_t)(posted % 5));
            box_own(&b);
            take_run(&taken, got);
            assert_true(box_idle(&b));
        }
        box_close(&b);
    }
}

static void a_run_in_one_claim_goes_over_pages_and_indexes(void **state)
{
    (void)state;
    for (uint32_t from = 0; from < 5000; from += 1 + from / 3) {
        uint64_t posted = 0, taken = 0;
        box_open(&b, 10000, false);
        post_run(&posted, 1 + from);
        box_own(&b);
        take_run(&taken, from);
        box_credit(&b);
        assert_int_equal(9999, post_run(&posted, 10000)); /* one is still there */
        finish(posted, &taken);
    }
}

/* ---- epochs ---- */

static void the_first_event_of_an_epoch_lies_alone_and_needs_no_page(void **state)
{
    (void)state;
    box_open(&b, 1000, false);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(WEIR__CLAIM_FIRST, box_post(&b, i));
        assert_true((box_word(&b) & WEIR__MAILBOX_FIRST) != 0);
        assert_null(weir__mailbox_root(&b.mailbox, weir__mailbox_parity(box_word(&b))));
        box_own(&b);
        assert_int_equal(i, box_hold(&b));
        assert_null(b.cursor.page);
        box_let_go(&b);
        assert_true(box_idle(&b));
    }
    assert_int_equal(0, weir__load(&b.mailbox.root, relaxed));
    box_close(&b);
}

/* How an epoch may begin and what may come in it. */
typedef enum epoch_kind {
    ROUSED,
    BESIDE,
    ALONE,
    PAGED,
    BESIDE_PAGED,
    ROUSED_PAGED,
    KINDS
} epoch_kind;

static void begin_epoch(epoch_kind kind, uint64_t *posted)
{
    switch (kind) {
    case ROUSED:
    case ROUSED_PAGED:
        assert_true(weir__mailbox_rouse(&b.mailbox));
        break;
    case BESIDE:
    case BESIDE_PAGED:
        assert_int_equal(WEIR__CLAIM_FIRST, box_post_beside(&b, (*posted)++));
        break;
    default:
        assert_int_equal(WEIR__CLAIM_FIRST, box_post(&b, (*posted)++));
        break;
    }
    const bool alone = kind == ALONE || kind == PAGED;
    assert_int_equal(alone, (box_word(&b) & WEIR__MAILBOX_FIRST) != 0);
    if (kind == PAGED || kind == BESIDE_PAGED || kind == ROUSED_PAGED) {
        assert_int_equal(WEIR__CLAIM_OK, box_post(&b, (*posted)++));
    }
}

/* Claimed, and not yet filled: neither what lay alone nor a page of before is taken for it. */
static void check_gap(epoch_kind kind, uint64_t *posted, uint64_t *taken)
{
    uint32_t one = 1;
    uint64_t before = 0;
    const weir__claim claim = box_claim(&b, &one, &before);
    assert_int_equal(WEIR__CLAIM_FIRST, claim);
    box_own(&b);
    assert_int_equal(BOX_NOTHING, box_take(&b));
    assert_null(b.cursor.page);
    if (kind == PAGED) {
        assert_int_equal(WEIR__CLAIM_OK, box_post(&b, *posted + 1));
        assert_int_equal(BOX_NOTHING, box_take(&b)); /* not before the first */
    }
    box_fill(&b, claim, before, 0, *posted);
    *posted += kind == PAGED ? 2 : 1;
    take_run(taken, kind == PAGED ? 2 : 1);
    assert_int_equal(BOX_NOTHING, box_take(&b));
    assert_true(box_idle(&b));
}

/* All rows of four epochs, each of any kind, then one that begins with a gap. */
static void no_epoch_takes_what_an_older_one_left_for_its_own(void **state)
{
    (void)state;
    uint64_t posted = 0, taken = 0;
    box_open(&b, 100, false);
    for (uint32_t row = 0; row < KINDS * KINDS * KINDS * KINDS * 2; row++) {
        for (uint32_t i = 0, rest = row / 2; i < 4; i++, rest /= KINDS) {
            begin_epoch((epoch_kind)(rest % KINDS), &posted);
            box_own(&b);
            take_run(&taken, (uint32_t)(posted - taken));
            assert_int_equal(BOX_NOTHING, box_take(&b));
            assert_true(box_idle(&b));
        }
        check_gap(row % 2 == 0 ? ALONE : PAGED, &posted, &taken);
    }
    box_close(&b);
}

/* An owner that was about to leave and cleared what was stale goes on with what has come. */
static void an_idle_that_fails_leaves_the_epoch_as_it_was(void **state)
{
    (void)state;
    uint64_t posted = 0, taken = 0;
    box_open(&b, 100, false);
    for (uint32_t row = 0; row < KINDS * KINDS * KINDS; row++) {
        for (uint32_t i = 0, rest = row; i < 3; i++, rest /= KINDS) {
            begin_epoch((epoch_kind)(rest % KINDS), &posted);
            box_own(&b);
            take_run(&taken, (uint32_t)(posted - taken));
            const uint64_t word = box_word(&b);
            assert_int_equal(WEIR__CLAIM_OK,
                             row % 2 == 0 ? box_post(&b, posted) : box_post_beside(&b, posted));
            posted++;
            assert_false(weir__mailbox_idle(&b.mailbox, word, b.uncredited, &b.stock));
            assert_int_equal(WEIR__CLAIM_OK, box_post(&b, posted++));
            take_run(&taken, 2);
            assert_true(box_idle(&b));
        }
    }
    box_close(&b);
}

/* ---- beside ---- */

/* Every way to lie for twelve tickets in a row that cross a page's end: bit set, it lies beside. */
static void what_lies_beside_keeps_its_place_among_the_others(void **state)
{
    (void)state;
    enum { SPAN = 12 };
    static const uint32_t starts[] = {
        0, 1, 2, 3, 5, 507, 2043
    }; /* the last: an index, the ring */
    for (size_t s = 0; s < sizeof(starts) / sizeof(starts[0]); s++) {
        uint64_t posted = 0, taken = 0;
        box_open(&b, 16, false);
        while (posted < starts[s]) { /* epochs of one */
            post_run(&posted, 1);
            box_own(&b);
            take_run(&taken, 1);
            assert_true(box_idle(&b));
        }
        for (uint32_t way = 0; way < 1u << SPAN; way += TEST_SANITIZED ? 7 : 1) {
            for (uint32_t i = 0; i < SPAN; i++, posted++) {
                (void)((way >> i & 1) != 0 ? box_post_beside(&b, posted) : box_post(&b, posted));
            }
            box_own(&b);
            take_run(&taken, SPAN);
            assert_int_equal(BOX_NOTHING, box_take(&b));
            assert_true(box_idle(&b));
        }
        box_close(&b);
    }
}

/* Two that claimed beside one after the other may come to the list the other way round. */
static void two_that_overtook_each_other_on_the_way_beside_are_put_right(void **state)
{
    (void)state;
    uint64_t before[3];
    box_open(&b, 10, false);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(weir__mailbox_claim_beside(&b.mailbox, &before[i]) <= WEIR__CLAIM_FIRST);
    }
    box_own(&b);
    box_fill_beside(&b, before[2], 2);
    assert_int_equal(BOX_NOTHING, box_take(&b)); /* a gap, although something is there */
    box_fill_beside(&b, before[0], 0);
    assert_int_equal(0, box_take(&b));
    assert_int_equal(BOX_NOTHING, box_take(&b));
    box_fill_beside(&b, before[1], 1);
    assert_int_equal(1, box_take(&b));
    assert_int_equal(2, box_take(&b));
    assert_true(box_idle(&b));
    box_close(&b);
}

static void whole_pages_and_indexes_may_lie_beside(void **state)
{
    (void)state;
    uint64_t posted = 0, taken = 0;
    box_open(&b, 10000, false);
    for (uint32_t round = 0; round < 8; round++) {
        box_own(&b);
        for (uint32_t i = 0; i < 4500; i++) {
            (void)box_post_beside(&b, posted++);
        }
        take_run(&taken, 4500);
        post_run(&posted, 100);
        take_run(&taken, 100);
        box_credit(&b);
        if (round % 2 == 1) {
            assert_true(box_idle(&b));
        }
    }
    box_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mailbox_that_is_always_full_keeps_its_order_round_the_ring),
        cmocka_unit_test(what_is_held_stays_whole_while_its_place_is_used_again),
        cmocka_unit_test(tickets_go_round_in_one_epoch_without_losing_order),
        cmocka_unit_test(tickets_go_round_in_many_short_epochs_without_losing_order),
        cmocka_unit_test(a_run_in_one_claim_goes_over_pages_and_indexes),
        cmocka_unit_test(the_first_event_of_an_epoch_lies_alone_and_needs_no_page),
        cmocka_unit_test(no_epoch_takes_what_an_older_one_left_for_its_own),
        cmocka_unit_test(an_idle_that_fails_leaves_the_epoch_as_it_was),
        cmocka_unit_test(what_lies_beside_keeps_its_place_among_the_others),
        cmocka_unit_test(two_that_overtook_each_other_on_the_way_beside_are_put_right),
        cmocka_unit_test(whole_pages_and_indexes_may_lie_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
