/*
 * connect/keys.h - which key comes next: one of N, all alike, a few far more often, or in turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_KEYS_H
#define WEIR_CONNECT_KEYS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum weir__keys_spread {
    WEIR__KEYS_UNIFORM,
    WEIR__KEYS_ZIPF, /* key k (from 1 on) with a weight of 1 / k^exponent */
    WEIR__KEYS_ROUND_ROBIN
} weir__keys_spread;

typedef struct weir__keys {
    weir__keys_spread spread;
    uint64_t count;
    uint64_t next;  /* ROUND_ROBIN */
    double *shares; /* ZIPF: of the keys up to each one; the last is 1 */
} weir__keys;

/* False: no memory. A zeroed one may be closed. */
bool weir__keys_open(weir__keys *keys, weir__keys_spread spread, uint64_t count, double exponent);
void weir__keys_close(weir__keys *keys);

/* 1 ... count. */
uint64_t weir__keys_next(weir__keys *keys, uint64_t *random);

#endif /* WEIR_CONNECT_KEYS_H */
