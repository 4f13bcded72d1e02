/*
 * observe/histogram_test.c - the promises of histogram.h, against a sorted array of the values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_support.h"

#include "observe/histogram.h"
#include "sync/thread.h"

enum { VALUES = 20000 };

static const double percents[] = { 0.0, 0.1, 1.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0 };
#define PERCENT_COUNT (sizeof percents / sizeof percents[0])

static int by_size(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Nearest rank in whole thousandths of a percent, so that no rounding hides in the oracle. */
static uint64_t true_percentile(const uint64_t *sorted, uint64_t count, double percent)
{
    const uint64_t milli = (uint64_t)(percent * 1000.0 + 0.5);
    uint64_t rank = (milli * count + 99999u) / 100000u;
    rank = rank == 0 ? 1 : rank;
    return sorted[rank - 1u];
}

/* To 1 %; what is beyond the range is told as the largest. */
static bool is_close(uint64_t found, uint64_t exact)
{
    if (exact >> WEIR__HISTOGRAM_VALUE_BITS != 0) {
        return found >> WEIR__HISTOGRAM_VALUE_BITS != 0;
    }
    return (found > exact ? found - exact : exact - found) <= exact / 100u;
}

static void assert_percentiles(const weir__histogram_sum *sum, uint64_t *values, uint64_t count)
{
    qsort(values, count, sizeof values[0], by_size);
    assert_int_equal(sum->count, count);
    assert_int_equal(sum->max, values[count - 1u]);
    for (size_t i = 0; i < PERCENT_COUNT; i++) {
        const uint64_t exact = true_percentile(values, count, percents[i]);
        const uint64_t found = weir__histogram_sum_percentile(sum, percents[i]);
        if (!is_close(found, exact)) {
            fail_msg("p%g of %" PRIu64 " values: true %" PRIu64 ", found %" PRIu64, percents[i],
                     count, exact, found);
        }
    }
    assert_int_equal(weir__histogram_sum_percentile(sum, 100.0), values[count - 1u]);
}

static weir__histogram *new_histogram(void)
{
    weir__histogram *histogram = calloc(1, sizeof *histogram);
    assert_non_null(histogram);
    return histogram;
}

static weir__histogram_sum *new_sum(void)
{
    weir__histogram_sum *sum = calloc(1, sizeof *sum);
    assert_non_null(sum);
    return sum;
}

static void percentiles_are_within_one_percent_at_every_scale(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    uint64_t *values = calloc(VALUES, sizeof values[0]);
    assert_non_null(values);
    /* From a few nanoseconds' range to all 64 bits: each shift is another scale. */
    for (uint32_t shift = 0; shift < 64; shift += 3) {
        weir__histogram *histogram = new_histogram();
        weir__histogram_sum *sum = new_sum();
        for (uint32_t i = 0; i < VALUES; i++) {
            const uint64_t spread = test_random(&random) % 8u; /* mixed magnitudes in one run */
            values[i] = test_random(&random) >> shift >> spread;
            weir__histogram_record(histogram, values[i]);
        }
        weir__histogram_sum_add_live(sum, histogram);
        assert_percentiles(sum, values, VALUES);
        free(sum);
        free(histogram);
    }
    free(values);
}

/* A number from 0 to 1, not 0. */
static double chance(uint64_t *random)
{
    return ((double)(test_random(random) >> 11) + 1.0) / 9007199254740992.0;
}

static uint64_t uniform(uint64_t *random)
{
    return 1000u + test_random(random) % 1000000u;
}

static uint64_t lopsided(uint64_t *random)
{
    return (test_random(random) % 65536u) * (uint64_t)__builtin_ctzll(test_random(random) | 65536u);
}

static uint64_t heavy_tailed(uint64_t *random)
{
    return (uint64_t)(200.0 / chance(random));
}

static uint64_t two_humps(uint64_t *random)
{
    return (test_random(random) % 100u < 97u ? 300u : 12000000u) + test_random(random) % 50u;
}

static uint64_t almost_constant(uint64_t *random)
{
    return 8191u + test_random(random) % 2u; /* on both sides of a row's edge */
}

