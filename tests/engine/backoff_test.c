/*
 * engine/backoff_test.c - requested back-off delays are 10, 15, 22.5, ... us, 384 us at the 10th,
 * capped at 10 ms from the 19th, reset by success (S-04). What a thread does with them is
 * engine/backoff_contract_test.c's matter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include "engine/backoff.h"

/* The defaults. */
static const weir__backoff_plan plan = { 10 * WEIR_US, 10 * WEIR_MS, 1.5, 0.0 };

/* base * multiplier^(nth - 1), within the cap, to the nanosecond below. */
static double formula(const weir__backoff_plan *p, uint32_t nth)
{
    double delay = (double)p->base;
    for (uint32_t i = 1; i < nth && delay < (double)p->max; i++) {
        delay *= p->multiplier;
    }
    return delay < (double)p->max ? delay : (double)p->max;
}

static weir_ns nth_delay(weir__backoff *backoff, uint32_t nth)
{
    weir_ns delay = 0;
    for (uint32_t i = 0; i < nth; i++) {
        delay = weir__backoff_next(backoff, &plan);
    }
    return delay;
}

static void delays_are_10_15_22_5_microseconds_and_so_on(void **state)
{
    (void)state;
    static const weir_ns first[] = { 10000, 15000,  22500,  33750,  50625,
                                     75937, 113906, 170859, 256289, 384433 };
    weir__backoff backoff = { 0 };
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        assert_int_equal(first[i], weir__backoff_next(&backoff, &plan));
    }
}

static void the_10th_delay_is_384_microseconds(void **state)
{
    (void)state;
    weir__backoff backoff = { 0 };
    assert_int_equal(384, nth_delay(&backoff, 10) / WEIR_US);
}

static void the_cap_of_10_milliseconds_holds_from_the_19th_on(void **state)
{
    (void)state;
    weir__backoff backoff = { 0 };
    const weir_ns eighteenth = nth_delay(&backoff, 18);
    assert_true(eighteenth < 10 * WEIR_MS);
    assert_int_equal(9852, eighteenth / WEIR_US);
    for (uint32_t i = 19; i < 10000; i++) {
        assert_int_equal(10 * WEIR_MS, weir__backoff_next(&backoff, &plan));
    }
}

static void success_begins_again_at_the_base(void **state)
{
    (void)state;
    weir__backoff backoff = { 0 };
    for (uint32_t failures = 0; failures < 30; failures++) {
        (void)nth_delay(&backoff, failures);
        weir__backoff_reset(&backoff);
        assert_int_equal(10000, weir__backoff_next(&backoff, &plan));
        assert_int_equal(15000, weir__backoff_next(&backoff, &plan));
        weir__backoff_reset(&backoff);
    }
}

static void every_plan_follows_the_formula(void **state)
{
    (void)state;
    static const weir__backoff_plan plans[] = {
        { 1, 2, 1.5, 0 },
        { 1000, WEIR_S, 1.01, 0 },
        { 1000, WEIR_S, 2.0, 0 },
        { 7 * WEIR_US, 3 * WEIR_MS, 10.0, 0 },
        { WEIR_MS, WEIR_MS + 1, 1.5, 0 },
        { 10 * WEIR_US, 10 * WEIR_MS, 1.0, 0 },
        { 10 * WEIR_US, 3600 * WEIR_S, 100.0, 0 },
    };
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        weir__backoff backoff = { 0 };
        for (uint32_t nth = 1; nth <= 2000; nth++) {
            const weir_ns delay = weir__backoff_next(&backoff, &plans[i]);
            const double exact = formula(&plans[i], nth);
            assert_true((double)delay <= exact);
            assert_true((double)delay > exact - 1.0);
        }
    }
}

static void no_delay_leaves_the_plan_that_is_in_force(void **state)
{
    (void)state;
    /* A thread that serves two dispatchers takes its delays now by one plan, now by the other. */
    static const weir__backoff_plan slow = { WEIR_MS, 50 * WEIR_MS, 3.0, 0 };
    weir__backoff backoff = { 0 };
    for (uint32_t i = 0; i < 100; i++) {
        const weir__backoff_plan *p = i % 2 == 0 ? &slow : &plan;
        const weir_ns delay = weir__backoff_next(&backoff, p);
        assert_in_range(delay, p->base, p->max);
    }
}

/* jitter j: a delay lies between (1 - j) and 1 times the formula's, and all of that is used. */
static void jitter_takes_away_at_most_its_part(void **state)
{
    (void)state;
    static const double jitters[] = { 0.1, 0.5, 1.0 };
    const uint64_t seed = test_seed();
    for (size_t i = 0; i < sizeof(jitters) / sizeof(jitters[0]); i++) {
        weir__backoff_plan p = plan;
        p.jitter = jitters[i];
        double least = 1.0;
        double most = 0.0;
        double sum = 0.0;
        enum { RUNS = 500, DELAYS = 20 };
        weir__backoff backoff = { 0, seed };
        for (uint32_t run = 0; run < RUNS; run++) {
            for (uint32_t nth = 1; nth <= DELAYS; nth++) {
                const double exact = formula(&plan, nth); /* the growth itself has no jitter */
                const weir_ns delay = weir__backoff_next(&backoff, &p);
                const double part = (double)delay / exact;
                assert_true((double)delay <= exact);
                assert_true((double)delay >= exact * (1.0 - p.jitter) - 1.0);
                least = part < least ? part : least;
                most = part > most ? part : most;
                sum += part;
            }
            weir__backoff_reset(&backoff);
        }
        const double mean = sum / (RUNS * DELAYS);
        assert_true(least < 1.0 - 0.95 * p.jitter);
        assert_true(most > 1.0 - 0.05 * p.jitter);
        assert_true(mean > 1.0 - 0.55 * p.jitter && mean < 1.0 - 0.45 * p.jitter);
    }
}

static void two_threads_do_not_wake_in_step(void **state)
{
    (void)state;
    weir__backoff_plan p = plan;
    p.jitter = 0.5;
    const uint64_t seed = test_seed();
    weir__backoff left = { 0, seed };
    weir__backoff right = { 0, seed + 1 };
    uint32_t same = 0;
    for (uint32_t i = 0; i < 100; i++) {
        same += weir__backoff_next(&left, &p) == weir__backoff_next(&right, &p);
    }
    assert_true(same < 10);
}

static void a_seed_of_zero_is_chance_too(void **state)
{
    (void)state;
    weir__backoff_plan p = plan;
    p.jitter = 1.0;
    weir__backoff backoff = { 0, 0 };
    weir_ns last = -1;
    uint32_t same = 0;
    for (uint32_t i = 0; i < 100; i++) {
        const weir_ns delay = weir__backoff_next(&backoff, &p);
        same += delay == last;
        last = delay;
        weir__backoff_reset(&backoff);
    }
    assert_true(same < 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delays_are_10_15_22_5_microseconds_and_so_on),
        cmocka_unit_test(the_10th_delay_is_384_microseconds),
        cmocka_unit_test(the_cap_of_10_milliseconds_holds_from_the_19th_on),
        cmocka_unit_test(success_begins_again_at_the_base),
        cmocka_unit_test(every_plan_follows_the_formula),
        cmocka_unit_test(no_delay_leaves_the_plan_that_is_in_force),
        cmocka_unit_test(jitter_takes_away_at_most_its_part),
        cmocka_unit_test(two_threads_do_not_wake_in_step),
        cmocka_unit_test(a_seed_of_zero_is_chance_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
