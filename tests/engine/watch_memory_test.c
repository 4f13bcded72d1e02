/*
 * watch_memory_test.c - the nth allocation of a watch, and of whatever a dead letter needs, fails,
 * n = 1, 2, 3, ...: a status, nothing is owed, nothing is out; and then it works.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "watch_support.h"

enum { NTH_MAX = 1000, FEW = 40 };

/* One n. True: the watch needs no more than n allocations. */
static bool watch_with_nth(long nth, bool lasting)
{
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor target = bed_target(&b);
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, w.handle, 0)); /* this thread is known */
    bed_turn(&b);
    test_fault_arm(&b.fault, nth, lasting);
    weir_status status = bed_order(&b, &w, WATCH, target, 1);
    const bool hit = test_fault_disarm(&b.fault) > 0;
    assert_int_equal(hit ? WEIR_E_NOMEM : WEIR_OK, status);
    if (hit) {
        assert_int_equal(0, test_processor_counters(b.engine, w.handle).rooms);
        assert_int_equal(0, test_engine_counters(b.engine).block_bytes);
        assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 1));
    }
    /* From here on it needs nothing. */
    assert_int_equal(WEIR_OK, weir_processor_stop_async(b.engine, target, TEST_PATIENCE));
    test_fault_arm(&b.fault, 0, true);
    bed_turn(&b);
    (void)test_fault_disarm(&b.fault);
    assert_int_equal(1, w.note_count);
    assert_told(&w, 0, target, WEIR_OK, 1);
    bed_end(&b);
    return !hit;
}

static void a_watch_survives_its_nth_allocation_failing(void **state)
{
    (void)state;
    for (int lasting = 0; lasting < 2; lasting++) {
        long nth = 0;
        while (!watch_with_nth(nth, lasting != 0)) {
            nth++;
            assert_true(nth < NTH_MAX);
        }
        fprintf(stderr, "# watch: %ld allocations failed\n", nth);
        assert_true(nth >= 4); /* the record, its block, two cold parts, the table */
    }
}

/* The table grows now and then; where it cannot, its chains do. */
static void many_watches_need_no_larger_table(void **state)
{
    (void)state;
    bed b;
    weir_processor targets[FEW];
    bed_make(&b);
    for (size_t i = 0; i < FEW; i++) {
        targets[i] = bed_target(&b);
    }
    crowd first = { .targets = targets, .count = FEW };
    crowd second = { .targets = targets, .count = FEW };
    const weir_processor one =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = watch_all, .argument = &first));
    const weir_processor two =
        test_processor_add(b.engine, WEIR_PROCESSOR(.handler = watch_all, .argument = &second));
    test_engine_start(b.engine);
    assert_int_equal(WEIR_OK, test_post(b.engine, one, 0));
    bed_turn(&b);
    assert_int_equal(WEIR_OK, first.last);
    /* Every single one that fails but for the last: what a table would be made of. */
    uint64_t answered = 0;
    for (long nth = 0; answered < FEW && nth < NTH_MAX; nth++) {
        second.targets = targets + answered;
        second.count = 1;
        test_fault_arm(&b.fault, nth % 3, false);
        assert_int_equal(WEIR_OK, test_post(b.engine, two, 0));
        bed_turn(&b);
        (void)test_fault_disarm(&b.fault);
        assert_true(second.last == WEIR_OK || second.last == WEIR_E_NOMEM);
        answered += second.last == WEIR_OK;
    }
    assert_int_equal(FEW, answered);
    for (size_t i = 0; i < FEW; i++) {
        bed_stop(&b, targets[i]);
    }
    assert_int_equal(FEW, first.done);
    assert_int_equal(FEW, second.done);
    bed_end(&b);
}

/* Nor does one that watches and does not, for ever. */
static void what_is_undone_costs_nothing(void **state)
{
    (void)state;
    bed b;
    watcher w;
    bed_make(&b);
    watcher_add(b.engine, &w, 0);
    const weir_processor target = bed_target(&b);
    test_engine_start(b.engine);
    size_t bytes = 0;
    for (int i = 0; i < 200; i++) {
        w.answer_count = 0;
        assert_int_equal(WEIR_OK, bed_order(&b, &w, WATCH, target, 0));
        assert_int_equal(WEIR_OK, bed_order(&b, &w, UNWATCH, target, 0));
        bytes = i == 0 ? atomic_load(&b.fault.bytes) : bytes;
        assert_int_equal(bytes, atomic_load(&b.fault.bytes));
    }
    bed_end(&b);
}

static void a_refusal_is_the_same_without_memory_for_its_letter(void **state)
{
    (void)state;
    for (int lasting = 0; lasting < 2; lasting++) {
        bool hit = true;
        for (long nth = 0; hit; nth++) {
            bed b;
            bed_make(&b);
            const weir_processor gone = bed_target(&b);
            test_engine_start(b.engine);
            bed_stop(&b, gone);
            test_fault_arm(&b.fault, nth, lasting != 0);
            assert_int_equal(WEIR_UNKNOWN, test_post(b.engine, gone, 0));
            hit = test_fault_disarm(&b.fault) > 0;
            assert_true(nth < NTH_MAX);
            assert_int_equal(1, test_engine_counters(b.engine).letters_unknown);
            bed_end(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_survives_its_nth_allocation_failing),
        cmocka_unit_test(many_watches_need_no_larger_table),
        cmocka_unit_test(what_is_undone_costs_nothing),
        cmocka_unit_test(a_refusal_is_the_same_without_memory_for_its_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
