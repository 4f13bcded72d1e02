/*
 * queue/pool.c - the depot and the growing of a pool.
 *
 * The depot is a stack of magazines. A magazine is named by its first object; `link` of that object
 * holds the next magazine's address and its body the number of objects. The top word carries a tag
 * that changes with every push and pop: a pop that was overtaken while it read `link` fails its
 * exchange, even if the same magazine is on top again. 22 bits of tag: a thread would have to sleep
 * through exactly 4,194,304 depot operations between two instructions to be fooled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "queue/pool.h"

#include <string.h>

#include "base/memory.h"

#ifdef WEIR_SIMULATED
#define CHUNK_BYTES ((size_t)1 << 13) /* every run makes them anew */
#else
#define CHUNK_BYTES ((size_t)1 << 16)
#endif
#define TAG_BITS 22
#define TAG_MASK ((UINT64_C(1) << TAG_BITS) - 1)

/* In front of every chunk, so that close finds them all. One line, to keep objects aligned. */
struct weir__pool_chunk {
    struct weir__pool_chunk *next;
    size_t size;
    char fill[WEIR_CACHE_LINE - 2 * sizeof(void *)];
};
_Static_assert(sizeof(struct weir__pool_chunk) == WEIR_CACHE_LINE, "chunk header is one line");

/* Where a free magazine keeps its count: behind the header, in the first object's body. */
static uint32_t *count_of(weir__pooled *magazine)
{
    return (uint32_t *)(void *)(magazine + 1);
}

static uint64_t pack(const weir__pooled *magazine, uint64_t tag)
{
    return ((uint64_t)(uintptr_t)magazine >> 6) << TAG_BITS | (tag & TAG_MASK);
}

static weir__pooled *unpack(uint64_t top)
{
    return (weir__pooled *)(uintptr_t)((top >> TAG_BITS) << 6);
}

static void depot_push(weir__pool *pool, weir__pooled *magazine, uint32_t count)
{
    *count_of(magazine) = count;
    uint64_t top = weir__load(&pool->depot, relaxed);
    do {
        weir__store(&magazine->link, (uint64_t)(uintptr_t)unpack(top), relaxed);
        /* [P1] pairs with [P2]: the magazine's chain and count. */
    } while (!weir__cas(&pool->depot, &top, pack(magazine, top + 1), release, relaxed));
}

static weir__pooled *depot_pop(weir__pool *pool)
{
    /* [P2] pairs with [P1]. */
    uint64_t top = weir__load(&pool->depot, acquire);
    weir__pooled *magazine = unpack(top);
    while (magazine != NULL) {
        const uint64_t next = weir__load(&magazine->link, relaxed);
        const uint64_t below = pack((weir__pooled *)(uintptr_t)next, top + 1);
        if (weir__cas(&pool->depot, &top, below, acquire, acquire)) {
            return magazine;
        }
        magazine = unpack(top);
    }
    return NULL;
}

void weir__pool_open(weir__pool *pool, const weir_allocator *allocator, uint32_t object_size,
                     uint32_t magazine_size)
{
    WEIR_ASSERT(object_size % WEIR_CACHE_LINE == 0);
    WEIR_ASSERT(magazine_size > 0);
    memset(pool, 0, sizeof(*pool));
    pool->allocator = allocator;
    pool->object_size = object_size;
    pool->magazine_size = magazine_size;
}

void weir__pool_open_empty(weir__pool *pool, const weir_allocator *allocator, uint32_t object_size,
                           uint32_t magazine_size)
{
    weir__pool_open(pool, allocator, object_size, magazine_size);
    pool->empty = true;
}

void weir__pool_close(weir__pool *pool)
{
    struct weir__pool_chunk *chunk = pool->chunks;
    while (chunk != NULL) {
        struct weir__pool_chunk *next = chunk->next;
        weir__release(pool->allocator, chunk, chunk->size);
        chunk = next;
    }
    pool->chunks = NULL;
}

