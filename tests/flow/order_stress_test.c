/*
 * order_stress_test.c - eight producers, many keys, in a random order that the seed gives: each
 * key's events come in the order in which each producer submitted them, none twice, and none is
 * lost that was not counted as dropped; whatever the policy, with finishes and re-opens in flight,
 * on one worker or on eight, with flows that move.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "order_support.h"

static const struct {
    const char *name;
    weir_overflow overflow;
} policies[] = {
    { "block", WEIR_OVERFLOW_BLOCK },
    { "fail", WEIR_OVERFLOW_FAIL },
    { "drop-newest", WEIR_OVERFLOW_DROP_NEWEST },
    { "drop-oldest", WEIR_OVERFLOW_DROP_OLDEST },
};

static void every_key_is_in_order_whatever_the_policy_and_the_workers(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    uint64_t moved = 0, dropped = 0;
    for (size_t policy = 0; policy < 4; policy++) {
        for (uint32_t workers = 1; workers <= 8; workers *= 2) {
            for (int migrate = 0; migrate < 2; migrate++) {
                const shape is = { .name = policies[policy].name,
                                   .overflow = policies[policy].overflow,
                                   .workers = workers,
                                   .migrate = migrate != 0,
                                   .keys = 1000,
                                   .events = (uint32_t)test_load(4000, 800) };
                const weir_router_counters c = run(&is, seed + workers * 2 + (uint64_t)migrate);
                moved += c.moved;
                dropped += c.dropped_newest + c.dropped_oldest;
                assert_true(migrate != 0 || c.moved == 0);
            }
        }
    }
    assert_true(moved > 0); /* it did try */
    assert_true(dropped > 0);
}

static void keys_of_bytes_are_in_order_too(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    for (size_t policy = 0; policy < 4; policy++) {
        const shape is = { .name = policies[policy].name,
                           .overflow = policies[policy].overflow,
                           .workers = 4,
                           .migrate = policy % 2 == 0,
                           .bytes = true,
                           .keys = 1000,
                           .events = (uint32_t)test_load(4000, 800) };
        (void)run(&is, seed);
    }
}

static void a_hundred_thousand_keys_are_in_order(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    for (size_t policy = 0; policy < 4; policy++) {
        const shape is = { .name = policies[policy].name,
                           .overflow = policies[policy].overflow,
                           .workers = 4,
                           .migrate = true,
                           .keys = (uint32_t)test_load(100000, 10000),
                           .events = (uint32_t)test_load(50000, 4000) };
        (void)run(&is, seed + 1);
    }
}

/* Few keys, all of them hot, a worker that is always full: finishes are dropped all the time. */
static void a_few_keys_in_endless_drops_end_when_they_are_finished(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    for (size_t policy = 2; policy < 4; policy++) {
        const shape is = { .name = policies[policy].name,
                           .overflow = policies[policy].overflow,
                           .workers = 1,
                           .keys = 16,
                           .events = (uint32_t)test_load(50000, 5000) };
        (void)run(&is, seed + 2);
    }
}

static void order_survives_flows_that_are_evicted_and_idle(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    for (size_t policy = 0; policy < 4; policy++) {
        const shape is = { .name = policies[policy].name,
                           .overflow = policies[policy].overflow,
                           .workers = 4,
                           .migrate = true,
                           .keys = 1000,
                           .events = (uint32_t)test_load(10000, 1000),
                           .flows_max = 100,
                           .idle_timeout = WEIR_MS,
                           .ends_by_itself = true };
        const weir_router_counters c = run(&is, seed + 3);
        assert_true(c.evicted + c.idle > 0);
    }
}

/* Producers at work while the router, or the engine, stops: what was accepted is handled, every
 * state that was made is destroyed, and nobody is left waiting. */
static void a_stop_in_full_flight_loses_nothing(void **state)
{
    (void)state;
    static producer all[PRODUCERS];
    const uint64_t seed = test_seed();
    const uint64_t rounds = test_load(100, 20);
    for (uint64_t round = 0; round < rounds; round++) {
        const shape is = { .name = "stop",
                           .overflow = policies[round % 4].overflow,
                           .workers = 1 + (uint32_t)(round % 5),
                           .migrate = round % 3 != 0,
                           .keys = 200,
                           .flows_max = round % 7 == 0 ? 50 : 0,
                           .idle_timeout = round % 5 == 0 ? WEIR_MS : 0,
                           .ends_by_itself = true };
        world_open(&is);
        producers_begin(all, seed + round, true);
        const uint64_t enough = 200 + test_random(&(uint64_t){ seed + round }) % 5000;
        TEST_UNTIL(atomic_load(&w.handled) >= enough);
        if (round % 2 == 0) {
            assert_int_equal(WEIR_OK, weir_router_stop(w.engine, w.router, TEST_PATIENCE, NULL));
        } else {
            (void)test_engine_stop(w.engine);
        }
        producers_end(all);
        check_pages(all);
        (void)check_sums(all, true);
        world_close(all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_in_order_whatever_the_policy_and_the_workers),
        cmocka_unit_test(keys_of_bytes_are_in_order_too),
        cmocka_unit_test(a_hundred_thousand_keys_are_in_order),
        cmocka_unit_test(a_few_keys_in_endless_drops_end_when_they_are_finished),
        cmocka_unit_test(order_survives_flows_that_are_evicted_and_idle),
        cmocka_unit_test(a_stop_in_full_flight_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
