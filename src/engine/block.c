/*
 * engine/block.c - blocks: nine sizes from pools, larger ones from the allocator, all within one
 * bound of bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/block.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "engine/traceparent.h"

#define HEADER_BYTES 128u
#define CLASS_SMALLEST                                                                             \
    256u /* with the header; each class is twice the one before: 256 B .. 64 KiB */
#define MAGAZINE_BYTES 16384u

enum { CLASS_LARGE = 255 };

_Static_assert(sizeof(struct weir_block) <= HEADER_BYTES, "a block's header");

const weir_event_type weir_bytes_type = {
    sizeof(weir_event_type), "weir.bytes", 0, true, NULL, NULL
};
const weir_event_type weir_text_type = {
    sizeof(weir_event_type), "weir.text", 0, true, NULL, NULL
};

static uint32_t class_bytes(uint32_t class)
{
    return CLASS_SMALLEST << class;
}

void weir__blocks_open(weir_engine *engine)
{
    for (uint32_t i = 0; i < WEIR__BLOCK_CLASSES; i++) {
        const uint32_t bytes = class_bytes(i);
        const uint32_t magazine = bytes < MAGAZINE_BYTES ? MAGAZINE_BYTES / bytes : 1;
        weir__pool_open(&engine->blocks[i], &engine->allocator, bytes, magazine);
    }
}

void weir__blocks_close(weir_engine *engine)
{
    const uint64_t out = weir__load(&engine->blocks_out, relaxed);
    if (out != 0) {
        char number[24];
        snprintf(number, sizeof(number), "%llu", (unsigned long long)out);
        const weir_log_field field = { "blocks", number };
        weir__log_say(&engine->log, NULL, WEIR_LOG_WARNING, WEIR_OK, "engine",
                      "blocks were not released before the engine was destroyed", &field, 1);
    }
    while (engine->tracked != NULL) {
        weir_block *block = engine->tracked;
        engine->tracked = block->tracked_next;
        if (block->done != NULL) {
            block->done(block->context, block->data);
        }
        if (block->class == CLASS_LARGE) {
            weir__release(&engine->allocator, block, block->charged);
        }
    }
    for (uint32_t i = 0; i < WEIR__BLOCK_CLASSES; i++) {
        weir__pool_close(&engine->blocks[i]);
    }
}

/* Blocks that come from no pool, or that owe somebody a call, are on a list: the engine's end finds
 * those that are still out. */
static void track(weir_engine *engine, weir_block *block)
{
    weir__mutex_lock(&engine->tracked_lock);
    block->tracked_previous = NULL;
    block->tracked_next = engine->tracked;
    if (engine->tracked != NULL) {
        engine->tracked->tracked_previous = block;
    }
    engine->tracked = block;
    weir__mutex_unlock(&engine->tracked_lock);
}

static void untrack(weir_engine *engine, weir_block *block)
{
    weir__mutex_lock(&engine->tracked_lock);
    if (block->tracked_previous != NULL) {
        block->tracked_previous->tracked_next = block->tracked_next;
    } else {
        engine->tracked = block->tracked_next;
    }
    if (block->tracked_next != NULL) {
        block->tracked_next->tracked_previous = block->tracked_previous;
    }
    weir__mutex_unlock(&engine->tracked_lock);
}

/* Takes `bytes` from the bound. False: used up. */
static bool charge(weir_engine *engine, size_t bytes)
{
    const uint64_t before = weir__add(&engine->block_bytes, bytes, relaxed);
    const uint64_t now = before + bytes;
    if (now > engine->options.block_bytes_max || now < before) {
        weir__sub(&engine->block_bytes, bytes, relaxed);
        weir__add(&engine->block_refused, 1, relaxed);
        return false;
    }
    uint64_t high = weir__load(&engine->block_bytes_high, relaxed);
    while (now > high && !weir__cas(&engine->block_bytes_high, &high, now, relaxed, relaxed)) {
    }
    return true;
}

static void uncharge(weir_engine *engine, size_t bytes)
{
    weir__sub(&engine->block_bytes, bytes, relaxed);
}

static uint32_t class_for(size_t total)
{
    uint32_t class = 0;
    while (class < WEIR__BLOCK_CLASSES && class_bytes(class) < total) {
        class ++;
    }
    return class < WEIR__BLOCK_CLASSES ? class : CLASS_LARGE;
}

