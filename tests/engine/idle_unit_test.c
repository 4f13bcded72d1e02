/*
 * engine/idle_unit_test.c - the steps of each idle strategy, under a clock that the test turns.
 * engine/idle_test.c has the strategies on real threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include "engine/idle.h"

#define SPIN_MAX (20 * WEIR_US)
#define TICK (WEIR_US / 4) /* what a look at the queue takes */

static weir_ns clock_ns;

static weir_ns now(void)
{
    return clock_ns;
}

static void open_idle(weir__idle *idle, weir_idle strategy)
{
    clock_ns = WEIR_S;
    weir__idle_open(idle, strategy, SPIN_MAX, WEIR_MS);
}

/* One empty round. */
static weir__idle_step step(weir__idle *idle)
{
    const weir__idle_step next = weir__idle_step_next(idle, now);
    clock_ns += TICK;
    return next;
}

/* An idle stretch until it rests; how long it spun. The stretch is left open. */
static weir_ns spin_then_rest(weir__idle *idle)
{
    const weir_ns begin = clock_ns;
    weir__idle_step next = step(idle);
    while (next == WEIR__IDLE_PAUSE) {
        assert_true(clock_ns - begin < WEIR_S); /* it ends */
        next = step(idle);
    }
    const weir_ns spun = clock_ns - TICK - begin;
    if (spun > 0) { /* else it is not worth a yield either */
        assert_int_equal(WEIR__IDLE_GIVE, next);
        assert_int_equal(WEIR__IDLE_GIVE, step(idle));
        next = step(idle);
    }
    assert_int_equal(WEIR__IDLE_REST, next);
    return spun;
}

/* An idle stretch that work ends after `wait`. Asks as a thread would: not while it is parked. */
static void arrive_after(weir__idle *idle, weir_ns wait)
{
    const weir_ns arrival = clock_ns + wait;
    while (step(idle) != WEIR__IDLE_REST && clock_ns < arrival) {
    }
    clock_ns = arrival;
    weir__idle_work(idle, now());
}

static void arrive_often_after(weir__idle *idle, weir_ns wait, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        arrive_after(idle, wait);
    }
}

/* How long the next idle stretch would spin. Changes nothing. */
static weir_ns spin_of(const weir__idle *idle)
{
    const weir_ns saved = clock_ns;
    weir__idle copy = *idle;
    const weir_ns spun = spin_then_rest(&copy);
    clock_ns = saved;
    return spun;
}

static void the_simple_strategies_answer_with_one_step_for_ever(void **state)
{
    (void)state;
    static const struct {
        weir_idle strategy;
        weir__idle_step step;
    } rows[] = {
        { WEIR_IDLE_PARK, WEIR__IDLE_REST },  { WEIR_IDLE_SLEEP, WEIR__IDLE_NAP },
        { WEIR_IDLE_YIELD, WEIR__IDLE_GIVE }, { WEIR_IDLE_BUSY_SPIN, WEIR__IDLE_SPIN },
        { WEIR_IDLE_NOOP, WEIR__IDLE_AGAIN },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir__idle idle;
        open_idle(&idle, rows[i].strategy);
        assert_int_equal(WEIR_MS, idle.sleep);
        for (uint32_t k = 0; k < 1000; k++) {
            assert_int_equal(rows[i].step, step(&idle));
            if (k % 100 == 0) {
                weir__idle_work(&idle, now());
            }
        }
    }
}

static void backoff_spins_then_yields_twice_then_rests(void **state)
{
    (void)state;
    weir__idle idle;
    open_idle(&idle, WEIR_IDLE_BACKOFF);
    assert_in_range(spin_of(&idle), SPIN_MAX, SPIN_MAX + TICK);
    arrive_often_after(&idle, 5 * WEIR_US, 100);
    assert_true(spin_then_rest(&idle) > 0);
    for (uint32_t i = 0; i < 100; i++) { /* and rests on, until there is work */
        assert_int_equal(WEIR__IDLE_REST, step(&idle));
    }
    weir__idle_work(&idle, now());
    assert_int_equal(WEIR__IDLE_PAUSE, step(&idle));
}

static void the_default_is_backoff(void **state)
{
    (void)state;
    weir__idle idle;
    open_idle(&idle, WEIR_IDLE_DEFAULT);
    assert_int_equal(WEIR_IDLE_BACKOFF, idle.strategy);
    assert_int_equal(WEIR__IDLE_PAUSE, step(&idle));
}

static void a_bound_of_zero_never_spins(void **state)
{
    (void)state;
    weir__idle idle;
    clock_ns = WEIR_S;
    weir__idle_open(&idle, WEIR_IDLE_BACKOFF, 0, WEIR_MS);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(0, spin_then_rest(&idle));
        weir__idle_work(&idle, now());
    }
}

