/*
 * observe/histogram.h - how long things took: a log-linear histogram of fixed size.
 *
 * Each power of two is cut into 64 equal steps, and the middle of a step is what is told of the
 * values in it: so a value is known to 1/128 (0.8 %) of itself, from 1 ns to 73 minutes, in 19 KiB,
 * and recording is a shift and a few additions, never a search. Values below 64 are exact; those
 * beyond the range share the last bucket, and are told as the largest of them. The largest of all
 * is exact.
 *
 * Two types, because writing and reading happen on different threads:
 *
 *     weir__histogram       live. One writer at a time: a thread, or a processor's turns, which
 *                           follow each other. Anybody may read it meanwhile, and reset it.
 *     weir__histogram_sum   plain numbers of one owner: what live ones are added up in, merged,
 *                           subtracted (for "since the last look") and asked for percentiles.
 *
 * A reset only says that it is wanted: the writer clears the cells before it records the next
 * value, and until then readers find nothing. So cells keep their one writer, no second copy is
 * needed to be subtracted, and the largest value stays exact.
 *
 * Overlap: record with record on one histogram: never. record with sum_add_live: freely; the sum
 * may then miss the newest values, and is always consistent in itself. reset with everything: a
 * look at the same moment may see a part of what was before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_OBSERVE_HISTOGRAM_H
#define WEIR_OBSERVE_HISTOGRAM_H

#include <stdint.h>

#include "sync/atomic.h"

#ifdef WEIR_SIMULATED
#define WEIR__HISTOGRAM_STEP_BITS 3u /* known to 7 %, since there each look at a cell is a step */
#else
#define WEIR__HISTOGRAM_STEP_BITS 6u /* 64 steps a power of two */
#endif
#define WEIR__HISTOGRAM_STEPS (1u << WEIR__HISTOGRAM_STEP_BITS)
#define WEIR__HISTOGRAM_VALUE_BITS 42u /* larger ones are beyond the range */

/* Values below 64 take one row of steps; each of the 36 powers of two above takes another. Then
 * comes the bucket of what is beyond. */
#define WEIR__HISTOGRAM_BUCKETS                                                                    \
    ((WEIR__HISTOGRAM_VALUE_BITS - WEIR__HISTOGRAM_STEP_BITS + 1u) * WEIR__HISTOGRAM_STEPS + 1u)

/* All zero is an empty one, so zeroed processor state needs no init. */
typedef struct weir__histogram {
    weir__atomic_u64 resets;  /* asked for ... */
    weir__atomic_u64 cleared; /* ... and done: the writer's, so are the cells */
    weir__cell max, sum;
    weir__cell counts[WEIR__HISTOGRAM_BUCKETS];
} weir__histogram;

typedef struct weir__histogram_sum {
    uint64_t count;
    uint64_t max; /* exact, except after a subtraction */
    uint64_t sum; /* of all values */
    uint64_t counts[WEIR__HISTOGRAM_BUCKETS];
} weir__histogram_sum;

/* The writer. */
void weir__histogram_record(weir__histogram *histogram, uint64_t value);

/* Anybody. What was recorded before is forgotten. */
void weir__histogram_reset(weir__histogram *histogram);

/* Anybody. Adds what `live` holds now. */
void weir__histogram_sum_add_live(weir__histogram_sum *sum, const weir__histogram *live);

/* The sum's owner, so are all below. */
void weir__histogram_sum_add(weir__histogram_sum *sum, const weir__histogram_sum *other);

/* Takes away an earlier look at the same histograms, which nobody has reset; what is left is what
 * came since. The largest value is then known as its bucket only. */
void weir__histogram_sum_subtract(weir__histogram_sum *sum, const weir__histogram_sum *earlier);

/* The value that `percent` (0..100) of the values do not exceed, to 1 % of itself; never more than
 * max. 0 if there are none. */
uint64_t weir__histogram_sum_percentile(const weir__histogram_sum *sum, double percent);

#endif /* WEIR_OBSERVE_HISTOGRAM_H */
