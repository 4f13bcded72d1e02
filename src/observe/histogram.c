/*
 * observe/histogram.c - see histogram.h for the contract.
 *
 * Bucket of a value: below 32 the value itself. From 32 on, `row` is the number of bits behind the
 * leading 6, and the leading 6 bits (32..63) say the step:
 *
 *     value  = 1 s s s s s x x x x x x        row = 6, step = sssss
 *     bucket = 32 * (row + 1) + step          its values differ in the x only
 *
 * so the first row above joins seamlessly: 32 is in bucket 32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observe/histogram.h"

#include "base/assert.h"

static uint32_t bucket_of(uint64_t value)
{
    if (value < WEIR__HISTOGRAM_STEPS) {
        return (uint32_t)value;
    }
    const uint32_t row = 63u - (uint32_t)__builtin_clzll(value) - WEIR__HISTOGRAM_STEP_BITS;
    const uint32_t step = (uint32_t)(value >> row) - WEIR__HISTOGRAM_STEPS;
    return WEIR__HISTOGRAM_STEPS * (row + 1u) + step;
}

static uint64_t bucket_lowest(uint32_t bucket)
{
    if (bucket < WEIR__HISTOGRAM_STEPS) {
        return bucket;
    }
    const uint32_t row = bucket / WEIR__HISTOGRAM_STEPS - 1u;
    const uint64_t step = bucket % WEIR__HISTOGRAM_STEPS;
    return (WEIR__HISTOGRAM_STEPS + step) << row;
}

static uint64_t bucket_highest(uint32_t bucket)
{
    if (bucket < WEIR__HISTOGRAM_STEPS) {
        return bucket;
    }
    const uint32_t row = bucket / WEIR__HISTOGRAM_STEPS - 1u;
    return bucket_lowest(bucket) + ((UINT64_C(1) << row) - 1u);
}

void weir__histogram_record(weir__histogram *histogram, uint64_t value)
{
    weir__cell_add(&histogram->counts[bucket_of(value)], 1);
    if (value > weir__cell_read(&histogram->max)) {
        weir__store(&histogram->max, value, relaxed);
    }
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
    for (uint32_t i = 0; i < WEIR__HISTOGRAM_BUCKETS; i++) {
        const uint64_t count = weir__cell_read(&live->counts[i]);
        sum->counts[i] += count;
        sum->count += count; /* counted here, so that count and counts always agree */
    }
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
            const uint64_t value = bucket_highest(i);
            return value < sum->max ? value : sum->max;
        }
    }
    return sum->max; /* a rank that rounding carried past the last value */
}