static void percentiles_of_usual_and_of_nasty_distributions_are_within_one_percent(void **state)
{
    (void)state;
    static uint64_t (*const draw[])(uint64_t *) = { uniform, lopsided, heavy_tailed, two_humps,
                                                    almost_constant };
    uint64_t random = test_seed();
    uint64_t *values = calloc(VALUES, sizeof values[0]);
    assert_non_null(values);
    for (size_t d = 0; d < sizeof draw / sizeof draw[0]; d++) {
        weir__histogram *histogram = new_histogram();
        weir__histogram_sum *sum = new_sum();
        uint64_t total = 0;
        for (uint32_t i = 0; i < VALUES; i++) {
            values[i] = draw[d](&random);
            total += values[i];
            weir__histogram_record(histogram, values[i]);
        }
        weir__histogram_sum_add_live(sum, histogram);
        assert_percentiles(sum, values, VALUES);
        assert_int_equal(sum->sum, total);
        free(sum);
        free(histogram);
    }
    free(values);
}

static void a_reset_forgets_all_and_loses_nothing_that_comes_after(void **state)
{
    (void)state;
    weir__histogram *histogram = new_histogram();
    for (uint32_t round = 0; round < 3; round++) {
        weir__histogram_sum *sum = new_sum();
        weir__histogram_record(histogram, 5000000);
        weir__histogram_reset(histogram);
        weir__histogram_reset(histogram);
        weir__histogram_sum_add_live(sum, histogram);
        assert_int_equal(sum->count, 0);
        assert_int_equal(sum->sum, 0);
        assert_int_equal(sum->max, 0);
        weir__histogram_record(histogram, 40);
        weir__histogram_record(histogram, 41);
        weir__histogram_sum_add_live(sum, histogram);
        assert_int_equal(sum->count, 2);
        assert_int_equal(sum->sum, 81);
        assert_int_equal(sum->max, 41); /* exactly, although there was a larger one */
        free(sum);
    }
    free(histogram);
}

static void it_stays_below_twenty_kibibytes(void **state)
{
    (void)state;
    assert_true(sizeof(weir__histogram) <= 20u * 1024u);
}

static void every_edge_between_buckets_keeps_the_bound(void **state)
{
    (void)state;
    for (uint32_t bit = 0; bit < 64; bit++) {
        for (int64_t off = -2; off <= 2; off++) {
            weir__histogram *histogram = new_histogram();
            weir__histogram_sum *sum = new_sum();
            const uint64_t value =
                (UINT64_C(1) << bit) + (uint64_t)off; /* may wrap: also a value */
            weir__histogram_record(histogram, value);
            weir__histogram_record(histogram, UINT64_MAX); /* so that max does not cap the answer */
            weir__histogram_sum_add_live(sum, histogram);
            const uint64_t found = weir__histogram_sum_percentile(sum, 50.0);
            assert_true(is_close(found, value));
            free(sum);
            free(histogram);
        }
    }
}

/* The first bucket of a power of two is the widest for its values: its last one is furthest from
 * what is told of it. */
static void both_ends_of_the_widest_buckets_keep_the_bound(void **state)
{
    (void)state;
    for (uint32_t bit = 7; bit < WEIR__HISTOGRAM_VALUE_BITS; bit++) {
        const uint64_t lowest = UINT64_C(1) << bit;
        const uint64_t ends[] = { lowest, lowest + lowest / WEIR__HISTOGRAM_STEPS - 1 };
        for (size_t i = 0; i < 2; i++) {
            weir__histogram *histogram = new_histogram();
            weir__histogram_sum *sum = new_sum();
            weir__histogram_record(histogram, ends[i]);
            weir__histogram_record(histogram, UINT64_MAX);
            weir__histogram_sum_add_live(sum, histogram);
            assert_true(is_close(weir__histogram_sum_percentile(sum, 50.0), ends[i]));
            free(sum);
            free(histogram);
        }
    }
}

