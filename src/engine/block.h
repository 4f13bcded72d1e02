/*
 * engine/block.h - counted payloads from bounded pools.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_BLOCK_H
#define WEIR_ENGINE_BLOCK_H

#include "engine/engine.h"
#include "engine/origin.h"

struct weir_block {
    weir__pooled pooled;
    weir_engine *engine;
    weir__atomic_u32 references;
    uint32_t class;
    size_t charged; /* bytes counted against the bound */
    size_t size;    /* of the payload */
    void *data;
    void (*done)(void *context, void *data); /* adopted ones */
    void *context;
    WEIR__ATOMIC(const weir_event_type *) drop_type; /* set by the first post of such a type */
    WEIR__ATOMIC(void *) drop_data;
    weir_block *tracked_next, *tracked_previous; /* under tracked_lock */
};

void weir__blocks_open(weir_engine *engine);
/* Frees the pools; what is still out is reported, and freed with them. */
void weir__blocks_close(weir_engine *engine);

/* Does [data, data + size) lie in the block? */
static inline bool weir__block_contains(const weir_block *block, const void *data, uint32_t size)
{
    const uintptr_t first = (uintptr_t)block->data;
    const uintptr_t at = (uintptr_t)data;
    return size == 0 ||
           (at >= first && at - first <= block->size && block->size - (at - first) >= size);
}

/* The type's drop hook, if any, runs when the last reference goes. */
static inline void weir__block_note_drop(weir_block *block, const weir_event_type *type,
                                         const void *data)
{
    if (type->drop != NULL) {
        weir__store(&block->drop_data, (void *)(uintptr_t)data, relaxed);
        weir__store(&block->drop_type, type, relaxed);
    }
}

/* A new block with a copy of the payload. */
weir_status weir__block_copy(weir__context *context, const weir_event *event, weir_block **out);
/* What an event refers to that is on its way: its own block, with one more reference, if that is of
 * this engine; a copy, if it is larger than inline_max; else nothing is set. *data is not NULL. */
weir_status weir__block_for(weir__context *context, const weir_event *event, uint32_t inline_max,
                            weir_block **out, const void **data);
/* As weir_block_release, for who has a context at hand (NULL: none). */
void weir__block_release(weir__context *context, weir_block *block);

/* What a filled envelope refers to, block and origin, is given back: its event has ended. If it was
 * at hand it is so no longer. Outside the mark, no lock held. `context` may be NULL. */
void weir__envelope_end(weir__context *context, weir__envelope *envelope, uint32_t state);
/* With ORIGIN or ASKER: which one what its handler sends has. An answer goes on with what its asker
 * was at, whoever gave it. */
static inline weir_origin *weir__envelope_origin(weir__envelope *envelope, uint32_t state)
{
    return (state & WEIR__ENVELOPE_ASKER) != 0 ? weir__lone_of(envelope)->origin
                                               : envelope->payload.shared.origin;
}

/* By who has a reference: so many more, in one step; and those that were not used back. */
void weir__block_take_many(weir_block *block, uint32_t count);
void weir__block_give_many(weir_block *block, uint32_t count);

/* A release in two, for who must not run the block's hooks where it is. let_go: true if that was
 * the last reference; then the caller puts the block aside, and ends it with all the others later.
 * */
bool weir__block_let_go(weir_block *block);
void weir__block_put_aside(weir_block *block, weir_block **list);
/* `list`: not NULL. */
void weir__blocks_end(weir__context *context, weir_block *list);

#endif /* WEIR_ENGINE_BLOCK_H */
