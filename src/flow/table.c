/*
 * flow/table.c - open addressing with linear probing; removal moves back what was pushed aside, so
 * that there are no tombstones and a table that is half full stays as fast as a new one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/table.h"

#include "base/assert.h"
#include "base/memory.h"

#define TABLE_FIRST 16u /* entries of a shard's first table */

/* ---- finding, guessed ---- */

void weir__table_expect(weir__router *router, const weir__flow_key *key)
{
    weir__shard *shard = weir__shard_for(router, key);
    /* [Y11] pairs with [Y12]: its mask. Tables stay until the router goes. */
    weir__flow_table *table = weir__load(&shard->table, acquire);
    __builtin_prefetch(shard, 1);
    if (table != NULL) {
        __builtin_prefetch(&table->slots[(uint32_t)key->hash & table->mask]);
    }
}

void weir__table_expect_flow(weir__router *router, const weir__flow_key *key)
{
    weir__flow_table *table = weir__load(&weir__shard_for(router, key)->table, acquire); /* [Y11] */
    const uint32_t tag = (uint32_t)key->hash;
    for (uint32_t i = 0; table != NULL && i < 4; i++) {
        const uint64_t slot = weir__load(&table->slots[(tag + i) & table->mask], relaxed);
        if ((uint32_t)(slot >> 32) == tag && (uint32_t)slot != 0) {
            __builtin_prefetch(weir__flow_at(router, (uint32_t)slot), 1);
            return;
        }
    }
}

/* ---- the order of submits ---- */

static weir__flow *flow_or_null(weir__router *router, uint32_t index)
{
    return index != 0 ? weir__flow_at(router, index) : NULL;
}

/* The oldest may be another one. */
static void tell_oldest(weir__router *router, weir__shard *shard)
{
    const weir__flow *oldest = flow_or_null(router, shard->oldest);
    weir__store(&shard->oldest_touched,
                oldest != NULL ? (uint64_t)weir__flow_listed(oldest) : UINT64_MAX, relaxed);
}

static void unlink_flow(weir__router *router, weir__shard *shard, weir__flow *flow)
{
    weir__flow *older = flow_or_null(router, flow->older);
    weir__flow *newer = flow_or_null(router, flow->newer);
    if (older != NULL) {
        older->newer = flow->newer;
    } else {
        shard->oldest = flow->newer;
    }
    if (newer != NULL) {
        newer->older = flow->older;
    } else {
        shard->newest = flow->older;
    }
}

static void append(weir__router *router, weir__shard *shard, weir__flow *flow)
{
    weir__flow *newest = flow_or_null(router, shard->newest);
    flow->older = shard->newest;
    flow->newer = 0;
    if (newest != NULL) {
        newest->newer = flow->index;
    } else {
        shard->oldest = flow->index;
    }
    shard->newest = flow->index;
}

void weir__table_renew(weir__router *router, weir__shard *shard, weir__flow *flow)
{
    const bool was_oldest = shard->oldest == flow->index;
    flow->lag = 0;
    if (shard->newest != flow->index) {
        unlink_flow(router, shard, flow);
        append(router, shard, flow);
    }
    if (was_oldest) {
        tell_oldest(router, shard);
    }
}

/* ---- room ---- */

static uint32_t capacity_of(weir__shard *shard)
{
    const weir__flow_table *table = weir__load(&shard->table, relaxed);
    return table != NULL ? table->mask + 1 : 0;
}

weir__table_lack weir__table_lacks(weir__shard *shard)
{
    /* At most three quarters full. */
    if ((uint64_t)(shard->count + 1) * 4 > (uint64_t)capacity_of(shard) * 3) {
        return WEIR__TABLE_LACKS_ROOM;
    }
    return shard->free == 0 ? WEIR__TABLE_LACKS_RECORD : WEIR__TABLE_LACKS_NOTHING;
}

static void put(weir__flow_table *table, uint64_t slot)
{
    uint32_t at = (uint32_t)(slot >> 32) & table->mask;
    while (weir__load(&table->slots[at], relaxed) != 0) {
        at = (at + 1) & table->mask;
    }
    weir__store(&table->slots[at], slot, relaxed);
}

static size_t table_size(uint32_t capacity)
{
    return sizeof(weir__flow_table) + capacity * sizeof(uint64_t);
}