static void the_spin_is_twice_the_time_that_work_takes_to_arrive(void **state)
{
    (void)state;
    static const weir_ns waits[] = { WEIR_US, 2 * WEIR_US, 5 * WEIR_US, 9 * WEIR_US };
    weir__idle idle;
    weir_ns last = 0;
    open_idle(&idle, WEIR_IDLE_BACKOFF);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        arrive_often_after(&idle, waits[i], 200);
        const weir_ns spun = spin_of(&idle);
        assert_in_range(spun, 2 * waits[i] - 2 * TICK, 2 * waits[i] + 2 * TICK);
        assert_true(spun > last); /* slower arrivals, longer spin */
        last = spun;
    }
}

static void the_spin_never_passes_its_bound(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    weir__idle idle;
    open_idle(&idle, WEIR_IDLE_BACKOFF);
    for (uint32_t i = 0; i < 5000; i++) {
        const uint64_t choice = test_random(&random);
        /* Most of them near the bound, where the spin is longest. */
        const weir_ns wait = choice % 4 == 0 ? (weir_ns)((choice >> 8) % (uint64_t)WEIR_S)
                                             : (weir_ns)((choice >> 8) % (uint64_t)SPIN_MAX);
        arrive_after(&idle, wait);
        assert_true(spin_of(&idle) <= SPIN_MAX + TICK);
    }
    arrive_often_after(&idle, 15 * WEIR_US, 200);
    assert_in_range(spin_of(&idle), SPIN_MAX, SPIN_MAX + TICK);
}

static void at_a_thousand_a_second_it_rests_at_once(void **state)
{
    (void)state;
    weir__idle idle;
    open_idle(&idle, WEIR_IDLE_BACKOFF);
    arrive_after(&idle, WEIR_MS); /* one is enough: the first guess was the bound */
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(WEIR__IDLE_REST, step(&idle));
        clock_ns += WEIR_MS;
        weir__idle_work(&idle, now());
    }
}

static void after_silence_it_does_not_spin(void **state)
{
    (void)state;
    weir__idle idle;
    open_idle(&idle, WEIR_IDLE_BACKOFF);
    arrive_often_after(&idle, 10 * WEIR_MS, 20);
    assert_int_equal(0, spin_of(&idle));
    arrive_often_after(&idle, 3 * SPIN_MAX, 200); /* often, and still too late for a spin */
    assert_int_equal(0, spin_of(&idle));
}

static void a_few_quick_arrivals_bring_the_spin_back(void **state)
{
    (void)state;
    /* However long the silence was. */
    static const weir_ns silences[] = { 50 * WEIR_US, WEIR_MS, 30 * WEIR_MS, 3600 * WEIR_S };
    for (size_t i = 0; i < sizeof(silences) / sizeof(silences[0]); i++) {
        weir__idle idle;
        open_idle(&idle, WEIR_IDLE_BACKOFF);
        arrive_often_after(&idle, silences[i], 1000);
        assert_int_equal(0, spin_of(&idle));
        uint32_t arrivals = 0;
        while (spin_of(&idle) == 0) {
            arrive_after(&idle, WEIR_US);
            arrivals++;
            assert_true(arrivals <= 8);
        }
        arrive_often_after(&idle, WEIR_US, 200);
        assert_in_range(spin_of(&idle), WEIR_US, 3 * WEIR_US);
    }
}

static void one_silence_among_quick_arrivals_does_not_stop_the_spin(void **state)
{
    (void)state;
    weir__idle idle;
    open_idle(&idle, WEIR_IDLE_BACKOFF);
    arrive_often_after(&idle, 2 * WEIR_US, 200);
    arrive_after(&idle, 60 * WEIR_S);
    assert_true(spin_of(&idle) > 0);
    arrive_often_after(&idle, 2 * WEIR_US, 30);
    assert_in_range(spin_of(&idle), 3 * WEIR_US, 5 * WEIR_US);
}

static void work_without_an_empty_round_teaches_nothing(void **state)
{
    (void)state;
    weir__idle idle;
    open_idle(&idle, WEIR_IDLE_BACKOFF);
    arrive_often_after(&idle, 5 * WEIR_US, 100);
    const weir__idle before = idle;
    for (uint32_t i = 0; i < 1000; i++) {
        clock_ns += WEIR_S;
        weir__idle_work(&idle, now());
    }
    assert_int_equal(before.arrival_mean, idle.arrival_mean);
    assert_int_equal(spin_of(&before), spin_of(&idle));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_simple_strategies_answer_with_one_step_for_ever),
        cmocka_unit_test(backoff_spins_then_yields_twice_then_rests),
        cmocka_unit_test(the_default_is_backoff),
        cmocka_unit_test(a_bound_of_zero_never_spins),
        cmocka_unit_test(the_spin_is_twice_the_time_that_work_takes_to_arrive),
        cmocka_unit_test(the_spin_never_passes_its_bound),
        cmocka_unit_test(at_a_thousand_a_second_it_rests_at_once),
        cmocka_unit_test(after_silence_it_does_not_spin),
        cmocka_unit_test(a_few_quick_arrivals_bring_the_spin_back),
        cmocka_unit_test(one_silence_among_quick_arrivals_does_not_stop_the_spin),
        cmocka_unit_test(work_without_an_empty_round_teaches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
