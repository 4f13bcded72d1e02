/*
 * bench/run_test.c - the runner of the benchmarks, with rows and a hand-over of the test's own:
 * what is repeated, what is thrown away, and what the medians are taken of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stderr_support.h"
#include "test_support.h"

#include <string.h>

#include "suite/figures.h"
#include "suite/summary.h"

enum { NEAR = 30, FAR = 170, RUNS_MAX = 8 };

/* What the hand-over costs, look by look: two looks a measurement. After the last: near. */
static double looks[32];
static size_t look_count, look_at;

/* The rows that were run, by their letter, and what the next runs of them answer. */
static char order[32];
static size_t order_at;
static double answers[RUNS_MAX];
static size_t answer_at;

bench_handover bench_handover_measure(void)
{
    const double ns = look_at < look_count ? looks[look_at] : NEAR;
    look_at++;
    return (bench_handover){ ns < BENCH_HANDOVER_NEAR_MAX_NS ? BENCH_NEAR : BENCH_FAR, ns };
}

static void run_a(const bench_setup *setup, bench_result *result)
{
    order[order_at++] = 'a';
    assert_int_equal(2, setup->threads);
    result->events_per_s = answers[answer_at++];
    result->p50_ns = 1000 / result->events_per_s;
}

static void run_b(const bench_setup *setup, bench_result *result)
{
    (void)setup;
    order[order_at++] = 'b';
    result->seconds = 1;
}

static void run_wrong(const bench_setup *setup, bench_result *result)
{
    (void)setup;
    result->seconds = 1;
    bench_wrong(result, "%d lost", 3);
    bench_wrong(result, "the first one stays");
}

static void run_skipped(const bench_setup *setup, bench_result *result)
{
    (void)setup;
    order[order_at++] = 's';
    bench_skip(result, "no such thing here");
}

static const bench_row row_a = { "wa", "weir", "a", { 2 }, run_a };
static const bench_row row_b = { "wb", "weir", "b", { 2 }, run_b };
static const bench_row row_wrong = { "ww", "weir", "w", { 2 }, run_wrong };
static const bench_row row_skipped = { "ws", "weir", "s", { 2 }, run_skipped };

static bench_measurement rooms[2][RUNS_MAX];
static bench_case cases[2];

static bench_plan plan_of(const bench_row *first, const bench_row *second, uint32_t runs)
{
    memset(order, 0, sizeof(order));
    order_at = answer_at = look_at = look_count = 0;
    cases[0] = (bench_case){ .row = first, .threads = 2, .kept = rooms[0] };
    cases[1] = (bench_case){ .row = second, .threads = 2, .kept = rooms[1] };
    return (bench_plan){ .program = "test",
                         .cases = cases,
                         .case_count = second != NULL ? 2 : 1,
                         .runs = runs,
                         .tries = 3,
                         .mode = BENCH_MIXED,
                         .scale = 1,
                         .limit_s = 60,
                         .seed = 1 };
}

static void script_looks(const double *script, size_t count)
{
    memcpy(looks, script, count * sizeof(*script));
    look_count = count;
}

static void script_answers(const double *script, size_t count)
{
    memcpy(answers, script, count * sizeof(*script));
}

static void rows_are_run_in_turn(void **state)
{
    (void)state;
    bench_plan plan = plan_of(&row_a, &row_b, 3);
    script_answers((double[]){ 1, 2, 3 }, 3);
    assert_int_equal(0, bench_run(&plan));
    assert_string_equal("ababab", order);
    assert_int_equal(3, cases[0].kept_count);
    assert_int_equal(3, cases[1].kept_count);
}

static void a_measurement_in_which_the_handover_changed_is_repeated(void **state)
{
    (void)state;
    bench_plan plan = plan_of(&row_a, NULL, 1);
    script_answers((double[]){ 1, 2, 3 }, 3);
    script_looks((double[]){ NEAR, FAR, FAR, NEAR, FAR, FAR }, 6);
    (void)bench_run(&plan);
    assert_int_equal(2, cases[0].thrown_away);
    assert_int_equal(1, cases[0].kept_count);
    assert_int_equal(BENCH_FAR, cases[0].kept[0].handover.mode);
    assert_true(cases[0].kept[0].result.events_per_s == 3);
}

static void a_handover_that_doubled_has_changed_although_it_is_near(void **state)
{
    (void)state;
    bench_plan plan = plan_of(&row_a, NULL, 1);
    script_answers((double[]){ 1, 2 }, 2);
    script_looks((double[]){ 19, 55, 55, 56 }, 4);
    (void)bench_run(&plan);
    assert_int_equal(1, cases[0].thrown_away);
    assert_int_equal(BENCH_NEAR, cases[0].kept[0].handover.mode);
    assert_true(cases[0].kept[0].result.events_per_s == 2);
}

