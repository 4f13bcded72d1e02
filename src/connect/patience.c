/*
 * connect/patience.c - how long to wait before trying again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/patience.h"

#include "connect/template.h"

weir_ns weir__patience_next(weir__patience *patience)
{
    weir_ns delay = patience->base;
    for (uint32_t i = 0; i < patience->tries && delay < patience->max; i++) {
        delay = delay > patience->max / 2 ? patience->max : delay * 2;
    }
    delay = delay < patience->max ? delay : patience->max;
    patience->tries += patience->tries < 64;
    const uint64_t half = (uint64_t)delay / 2;
    return (weir_ns)((uint64_t)delay - half + weir__random_below(&patience->random, half + 1));
}