static void values_below_64_are_exact(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 64; value++) {
        weir__histogram *histogram = new_histogram();
        weir__histogram_sum *sum = new_sum();
        weir__histogram_record(histogram, value);
        weir__histogram_record(histogram, 1000000);
        weir__histogram_sum_add_live(sum, histogram);
        assert_int_equal(weir__histogram_sum_percentile(sum, 50.0), value);
        free(sum);
        free(histogram);
    }
}

static void an_empty_histogram_answers_zero(void **state)
{
    (void)state;
    weir__histogram *histogram = new_histogram();
    weir__histogram_sum *sum = new_sum();
    weir__histogram_sum_add_live(sum, histogram);
    assert_int_equal(sum->count, 0);
    assert_int_equal(sum->max, 0);
    for (size_t i = 0; i < PERCENT_COUNT; i++) {
        assert_int_equal(weir__histogram_sum_percentile(sum, percents[i]), 0);
    }
    free(sum);
    free(histogram);
}

static void one_value_is_every_percentile_exactly(void **state)
{
    (void)state;
    weir__histogram *histogram = new_histogram();
    weir__histogram_sum *sum = new_sum();
    weir__histogram_record(histogram, 1234567);
    weir__histogram_sum_add_live(sum, histogram);
    for (size_t i = 0; i < PERCENT_COUNT; i++) {
        assert_int_equal(weir__histogram_sum_percentile(sum, percents[i]), 1234567);
    }
    free(sum);
    free(histogram);
}

static void huge_values_and_zero_have_their_place(void **state)
{
    (void)state;
    uint64_t values[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, INT64_MAX };
    const uint64_t count = sizeof values / sizeof values[0];
    weir__histogram *histogram = new_histogram();
    weir__histogram_sum *sum = new_sum();
    for (uint64_t i = 0; i < count; i++) {
        weir__histogram_record(histogram, values[i]);
    }
    weir__histogram_sum_add_live(sum, histogram);
    assert_percentiles(sum, values, count);
    assert_int_equal(sum->max, UINT64_MAX);
    free(sum);
    free(histogram);
}

static void merging_parts_equals_recording_everything_in_one(void **state)
{
    (void)state;
    enum { PARTS = 5 };
    uint64_t random = test_seed();
    uint64_t *values = calloc(VALUES, sizeof values[0]);
    weir__histogram *parts[PARTS];
    weir__histogram *whole = new_histogram();
    assert_non_null(values);
    for (uint32_t i = 0; i < PARTS; i++) {
        parts[i] = new_histogram();
    }
    for (uint32_t i = 0; i < VALUES; i++) {
        values[i] = test_random(&random) >> (test_random(&random) % 64u);
        weir__histogram_record(parts[test_random(&random) % PARTS], values[i]);
        weir__histogram_record(whole, values[i]);
    }
    weir__histogram_sum *merged = new_sum();
    weir__histogram_sum *expected = new_sum();
    for (uint32_t i = 0; i < PARTS; i++) {
        weir__histogram_sum *part = new_sum();
        weir__histogram_sum_add_live(part, parts[i]);
        weir__histogram_sum_add(merged, part);
        free(part);
        free(parts[i]);
    }
    weir__histogram_sum_add_live(expected, whole);
    assert_memory_equal(merged, expected, sizeof *merged);
    assert_percentiles(merged, values, VALUES);
    free(expected);
    free(merged);
    free(whole);
    free(values);
}

static void subtracting_an_earlier_look_leaves_what_came_since(void **state)
{
    (void)state;
    weir__histogram *histogram = new_histogram();
    weir__histogram_sum *earlier = new_sum();
    weir__histogram_sum *now = new_sum();
    weir__histogram_record(histogram, 5000000);
    weir__histogram_sum_add_live(earlier, histogram);
    for (uint32_t i = 0; i < 100; i++) {
        weir__histogram_record(histogram, 700);
    }
    weir__histogram_sum_add_live(now, histogram);
    weir__histogram_sum_subtract(now, earlier);
    assert_int_equal(now->count, 100);
    assert_true(is_close(weir__histogram_sum_percentile(now, 99.0), 700));
    assert_int_equal(now->sum, 100 * 700);
    assert_in_range(now->max, 700, 700 + 700 / 64); /* the old 5 ms is gone from it too */

    weir__histogram_sum_subtract(now, now);
    assert_int_equal(now->count, 0);
    assert_int_equal(now->max, 0);
    free(now);
    free(earlier);
    free(histogram);
}

