/*
 * engine/pace_test.c - a thread that is too close behind those who post steps back, and comes back
 * as soon as that is worth nothing (engine/pace.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include "engine/pace.h"
#include "engine/thread.h"
#include "sync/thread.h"

/* Looks of one event each, one straight after the other, until it waits; or so many. */
static uint32_t looks_until_it_waits(weir__pace *pace, uint32_t most)
{
    uint32_t looks = 0;
    while (!pace->waits && looks < most) {
        weir__pace_found(pace, 1, true);
        looks++;
    }
    return looks;
}

static void who_finds_little_again_and_again_steps_back(void **state)
{
    (void)state;
    weir__pace pace = { 0 };
    for (uint32_t i = 1; i < WEIR__PACE_PATIENCE; i++) {
        weir__pace_found(&pace, 1, true);
        assert_false(weir__pace_waits(&pace, 1));
    }
    weir__pace_found(&pace, WEIR__PACE_LITTLE - 1, true);
    assert_true(weir__pace_waits(&pace, 1));
    assert_true(weir__pace_waits(&pace, 0));
}

static void one_that_came_late_or_found_nothing_or_much_begins_the_count_anew(void **state)
{
    (void)state;
    static const struct {
        uint64_t found;
        bool soon;
    } breaks[] = { { 1, false }, { 0, true }, { WEIR__PACE_LITTLE, true } };
    for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
        weir__pace pace = { 0 };
        for (uint32_t n = 1; n < WEIR__PACE_PATIENCE; n++) {
            weir__pace_found(&pace, 1, true);
        }
        weir__pace_found(&pace, breaks[i].found, breaks[i].soon);
        assert_false(pace.waits);
        assert_int_equal(WEIR__PACE_PATIENCE, looks_until_it_waits(&pace, 1000));
    }
}

static void who_is_behind_does_not_wait(void **state)
{
    (void)state;
    weir__pace pace = { 0 };
    (void)looks_until_it_waits(&pace, 1000);
    assert_false(weir__pace_waits(&pace, WEIR__PACE_LITTLE));
    assert_true(weir__pace_waits(&pace, WEIR__PACE_LITTLE - 1));
}

static void it_goes_on_while_each_wait_brings_enough(void **state)
{
    (void)state;
    weir__pace pace = { 0 };
    (void)looks_until_it_waits(&pace, 1000);
    for (int i = 0; i < 1000; i++) {
        weir__pace_judge(&pace, WEIR__PACE_ENOUGH);
        weir__pace_found(&pace, 1, true); /* without a wait: says nothing */
        assert_true(pace.waits);
    }
    assert_int_equal(0, pace.failures);
}

static void a_wait_that_brings_too_little_is_the_last(void **state)
{
    (void)state;
    for (uint64_t found = 0; found < WEIR__PACE_ENOUGH; found++) {
        weir__pace pace = { 0 };
        (void)looks_until_it_waits(&pace, 1000);
        weir__pace_judge(&pace, found);
        assert_false(weir__pace_waits(&pace, 0));
    }
}

static void each_trial_for_nothing_makes_the_next_one_rarer_up_to_a_bound(void **state)
{
    (void)state;
    const uint32_t rarest = WEIR__PACE_PATIENCE << WEIR__PACE_FAILURES;
    weir__pace pace = { 0 };
    uint32_t expected = WEIR__PACE_PATIENCE;
    for (int trial = 0; trial < 20; trial++) {
        assert_int_equal(expected, looks_until_it_waits(&pace, 2 * rarest));
        weir__pace_judge(&pace, 0);
        expected = expected < rarest ? 2 * expected : rarest;
    }
    assert_int_equal(65536, rarest);
    /* One that was worth it brings the patience of the beginning back. */
    (void)looks_until_it_waits(&pace, 2 * rarest);
    weir__pace_judge(&pace, WEIR__PACE_ENOUGH);
    weir__pace_judge(&pace, 0);
    assert_int_equal(2 * WEIR__PACE_PATIENCE, looks_until_it_waits(&pace, 2 * rarest));
}

static void a_wait_is_half_a_microsecond(void **state)
{
    (void)state;
    weir_ns least = WEIR_FOREVER;
    for (int i = 0; i < 100; i++) { /* somebody else may have the core now and then */
        const weir_ns before = weir__clock_now();
        weir__pace_wait();
        const weir_ns took = weir__clock_now() - before;
        assert_true(took >= WEIR__PACE_WAIT);
        least = took < least ? took : least;
    }
    assert_int_equal(500, WEIR__PACE_WAIT);
    assert_true(least < 50 * WEIR__PACE_WAIT); /* sanitizers take their time */
}

static void only_who_has_nothing_else_to_do_may_wait(void **state)
{
    (void)state;
    static weir__thread thread; /* zeroed, and large */
    weir__dispatcher dispatcher = { .index = 0 };
    weir__serving serving = { .dispatcher = &dispatcher };
    thread.serving_count = 1;
    assert_true(weir__thread_has_taken_all(&thread, &serving));
    weir__store(&dispatcher.length, 1, relaxed);
    assert_false(weir__thread_has_taken_all(&thread, &serving));
    weir__store(&dispatcher.length, 0, relaxed);
    weir__store(&serving.kept.length, 1, relaxed);
    assert_false(weir__thread_has_taken_all(&thread, &serving));
    weir__store(&serving.kept.length, 0, relaxed);
    thread.serving_count = 2; /* another dispatcher */
    assert_false(weir__thread_has_taken_all(&thread, &serving));
    thread.serving_count = 1;
    thread.hosts = true; /* agents */
    assert_false(weir__thread_has_taken_all(&thread, &serving));
    thread.hosts = false;
    thread.external = true; /* the application turns it */
    assert_false(weir__thread_has_taken_all(&thread, &serving));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_finds_little_again_and_again_steps_back),
        cmocka_unit_test(one_that_came_late_or_found_nothing_or_much_begins_the_count_anew),
        cmocka_unit_test(who_is_behind_does_not_wait),
        cmocka_unit_test(it_goes_on_while_each_wait_brings_enough),
        cmocka_unit_test(a_wait_that_brings_too_little_is_the_last),
        cmocka_unit_test(each_trial_for_nothing_makes_the_next_one_rarer_up_to_a_bound),
        cmocka_unit_test(a_wait_is_half_a_microsecond),
        cmocka_unit_test(only_who_has_nothing_else_to_do_may_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
