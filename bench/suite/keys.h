/*
 * suite/keys.h - the keys of W14, their order, and what its handlers compute: the same for weir,
 * for the older design, and (bench/peers/peer.h, go_peer.go) for the peers.
 *
 * Keys are scattered over 64 bits, so that nobody can use them as an index. They come in rounds: in
 * each round every key once, in an order that was shuffled before the measurement. So the number of
 * an event in its key is the number of the round, and the sender needs no count of each key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_KEYS_H
#define WEIR_BENCH_SUITE_KEYS_H

#include <stdint.h>

#include "suite/clock.h"

/* A bijection, so that no two are alike; and no key is 0. */
static inline uint64_t bench_key(uint64_t index)
{
    uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint32_t bench_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* The keys of 0 ... count - 1, shuffled: always in the same way. */
static inline void bench_keys_shuffle(uint64_t *keys, uint32_t count)
{
    uint64_t random = 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = bench_random(&random) % (i + 1);
        keys[i] = keys[at];
        keys[at] = bench_key(i);
    }
}

/* Steps that each need the one before: 950 take about a microsecond at 3.8 GHz. Steps and not time:
 * who is taken off its core meanwhile has not worked. */
#define BENCH_STEPS_US 950u

static inline void bench_work(uint32_t steps)
{
    uint64_t x = steps;
    for (uint32_t i = 0; i < steps; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    __asm__ volatile("" : : "r"(x));
}

/* What that takes here, on a core of its own. */
static inline double bench_work_ns(uint32_t steps)
{
    enum { TRIES = 5, TIMES = 200 };
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const int64_t begin = bench_now();
        for (int k = 0; k < TIMES; k++) {
            bench_work(steps);
        }
        const int64_t took = bench_now() - begin;
        least = took < least ? took : least;
    }
    return (double)least / TIMES;
}

#endif /* WEIR_BENCH_SUITE_KEYS_H */
