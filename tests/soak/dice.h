/*
 * soak/dice.h - the soak's random numbers: SplitMix64, one state for each who throws.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SOAK_DICE_H
#define WEIR_SOAK_DICE_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t soak_dice(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 .. below - 1. */
static inline uint32_t soak_pick(uint64_t *state, uint32_t below)
{
    return (uint32_t)((soak_dice(state) >> 32) % below);
}

/* True once in `of`. */
static inline bool soak_once_in(uint64_t *state, uint32_t of)
{
    return soak_pick(state, of) == 0;
}

#endif /* WEIR_SOAK_DICE_H */
