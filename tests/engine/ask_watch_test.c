/*
 * ask_watch_test.c - the heap of an alarm: the earliest first, an entry once, a time that only
 * moves forward.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../inner_support.h"

#include "engine/ask_watch.h"

enum { ROWS = 6, ENTRIES = ((1 << ROWS) - 1) << WEIR__ASK_ROW_BITS };

typedef struct table {
    weir__asks asks;
    weir__ask entries[ENTRIES];
    weir__ask_watch heap[ENTRIES];
} table;

static void table_open(table *t)
{
    uint32_t at = 0;
    memset(t, 0, sizeof(*t));
    for (uint32_t row = 0; row < ROWS; row++) {
        weir__store(&t->asks.rows[row], &t->entries[at], relaxed);
        at += 1u << (WEIR__ASK_ROW_BITS + row);
    }
    for (uint32_t i = 0; i < ENTRIES; i++) {
        weir__store(&t->entries[i].watched, WEIR__ASK_UNWATCHED, relaxed);
    }
    weir__store(&t->asks.capacity, ENTRIES, relaxed);
    t->asks.heap = t->heap;
    t->asks.rings_at = (uint64_t)WEIR_FOREVER;
}

static void rows_hold_every_entry_once(void **state)
{
    (void)state;
    static table t;
    table_open(&t);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        assert_ptr_equal(&t.entries[i], weir__ask_at(&t.asks, i));
    }
}

static void only_a_time_before_the_alarm_s_brings_it_forward(void **state)
{
    (void)state;
    static table t;
    table_open(&t);
    assert_true(weir__ask_watch_by(&t.asks, 0, 100));
    assert_false(weir__ask_watch_by(&t.asks, 1, 200));
    assert_false(weir__ask_watch_by(&t.asks, 2, 100));
    assert_true(weir__ask_watch_by(&t.asks, 1, 50));
    assert_false(weir__ask_watch_by(&t.asks, 1, 150)); /* it is looked at before that anyway */
    assert_int_equal(3, t.asks.watches);
    assert_int_equal(50, weir__ask_watch_next(&t.asks));
    uint32_t index = 99;
    assert_false(weir__ask_watch_take(&t.asks, 49, &index));
    assert_true(weir__ask_watch_take(&t.asks, 50, &index));
    assert_int_equal(1, index);
    assert_int_equal(100, weir__ask_watch_next(&t.asks));
}

/* Against an array that is searched. */
static void the_earliest_comes_first_whatever_happens(void **state)
{
    (void)state;
    static table t;
    static uint64_t times[ENTRIES];
    uint64_t seed = test_seed();
    table_open(&t);
    memset(times, 0xff, sizeof(times)); /* UNWATCHED */
    for (uint32_t round = 0; round < 200000; round++) {
        uint32_t index = (uint32_t)(test_random(&seed) % ENTRIES);
        const uint64_t time = 1 + test_random(&seed) % 1000;
        if (test_random(&seed) % 3 != 0) {
            (void)weir__ask_watch_by(&t.asks, index, time);
            times[index] = time < times[index] ? time : times[index];
            continue;
        }
        uint64_t least = UINT64_MAX;
        for (uint32_t i = 0; i < ENTRIES; i++) {
            least = times[i] < least ? times[i] : least;
        }
        const bool taken = weir__ask_watch_take(&t.asks, time, &index);
        assert_int_equal(least <= time, taken);
        if (taken) {
            assert_int_equal(least, times[index]);
            times[index] = UINT64_MAX;
            assert_true(weir__load(&t.entries[index].watched, relaxed) == WEIR__ASK_UNWATCHED);
        }
    }
    for (uint32_t i = 0; i < ENTRIES; i++) {
        assert_true(weir__load(&t.entries[i].watched, relaxed) == times[i]);
        assert_true(times[i] == UINT64_MAX || t.asks.heap[t.entries[i].heap_at].index == i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold_every_entry_once),
        cmocka_unit_test(only_a_time_before_the_alarm_s_brings_it_forward),
        cmocka_unit_test(the_earliest_comes_first_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
