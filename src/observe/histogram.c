/*
 * observe/histogram.c - see histogram.h for the contract.
 *
 * Bucket of a value: below 64 the value itself. From 64 on, `row` is the number of bits behind the
 * leading 7, and the leading 7 bits (64..127) say the step:
 *
 *     value  = 1 s s s s s s x x x x x        row = 5, step = ssssss
 *     bucket = 64 * (row + 1) + step          its values differ in the x only
 *
 * so the first row above joins seamlessly: 64 is in bucket 64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observe/histogram.h"

#include "base/assert.h"

#define BEYOND (WEIR__HISTOGRAM_BUCKETS - 1u)

static uint32_t bucket_of(uint64_t value)
{
    if (value < WEIR__HISTOGRAM_STEPS) {
        return (uint32_t)value;
    }
    if (weir__unlikely(value >> WEIR__HISTOGRAM_VALUE_BITS != 0)) {
        return BEYOND;
    }
    const uint32_t row = 63u - (uint32_t)__builtin_clzll(value) - WEIR__HISTOGRAM_STEP_BITS;
    const uint32_t step = (uint32_t)(value >> row) - WEIR__HISTOGRAM_STEPS;
    return WEIR__HISTOGRAM_STEPS * (row + 1u) + step;
}

/* The lowest of its values, and how many it has. */
static uint64_t bucket_lowest(uint32_t bucket, uint64_t *width)
{
    if (bucket < WEIR__HISTOGRAM_STEPS) {
        *width = 1;
        return bucket;
    }
    const uint32_t row = bucket / WEIR__HISTOGRAM_STEPS - 1u;
    const uint64_t step = bucket % WEIR__HISTOGRAM_STEPS;
    *width = UINT64_C(1) << row;
    return (WEIR__HISTOGRAM_STEPS + step) << row;
}

static uint64_t bucket_middle(uint32_t bucket)
{
    uint64_t width;
    const uint64_t lowest = bucket_lowest(bucket, &width);
    return bucket == BEYOND ? UINT64_MAX : lowest + width / 2u;
}

static uint64_t bucket_highest(uint32_t bucket)
{
    uint64_t width;
    const uint64_t lowest = bucket_lowest(bucket, &width);
    return bucket == BEYOND ? UINT64_MAX : lowest + width - 1u;
}

/* Somebody wants it empty. */
WEIR__SELDOM static void clear(weir__histogram *histogram, uint64_t resets)
{
    weir__store(&histogram->max, 0, relaxed);
    weir__store(&histogram->sum, 0, relaxed);
    for (uint32_t i = 0; i < WEIR__HISTOGRAM_BUCKETS; i++) {
        weir__store(&histogram->counts[i], 0, relaxed);
    }
    /* [HG1] pairs with [HG2]: who reads this reads none of what was before. */
    weir__store(&histogram->cleared, resets, release);
}

void weir__histogram_reset(weir__histogram *histogram)
{
    weir__add(&histogram->resets, 1, relaxed);
}

void weir__histogram_record(weir__histogram *histogram, uint64_t value)
{
    const uint64_t resets = weir__load(&histogram->resets, relaxed);
    if (weir__unlikely(resets != weir__load(&histogram->cleared, relaxed))) {
        clear(histogram, resets);
    }
    weir__cell_add(&histogram->counts[bucket_of(value)], 1);
    weir__cell_add(&histogram->sum, value);
    const uint64_t max = weir__cell_read(&histogram->max);
    weir__store(&histogram->max, value > max ? value : max, relaxed);
}

/* A sum's max must lie in its highest bucket in use, or percentiles and max would disagree: a
 * reader may see a count before the max that goes with it (or, after a subtraction, a max whose
 * count is gone). */
static void repair_max(weir__histogram_sum *sum)
{
    for (uint32_t i = WEIR__HISTOGRAM_BUCKETS; i > 0; i--) {
        if (sum->counts[i - 1u] != 0) {
            if (bucket_of(sum->max) != i - 1u) {
                sum->max = bucket_highest(i - 1u);
            }
            return;
        }
    }
    sum->max = 0;
}

void weir__histogram_sum_add_live(weir__histogram_sum *sum, const weir__histogram *live)
{
    weir__histogram *h = (weir__histogram *)(uintptr_t)live;
    /* [HG2] pairs with [HG1]. */
    const uint64_t cleared = weir__load(&h->cleared, acquire);
    if (cleared != weir__load(&h->resets, relaxed)) {
        return; /* what is there is to be forgotten */
    }
    for (uint32_t i = 0; i < WEIR__HISTOGRAM_BUCKETS; i++) {
        const uint64_t count = weir__cell_read(&live->counts[i]);
        sum->counts[i] += count;
        sum->count += count; /* counted here, so that count and counts always agree */
    }
    sum->sum += weir__cell_read(&live->sum);
    const uint64_t max = weir__cell_read(&live->max);
    if (max > sum->max) {
        sum->max = max;
    }
    repair_max(sum);
}

void weir__histogram_sum_add(weir__histogram_sum *sum, const weir__histogram_sum *other)
{
    for (uint32_t i = 0; i < WEIR__HISTOGRAM_BUCKETS; i++) {
        sum->counts[i] += other->counts[i];
    }
    sum->count += other->count;
    sum->sum += other->sum;
    if (other->max > sum->max) {
        sum->max = other->max;
    }
}

void weir__histogram_sum_subtract(weir__histogram_sum *sum, const weir__histogram_sum *earlier)
{
    for (uint32_t i = 0; i < WEIR__HISTOGRAM_BUCKETS; i++) {
        WEIR_ASSERT(sum->counts[i] >= earlier->counts[i]);
        sum->counts[i] -= earlier->counts[i];
    }
    sum->count -= earlier->count;
    sum->sum -= earlier->sum < sum->sum ? earlier->sum : sum->sum; /* read apart from the counts */
    repair_max(sum);
}

uint64_t weir__histogram_sum_percentile(const weir__histogram_sum *sum, double percent)
{
    WEIR_ASSERT(percent >= 0.0 && percent <= 100.0);
    if (sum->count == 0) {
        return 0;
    }
    /* The rank is counted from 1 and rounded up: of ten values, 91 % is the tenth. What binary
     * fractions add (99.9 % of 1,000 is 999.0000000000001) must not be rounded up with it. */
    const double exact = percent / 100.0 * (double)sum->count;
    uint64_t rank = (uint64_t)exact;
    if (exact - (double)rank > 1e-6 || rank == 0) {
        rank++;
    }
    uint64_t seen = 0;
    for (uint32_t i = 0; i < WEIR__HISTOGRAM_BUCKETS; i++) {
        seen += sum->counts[i];
        if (seen >= rank) {
            const uint64_t value = bucket_middle(i);
            return value < sum->max && rank < sum->count ? value : sum->max;
        }
    }
    return sum->max; /* a rank that rounding carried past the last value */
}
