/*
 * sync/barrier.h - a fence whose price is paid by one side only.
 *
 * Two threads that each store, then look at what the other stored, need a full fence on both
 * sides. Where one side runs for every event and the other once in a while, the frequent side does
 *
 *     store mine; weir__barrier_light(); load theirs
 *
 * which is a compiler barrier, and the rare side
 *
 *     store mine; weir__barrier_heavy(); load theirs
 *
 * which makes every running thread of the process pass a full fence (membarrier). At least one of
 * the two sees the other's store. Where the kernel has no membarrier, light is a real fence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_BARRIER_H
#define WEIR_SYNC_BARRIER_H

#include "base/assert.h"
#include "sync/atomic.h"

/* By one thread at a time, any number of times, before there is an engine. */
void weir__barrier_open(void);

#ifdef WEIR_SIMULATED
void weir__barrier_light(void);
static inline bool weir__barrier_is_light(void)
{
    return true;
}
#else
/* True where the kernel cannot fence the others for us. Written by weir__barrier_open only, before
 * the first engine exists: no atomic, so that a look at it is one instruction. */
extern WEIR__HIDDEN bool weir__barrier_symmetric;

/* False: the light one is a fence like any other, and saves nothing. */
static inline bool weir__barrier_is_light(void)
{
    return !weir__barrier_symmetric;
}

static inline void weir__barrier_light(void)
{
    weir__compiler_fence();
    if (__builtin_expect(weir__barrier_symmetric, 0)) {
        weir__fence(seq_cst);
    }
}
#endif

void weir__barrier_heavy(void);

#endif /* WEIR_SYNC_BARRIER_H */
