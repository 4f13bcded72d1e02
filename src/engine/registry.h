/*
 * engine/registry.h - handles to processors: a table whose memory is never returned while the
 * engine lives, and whose slots are reused only when nobody can still hold a pointer to them.
 *
 * A handle is | generation 32 | engine 8 | index 24 |. A slot knows the handle that is valid for
 * it; a stale one simply does not match.
 *
 * Reuse. An unregistered slot goes to *limbo*. Once enough are there, a grace period begins: a
 * heavy barrier, then the marks of all contexts are noted. When every context that was inside has
 * left, the slots are free. Nobody waits for it: registration polls, and takes a new slot
 * meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_REGISTRY_H
#define WEIR_ENGINE_REGISTRY_H

#include "base/namemap.h"
#include "sync/atomic.h"
#include "engine/outcome.h"
#include "engine/processor.h"
#include "sync/mutex.h"
#include "weir/base.h"

#ifdef WEIR_SIMULATED
#define WEIR__CHUNK_SLOTS 64u /* every run makes one anew */
#else
#define WEIR__CHUNK_SLOTS 512u /* 64 KiB: what an engine with one processor pays, too */
#endif
#define WEIR__CHUNKS_MAX 32769u

/* Behind the slots of a chunk: the most events that each processor was seen to have, which is
 * written by its owner. */
#define WEIR__CHUNK_BYTES (WEIR__CHUNK_SLOTS * (sizeof(weir__processor) + sizeof(weir__atomic_u32)))

typedef struct weir__registry {
    weir__mutex lock; /* guards everything here, and the families of processors */
    WEIR__ATOMIC(weir__processor *) * chunks; /* chunks_max of them; entries are set once */
    uint32_t chunks_max;
    uint32_t used;    /* slots handed out at least once */
    uint32_t maximum; /* processors at once */
    weir__atomic_u32 count;
    uint32_t needing;   /* of them: those with needs_final */
    uint32_t colds;     /* slots with a cold part, those in limbo included */
    uint64_t done_gone; /* weir__processor_done of those that are gone */
    weir__outcome gone; /* what they had in all: figures add up without them */
    weir__processor *free;
    weir__processor *limbo;
    weir__processor *in_grace;
    uint32_t limbo_count;
    weir__namemap names;
    weir__atomic_u64 named; /* processors that ever had one; read by all */
    uint8_t engine_tag;
} weir__registry;

weir_status weir__registry_open(weir_engine *engine);
void weir__registry_close(weir_engine *engine);

/* Any thread, inside its mark (or the owner of the processor, or under registry.lock). NULL: no
 * such processor, or it is gone. */
static inline weir__processor *weir__registry_find(weir__registry *registry, weir_processor handle)
{
    const uint32_t index = WEIR__HANDLE_INDEX(handle.id);
    const uint32_t chunk_index = index / WEIR__CHUNK_SLOTS;
    if (weir__unlikely(chunk_index >= registry->chunks_max)) {
        return NULL;
    }
    /* [S1] pairs with [S2]: the chunk is zeroed. */
    weir__processor *chunk = weir__load(&registry->chunks[chunk_index], acquire);
    if (weir__unlikely(chunk == NULL)) {
        return NULL;
    }
    weir__processor *processor = &chunk[index % WEIR__CHUNK_SLOTS];
    /* [S3] pairs with [S4]: the processor is complete. A zero handle matches no living slot. */
    const uint64_t id = weir__load(&processor->id, acquire);
    return weir__likely(id == handle.id && (id & WEIR__HANDLE_TAG) != 0) ? processor : NULL;
}

/* The owner, or whoever has the processor by handle. */
static inline weir__atomic_u32 *weir__registry_high(weir__processor *processor)
{
    const uint32_t at = weir__processor_index(processor) % WEIR__CHUNK_SLOTS;
    weir__processor *chunk = processor - at;
    return (weir__atomic_u32 *)(void *)(chunk + WEIR__CHUNK_SLOTS) + at;
}

/* A slot that was handed out at least once. */
weir__processor *weir__registry_slot(weir__registry *registry, uint32_t index);

/* registry.lock held. A slot with a fresh generation, or NULL: E_NOMEM or E_LIMIT in *status. */
weir__processor *weir__registry_take(weir_engine *engine, weir_status *status);
/* registry.lock held. Makes it reachable: the last step of a registration. */
weir_processor weir__registry_publish(weir_engine *engine, weir__processor *processor);
/* registry.lock held. The slot of a registration that failed before it was published. */
void weir__registry_give_back(weir_engine *engine, weir__processor *processor);
/* registry.lock held. Makes every handle to it stale; the slot is reused after a grace period. */
void weir__registry_retire(weir_engine *engine, weir__processor *processor);

#endif /* WEIR_ENGINE_REGISTRY_H */
