/*
 * connect/patience.h - how long to wait before trying again: twice as long each time, up to a
 * bound, and never all at the same moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_PATIENCE_H
#define WEIR_CONNECT_PATIENCE_H

#include "weir/base.h"

typedef struct weir__patience {
    weir_ns base, max;
    uint32_t tries; /* in a row that failed */
    uint64_t random;
} weir__patience;

/* The wait after one more failure: base * 2^tries, at most max, of which the latter half is
 * random. */
weir_ns weir__patience_next(weir__patience *patience);

static inline void weir__patience_reset(weir__patience *patience)
{
    patience->tries = 0;
}

#endif /* WEIR_CONNECT_PATIENCE_H */
