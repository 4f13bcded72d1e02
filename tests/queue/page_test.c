/*
 * queue/page_test.c - the sizes of pages, and what a thread has in stock for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mailbox_support.h"

static const uint32_t limits[] = { 1,    2,     15,    16,    17,     100,    1000,
                                   9999, 10000, 16320, 16321, 100000, 999999, 1000000 };
enum { LIMITS = sizeof(limits) / sizeof(limits[0]) };

static uint32_t ring_of(uint32_t page_class)
{
    return 1u << (WEIR__ROOT_BITS + WEIR__INDEX_BITS + weir__page_bits(page_class));
}

static void check_class_of(uint32_t limit)
{
    const uint32_t page_class = weir__page_class_for(limit);
    const uint32_t page = 1u << weir__page_bits(page_class);
    const uint32_t ring = ring_of(page_class);
    assert_true(page_class < WEIR__PAGE_CLASSES);
    /* All that may be outstanding, the page that is being emptied and the one being filled. */
    assert_true(ring >= limit + 2 * page);
    /* The number of a ticket goes round without a seam. */
    assert_int_equal(0, (WEIR__MAILBOX_FIELD + 1) % ring);
    /* No smaller class would do, but that only the smallest mailboxes have the smallest pages. */
    assert_true(page_class <= 3 ||
                ring_of(page_class - 1) < limit + (2u << weir__page_bits(page_class - 1)));
    assert_true(limit <= 16 ? page_class == 0 : page_class >= 3);
}

static void every_limit_has_a_class_whose_ring_holds_it_and_two_pages(void **state)
{
    (void)state;
    for (size_t i = 0; i < LIMITS; i++) {
        check_class_of(limits[i]);
    }
    for (uint32_t limit = 1; limit <= WEIR__MAILBOX_MAX; limit += 1 + limit / 64) {
        check_class_of(limit);
    }
    assert_int_equal(3, weir__page_class_for(16320));
    assert_int_equal(4, weir__page_class_for(16321));
    assert_int_equal(WEIR__PAGE_CLASSES - 1, weir__page_class_for(WEIR__MAILBOX_MAX));
}

static void equal_places_of_neighbouring_pages_lie_in_other_sets_of_the_cache(void **state)
{
    (void)state;
    weir__stores stores;
    weir__stores_open(&stores, weir__allocator_default());
    for (uint32_t i = 0; i < WEIR__PAGE_CLASSES; i++) {
        assert_int_equal(1, stores.pages[i].object_size / 64 % 2);
    }
    assert_int_equal(1, stores.indexes.object_size / 64 % 2);
    weir__stores_close(&stores);
}

static void fresh_stores_own_no_memory(void **state)
{
    (void)state;
    weir__stores stores;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__stores_open(&stores, &memory.allocator);
    assert_int_equal(0, weir__stores_bytes(&stores));
    assert_int_equal(0, weir__load(&memory.calls, relaxed));
    stores_check_and_close(&stores, &memory);
}

static void an_empty_stock_suffices_for_nothing_and_a_filled_one_for_what_was_asked(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 2, 3, 4, 5, 16, 64, 128, 4096, 10000 };
    for (uint32_t page_class = 0; page_class < WEIR__PAGE_CLASSES; page_class++) {
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            weir__stores stores;
            test_memory memory;
            test_memory_open(&memory, 0);
            weir__stores_open(&stores, &memory.allocator);
            weir__stock stock = { .stores = &stores };
            assert_false(weir__stock_suffices(&stock, page_class));
            assert_false(weir__stock_suffices_for(&stock, page_class, counts[i]));
            assert_true(weir__stock_fill(&stock, page_class, counts[i]));
            assert_true(weir__stock_suffices(&stock, page_class));
            assert_true(weir__stock_suffices_for(&stock, page_class, counts[i]));
            /* And so many are there, without a call for memory. */
            const uint32_t calls = weir__load(&memory.calls, relaxed);
            assert_int_equal(weir__load(&memory.bytes, relaxed), weir__stores_bytes(&stores));
            for (uint32_t n = weir__stock_pages(page_class, counts[i]); n > 0; n--) {
                assert_non_null(
                    weir__pool_get(&stores.pages[page_class], &stock.pages[page_class]));
            }
            for (uint32_t n = weir__stock_indexes(page_class, counts[i]); n > 0; n--) {
                assert_non_null(weir__pool_get(&stores.indexes, &stock.indexes));
            }
            assert_int_equal(calls, weir__load(&memory.calls, relaxed));
            weir__stores_close(&stores);
            test_memory_check(&memory);
        }
    }
}

