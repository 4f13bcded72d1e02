/*
 * engine/ahead.h - slabs of timers that are made ready before they are needed.
 *
 * Most of what a new timer costs is memory that nobody has touched before: the system has to find
 * its pages. Who adds many in a row would wait for them slab by slab; so the scheduler's thread,
 * which has nothing to do then, makes the next ones ready meanwhile.
 *
 *     who adds    takes one (or makes one, if there is none), and asks for more
 *     its thread  with nothing due: fills the places that are empty
 *
 * Nobody asks for the first slab of a kind, and when slabs are given back, so are those that lie
 * ready.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_AHEAD_H
#define WEIR_ENGINE_AHEAD_H

#include "sync/atomic.h"
#include "time/timer.h"
#include "weir/base.h"

#define WEIR__AHEAD_MOST 3 /* of a kind: those who add use them up as fast as they are made */

typedef struct weir__ahead {
    weir__atomic_u32 asked; /* a bit for each kind: who adds sets them, its thread clears them */
    /* Its thread fills, anybody empties, by exchange. */
    WEIR__ATOMIC(weir__timer_slab *) ready[WEIR__SLAB_KINDS][WEIR__AHEAD_MOST];
} weir__ahead;

/* With its pages. Any thread, no lock held. NULL: there is no memory. */
weir__timer_slab *weir__slab_make(const weir_allocator *allocator, weir__slab_kind kind);
/* NULL: nothing. */
void weir__slab_release(const weir_allocator *allocator, weir__timer_slab *slab);

/* Any thread. One that lies ready; NULL: there is none. */
weir__timer_slab *weir__ahead_take(weir__ahead *ahead, weir__slab_kind kind);
/* Any thread, having used one. True: its thread is to be woken. */
bool weir__ahead_ask(weir__ahead *ahead, weir__slab_kind kind);

/* Its thread. Of the kinds in `many`: the others have shrunk since somebody asked. */
void weir__ahead_make(weir__ahead *ahead, const weir_allocator *allocator, uint32_t many);

/* Any thread: fewer are needed than there are. */
void weir__ahead_give_back(weir__ahead *ahead, const weir_allocator *allocator,
                           weir__slab_kind kind);
/* Any thread. What they take, about. */
size_t weir__ahead_bytes(const weir__ahead *ahead);

#endif /* WEIR_ENGINE_AHEAD_H */