static void set_up(weir_block *block, weir_engine *engine, uint32_t class, size_t charged,
                   size_t size)
{
    block->engine = engine;
    weir__store(&block->references, 1, relaxed);
    block->class = class;
    block->charged = charged;
    block->size = size;
    block->data = (char *)block + HEADER_BYTES;
    block->done = NULL;
    block->context = NULL;
    weir__store(&block->drop_type, NULL, relaxed);
    weir__store(&block->drop_data, NULL, relaxed);
    weir__add(&engine->blocks_out, 1, relaxed);
}

static weir_status reserve(weir__context *context, size_t size, weir_block **out)
{
    weir_engine *engine = context->engine;
    *out = NULL;
    if (size > UINT32_MAX) {
        weir__add(&engine->block_refused, 1, relaxed);
        return WEIR_E_NOMEM; /* more than an event can say that it has */
    }
    const size_t total = HEADER_BYTES + size;
    const uint32_t class = class_for(total);
    const size_t bytes = class == CLASS_LARGE ? total : class_bytes(class);
    if (!charge(engine, bytes)) {
        return WEIR_E_NOMEM;
    }
    weir_block *block = class == CLASS_LARGE ? weir__allocate_raw(&engine->allocator, total)
                                             : (void *)weir__pool_get(&engine->blocks[class],
                                                                      &context->blocks[class]);
    if (block == NULL) {
        uncharge(engine, bytes);
        weir__add(&engine->block_refused, 1, relaxed);
        return WEIR_E_NOMEM;
    }
    set_up(block, engine, class, bytes, size);
    if (class == CLASS_LARGE) {
        track(engine, block);
    }
    *out = block;
    return WEIR_OK;
}

