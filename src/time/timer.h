/*
 * time/timer.h - what is known of a timer, and where: 120 bytes each, in slabs of 512 that come and
 * go with the timers in them.
 *
 * A timer is two records: 32 bytes that the wheel works with, dense, so that going through a list
 * or cancelling touches little memory; and its *load*, what it is to do when it is due.
 *
 * Numbers. A timer is known by a number (0: none) as long as it lives, and by number and generation
 * for ever: a generation ends with its timer. The last five outcomes of a number are remembered,
 * and free ones are used again in turn, the longest free first; so how a timer ended can be told
 * until some two thousand others have ended, or their slab is gone.
 *
 * Plain data without a lock, like the wheel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TIME_TIMER_H
#define WEIR_TIME_TIMER_H

#include "weir/timer.h"

#ifdef WEIR_SIMULATED
#define WEIR__SLAB_BITS 3u /* every run makes one anew */
#else
#define WEIR__SLAB_BITS 9u
#endif
#define WEIR__SLAB_TIMERS (1u << WEIR__SLAB_BITS)

/* Five of three bits. */
#define WEIR__TIMER_LIVES 5u
#define WEIR__TIMER_LIFE_BITS 3u

typedef struct weir__timer {
    uint32_t next, previous; /* numbers: of its list, or of the free ones */
    weir_ns due;
    uint32_t generation;
    uint16_t place : 10; /* see time/wheel.h */
    uint16_t owns : 1;   /* its load has something to be given back */
    uint16_t ends : 1;   /* FIRING: was cancelled meanwhile, and does not come again */
    uint16_t outcomes;   /* of its last lives, the latest lowest */
    weir_ns every;       /* 0: once */
} weir__timer;
_Static_assert(sizeof(weir__timer) == 32, "two to a line");

struct weir__lone;

typedef struct weir__timer_load {
    weir_processor to;
    const weir_event_type *type; /* NULL: no event, only a hook */
    uint64_t flow, tag;
    weir_timer_hook hook;
    void *context;
    uint32_t size;
    uint16_t flags; /* the event's */
    bool fixed_delay;
    uint8_t holds; /* weir__timer_holds: what the payload is */
    union {
        unsigned char bytes[WEIR_EVENT_INLINE_MAX];
        uint64_t align;
        struct {
            weir_block *block;
            const void *data;
        } shared;
        struct weir__lone *lone;
    } payload;
} weir__timer_load;
_Static_assert(sizeof(weir__timer_load) == 88, "120 bytes a timer, with the record above");

typedef enum weir__timer_holds {
    WEIR__HOLDS_BYTES,
    WEIR__HOLDS_BLOCK, /* a reference */
    WEIR__HOLDS_PLACE, /* a place in the receiver's mailbox, and the event in its envelope */
    WEIR__HOLDS_ALARM, /* nothing: it rings for the receiver's questions, and stays */
} weir__timer_holds;

typedef struct weir__timer_slab {
    weir__timer timers[WEIR__SLAB_TIMERS];
    weir__timer_load loads[WEIR__SLAB_TIMERS];
    struct weir__timer_slab *next, *previous; /* of those with a free number */
    uint32_t free_first, free_last;           /* numbers */
    uint32_t fresh;                           /* so many were in use at least once */
    uint32_t live;
    uint32_t index; /* in the table */
} weir__timer_slab;

typedef struct weir__timer_row {
    weir__timer_slab *slab; /* NULL: there is none ... */
    uint32_t generation;    /* ... and the next one's timers begin here */
} weir__timer_row;

typedef struct weir__timer_store {
    weir__timer_row *table;
    uint32_t table_size;
    uint32_t slabs;              /* in the table */
    uint32_t lowest;             /* no row below is without a slab */
    uint32_t empty;              /* slabs without a timer: one at most is kept */
    weir__timer_slab *with_room; /* a list */
} weir__timer_store;

static inline weir__timer_slab *weir__timer_slab_of(const weir__timer_store *store, uint32_t which)
{
    return store->table[(which - 1) >> WEIR__SLAB_BITS].slab;
}

/* A number that is in use. */
static inline weir__timer *weir__timer_at(const weir__timer_store *store, uint32_t which)
{
    return &weir__timer_slab_of(store, which)->timers[(which - 1) % WEIR__SLAB_TIMERS];
}

static inline weir__timer_load *weir__timer_load_at(const weir__timer_store *store, uint32_t which)
{
    return &weir__timer_slab_of(store, which)->loads[(which - 1) % WEIR__SLAB_TIMERS];
}

/* A number for a new timer, whose generation is set, and whose `place` and `outcomes` are not to be
 * touched; 0: give it a slab first. */
uint32_t weir__timer_take(weir__timer_store *store);

/* The timer has ended so. Returns a slab that is no longer needed, to be released; or NULL. */
weir__timer_slab *weir__timer_end(weir__timer_store *store, uint32_t number,
                                  weir_timer_outcome outcome);

/* Takes a slab, whose memory need not be zeroed. False: the table is full, or one with room is
 * there by now. */
bool weir__timer_add_slab(weir__timer_store *store, weir__timer_slab *slab);

/* How it is with a number and a generation, whatever they are: PENDING as long as it lives. False:
 * it never was, or nothing is known of it any more. */
bool weir__timer_look(const weir__timer_store *store, uint32_t number, uint32_t generation,
                      weir_timer_outcome *outcome);

#endif /* WEIR_TIME_TIMER_H */
