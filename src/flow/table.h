/*
 * flow/table.h - the flows of a shard: found by key, in the order of their last submit.
 *
 * Everything here is done under the shard's lock, unless it says otherwise. What needs memory is
 * done without it, before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_TABLE_H
#define WEIR_FLOW_TABLE_H

#include "base/assert.h"
#include "flow/key.h"

static inline weir__shard *weir__shard_for(weir__router *router, const weir__flow_key *key)
{
    return &router->shards[(uint32_t)(key->hash >> 32) & router->shard_mask];
}

/* NULL: no such flow. */
static inline weir__flow *weir__table_find(weir__router *router, weir__shard *shard,
                                           const weir__flow_key *key)
{
    weir__flow_table *table = weir__load(&shard->table, relaxed);
    const uint32_t tag = (uint32_t)key->hash;
    if (weir__unlikely(table == NULL)) {
        return NULL;
    }
    for (uint32_t at = tag & table->mask;; at = (at + 1) & table->mask) {
        const uint64_t slot = weir__load(&table->slots[at], relaxed);
        if (slot == 0) {
            return NULL;
        }
        if ((uint32_t)(slot >> 32) == tag) {
            weir__flow *flow = weir__flow_at(router, (uint32_t)slot);
            if (weir__likely(flow->id == key->id) &&
                (weir__likely(key->bytes == NULL) || weir__flow_has_bytes(flow, key))) {
                return flow;
            }
        }
    }
}
/* Its lines, asked for early, without the lock: first where the key falls, later what is there. */
void weir__table_expect(weir__router *router, const weir__flow_key *key);
void weir__table_expect_flow(weir__router *router, const weir__flow_key *key);

/* What a new flow would need. */
typedef enum weir__table_lack {
    WEIR__TABLE_LACKS_NOTHING,
    WEIR__TABLE_LACKS_ROOM,
    WEIR__TABLE_LACKS_RECORD
} weir__table_lack;
weir__table_lack weir__table_lacks(weir__shard *shard);
/* Without the lock: gets that. False: no memory. */
bool weir__table_supply(weir__router *router, weir__shard *shard, weir__table_lack lack);

/* Lacks nothing. `bytes`: the key's, to keep; or NULL. The record is zeroed but for the key, and
 * the newest. */
weir__flow *weir__table_add(weir__router *router, weir__shard *shard, const weir__flow_key *key,
                            const unsigned char *bytes);
/* Returns the bytes that were kept, to be freed without the lock (weir__flow_key_free); or NULL. */
const unsigned char *weir__table_remove(weir__router *router, weir__shard *shard, weir__flow *flow);

/* When it came to its place in the order of submits. */
static inline weir_ns weir__flow_listed(const weir__flow *flow)
{
    return flow->touched - ((weir_ns)flow->lag << 10);
}

/* It becomes the newest, as of its last touch. */
void weir__table_renew(weir__router *router, weir__shard *shard, weir__flow *flow);
/* The same, as of now: it is out of the way of those who look for old ones. */
static inline void weir__table_defer(weir__router *router, weir__shard *shard, weir__flow *flow,
                                     weir_ns now)
{
    flow->touched = now;
    weir__table_renew(router, shard, flow);
}

/* It was submitted to just now. */
static inline void weir__table_touch(weir__router *router, weir__shard *shard, weir__flow *flow,
                                     weir_ns now)
{
    const weir_ns since = now - weir__flow_listed(flow);
    flow->touched = now;
    flow->lag = (uint32_t)(since >> 10);
    if (weir__unlikely(since >= router->slack)) {
        weir__table_renew(router, shard, flow);
    }
}

/* No lock: nobody else is there, nor will be. Flows, tables and keys go; then the rest. */
void weir__table_empty(weir__router *router);
void weir__table_close(weir__router *router);

#endif /* WEIR_FLOW_TABLE_H */
