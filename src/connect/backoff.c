/*
 * connect/backoff.c - how long to wait before trying again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/backoff.h"

#include "connect/template.h"

weir_ns weir__backoff_next(weir__backoff *backoff)
{
    weir_ns delay = backoff->base;
    for (uint32_t i = 0; i < backoff->tries && delay < backoff->max; i++) {
        delay = delay > backoff->max / 2 ? backoff->max : delay * 2;
    }
    delay = delay < backoff->max ? delay : backoff->max;
    backoff->tries += backoff->tries < 64;
    const uint64_t half = (uint64_t)delay / 2;
    return (weir_ns)((uint64_t)delay - half + weir__random_below(&backoff->random, half + 1));
}