/* Lock held: takes the place of the one that is there. */
static void replace(weir__shard *shard, weir__flow_table *table)
{
    weir__flow_table *old = weir__load(&shard->table, relaxed);
    for (uint32_t i = 0; old != NULL && i <= old->mask; i++) {
        const uint64_t slot = weir__load(&old->slots[i], relaxed);
        if (slot != 0) {
            put(table, slot);
        }
    }
    table->before = old;
    /* [Y12] pairs with [Y11]. */
    weir__store(&shard->table, table, release);
}

/* Twice the table. Nobody waits for the memory, but for the moving: some ns an entry. The old one
 * stays, for those who read it without the lock: all of them together are no larger than the last.
 */
static bool grow(weir__router *router, weir__shard *shard)
{
    weir__brief_lock(&shard->lock);
    const uint32_t seen = capacity_of(shard);
    weir__brief_unlock(&shard->lock);
    const uint32_t wanted = seen == 0 ? TABLE_FIRST : seen * 2;
    weir__flow_table *table = weir__allocate(&router->engine->allocator, table_size(wanted));
    if (table == NULL) {
        return false;
    }
    table->mask = wanted - 1;
    weir__brief_lock(&shard->lock);
    const bool needed = capacity_of(shard) == seen; /* else somebody was faster */
    if (needed) {
        replace(shard, table);
    }
    weir__brief_unlock(&shard->lock);
    if (needed) {
        weir__add(&router->bytes, table_size(wanted), relaxed);
    } else {
        weir__release(&router->engine->allocator, table, table_size(wanted));
    }
    return true;
}

/* The first chunks are had one by one, later ones many at a time, in huge pages: a router with few
 * flows stays small, and one with many meets the translation cache less often. */
#define CHUNKS_SINGLE 64u
#define SLAB_CHUNKS 64u

static size_t chunk_size(const weir__router *router)
{
    return router->stride * WEIR__FLOW_CHUNK;
}

static bool begins_slab(uint32_t number)
{
    return number >= CHUNKS_SINGLE && (number - CHUNKS_SINGLE) % SLAB_CHUNKS == 0;
}

/* records_lock held. More chunks that belong to no shard yet. False: no memory, or there are as
 * many as there may be. */
static bool make_chunks(weir__router *router)
{
    const weir_allocator *allocator = &router->engine->allocator;
    const uint32_t number = router->chunk_count;
    const uint32_t count = begins_slab(number) ? SLAB_CHUNKS : 1;
    const size_t size = chunk_size(router);
    if (number + count > router->chunk_max) {
        return false;
    }
    unsigned char *memory =
        count > 1 ? weir__allocate_huge(allocator, size * count) : weir__allocate(allocator, size);
    for (uint32_t i = 0; memory != NULL && i < count; i++) {
        /* [Y4] pairs with [Y3]. */
        weir__store(&router->chunks[number + i], memory + i * size, release);
    }
    router->chunk_count += memory != NULL ? count : 0;
    weir__add(&router->bytes, memory != NULL ? size * count : 0, relaxed);
    return memory != NULL;
}

/* A chunk of records for this shard, for good. */
static bool make_records(weir__router *router, weir__shard *shard)
{
    weir__mutex_lock(&router->records_lock);
    const bool there = router->chunk_given < router->chunk_count || make_chunks(router);
    const uint32_t number = router->chunk_given;
    router->chunk_given += there ? 1 : 0;
    weir__mutex_unlock(&router->records_lock);
    if (!there) {
        return false;
    }
    weir__brief_lock(&shard->lock);
    for (uint32_t i = WEIR__FLOW_CHUNK; i-- > 0;) {
        const uint32_t index = number * WEIR__FLOW_CHUNK + i;
        if (index != 0) { /* that one is nobody's */
            weir__flow *flow = weir__flow_at(router, index);
            flow->index = index;
            flow->free = true;
            flow->newer = shard->free;
            shard->free = index;
        }
    }
    weir__brief_unlock(&shard->lock);
    return true;
}

bool weir__table_supply(weir__router *router, weir__shard *shard, weir__table_lack lack)
{
    return lack == WEIR__TABLE_LACKS_ROOM ? grow(router, shard) : make_records(router, shard);
}

/* ---- adding and removing ---- */

