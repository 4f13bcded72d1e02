/*
 * engine/lease.h - which mailboxes a thread leases (queue/lease.h says what that is).
 *
 * Those of processors of which it has run some events in a row, each time made ready, or left so,
 * by itself: taken from what it keeps, not from a queue into which others have put it, and run by
 * nobody else in between. Where that was wrong, the next post by another thread ends the lease, for
 * the price of a heavy barrier: so many that that does not matter it may get wrong, and no more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_LEASE_H
#define WEIR_ENGINE_LEASE_H

#include "engine/thread.h"

/* Of `last_thread`: | events in a row 5 | its owner has put it into the queue 1 | index 10 |. */
#define WEIR__RUN_INDEX 0x3ffu
#define WEIR__RUN_PUT_BACK 0x400u
#define WEIR__RUN_ONE 0x800u
_Static_assert(WEIR__THREADS_MAX == WEIR__RUN_INDEX + 1, "an index has room");

#ifdef WEIR_SIMULATED
#define WEIR__RUN_ENOUGH 2u /* so that few turns are enough */
#define WEIR__LEASE_ERRORS 1000u
#else
#define WEIR__RUN_ENOUGH 31u
#define WEIR__LEASE_ERRORS 64u
#endif
#define WEIR__RUN_TURN_MAX 8u   /* of them in one turn: the same twice says more than two at once */
#define WEIR__LEASE_TURNS 4096u /* for each of these one more error is forgiven */
#define WEIR__LEASES_MAX 8192   /* of a thread at a time */

static inline uint32_t weir__run_by(const weir__processor *processor)
{
    return processor->last_thread & WEIR__RUN_INDEX;
}

/* Owner, at the begin of a turn. */
static inline void weir__run_by_thread(weir__processor *processor, uint32_t index)
{
    if (weir__unlikely(weir__run_by(processor) != index)) {
        processor->last_thread = (uint16_t)index;
    }
}

/* Owner: whoever made it ready, it is not its own thread. */
static inline void weir__run_over(weir__processor *processor)
{
    processor->last_thread &= WEIR__RUN_INDEX;
}

/* Owner, about to put it into the queue since there is more to do than a turn may. */
static inline void weir__run_put_back(weir__processor *processor)
{
    processor->last_thread |= WEIR__RUN_PUT_BACK;
}

/* Owner: it came from the queue. Unless it was put back, somebody else posts to it, or may run
 * it. */
static inline void weir__run_taken(weir__processor *processor)
{
    const uint32_t before = processor->last_thread;
    processor->last_thread =
        (uint16_t)((before & WEIR__RUN_PUT_BACK) != 0 ? before & ~WEIR__RUN_PUT_BACK
                                                      : before & WEIR__RUN_INDEX);
}

/* Owner, about to make it idle after one event: one turn more. True: it is worth a lease. */
static inline bool weir__run_goes_on(weir__processor *processor)
{
    const uint32_t next = processor->last_thread + WEIR__RUN_ONE;
    processor->last_thread = (uint16_t)next;
    return weir__unlikely(next >= WEIR__RUN_ENOUGH * WEIR__RUN_ONE);
}

/* The same after so many. Each of them was posted, so a lease is worth the sooner. */
static inline bool weir__run_goes_on_by(weir__processor *processor, uint32_t events)
{
    const uint32_t counted = events < WEIR__RUN_TURN_MAX ? events : WEIR__RUN_TURN_MAX;
    const uint32_t so_far = processor->last_thread / WEIR__RUN_ONE + counted;
    const uint32_t now = so_far < WEIR__RUN_ENOUGH ? so_far : WEIR__RUN_ENOUGH;
    processor->last_thread = (uint16_t)(now * WEIR__RUN_ONE | weir__run_by(processor));
    return weir__unlikely(now == WEIR__RUN_ENOUGH);
}

/* Owner, as weir__mailbox_idle of one that has run for long: and from then on it is leased, if that
 * suits. */
bool weir__lease_begin(weir__thread *thread, weir__processor *processor, uint64_t word,
                       uint32_t uncredited);

/* Owner, at the end of a turn after which it stays ready: the same for who never finds nothing
 * left. */
void weir__lease_begin_busy(weir__thread *thread, weir__processor *processor);

/* From now on it is never leased: somebody who cannot wait posts to it. registry.lock held. False:
 * no memory. */
bool weir__lease_never(weir_engine *engine, weir__processor *processor);

/* The end of the engine: all leases are. */
void weir__leases_retire(weir_engine *engine);

#endif /* WEIR_ENGINE_LEASE_H */
