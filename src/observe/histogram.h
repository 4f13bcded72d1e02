/*
 * observe/histogram.h - how long things took: a log-linear histogram of fixed size.
 *
 * Each power of two is cut into 32 equal steps, so that a value is known to 1/32 (3.2 %) of itself,
 * from 1 ns to centuries, in 15 KiB, and recording is a shift and two additions, never a search.
 * Values below 32 are exact.
 *
 * Two types, because writing and reading happen on different threads:
 *
 *     weir__histogram       live. One writer at a time: a thread, or a processor's turns, which
 *                           follow each other. Anybody may read it meanwhile.
 *     weir__histogram_sum   plain numbers of one owner: what live ones are added up in, merged,
 *                           subtracted (for "since the last look") and asked for percentiles.
 *
 * Overlap: record with record on one histogram: never. record with sum_add_live: freely; the sum
 * may then miss the newest values, and is always consistent in itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_OBSERVE_HISTOGRAM_H
#define WEIR_OBSERVE_HISTOGRAM_H

#include <stdint.h>

#include "sync/atomic.h"

#define WEIR__HISTOGRAM_STEP_BITS 5u /* 32 steps a power of two */
#define WEIR__HISTOGRAM_STEPS (1u << WEIR__HISTOGRAM_STEP_BITS)

/* Values below 32 take one row of steps; each of the 59 powers of two above takes another. */
#define WEIR__HISTOGRAM_BUCKETS ((64u - WEIR__HISTOGRAM_STEP_BITS + 1u) * WEIR__HISTOGRAM_STEPS)

/* All zero is an empty one, so zeroed processor state needs no init. */
typedef struct weir__histogram {
    weir__cell max;
    weir__cell counts[WEIR__HISTOGRAM_BUCKETS];
} weir__histogram;

typedef struct weir__histogram_sum {
    uint64_t count;
    uint64_t max; /* exact, except after a subtraction */
    uint64_t counts[WEIR__HISTOGRAM_BUCKETS];
} weir__histogram_sum;

/* The writer. */
void weir__histogram_record(weir__histogram *histogram, uint64_t value);

/* Anybody. Adds what `live` holds now. */
void weir__histogram_sum_add_live(weir__histogram_sum *sum, const weir__histogram *live);

/* The sum's owner, so are all below. */
void weir__histogram_sum_add(weir__histogram_sum *sum, const weir__histogram_sum *other);

/* Takes away an earlier look at the same histograms; what is left is what came since. The largest
 * value is then known as its bucket only. */
void weir__histogram_sum_subtract(weir__histogram_sum *sum, const weir__histogram_sum *earlier);

/* The value that `percent` (0..100) of the values do not exceed: never less than the true one, at
 * most 1/32 more, never more than max. 0 if there are none. */
uint64_t weir__histogram_sum_percentile(const weir__histogram_sum *sum, double percent);

#endif /* WEIR_OBSERVE_HISTOGRAM_H */
