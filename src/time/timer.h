/*
 * time/timer.h - what is known of a timer, and where: 120 bytes each, 72 without an event, in slabs
 * of 512 that come and go with the timers in them.
 *
 * A timer is two records: 32 bytes that the wheel works with, dense, so that going through a list
 * or cancelling touches little memory; and its *load*, what it is to do when it is due. One that
 * only calls a hook has the begin of a load, in a slab of such: most of what a timer costs that is
 * scheduled is memory that nobody has touched before.
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

#include <stddef.h>

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
    weir_timer_hook hook;
    void *context;
    uint32_t size;
    uint16_t flags; /* the event's */
    bool fixed_delay;
    uint8_t holds; /* weir__timer_holds: what the payload is */
    /* Of an event. Without one this is not there. */
    uint64_t flow, tag;
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
_Static_assert(offsetof(weir__timer_load, flow) == 40, "72 bytes one without an event");

typedef enum weir__timer_holds {
    WEIR__HOLDS_BYTES,
    WEIR__HOLDS_BLOCK, /* a reference */
    WEIR__HOLDS_PLACE, /* a place in the receiver's mailbox, and the event in its envelope */
    WEIR__HOLDS_ALARM, /* nothing: it rings for the receiver's questions, and stays */
} weir__timer_holds;

/* What the loads in a slab have room for. */
typedef enum weir__slab_kind {
    WEIR__SLAB_HOOKS,
    WEIR__SLAB_EVENTS, /* and hooks, if they have one */
} weir__slab_kind;
#define WEIR__SLAB_KINDS 2

typedef struct weir__timer_slab {
    weir__timer timers[WEIR__SLAB_TIMERS];
    struct weir__timer_slab *next, *previous; /* of those of its kind with a free number */
    uint32_t free_first, free_last;           /* numbers */
    uint32_t fresh;                           /* so many were in use at least once */
    uint32_t live;
    uint32_t index; /* in the table */
    uint32_t kind;  /* weir__slab_kind: set by who brings it, and stays */
    _Alignas(8) unsigned char loads[];
} weir__timer_slab;

static inline size_t weir__slab_load_size(uint32_t kind)
{
    return kind == WEIR__SLAB_HOOKS ? offsetof(weir__timer_load, flow) : sizeof(weir__timer_load);
}

static inline size_t weir__slab_size(uint32_t kind)
{
    return sizeof(weir__timer_slab) + WEIR__SLAB_TIMERS * weir__slab_load_size(kind);
}

typedef struct weir__timer_row {
    weir__timer_slab *slab; /* NULL: there is none ... */
    uint32_t generation;    /* ... and the next one's timers begin here */
} weir__timer_row;

typedef struct weir__timer_store {
    weir__timer_row *table;
    uint32_t table_size;
    uint32_t lowest; /* no row below is without a slab */
    struct {
        uint32_t slabs;              /* in the table */
        uint32_t empty;              /* those without a timer: one at most is kept */
        weir__timer_slab *with_room; /* a list */
    } kinds[WEIR__SLAB_KINDS];
} weir__timer_store;

/* How many rows it takes for so many timers, whatever they are and in which order they end: a slab
 * stays for one that is left, and is of no use to those of the other kind. */
static inline uint32_t weir__timer_rows(uint32_t timers)
{
    return WEIR__SLAB_KINDS * (timers / WEIR__SLAB_TIMERS + 1) + 1;
}

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
    weir__timer_slab *slab = weir__timer_slab_of(store, which);
    return (weir__timer_load *)(void *)&slab
        ->loads[(which - 1) % WEIR__SLAB_TIMERS * weir__slab_load_size(slab->kind)];
}

/* A number for a new timer in a slab of that kind, whose generation is set, and whose `place` and
 * `outcomes` are not to be touched; 0: give it a slab first. */
uint32_t weir__timer_take(weir__timer_store *store, weir__slab_kind kind);

/* The timer has ended so. Returns a slab that is no longer needed, to be released; or NULL. */
weir__timer_slab *weir__timer_end(weir__timer_store *store, uint32_t number,
                                  weir_timer_outcome outcome);

/* Takes a slab, whose memory need not be zeroed but for its kind. False: the table is full, or one
 * of that kind with room is there by now. */
bool weir__timer_add_slab(weir__timer_store *store, weir__timer_slab *slab);

/* A bit for each kind of which there is more than one slab. */
static inline uint32_t weir__timer_many(const weir__timer_store *store)
{
    uint32_t many = 0;
    for (uint32_t kind = 0; kind < WEIR__SLAB_KINDS; kind++) {
        many |= (store->kinds[kind].slabs > 1 ? 1u : 0u) << kind;
    }
    return many;
}

/* What its slabs take. */
static inline size_t weir__timer_slab_bytes(const weir__timer_store *store)
{
    size_t sum = 0;
    for (uint32_t kind = 0; kind < WEIR__SLAB_KINDS; kind++) {
        sum += store->kinds[kind].slabs * weir__slab_size(kind);
    }
    return sum;
}

/* How it is with a number and a generation, whatever they are: PENDING as long as it lives. False:
 * it never was, or nothing is known of it any more. */
bool weir__timer_look(const weir__timer_store *store, uint32_t number, uint32_t generation,
                      weir_timer_outcome *outcome);

#endif /* WEIR_TIME_TIMER_H */
