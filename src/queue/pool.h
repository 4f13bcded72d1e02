/*
 * queue/pool.h - objects of one size, taken and given back without malloc.
 *
 * Each thread has a cache of two magazines (short stacks of free objects); full magazines travel
 * between threads through a depot, so that objects freed by another thread than the one that took
 * them come back in batches. Memory is type-stable: it returns to the allocator only when the pool
 * closes, so a stale pointer may be read (and found to be stale), never trusted.
 *
 *     cache of thread A            depot (lock-free stack of magazines)          cache of thread B
 *     [current][spare]   --full-->   [m] [m] [m] ...   --empty-->                [current][spare]
 *
 * Which calls may overlap on one pool: get and put with different caches freely; put_shared and
 * bytes with everything; close with nothing. One cache belongs to one thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_QUEUE_POOL_H
#define WEIR_QUEUE_POOL_H

#include "base/assert.h"
#include "sync/atomic.h"
#include "sync/mutex.h"
#include "weir/base.h"

/*
 * Every pooled object begins with this. While the object is taken both words are its owner's; but
 * `link` may be read at any time by a thread that is about to lose a race for the depot, so it is
 * only ever written atomically.
 */
typedef struct weir__pooled {
    WEIR__ATOMIC(struct weir__pooled *) next;
    weir__atomic_u64 link;
} weir__pooled;

typedef struct weir__pool {
    const weir_allocator *allocator;
    uint32_t object_size;                /* a multiple of 64 */
    uint32_t magazine_size;              /* objects in a full magazine */
    bool empty;                          /* free objects are zero behind their header */
    _Alignas(64) weir__atomic_u64 depot; /* top magazine: address / 64 in 42 bits, a tag in 22 */
    _Alignas(64) weir__mutex grow_lock;  /* guards what follows */
    struct weir__pool_chunk *chunks;
    char *fresh, *fresh_end;
    weir__cell bytes; /* written under grow_lock */
} weir__pool;

typedef struct weir__pool_cache {
    weir__pooled *current; /* chained by next */
    weir__pooled *spare;   /* a full magazine, or NULL */
    uint32_t count;        /* objects in current */
} weir__pool_cache;

void weir__pool_open(weir__pool *pool, const weir_allocator *allocator, uint32_t object_size,
                     uint32_t magazine_size);
/* The same, of objects that are zero behind their header when they are got, and must be when they
 * are put. */
void weir__pool_open_empty(weir__pool *pool, const weir_allocator *allocator, uint32_t object_size,
                           uint32_t magazine_size);
/* Frees all memory, whether its objects were given back or not. */
void weir__pool_close(weir__pool *pool);

/* The slow halves of get and put. refill: false when there is no memory. */
bool weir__pool_refill(weir__pool *pool, weir__pool_cache *cache);
void weir__pool_spill(weir__pool *pool, weir__pool_cache *cache);

/* At least `count` gets will succeed. False: there is no memory. */
bool weir__pool_reserve(weir__pool *pool, weir__pool_cache *cache, uint32_t count);

/* Gives all that the cache holds to the others: its thread ends. */
void weir__pool_flush(weir__pool *pool, weir__pool_cache *cache);
/* put for who has no cache. */
void weir__pool_put_shared(weir__pool *pool, weir__pooled *object);

/* An object with undefined content, or NULL. */
static inline weir__pooled *weir__pool_get(weir__pool *pool, weir__pool_cache *cache)
{
    if (weir__unlikely(cache->current == NULL) && !weir__pool_refill(pool, cache)) {
        return NULL;
    }
    weir__pooled *object = cache->current;
    cache->current = weir__load(&object->next, relaxed);
    cache->count--;
    return object;
}

static inline void weir__pool_put(weir__pool *pool, weir__pool_cache *cache, weir__pooled *object)
{
    if (weir__unlikely(cache->count >= pool->magazine_size)) {
        weir__pool_spill(pool, cache);
    }
    weir__store(&object->next, cache->current, relaxed);
    cache->current = object;
    cache->count++;
}

#endif /* WEIR_QUEUE_POOL_H */
