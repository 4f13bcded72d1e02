/*
 * connect/backoff.h - how long to wait before trying again: twice as long each time, up to a bound,
 * and never all at the same moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_BACKOFF_H
#define WEIR_CONNECT_BACKOFF_H

#include "weir/base.h"

typedef struct weir__backoff {
    weir_ns base, max;
    uint32_t tries; /* in a row that failed */
    uint64_t random;
} weir__backoff;

/* The wait after one more failure: base * 2^tries, at most max, of which the latter half is
 * random. */
weir_ns weir__backoff_next(weir__backoff *backoff);

static inline void weir__backoff_reset(weir__backoff *backoff)
{
    backoff->tries = 0;
}

#endif /* WEIR_CONNECT_BACKOFF_H */
