/*
 * engine/lease.h - which mailboxes a thread leases (queue/lease.h says what that is).
 *
 * Those of processors that it has run for some turns in a row, each of them made ready by itself:
 * taken from what it keeps, not from a queue, and run by nobody else in between. Where that was
 * wrong, the next post by another thread ends the lease, for the price of a heavy barrier: so many
 * that that does not matter it may get wrong, and no more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_LEASE_H
#define WEIR_ENGINE_LEASE_H

#include "engine/thread.h"

/* Of `last_thread`: | turns of one event in a row 6 | index 10 |. */
#define WEIR__RUN_BITS 10u
#define WEIR__RUN_MASK ((1u << WEIR__RUN_BITS) - 1)
#define WEIR__RUN_ONE (1u << WEIR__RUN_BITS)
_Static_assert(WEIR__THREADS_MAX == WEIR__RUN_MASK + 1, "an index has room");

#ifdef WEIR_SIMULATED
#define WEIR__RUN_ENOUGH 2u /* so that few turns are enough */
#define WEIR__LEASE_ERRORS 1000u
#else
#define WEIR__RUN_ENOUGH 63u
#define WEIR__LEASE_ERRORS 64u
#endif
#define WEIR__LEASE_TURNS 4096u /* for each of these one more error is forgiven */
#define WEIR__LEASES_MAX 8192   /* of a thread at a time */

static inline uint32_t weir__run_by(const weir__processor *processor)
{
    return processor->last_thread & WEIR__RUN_MASK;
}

/* Owner, at the begin of a turn. */
static inline void weir__run_by_thread(weir__processor *processor, uint32_t index)
{
    if (weir__unlikely(weir__run_by(processor) != index)) {
        processor->last_thread = (uint16_t)index;
    }
}

/* Owner: it came from a queue, so somebody else posts to it, or may run it. */
static inline void weir__run_over(weir__processor *processor)
{
    processor->last_thread &= WEIR__RUN_MASK;
}

/* Owner, about to make it idle after one event: one turn more. True: it is worth a lease. */
static inline bool weir__run_goes_on(weir__processor *processor)
{
    const uint32_t next = processor->last_thread + WEIR__RUN_ONE;
    processor->last_thread = (uint16_t)next;
    return weir__unlikely(next >= WEIR__RUN_ENOUGH * WEIR__RUN_ONE);
}

/* Owner: it was seen to be so. */
static inline bool weir__run_is_long(const weir__processor *processor)
{
    return weir__unlikely(processor->last_thread >= WEIR__RUN_ENOUGH * WEIR__RUN_ONE);
}

/* Owner, as weir__mailbox_idle of one that has run for long: and from then on it is leased, if that
 * suits. */
bool weir__lease_begin(weir__thread *thread, weir__processor *processor, uint64_t word,
                       uint32_t uncredited);

/* From now on it is never leased: somebody who cannot wait posts to it. registry.lock held. False:
 * no memory. */
bool weir__lease_never(weir_engine *engine, weir__processor *processor);

/* The end of the engine: all leases are. */
void weir__leases_retire(weir_engine *engine);

#endif /* WEIR_ENGINE_LEASE_H */