weir_status weir_block_reserve(weir_engine *engine, size_t size, weir_block **out)
{
    if (out == NULL || !weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    *out = NULL;
    weir__context *context = weir__context_find(engine);
    return context != NULL ? reserve(context, size, out) : WEIR_E_NOMEM;
}

static void do_nothing(void *context, void *data)
{
    (void)context;
    (void)data;
}

weir_status weir_block_adopt(weir_engine *engine, void *data, size_t size,
                             void (*done)(void *context, void *data), void *context,
                             weir_block **out)
{
    if (out == NULL || (data == NULL && size > 0) || size > UINT32_MAX) {
        return WEIR_E_INVALID;
    }
    const weir_status status = weir_block_reserve(engine, 0, out);
    if (status == WEIR_OK) {
        (*out)->data = data;
        (*out)->size = size;
        (*out)->done = done != NULL ? done : do_nothing;
        (*out)->context = context;
        track(engine, *out);
    }
    return status;
}

void *weir_block_data(weir_block *block)
{
    return block != NULL ? block->data : NULL;
}

static inline void take(weir_block *block)
{
    const uint32_t before = weir__add(&block->references, 1, relaxed);
    WEIR_ASSERT(before > 0 && before < UINT32_MAX);
}

weir_block *weir_block_take(weir_block *block)
{
    if (block != NULL) {
        take(block);
    }
    return block;
}

void weir__block_take_many(weir_block *block, uint32_t count)
{
    const uint32_t before = weir__add(&block->references, count, relaxed);
    WEIR_ASSERT(before > 0 && before <= UINT32_MAX - count);
}

void weir__block_give_many(weir_block *block, uint32_t count)
{
    /* Relaxed: nobody read anything by them, and the caller's own comes after. */
    const uint32_t before = weir__sub(&block->references, count, relaxed);
    WEIR_ASSERT(before > count);
}

bool weir__block_let_go(weir_block *block)
{
    /* [N1] pairs with itself: the last one out sees what every reader did. */
    const uint32_t before = weir__sub(&block->references, 1, acq_rel);
    WEIR_ASSERT(before > 0);
    return before == 1;
}

/* Nobody has it any more. */
static void end(weir__context *context, weir_block *block)
{
    weir_engine *engine = block->engine;
    const weir_event_type *type = weir__load(&block->drop_type, relaxed);
    if (type != NULL) {
        type->drop(weir__load(&block->drop_data, relaxed));
    }
    if (block->done != NULL) {
        untrack(engine, block);
        block->done(block->context, block->data);
    }
    const uint32_t class = block->class;
    const size_t charged = block->charged;
    if (class == CLASS_LARGE) {
        untrack(engine, block);
        weir__release(&engine->allocator, block, charged);
    } else if (context != NULL && context->engine == engine) {
        weir__pool_put(&engine->blocks[class], &context->blocks[class], &block->pooled);
    } else {
        weir__pool_put_shared(&engine->blocks[class], &block->pooled);
    }
    weir__sub(&engine->blocks_out, 1, relaxed);
    uncharge(engine, charged);
}

void weir__block_release(weir__context *context, weir_block *block)
{
    if (weir__block_let_go(block)) {
        end(context, block);
    }
}

void weir__envelope_end(weir__context *context, weir__envelope *envelope, uint32_t state)
{
    if ((state & WEIR__ENVELOPE_BLOCK) != 0) {
        weir__block_release(context, envelope->payload.shared.block);
    }
    if ((state & WEIR__ENVELOPE_CARRIED) != 0) {
        weir__carried_drop(context);
    } else if ((state & WEIR__ENVELOPE_ORIGINS) != 0 && context != NULL) {
        weir__origin_leave(context); /* in front: it may be gone in a moment */
    }
    if ((state & WEIR__ENVELOPE_ORIGIN) != 0) {
        weir__origin_release(envelope->payload.shared.origin);
    }
    if ((state & WEIR__ENVELOPE_ASKER) != 0) {
        weir__origin_release(weir__lone_of(envelope)->origin);
    }
}

void weir__block_put_aside(weir_block *block, weir_block **list)
{
    weir__store(&block->pooled.next, *list != NULL ? &(*list)->pooled : NULL, relaxed);
    *list = block;
}

void weir__blocks_end(weir__context *context, weir_block *list)
{
    for (weir__pooled *at = &list->pooled; at != NULL;) {
        weir__pooled *next = weir__load(&at->next, relaxed);
        end(context, (weir_block *)(void *)at);
        at = next;
    }
}

void weir_block_release(weir_block *block)
{
    if (block != NULL && weir__engine_usable(block->engine)) {
        weir__block_release(weir__context_find(block->engine), block);
    }
}

weir_status weir__block_copy(weir__context *context, const weir_event *event, weir_block **out)
{
    const weir_status status = reserve(context, event->size, out);
    if (status == WEIR_OK && event->size > 0) { /* an empty one has no data */
        memcpy((*out)->data, event->data, event->size);
    }
    return status;
}

weir_status weir__block_for(weir__context *context, const weir_event *event, uint32_t inline_max,
                            weir_block **out, const void **data)
{
    weir_block *block = event->block;
    /* One of another engine is not shared: it would outlive its pool. */
    if (block != NULL && block->engine == context->engine) {
        weir__block_note_drop(block, event->type, event->data);
        take(block);
        *out = block;
        /* Nothing at all is somewhere, too: who handles it is promised an address. */
        *data = event->data != NULL ? event->data : block;
        return WEIR_OK;
    }
    if (event->type->drop != NULL) {
        return WEIR_E_TYPE; /* it cannot be copied, either */
    }
    if (event->size > inline_max) {
        const weir_status status = weir__block_copy(context, event, out);
        if (status != WEIR_OK) {
            return status;
        }
        *data = (*out)->data;
    }
    return WEIR_OK;
}

weir_status weir_event_keep(weir_engine *engine, const weir_event *event, weir_event *kept)
{
    if (kept == NULL || event == NULL || event->type == NULL || !weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    if (event->block != NULL) {
        weir_block_take(event->block);
        *kept = *event;
        return WEIR_OK;
    }
    weir_block *block;
    weir__context *context = weir__context_find(engine);
    const weir_status status =
        context != NULL ? weir__block_copy(context, event, &block) : WEIR_E_NOMEM;
    if (status == WEIR_OK) {
        *kept = *event;
        kept->block = block;
        kept->data = weir_block_data(block);
    }
    return status;
}

void weir_event_release(weir_event *kept)
{
    if (kept != NULL) {
        weir_block_release(kept->block);
        *kept = (weir_event){ .type = NULL };
    }
}

const void *weir_event_as(const weir_event *event, const weir_event_type *type)
{
    if (event == NULL || type == NULL || event->type == NULL) {
        return NULL;
    }
    const bool same = event->type == type || (event->type->size == type->size &&
                                              event->type->sized_by_event == type->sized_by_event &&
                                              strcmp(event->type->name, type->name) == 0);
    if (!same) {
        return NULL;
    }
    return event->data != NULL ? event->data : (const void *)event;
}
