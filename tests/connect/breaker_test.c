/*
 * breaker_test.c - a circuit breaker by a clock of the test's, and the waits between tries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include "connect/patience.h"
#include "connect/breaker.h"

static void opens_after_failures_in_a_row_and_not_before(void **unused)
{
    (void)unused;
    weir__breaker b;
    weir__breaker_open(&b, 3, WEIR_S, 1);
    assert_false(weir__breaker_tell(&b, false, 1));
    assert_false(weir__breaker_tell(&b, false, 2));
    assert_true(weir__breaker_allows(&b, 2));
    assert_false(weir__breaker_tell(&b, true, 3)); /* begins anew */
    assert_false(weir__breaker_tell(&b, false, 4));
    assert_false(weir__breaker_tell(&b, false, 5));
    assert_int_equal(b.state, WEIR__BREAKER_CLOSED);
    assert_true(weir__breaker_tell(&b, false, 6));
    assert_int_equal(b.state, WEIR__BREAKER_OPEN);
    assert_int_equal(b.opened, 1);
    assert_string_equal(weir__breaker_word(&b), "open");
}

static void stays_open_for_its_time_and_then_tries(void **unused)
{
    (void)unused;
    weir__breaker b;
    weir__breaker_open(&b, 1, WEIR_S, 2);
    assert_true(weir__breaker_tell(&b, false, 100));
    assert_false(weir__breaker_allows(&b, 100));
    assert_false(weir__breaker_allows(&b, 99 + WEIR_S));
    assert_false(weir__breaker_tell(&b, true, 100 + WEIR_S / 2)); /* late: says nothing */
    assert_int_equal(b.state, WEIR__BREAKER_OPEN);
    assert_true(weir__breaker_allows(&b, 100 + WEIR_S));
    assert_string_equal(weir__breaker_word(&b), "half-open");
    assert_false(weir__breaker_tell(&b, true, 101 + WEIR_S)); /* one of two */
    assert_true(weir__breaker_allows(&b, 102 + WEIR_S));
    assert_true(weir__breaker_tell(&b, true, 102 + WEIR_S));
    assert_string_equal(weir__breaker_word(&b), "closed");
}

static void one_failure_when_half_open_opens_it_again_for_the_whole_time(void **unused)
{
    (void)unused;
    weir__breaker b;
    weir__breaker_open(&b, 2, WEIR_S, 3);
    (void)weir__breaker_tell(&b, false, 0);
    assert_true(weir__breaker_tell(&b, false, 0));
    assert_true(weir__breaker_allows(&b, WEIR_S));
    assert_false(weir__breaker_tell(&b, true, WEIR_S));
    assert_false(weir__breaker_tell(&b, true, WEIR_S));
    assert_true(weir__breaker_tell(&b, false, WEIR_S + 5));
    assert_false(weir__breaker_allows(&b, 2 * WEIR_S + 4));
    assert_true(weir__breaker_allows(&b, 2 * WEIR_S + 5));
    assert_int_equal(b.opened, 2);
    /* The trials that went well before do not count. */
    assert_false(weir__breaker_tell(&b, true, 2 * WEIR_S + 5));
    assert_false(weir__breaker_tell(&b, true, 2 * WEIR_S + 5));
    assert_true(weir__breaker_tell(&b, true, 2 * WEIR_S + 5));
    /* Nor do the failures from before it opened. */
    assert_false(weir__breaker_tell(&b, false, 2 * WEIR_S + 6));
    assert_int_equal(b.state, WEIR__BREAKER_CLOSED);
}

static void an_endless_time_does_not_overflow(void **unused)
{
    (void)unused;
    weir__breaker b;
    weir__breaker_open(&b, 1, WEIR_FOREVER, 1);
    assert_true(weir__breaker_tell(&b, false, WEIR_S));
    assert_false(weir__breaker_allows(&b, WEIR_FOREVER - 1));
}

static void waits_double_up_to_their_bound_and_half_of_each_is_random(void **unused)
{
    (void)unused;
    weir__patience b = { .base = 100 * WEIR_MS, .max = 3 * WEIR_S, .random = test_seed() };
    weir_ns whole = b.base;
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        const weir_ns delay = weir__patience_next(&b);
        assert_true(delay >= whole / 2 && delay <= whole);
        differs = differs || delay != whole;
        whole = whole * 2 < b.max ? whole * 2 : b.max;
    }
    assert_true(differs);
    weir__patience_reset(&b);
    assert_true(weir__patience_next(&b) <= b.base);
}

static void a_bound_below_the_base_holds_from_the_first_wait_on(void **unused)
{
    (void)unused;
    weir__patience b = { .base = 10 * WEIR_S, .max = WEIR_S };
    for (int i = 0; i < 10; i++) {
        const weir_ns delay = weir__patience_next(&b);
        assert_true(delay >= WEIR_S / 2 && delay <= WEIR_S);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_after_failures_in_a_row_and_not_before),
        cmocka_unit_test(stays_open_for_its_time_and_then_tries),
        cmocka_unit_test(one_failure_when_half_open_opens_it_again_for_the_whole_time),
        cmocka_unit_test(an_endless_time_does_not_overflow),
        cmocka_unit_test(waits_double_up_to_their_bound_and_half_of_each_is_random),
        cmocka_unit_test(a_bound_below_the_base_holds_from_the_first_wait_on),
    };
    return cmocka_run_group_tests_name("breaker", tests, NULL, NULL);
}
