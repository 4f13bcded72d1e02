/*
 * idle_test.c - idle strategies by name, and what each of them does while there is nothing to do
 * (S-78). bench/threads/idle_bench.c measures what they cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "option_support.h"

#include <poll.h>

static const struct {
    const char *name;
    weir_idle idle;
} strategies[] = {
    { "backoff", WEIR_IDLE_BACKOFF },     { "park", WEIR_IDLE_PARK },
    { "sleep", WEIR_IDLE_SLEEP },         { "yield", WEIR_IDLE_YIELD },
    { "busy-spin", WEIR_IDLE_BUSY_SPIN }, { "noop", WEIR_IDLE_NOOP },
};
enum { STRATEGIES = sizeof(strategies) / sizeof(strategies[0]) };

/* An engine of one thread with that strategy, and a recorder on it. */
typedef struct idler {
    weir_engine *engine;
    weir_thread thread;
    weir_processor to;
    test_recorder recorder;
} idler;

static void idler_start(idler *i, const weir_thread_options *options)
{
    test_recorder_init(&i->recorder, false);
    i->engine = test_engine_create(NULL);
    i->thread = test_thread_add(i->engine, options);
    i->to = test_processor_add(
        i->engine, WEIR_PROCESSOR(.handler = test_recorder_handle, .argument = &i->recorder));
    test_engine_start(i->engine);
}

static weir_thread_counters idler_counters(const idler *i)
{
    weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_thread_counters_get(i->engine, i->thread, &counters));
    return counters;
}

/* CPU time of another thread of this process: the clock that pthread_getcpuclockid would give. */
static weir_ns cpu_time_of(int task)
{
    struct timespec t;
    assert_int_equal(0, clock_gettime((clockid_t)((~(unsigned)task << 3) | 6u), &t));
    return t.tv_sec * WEIR_S + t.tv_nsec;
}

static void idler_round_trip(idler *i)
{
    const uint64_t before = test_recorder_handled(&i->recorder);
    assert_int_equal(WEIR_OK, test_post(i->engine, i->to, before));
    TEST_UNTIL(test_recorder_handled(&i->recorder) == before + 1);
}

static void each_strategy_has_a_name(void **state)
{
    (void)state;
    for (size_t s = 0; s < STRATEGIES; s++) {
        assert_int_equal(strategies[s].idle, weir_idle_find(strategies[s].name));
        assert_string_equal(strategies[s].name, weir_idle_name(strategies[s].idle));
    }
    assert_int_equal(WEIR_IDLE_DEFAULT, weir_idle_find("busy_spin"));
    assert_int_equal(WEIR_IDLE_DEFAULT, weir_idle_find(""));
    assert_int_equal(WEIR_IDLE_DEFAULT, weir_idle_find(NULL));
    assert_string_equal("backoff", weir_idle_name(WEIR_IDLE_DEFAULT));
    for (int no_strategy = WEIR_IDLE_NOOP + 1; no_strategy < 10000; no_strategy++) {
        assert_null(weir_idle_name((weir_idle)no_strategy));
    }
    assert_null(weir_idle_name((weir_idle)-1));
}

static void an_event_is_handled_under_each_strategy_though_no_other_comes(void **state)
{
    (void)state;
    for (size_t s = 0; s < STRATEGIES; s++) {
        idler i;
        idler_start(&i, WEIR_THREAD(.idle = strategies[s].idle));
        for (int n = 0; n < 100; n++) {
            idler_round_trip(&i);
        }
        assert_int_equal(100, test_engine_end(i.engine).handled);
        test_recorder_saw_run(&i.recorder, 0, 100);
    }
}

static void park_and_backoff_sleep_until_they_are_woken(void **state)
{
    (void)state;
    static const weir_idle parking[] = { WEIR_IDLE_PARK, WEIR_IDLE_BACKOFF, WEIR_IDLE_DEFAULT };
    for (size_t s = 0; s < sizeof(parking) / sizeof(parking[0]); s++) {
        idler i;
        idler_start(&i, WEIR_THREAD(.idle = parking[s]));
        idler_round_trip(&i);
        const int task = idler_counters(&i).system_id;
        TEST_UNTIL(idler_counters(&i).parks > 0 && test_task_sleeps(task));
        const weir_thread_counters before = idler_counters(&i);
        const weir_ns cpu = cpu_time_of(task);
        (void)poll(NULL, 0, 50); /* a stretch of silence: nothing may happen in it */
        assert_int_equal(before.rounds, idler_counters(&i).rounds);
        assert_int_equal(before.parks, idler_counters(&i).parks);
        assert_int_equal(cpu, cpu_time_of(task));
        idler_round_trip(&i);
        (void)test_engine_end(i.engine);
    }
}

static void yield_busy_spin_and_noop_keep_looking_and_never_park(void **state)
{
    (void)state;
    static const weir_idle spinning[] = { WEIR_IDLE_YIELD, WEIR_IDLE_BUSY_SPIN, WEIR_IDLE_NOOP };
    for (size_t s = 0; s < sizeof(spinning) / sizeof(spinning[0]); s++) {
        idler i;
        idler_start(&i, WEIR_THREAD(.idle = spinning[s]));
        idler_round_trip(&i);
        const uint64_t before = idler_counters(&i).rounds_idle;
        TEST_UNTIL(idler_counters(&i).rounds_idle > before + 10000);
        assert_int_equal(0, idler_counters(&i).parks);
        idler_round_trip(&i);
        (void)test_engine_end(i.engine);
    }
}