weir__flow *weir__table_add(weir__router *router, weir__shard *shard, const weir__flow_key *key,
                            const unsigned char *bytes)
{
    const uint32_t index = shard->free;
    weir__flow *flow = weir__flow_at(router, index);
    shard->free = flow->newer;
    flow->id = key->id;
    flow->shown = key->id;
    flow->bytes = bytes;
    flow->size = (uint16_t)key->size;
    flow->shard = (uint16_t)(shard - router->shards);
    flow->submitted = 0;
    flow->dropped = 0;
    flow->finishes = 0;
    flow->life = 0;
    flow->touched = 0;
    flow->lag = 0;
    flow->why = 0;
    flow->chored = false;
    flow->free = false;
    flow->leaving = false;
    flow->lingers = false;
    flow->stateful = false;
    weir__store(&flow->handled, 0, relaxed);
    weir__store(&flow->lost, 0, relaxed);
    put(weir__load(&shard->table, relaxed), key->hash << 32 | index);
    shard->count++;
    append(router, shard, flow);
    if (shard->oldest == index) {
        tell_oldest(router, shard);
    }
    return flow;
}

static void take_out(weir__flow_table *table, uint32_t index, uint32_t tag)
{
    const uint32_t mask = table->mask;
    uint32_t hole = tag & mask;
    while ((uint32_t)weir__load(&table->slots[hole], relaxed) != index) {
        WEIR_ASSERT(weir__load(&table->slots[hole], relaxed) != 0);
        hole = (hole + 1) & mask;
    }
    for (uint32_t at = (hole + 1) & mask;; at = (at + 1) & mask) {
        const uint64_t slot = weir__load(&table->slots[at], relaxed);
        if (slot == 0) {
            break;
        }
        /* It may go where the hole is unless its home lies between the two. */
        const uint32_t home = (uint32_t)(slot >> 32) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            weir__store(&table->slots[hole], slot, relaxed);
            hole = at;
        }
    }
    weir__store(&table->slots[hole], 0, relaxed);
}

/* Where its key falls. */
static uint32_t tag_of(const weir__flow *flow)
{
    return (uint32_t)(flow->bytes != NULL ? flow->id : weir__flow_key_number(flow->id).hash);
}

const unsigned char *weir__table_remove(weir__router *router, weir__shard *shard, weir__flow *flow)
{
    const unsigned char *bytes = flow->bytes;
    take_out(weir__load(&shard->table, relaxed), flow->index, tag_of(flow));
    shard->count--;
    const bool was_oldest = shard->oldest == flow->index;
    unlink_flow(router, shard, flow);
    if (was_oldest) {
        tell_oldest(router, shard);
    }
    flow->bytes = NULL;
    flow->free = true;
    flow->newer = shard->free;
    shard->free = flow->index;
    return bytes;
}

void weir__table_empty(weir__router *router)
{
    const weir_allocator *allocator = &router->engine->allocator;
    for (uint32_t i = 0; router->shards != NULL && i <= router->shard_mask; i++) {
        weir__shard *shard = &router->shards[i];
        for (uint32_t index = shard->oldest; index != 0;) {
            weir__flow *flow = weir__flow_at(router, index);
            index = flow->newer;
            weir__flow_key_free(router, flow->bytes, flow->size);
        }
        for (weir__flow_table *table = weir__load(&shard->table, relaxed); table != NULL;) {
            weir__flow_table *before = table->before;
            weir__release(allocator, table, table_size(table->mask + 1));
            table = before;
        }
        weir__store(&shard->table, NULL, relaxed);
        shard->oldest = 0;
    }
    for (uint32_t i = 0; router->chunks != NULL && i < router->chunk_count; i++) {
        if (i < CHUNKS_SINGLE || begins_slab(i)) {
            weir__release(allocator, weir__load(&router->chunks[i], relaxed),
                          chunk_size(router) * (begins_slab(i) ? SLAB_CHUNKS : 1));
        }
    }
    router->chunk_count = 0;
    router->chunk_given = 0;
    weir__store(&router->bytes, 0, relaxed);
}

void weir__table_close(weir__router *router)
{
    const weir_allocator *allocator = &router->engine->allocator;
    weir__table_empty(router);
    weir__release(allocator, router->chunks, router->chunk_max * sizeof(*router->chunks));
    weir__release(allocator, router->shards, (router->shard_mask + 1) * sizeof(*router->shards));
    router->chunks = NULL;
    router->shards = NULL;
}
