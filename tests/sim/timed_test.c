/*
 * timed_test.c - timed runs: clocks of threads, what waiting costs, that nothing is left to chance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sync/atomic.h"
#include "sync/sim/scale.h"
#include "sync/thread.h"
#include "sync/word.h"
#include "test_support.h"

enum { THREADS_MAX = 16, ROUNDS = 1000 };

static const weir__scale_costs costs = { .access = 1,
                                         .locked = 5.6,
                                         .transfer = 28,
                                         .clock = 20,
                                         .pause = 10,
                                         .yield = 300,
                                         .call = 100,
                                         .wake = 2000,
                                         .latency = 9000,
                                         .late = 1000,
                                         .slack = 4000,
                                         .read_takes = true };

typedef struct own_line {
    _Alignas(64) weir__atomic_u64 count;
} own_line;

static own_line lines[THREADS_MAX];
static uint32_t threads;
static bool together;    /* all in the first line */
static weir_ns start_at; /* when all threads are there */
static weir_ns spans[THREADS_MAX];
static weir_sim_result outcome;

static void increase(void *argument)
{
    const size_t self = *(const size_t *)argument;
    weir__atomic_u64 *count = &lines[together ? 0 : self].count;
    weir_sim_work(start_at - weir_sim_now());
    const weir_ns begin = weir_sim_now();
    for (int i = 0; i < ROUNDS; i++) {
        weir__add(count, 1, relaxed);
    }
    spans[self] = weir_sim_now() - begin;
}

static void increase_on_all(void *unused)
{
    static size_t indexes[THREADS_MAX];
    int ids[THREADS_MAX] = { 0 };
    (void)unused;
    memset(lines, 0, sizeof(lines));
    start_at = weir_sim_now() + WEIR_MS;
    for (size_t i = 0; i < threads; i++) {
        indexes[i] = i;
        ids[i] = weir_sim_thread_start(increase, &indexes[i]);
    }
    for (uint32_t i = 0; i < threads; i++) {
        weir_sim_thread_join(ids[i]);
    }
}

static void run(void (*body)(void *))
{
    outcome = (weir_sim_result)WEIR_SIM_RESULT_INIT;
    assert_int_equal(weir__scale_run(&costs, body, NULL, &outcome), WEIR_OK);
    if (outcome.failed) {
        fail_msg("%s", outcome.why);
    }
}

/* The longest of all threads, in ns per operation of one of them. */
static double increase_by(uint32_t count, bool one_line)
{
    weir_ns longest = 0;
    threads = count;
    together = one_line;
    run(increase_on_all);
    for (uint32_t i = 0; i < count; i++) {
        longest = spans[i] > longest ? spans[i] : longest;
    }
    return (double)longest / ROUNDS;
}

static void threads_with_lines_of_their_own_take_as_long_as_one(void **state)
{
    (void)state;
    const double alone = increase_by(1, false);
    assert_true(alone == costs.locked);
    for (uint32_t count = 2; count <= THREADS_MAX; count *= 2) {
        assert_true(increase_by(count, false) == alone);
    }
}

static void a_line_that_all_write_makes_them_wait_for_each_other(void **state)
{
    (void)state;
    double before = increase_by(2, true);
    for (uint32_t count = 4; count <= THREADS_MAX; count *= 2) {
        const double now = increase_by(count, true);
        assert_true(now > 1.8 * before && now < 2.2 * before);
        before = now;
    }
    assert_int_equal(lines[0].count.value, THREADS_MAX * ROUNDS);
}

/* A real machine with these costs takes 14 ns. */
static void two_cores_that_fight_for_a_counter_increase_it_more_than_once_each_time(void **state)
{
    (void)state;
    const double each = increase_by(2, true) / 2;
    fprintf(stderr, "# %.1f ns\n", each);
    assert_true(each < costs.transfer);
    assert_true(each > 12 && each < 18);
}

static void the_same_costs_give_the_same_run(void **state)
{
    (void)state;
    weir_ns first[THREADS_MAX];
    increase_by(THREADS_MAX, true);
    const uint64_t steps = outcome.steps;
    memcpy(first, spans, sizeof(first));
    increase_by(THREADS_MAX, true);
    assert_int_equal(outcome.steps, steps);
    assert_memory_equal(first, spans, sizeof(first));
}

/* ---- waiting ---- */

static weir__atomic_u32 word;
static weir_ns woke, called, returned;

static void sleep_on_word(void *unused)
{
    (void)unused;
    while (weir__load(&word, acquire) == 0) {
        weir__word_wait(&word, 0, WEIR_FOREVER);
    }
    woke = weir_sim_now();
}

