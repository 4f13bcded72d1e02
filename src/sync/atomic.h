/*
 * sync/atomic.h - the one door to atomics.
 *
 * Every other room names its atomic fields WEIR__ATOMIC(type) and touches them only through the
 * macros here, so that the simulated build can put scheduling points and store buffers behind the
 * same words. Orders are written out at every use: relaxed, acquire, release, acq_rel, seq_cst.
 *
 *     weir__load(&a, order)                 weir__store(&a, value, order)
 *     weir__exchange(&a, value, order)      weir__cas(&a, &expected, value, success, failure)
 *     weir__add / sub / or / and(&a, value, order)      the old value
 *     weir__fence(order)
 *     weir__init(&a, value)                 of an atom that no other thread can reach yet
 *
 * A *cell* is a counter with one writer: relaxed load, add, store, no locked instruction; anyone
 * may read it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_ATOMIC_H
#define WEIR_SYNC_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#ifdef WEIR_SIMULATED
#include "sync/sim/atomic.h"
#else
#include "sync/real/atomic.h"
#endif

typedef WEIR__ATOMIC(uint32_t) weir__atomic_u32;
typedef WEIR__ATOMIC(uint64_t) weir__atomic_u64;
typedef WEIR__ATOMIC(int32_t) weir__atomic_i32;
typedef weir__atomic_u64 weir__cell;

static inline void weir__cell_add(weir__cell *cell, uint64_t amount)
{
#ifdef WEIR_SIMULATED
    weir__sim_cell_add(&cell->value, amount, WEIR__SIM_SITE("a counter"));
#else
    weir__add_alone(cell, amount);
#endif
}

/* The same; who reads the sum sees what was written before. */
static inline void weir__cell_add_release(weir__cell *cell, uint64_t amount)
{
#ifdef WEIR_SIMULATED
    weir__store(cell, weir__load(cell, relaxed) + amount, release);
#else
    weir__add_alone_release(cell, amount);
#endif
}

static inline uint64_t weir__cell_read(const weir__cell *cell)
{
    return weir__load((weir__cell *)(uintptr_t)cell, relaxed);
}

/* This line is about to be written, by the calling thread: it is asked for. A hint, of any
 * address. */
static inline void weir__expect_write(const void *line)
{
#if defined(WEIR_SIMULATED)
    (void)line;
#elif defined(__x86_64__)
    /* The compiler's own is an ordinary one here, unless it may use newer instructions than this:
     * processors that do not know it do nothing. */
    __asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

#endif /* WEIR_SYNC_ATOMIC_H */
