/*
 * connect/keys.c - which key comes next.
 *
 * Zipf's law by a table of shares and a binary search: exact for any exponent, eight bytes a key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/keys.h"

#include <math.h>
#include <stdlib.h>

#include "connect/template.h"

bool weir__keys_open(weir__keys *keys, weir__keys_spread spread, uint64_t count, double exponent)
{
    *keys = (weir__keys){ .spread = spread, .count = count };
    if (spread != WEIR__KEYS_ZIPF) {
        return true;
    }
    keys->shares = malloc(count * sizeof(*keys->shares));
    if (keys->shares == NULL) {
        return false;
    }
    double sum = 0;
    for (uint64_t k = 0; k < count; k++) {
        sum += pow((double)(k + 1), -exponent);
        keys->shares[k] = sum;
    }
    for (uint64_t k = 0; k < count; k++) {
        keys->shares[k] /= sum;
    }
    keys->shares[count - 1] = 1; /* whatever rounding made of it */
    return true;
}

void weir__keys_close(weir__keys *keys)
{
    free(keys->shares);
    keys->shares = NULL;
}

uint64_t weir__keys_next(weir__keys *keys, uint64_t *random)
{
    if (keys->spread == WEIR__KEYS_ROUND_ROBIN) {
        keys->next = keys->next % keys->count + 1;
        return keys->next;
    }
    if (keys->spread == WEIR__KEYS_UNIFORM) {
        return weir__random_below(random, keys->count) + 1;
    }
    const double point = (double)(weir__random(random) >> 11) * 0x1p-53; /* 0 ... below 1 */
    uint64_t low = 0, high = keys->count - 1;
    while (low < high) { /* the first whose share is above the point */
        const uint64_t middle = low + (high - low) / 2;
        if (keys->shares[middle] > point) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low + 1;
}