/* Whatever the offset of the first of them in its page. */
static void the_pages_and_indexes_in_stock_reach_for_a_run_that_begins_anywhere(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 2, 31, 32, 33, 100, 4095, 4096, 4097, 16320 };
    for (uint32_t page_class = 0; page_class < WEIR__PAGE_CLASSES; page_class++) {
        const uint32_t page = weir__page_bits(page_class);
        const uint32_t index = page + WEIR__INDEX_BITS;
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            const uint32_t last = counts[i] - 1;
            for (uint32_t from = 0; from < 1u << index; from += 1 + from / 8) {
                assert_true(((from + last) >> page) - (from >> page) + 1 <=
                            weir__stock_pages(page_class, counts[i]));
                assert_true(((from + last) >> index) - (from >> index) + 1 <=
                            weir__stock_indexes(page_class, counts[i]));
            }
        }
    }
}

/* Takes all that a cache has, one by one. */
static void take_all(weir__stock *stock, weir__pool *pool, weir__pool_cache *cache)
{
    while (cache->current != NULL) {
        assert_true(weir__stock_suffices(stock, 3));
        assert_non_null(weir__stock_get(stock, pool, cache));
    }
}

static void a_stock_whose_last_one_is_taken_suffices_no_more(void **state)
{
    (void)state;
    weir__stores stores;
    test_memory memory;
    test_memory_open(&memory, 0);
    weir__stores_open(&stores, &memory.allocator);
    weir__stock stock = { .stores = &stores };
    const struct {
        weir__pool *pool;
        weir__pool_cache *cache;
    } kinds[] = { { &stores.lones, &stock.lones },
                  { &stores.roots, &stock.roots },
                  { &stores.indexes, &stock.indexes },
                  { &stores.pages[3], &stock.pages[3] } };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        assert_true(weir__stock_fill(&stock, 3, 1));
        take_all(&stock, kinds[i].pool, kinds[i].cache);
        assert_false(weir__stock_suffices(&stock, 3));
    }
    assert_true(weir__stock_fill(&stock, 3, 1));
    assert_true(weir__stock_suffices(&stock, 3));
    weir__stock_flush(&stock);
    assert_false(weir__stock_suffices(&stock, 3));
    weir__stores_close(&stores);
    test_memory_check(&memory);
}

static void a_refusal_of_memory_anywhere_is_told_and_loses_nothing(void **state)
{
    (void)state;
    for (uint32_t nth = 1;; nth++) {
        assert_true(nth < 100);
        weir__stores stores;
        test_memory memory;
        test_memory_open(&memory, nth);
        weir__stores_open(&stores, &memory.allocator);
        weir__stock stock = { .stores = &stores };
        const bool filled = weir__stock_fill(&stock, 3, 1000);
        assert_int_equal(filled, weir__stock_suffices_for(&stock, 3, 1000));
        if (!filled) {
            memory.refuse_from = 0; /* and the next try may succeed */
            assert_true(weir__stock_fill(&stock, 3, 1000));
            assert_true(weir__stock_suffices_for(&stock, 3, 1000));
        }
        weir__stock_flush(&stock);
        stores_check_and_close(&stores, &memory);
        if (filled) {
            assert_true(nth > 4); /* each kind was refused once */
            break;
        }
    }
}

/* A mailbox that was never used up to a page's end, or was: what it gives back is empty. */
static void pages_indexes_and_roots_are_empty_when_they_are_free(void **state)
{
    (void)state;
    static box b;
    for (size_t i = 0; i < LIMITS; i++) {
        for (uint32_t count = 1; count <= 300; count += 13) {
            box_open(&b, limits[i], false);
            box_own(&b);
            for (uint32_t n = 0; n < count; n++) {
                box_post(&b, n);
                box_post_beside(&b, n);
            }
            while (box_take(&b) != BOX_NOTHING) {
            }
            assert_true(box_idle(&b));
            box_close(&b); /* looks at each */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_limit_has_a_class_whose_ring_holds_it_and_two_pages),
        cmocka_unit_test(equal_places_of_neighbouring_pages_lie_in_other_sets_of_the_cache),
        cmocka_unit_test(fresh_stores_own_no_memory),
        cmocka_unit_test(an_empty_stock_suffices_for_nothing_and_a_filled_one_for_what_was_asked),
        cmocka_unit_test(the_pages_and_indexes_in_stock_reach_for_a_run_that_begins_anywhere),
        cmocka_unit_test(a_stock_whose_last_one_is_taken_suffices_no_more),
        cmocka_unit_test(a_refusal_of_memory_anywhere_is_told_and_loses_nothing),
        cmocka_unit_test(pages_indexes_and_roots_are_empty_when_they_are_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