/* Room for at least one object at pool->fresh. Called with grow_lock held. */
static bool grow(weir__pool *pool)
{
    const size_t least = sizeof(struct weir__pool_chunk) + pool->object_size;
    const size_t size = least > CHUNK_BYTES ? least : CHUNK_BYTES;
    struct weir__pool_chunk *chunk = weir__allocate_raw(pool->allocator, size);
    if (chunk == NULL) {
        return false;
    }
    chunk->next = pool->chunks;
    chunk->size = size;
    pool->chunks = chunk;
    pool->fresh = (char *)(chunk + 1);
    pool->fresh_end = (char *)chunk + size;
    weir__cell_add(&pool->bytes, size);
    return true;
}

/* Cuts up to a magazine of new objects, in ascending order: neighbours are used together. */
static weir__pooled *carve(weir__pool *pool, uint32_t *count)
{
    weir__pooled *first = NULL;
    *count = 0;
    weir__mutex_lock(&pool->grow_lock);
    if ((size_t)(pool->fresh_end - pool->fresh) >= pool->object_size || grow(pool)) {
        const size_t left = (size_t)(pool->fresh_end - pool->fresh) / pool->object_size;
        *count = left < pool->magazine_size ? (uint32_t)left : pool->magazine_size;
        for (uint32_t i = *count; i > 0; i--) {
            char *memory = pool->fresh + (size_t)(i - 1) * pool->object_size;
            weir__pooled *object = (weir__pooled *)(void *)memory;
            if (pool->empty) {
                memset(memory, 0, pool->object_size);
            }
            weir__init(&object->next, first);
            weir__init(&object->link, 0);
            first = object;
        }
        pool->fresh += (size_t)*count * pool->object_size;
    }
    weir__mutex_unlock(&pool->grow_lock);
    return first;
}

bool weir__pool_refill(weir__pool *pool, weir__pool_cache *cache)
{
    if (cache->spare != NULL) {
        cache->current = cache->spare;
        cache->count = pool->magazine_size;
        cache->spare = NULL;
        return true;
    }
    weir__pooled *magazine = depot_pop(pool);
    if (magazine != NULL) {
        cache->count = *count_of(magazine);
        *count_of(magazine) = 0; /* an empty object is empty */
    } else {
        magazine = carve(pool, &cache->count);
    }
    cache->current = magazine;
    return magazine != NULL;
}

bool weir__pool_reserve(weir__pool *pool, weir__pool_cache *cache, uint32_t count)
{
    while (cache->count < count) {
        weir__pool_cache more = { NULL, cache->spare, 0 };
        cache->spare = NULL;
        if (!weir__pool_refill(pool, &more)) {
            return false;
        }
        /* Behind what is left: that is short, and its lines are here. */
        weir__pooled *last = cache->current;
        for (uint32_t i = 1; i < cache->count; i++) {
            last = weir__load(&last->next, relaxed);
        }
        if (last != NULL) {
            weir__store(&last->next, more.current, relaxed);
        } else {
            cache->current = more.current;
        }
        cache->count += more.count;
    }
    return true;
}

void weir__pool_spill(weir__pool *pool, weir__pool_cache *cache)
{
    if (cache->spare == NULL && cache->count == pool->magazine_size) {
        cache->spare = cache->current;
    } else {
        depot_push(pool, cache->current, cache->count);
    }
    cache->current = NULL;
    cache->count = 0;
}

void weir__pool_flush(weir__pool *pool, weir__pool_cache *cache)
{
    if (cache->current != NULL) {
        depot_push(pool, cache->current, cache->count);
    }
    if (cache->spare != NULL) {
        depot_push(pool, cache->spare, pool->magazine_size);
    }
    *cache = (weir__pool_cache){ NULL, NULL, 0 };
}

void weir__pool_put_shared(weir__pool *pool, weir__pooled *object)
{
    weir__store(&object->next, NULL, relaxed);
    depot_push(pool, object, 1);
}