static void sleep_looks_again_after_its_time_and_not_before(void **state)
{
    (void)state;
    enum { LOOKS = 20 };
    idler i;
    idler_start(&i, WEIR_THREAD(.idle = WEIR_IDLE_SLEEP, .idle_sleep = 5 * WEIR_MS));
    idler_round_trip(&i);
    uint64_t before = idler_counters(&i).rounds_idle;
    TEST_UNTIL(idler_counters(&i).rounds_idle > before); /* begin right behind a look */
    before = idler_counters(&i).rounds_idle;
    const weir_ns begin = test_now();
    TEST_UNTIL(idler_counters(&i).rounds_idle >= before + LOOKS);
    /* Before it sleeps it looks once more, so a sleep lies between two pairs of looks. */
    assert_true(test_now() - begin >= (LOOKS / 2 - 1) * 5 * WEIR_MS);
    assert_int_equal(0, idler_counters(&i).parks);
    (void)test_engine_end(i.engine);
}

static void a_stop_does_not_wait_for_a_long_sleep(void **state)
{
    (void)state;
    idler i;
    idler_start(&i, WEIR_THREAD(.idle = WEIR_IDLE_SLEEP, .idle_sleep = 10 * TEST_PATIENCE));
    TEST_UNTIL(test_task_sleeps(idler_counters(&i).system_id));
    const weir_ns begin = test_now();
    (void)test_engine_end(i.engine);
    assert_true(test_now() - begin < TEST_PATIENCE / 2);
}

/* Posts `count` events with `gap` of silence before each; returns what the thread's parks were. */
static uint64_t arrive(idler *i, int count, weir_ns gap)
{
    const uint64_t parks = idler_counters(i).parks;
    for (int n = 0; n < count; n++) {
        const weir_ns next = test_now() + gap;
        while (test_now() < next) {
            if (next - test_now() > 2 * WEIR_MS) {
                (void)poll(NULL, 0, 1);
            }
        }
        idler_round_trip(i);
    }
    return idler_counters(i).parks - parks;
}

static void the_spin_of_backoff_adapts_to_rare_arrivals_and_does_not_burn_them(void **state)
{
    (void)state;
    enum { ARRIVALS = 40 };
    idler i;
    idler_start(&i, WEIR_THREAD(.idle = WEIR_IDLE_BACKOFF, .idle_spin_max = 4 * WEIR_MS));
    const int task = idler_counters(&i).system_id;
    (void)arrive(&i, 10, 20 * WEIR_MS); /* it learns */
    const weir_ns cpu = cpu_time_of(task);
    const uint64_t parks = arrive(&i, ARRIVALS, 20 * WEIR_MS);
    const weir_ns burnt = cpu_time_of(task) - cpu;
    fprintf(stderr, "# %d arrivals, 20 ms apart: %.2f ms CPU, %" PRIu64 " parks\n", ARRIVALS,
            (double)burnt / (double)WEIR_MS, parks);
    assert_true(parks >= ARRIVALS - 1); /* the one behind the last arrival may be still to come */
    assert_true(burnt <
                ARRIVALS * 4 * WEIR_MS / 4); /* a spin that does not adapt burns 4 times it */
    (void)test_engine_end(i.engine);
}

static void the_spin_of_backoff_adapts_to_quick_arrivals_and_does_not_park(void **state)
{
    (void)state;
    enum { ARRIVALS = 500, ATTEMPTS = 20 };
    idler i;
    idler_start(&i, WEIR_THREAD(.idle = WEIR_IDLE_BACKOFF, .idle_spin_max = 4 * WEIR_MS));
    (void)arrive(&i, 5, 20 * WEIR_MS); /* it has learnt that they are rare */
    uint64_t parks = ARRIVALS;
    for (int n = 0; n < ATTEMPTS && parks > ARRIVALS / 4;
         n++) { /* other programs take cores away */
        parks = arrive(&i, ARRIVALS, 100 * WEIR_US);
    }
    fprintf(stderr, "# %d arrivals, 0.1 ms apart: %" PRIu64 " parks\n", ARRIVALS, parks);
    assert_true(parks <= ARRIVALS / 4);
    (void)test_engine_end(i.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_strategy_has_a_name),
        cmocka_unit_test(an_event_is_handled_under_each_strategy_though_no_other_comes),
        cmocka_unit_test(park_and_backoff_sleep_until_they_are_woken),
        cmocka_unit_test(yield_busy_spin_and_noop_keep_looking_and_never_park),
        cmocka_unit_test(sleep_looks_again_after_its_time_and_not_before),
        cmocka_unit_test(a_stop_does_not_wait_for_a_long_sleep),
        cmocka_unit_test(the_spin_of_backoff_adapts_to_rare_arrivals_and_does_not_burn_them),
        cmocka_unit_test(the_spin_of_backoff_adapts_to_quick_arrivals_and_does_not_park),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
