/*
 * engine/busy.h - how long a thread was at work, in one word that it writes when it begins and when
 * it ends: idle, twice that time; at work, twice that time less the moment it began, and one. So
 * who reads it needs only the clock, and always finds both in one piece.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_BUSY_H
#define WEIR_ENGINE_BUSY_H

#include "sync/atomic.h"
#include "weir/base.h"

static inline bool weir__busy_is(const weir__cell *busy)
{
    return (weir__cell_read(busy) & 1) != 0;
}

static inline void weir__busy_begin(weir__cell *busy, weir_ns now)
{
    weir__store(busy, weir__cell_read(busy) - 2 * (uint64_t)now + 1, relaxed);
}

static inline void weir__busy_end(weir__cell *busy, weir_ns now)
{
    weir__store(busy, weir__cell_read(busy) - 1 + 2 * (uint64_t)now, relaxed);
}

/* Anybody. `now`: read after this was asked for, or a little before. */
static inline weir_ns weir__busy_so_far(uint64_t word, weir_ns now)
{
    const uint64_t twice = (word & 1) != 0 ? word - 1 + 2 * (uint64_t)now : word;
    return (int64_t)twice > 0 ? (weir_ns)(twice / 2) : 0;
}

#endif /* WEIR_ENGINE_BUSY_H */
