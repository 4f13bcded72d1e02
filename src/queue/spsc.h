/*
 * queue/spsc.h - a ring with one writer: positions count up for ever, a place is its position
 * modulo the length, a power of two.
 *
 *     writer   room?  ->  write the place at `tail`  ->  weir__spsc_push
 *     reader   weir__spsc_tail  ->  read the places from `head` on  ->  weir__spsc_free
 *
 * Which calls may overlap: the writer's with the reader's, none with itself. Who reads may be
 * another thread each time, and so may who writes, if whatever makes them take turns (a lock) also
 * makes each see what the one before did.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_QUEUE_SPSC_H
#define WEIR_QUEUE_SPSC_H

#include "base/assert.h"
#include "sync/atomic.h"
#include "weir/base.h"

#define WEIR__SPSC_MAX (1u << 20)

typedef struct weir__spsc {
    /* The writer. */
    _Alignas(64) weir__atomic_u64 tail; /* below it everything is written */
    uint64_t head_seen;                 /* what it last read of head */
    /* The reader. */
    _Alignas(64) weir__atomic_u64 head; /* below it everything may be written over */
    /* Set once, before anybody writes. */
    _Alignas(64) unsigned char *places; /* NULL: it has none, and no room */
    uint32_t mask;
    uint32_t size; /* of a place */
} weir__spsc;

/* False: no memory. `length` is a power of two, at most WEIR__SPSC_MAX. */
bool weir__spsc_open(weir__spsc *ring, const weir_allocator *allocator, uint32_t length,
                     uint32_t size);
/* Nobody uses it. Zeroed memory may be closed, too. */
void weir__spsc_close(weir__spsc *ring, const weir_allocator *allocator);

static inline void *weir__spsc_at(const weir__spsc *ring, uint64_t position)
{
    return ring->places + (size_t)(position & ring->mask) * ring->size;
}

/* ---- the writer ---- */

static inline uint64_t weir__spsc_next(const weir__spsc *ring)
{
    return weir__load((weir__atomic_u64 *)(uintptr_t)&ring->tail, relaxed);
}

/* The place at the tail may be written. */
static inline bool weir__spsc_has_room(weir__spsc *ring)
{
    if (weir__unlikely(ring->places == NULL)) {
        return false;
    }
    const uint64_t tail = weir__spsc_next(ring);
    if (weir__likely(tail - ring->head_seen <= ring->mask)) {
        return true;
    }
    /* [FD2] pairs with [FD1]: the reader is done with the place. */
    ring->head_seen = weir__load(&ring->head, acquire);
    return tail - ring->head_seen <= ring->mask;
}

/* It is written. seq_cst: before a look at whether the reader is awake. */
static inline void weir__spsc_push(weir__spsc *ring)
{
    /* [FD3] pairs with [FD4]: what is in the place. */
    weir__store(&ring->tail, weir__spsc_next(ring) + 1, seq_cst);
}

/* ---- the reader ---- */

/* seq_cst: after it has said how far it has looked. */
static inline uint64_t weir__spsc_tail(weir__spsc *ring)
{
    return weir__load(&ring->tail, seq_cst); /* [FD4] pairs with [FD3] */
}

static inline void weir__spsc_free(weir__spsc *ring, uint64_t head)
{
    /* [FD1] pairs with [FD2]: we are done with what is below. */
    weir__store(&ring->head, head, release);
}

/* ---- any thread ---- */

/* Places in use. Neither number is older than the call. */
static inline uint32_t weir__spsc_length(const weir__spsc *ring)
{
    weir__spsc *r = (weir__spsc *)(uintptr_t)ring;
    const uint64_t head = weir__load(&r->head, acquire); /* first: it never passes the tail */
    const uint64_t length = weir__load(&r->tail, acquire) - head;
    return length <= r->mask ? (uint32_t)length : r->mask + (r->places != NULL ? 1 : 0);
}

#endif /* WEIR_QUEUE_SPSC_H */