static void the_last_try_is_kept_as_mixed(void **state)
{
    (void)state;
    bench_plan plan = plan_of(&row_a, NULL, 1);
    script_answers((double[]){ 1, 2, 3 }, 3);
    script_looks((double[]){ NEAR, FAR, NEAR, FAR, NEAR, FAR }, 6);
    (void)bench_run(&plan);
    assert_string_equal("aaa", order);
    assert_int_equal(2, cases[0].thrown_away);
    assert_int_equal(1, cases[0].kept_count);
    assert_int_equal(BENCH_MIXED, cases[0].kept[0].handover.mode);
}

static void a_mode_that_is_asked_for_is_the_only_one_kept(void **state)
{
    (void)state;
    bench_plan plan = plan_of(&row_a, NULL, 2);
    plan.mode = BENCH_FAR;
    script_answers((double[]){ 1, 2, 3, 4, 5 }, 5);
    script_looks((double[]){ NEAR, NEAR, FAR, FAR }, 4); /* and near for the rest */
    (void)bench_run(&plan);
    assert_int_equal(1, cases[0].kept_count);
    assert_true(cases[0].kept[0].result.events_per_s == 2);
    assert_int_equal(4, cases[0].thrown_away);
}

static void wrong_results_are_said_and_do_not_count(void **state)
{
    (void)state;
    bench_plan plan = plan_of(&row_wrong, &row_b, 2);
    char said[1024];
    const test_paper paper = test_hear();
    const uint32_t wrong = bench_run(&plan);
    test_heard(paper, said, sizeof(said));
    assert_int_equal(2, wrong);
    assert_int_equal(0, cases[0].kept_count);
    assert_int_equal(2, cases[1].kept_count);
    assert_non_null(strstr(said, "test: ww/weir, 2 threads, run 1: wrong: 3 lost\n"));
    assert_non_null(strstr(said, "run 2"));
    assert_null(strstr(said, "stays"));
}

static void what_cannot_be_measured_is_tried_once(void **state)
{
    (void)state;
    bench_plan plan = plan_of(&row_skipped, NULL, 3);
    assert_int_equal(0, bench_run(&plan));
    assert_string_equal("s", order);
    assert_int_equal(0, cases[0].kept_count);
    assert_string_equal("no such thing here", cases[0].skipped);
}

static void near_and_far_have_medians_of_their_own(void **state)
{
    (void)state;
    bench_summary s;
    bench_plan plan = plan_of(&row_a, NULL, 5);
    script_answers((double[]){ 10, 1, 40, 3, 20 }, 5);
    script_looks((double[]){ NEAR, NEAR, FAR, FAR, NEAR, NEAR, FAR, FAR, 28, 34 }, 10);
    (void)bench_run(&plan);
    assert_true(bench_summary_make(&s, &cases[0], BENCH_NEAR));
    assert_int_equal(3, s.runs);
    assert_true(s.handover_ns == NEAR);
    assert_true(s.median.events_per_s == 20 && s.best.events_per_s == 40);
    assert_true(s.spread.events_per_s == 1.5);
    assert_true(s.median.p50_ns == 50 && s.best.p50_ns == 25); /* the smallest is the best */
    assert_true(s.median.seconds == BENCH_NONE);
    assert_true(bench_summary_make(&s, &cases[0], BENCH_FAR));
    assert_int_equal(2, s.runs);
    assert_true(s.median.events_per_s == 2); /* between the two */
    assert_false(bench_summary_make(&s, &cases[0], BENCH_MIXED));
}

static void percentiles_are_samples_that_so_many_do_not_exceed(void **state)
{
    (void)state;
    int64_t samples[1000];
    bench_result result;
    bench_result_clear(&result);
    for (int64_t i = 0; i < 1000; i++) {
        samples[i] = 1000 - i;
    }
    bench_result_latency(&result, samples, 1000);
    assert_true(result.p50_ns == 500 && result.p95_ns == 950);
    assert_true(result.p99_ns == 990 && result.p999_ns == 999);
    bench_result_latency(&result, (int64_t[]){ 7 }, 1);
    assert_true(result.p50_ns == 7 && result.p999_ns == 7);
}

static void a_load_is_scaled_and_never_below_its_least(void **state)
{
    (void)state;
    const bench_setup small = { 1, 0.001, 1 }, full = { 1, 1, 1 };
    assert_int_equal(1000, bench_scaled(&small, 1000000, 10));
    assert_int_equal(10, bench_scaled(&small, 1000, 10));
    assert_int_equal(1000, bench_scaled(&full, 1000, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_run_in_turn),
        cmocka_unit_test(a_measurement_in_which_the_handover_changed_is_repeated),
        cmocka_unit_test(a_handover_that_doubled_has_changed_although_it_is_near),
        cmocka_unit_test(the_last_try_is_kept_as_mixed),
        cmocka_unit_test(a_mode_that_is_asked_for_is_the_only_one_kept),
        cmocka_unit_test(wrong_results_are_said_and_do_not_count),
        cmocka_unit_test(what_cannot_be_measured_is_tried_once),
        cmocka_unit_test(near_and_far_have_medians_of_their_own),
        cmocka_unit_test(percentiles_are_samples_that_so_many_do_not_exceed),
        cmocka_unit_test(a_load_is_scaled_and_never_below_its_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