static void a_rank_that_is_a_whole_number_is_not_rounded_up(void **state)
{
    (void)state;
    for (uint32_t count = 1000; count <= 100000; count *= 10) {
        weir__histogram *histogram = new_histogram();
        weir__histogram_sum *sum = new_sum();
        for (uint32_t i = 0; i < count; i++) {
            weir__histogram_record(histogram, i < count / 1000 * 999 ? 20 : 1000000000);
        }
        weir__histogram_sum_add_live(sum, histogram);
        assert_int_equal(weir__histogram_sum_percentile(sum, 99.9), 20);
        assert_true(weir__histogram_sum_percentile(sum, 99.95) > 20);
        free(sum);
        free(histogram);
    }
}

/* The reader runs between two stores of the writer: here the writer is stopped there by hand. */
static void a_count_seen_before_its_max_is_still_a_consistent_sum(void **state)
{
    (void)state;
    weir__histogram *histogram = new_histogram();
    weir__histogram_sum *sum = new_sum();
    weir__histogram_record(histogram, 100000);
    weir__store(&histogram->max, 0, relaxed);
    weir__histogram_sum_add_live(sum, histogram);
    assert_in_range(sum->max, 100000, 100000 + 100000 / 64);
    assert_int_equal(weir__histogram_sum_percentile(sum, 100.0), sum->max);
    free(sum);
    free(histogram);
}

static void record_a_million(void *argument)
{
    for (uint64_t i = 0; i < 1000000; i++) {
        weir__histogram_record(argument, i);
    }
}

static void a_reader_beside_the_writer_sees_counts_that_only_grow(void **state)
{
    (void)state;
    weir__histogram *histogram = new_histogram();
    weir__histogram_sum *before = new_sum();
    weir__os_thread writer;
    assert_int_equal(weir__os_thread_start(&writer, record_a_million, histogram), 0);
    uint32_t disorder = 0;
    /* Bounded by the writer's million: each round sees more, or the writer was not scheduled. */
    while (before->count < 1000000) {
        weir__histogram_sum *now = new_sum();
        weir__histogram_sum_add_live(now, histogram);
        disorder += now->count < before->count;
        disorder += weir__histogram_sum_percentile(now, 100.0) != now->max;
        free(before);
        before = now;
    }
    weir__os_thread_join(&writer);
    assert_int_equal(disorder, 0);
    assert_int_equal(before->count, 1000000);
    free(before);
    free(histogram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_within_one_percent_at_every_scale),
        cmocka_unit_test(percentiles_of_usual_and_of_nasty_distributions_are_within_one_percent),
        cmocka_unit_test(a_reset_forgets_all_and_loses_nothing_that_comes_after),
        cmocka_unit_test(it_stays_below_twenty_kibibytes),
        cmocka_unit_test(every_edge_between_buckets_keeps_the_bound),
        cmocka_unit_test(both_ends_of_the_widest_buckets_keep_the_bound),
        cmocka_unit_test(values_below_64_are_exact),
        cmocka_unit_test(an_empty_histogram_answers_zero),
        cmocka_unit_test(one_value_is_every_percentile_exactly),
        cmocka_unit_test(huge_values_and_zero_have_their_place),
        cmocka_unit_test(merging_parts_equals_recording_everything_in_one),
        cmocka_unit_test(subtracting_an_earlier_look_leaves_what_came_since),
        cmocka_unit_test(a_rank_that_is_a_whole_number_is_not_rounded_up),
        cmocka_unit_test(a_count_seen_before_its_max_is_still_a_consistent_sum),
        cmocka_unit_test(a_reader_beside_the_writer_sees_counts_that_only_grow),
    };
    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