static void wake_it(void *unused)
{
    (void)unused;
    weir__init(&word, 0);
    const int sleeper = weir_sim_thread_start(sleep_on_word, NULL);
    weir_sim_work(100 * WEIR_US);
    weir__store(&word, 1, release);
    called = weir_sim_now();
    weir__word_wake(&word, 1);
    returned = weir_sim_now();
    weir_sim_thread_join(sleeper);
}

static void a_wake_up_costs_the_caller_and_comes_later(void **state)
{
    (void)state;
    run(wake_it);
    assert_int_equal(returned - called, (weir_ns)(costs.call + costs.wake));
    assert_in_range(woke - called, (weir_ns)(costs.call + costs.latency),
                    (weir_ns)(costs.call + costs.latency) + 100);
}

static void sleep_a_while(void *unused)
{
    (void)unused;
    weir__init(&word, 0);
    called = weir__clock_now();
    weir__word_wait(&word, 0, 10 * WEIR_US);
    returned = weir__clock_now();
}

static void a_timed_sleep_ends_late(void **state)
{
    (void)state;
    run(sleep_a_while);
    assert_int_equal(returned - called,
                     10 * WEIR_US + (weir_ns)(costs.late + costs.slack + costs.call + costs.clock));
}

static void wait_for_ever(void *unused)
{
    (void)unused;
    weir__init(&word, 0);
    weir__word_wait(&word, 0, WEIR_FOREVER);
}

static void everybody_waits_is_a_failure_as_in_other_runs(void **state)
{
    (void)state;
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    assert_int_equal(weir__scale_run(&costs, wait_for_ever, NULL, &result), WEIR_OK);
    assert_true(result.failed);
    assert_non_null(strstr(result.why, "everybody waits"));
}

/* ---- computing ---- */

static void compute(void *unused)
{
    (void)unused;
    called = weir_sim_now();
    weir_sim_work(1234);
    returned = weir_sim_now();
}

static void work_takes_its_time_in_timed_runs_and_in_others(void **state)
{
    (void)state;
    run(compute);
    assert_int_equal(returned - called, 1234);
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    returned = called = 0;
    assert_int_equal(weir_sim_explore(WEIR_SIM(.runs = 1), compute, NULL, &result), WEIR_OK);
    assert_false(result.failed);
    assert_in_range(returned - called, 1234, 1300);
}

/* ---- the machine ---- */

static void what_is_measured_is_within_reason(void **state)
{
    (void)state;
    weir__scale_costs measured;
    weir__scale_defaults(&measured);
    if (!weir__scale_measure(&measured)) {
        test_skip("one core");
    }
#define SHOW(name, value, about) fprintf(stderr, "# %s %.2f\n", #name, measured.name);
    WEIR__SCALE_COSTS(SHOW)
#undef SHOW
    assert_true(measured.access > 0.01 && measured.access < 10);
    assert_true(measured.locked > 0.5 && measured.locked < 200);
    assert_true(measured.transfer > 1 && measured.transfer < 10000);
    assert_true(measured.clock > 1 && measured.clock < 10000);
    assert_true(measured.wake > 10 && measured.latency > 10);
}

/* They share cores and priority; each spins for an answer of its partner. */
static void several_that_measure_at_once_come_to_an_end(void **state)
{
    (void)state;
    enum { COUNT = 3, SECONDS = 30 };
    pid_t children[COUNT];
    for (int i = 0; i < COUNT; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            weir__scale_costs measured;
            weir__scale_defaults(&measured);
            (void)alarm(SECONDS);
            (void)weir__scale_measure(&measured);
            _exit(0);
        }
    }
    for (int i = 0; i < COUNT; i++) {
        int status = -1;
        assert_int_equal(children[i], waitpid(children[i], &status, 0));
        assert_int_equal(0, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_with_lines_of_their_own_take_as_long_as_one),
        cmocka_unit_test(a_line_that_all_write_makes_them_wait_for_each_other),
        cmocka_unit_test(two_cores_that_fight_for_a_counter_increase_it_more_than_once_each_time),
        cmocka_unit_test(the_same_costs_give_the_same_run),
        cmocka_unit_test(a_wake_up_costs_the_caller_and_comes_later),
        cmocka_unit_test(a_timed_sleep_ends_late),
        cmocka_unit_test(everybody_waits_is_a_failure_as_in_other_runs),
        cmocka_unit_test(work_takes_its_time_in_timed_runs_and_in_others),
        cmocka_unit_test(what_is_measured_is_within_reason),
        cmocka_unit_test(several_that_measure_at_once_come_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
