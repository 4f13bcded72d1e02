/*
 * engine/registry.c - slots and generations, limbo and grace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/registry.h"

#include "base/assert.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/life.h"
#include "engine/processor.h"
#include "engine/signal.h"

#define LIMBO_WORTH_A_BARRIER 32u

weir_status weir__registry_open(weir_engine *engine)
{
    weir__registry *registry = &engine->registry;
    registry->maximum = engine->options.processors_max;
    /* One more, for slots in limbo: they are not in use, and cannot be used yet. */
    registry->chunks_max = registry->maximum / WEIR__CHUNK_SLOTS + 2;
    if (registry->chunks_max > WEIR__CHUNKS_MAX) {
        registry->chunks_max = WEIR__CHUNKS_MAX;
    }
    registry->chunks =
        weir__allocate(&engine->allocator, registry->chunks_max * sizeof(*registry->chunks));
    registry->names.allocator = &engine->allocator;
    registry->engine_tag = (uint8_t)(1 + engine->serial % 255);
    return registry->chunks != NULL ? WEIR_OK : WEIR_E_NOMEM;
}

void weir__registry_close(weir_engine *engine)
{
    weir__registry *registry = &engine->registry;
    /* A walk through all the memory, for those few that own some. */
    for (uint32_t i = 0; i < registry->used && registry->colds > 0; i++) {
        weir__life_free(engine, weir__registry_slot(registry, i));
    }
    for (uint32_t i = 0; i * WEIR__CHUNK_SLOTS < registry->used; i++) {
        weir__release(&engine->allocator, weir__load(&registry->chunks[i], relaxed),
                      WEIR__CHUNK_BYTES);
    }
    weir__release(&engine->allocator, registry->chunks,
                  registry->chunks_max * sizeof(*registry->chunks));
    weir__namemap_close(&registry->names);
}

weir__processor *weir__registry_slot(weir__registry *registry, uint32_t index)
{
    return &weir__load(&registry->chunks[index / WEIR__CHUNK_SLOTS],
                       relaxed)[index % WEIR__CHUNK_SLOTS];
}

/* True if no context that was inside when the grace period began is still in the same call. */
static bool grace_over(weir_engine *engine)
{
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        /* [R2] pairs with [R1]. */
        if ((c->grace_seen & 1) != 0 && weir__load(&c->inside, acquire) == c->grace_seen) {
            return false;
        }
    }
    return weir__signals_quiet(engine);
}

static void begin_grace(weir_engine *engine)
{
    /* Whoever enters after this barrier sees that the handles are stale; whoever was inside before
     * it shows an odd mark. */
    weir__barrier_heavy();
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        c->grace_seen = weir__load(&c->inside, acquire);
    }
}

/* Moves what has passed its grace period to the free list, and begins the next one. */
static void poll_grace(weir_engine *engine)
{
    weir__registry *registry = &engine->registry;
    if (registry->in_grace != NULL && grace_over(engine)) {
        while (registry->in_grace != NULL) {
            weir__processor *processor = registry->in_grace;
            registry->in_grace = processor->ready_next;
            weir__life_free(engine, processor);
            processor->ready_next = registry->free;
            registry->free = processor;
        }
    }
    if (registry->in_grace == NULL && registry->limbo_count >= LIMBO_WORTH_A_BARRIER) {
        registry->in_grace = registry->limbo;
        registry->limbo = NULL;
        registry->limbo_count = 0;
        begin_grace(engine);
    }
}

static weir__processor *new_slot(weir_engine *engine, weir_status *status)
{
    weir__registry *registry = &engine->registry;
    const uint32_t index = registry->used;
    const uint32_t chunk_index = index / WEIR__CHUNK_SLOTS;
    if (chunk_index >= registry->chunks_max) {
        *status = WEIR_E_LIMIT;
        return NULL;
    }
    weir__processor *chunk = weir__load(&registry->chunks[chunk_index], relaxed);
    if (chunk == NULL) {
        chunk = weir__allocate(&engine->allocator, WEIR__CHUNK_BYTES);
        if (chunk == NULL) {
            *status = WEIR_E_NOMEM;
            return NULL;
        }
        /* [S2] pairs with [S1]. */
        weir__store(&registry->chunks[chunk_index], chunk, release);
    }
    registry->used++;
    weir__processor *processor = &chunk[index % WEIR__CHUNK_SLOTS];
    weir__store(&processor->id, index, relaxed);
    return processor;
}

weir__processor *weir__registry_take(weir_engine *engine, weir_status *status)
{
    weir__registry *registry = &engine->registry;
    if (weir__load(&registry->count, relaxed) >= registry->maximum) {
        *status = WEIR_E_LIMIT;
        return NULL;
    }
    if (registry->free == NULL) {
        poll_grace(engine);
    }
    weir__processor *processor = registry->free;
    if (processor != NULL) {
        registry->free = processor->ready_next;
        processor->ready_next = NULL;
    } else {
        processor = new_slot(engine, status);
    }
    if (processor != NULL) {
        weir__store(&registry->count, weir__load(&registry->count, relaxed) + 1, relaxed);
    }
    return processor;
}

weir_processor weir__registry_publish(weir_engine *engine, weir__processor *processor)
{
    weir__registry *registry = &engine->registry;
    const uint64_t generation = (weir__load(&processor->id, relaxed) >> 32) + 1;
    const uint64_t id = generation << 32 |
                        (uint64_t)registry->engine_tag << WEIR__HANDLE_INDEX_BITS |
                        weir__processor_index(processor);
    /* [S4] pairs with [S3]. */
    weir__store(&processor->id, id, release);
    return (weir_processor){ id };
}

void weir__registry_give_back(weir_engine *engine, weir__processor *processor)
{
    weir__registry *registry = &engine->registry;
    processor->ready_next = registry->free;
    registry->free = processor;
    weir__store(&registry->count, weir__load(&registry->count, relaxed) - 1, relaxed);
}

void weir__registry_retire(weir_engine *engine, weir__processor *processor)
{
    weir__registry *registry = &engine->registry;
    /* The generation stays, without a tag: no handle matches. */
    const uint64_t id = weir__load(&processor->id, relaxed);
    registry->done_gone += weir__processor_done(processor);
    weir__counters_gone(&registry->gone, processor);
    weir__store(&processor->id, id & ~WEIR__HANDLE_TAG, release);
    processor->ready_next = registry->limbo;
    registry->limbo = processor;
    registry->limbo_count++;
    weir__store(&registry->count, weir__load(&registry->count, relaxed) - 1, relaxed);
}
