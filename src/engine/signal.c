/*
 * engine/signal.c - weir_signal: a ring of envelopes made beforehand, so that a post needs no lock,
 * no pool and no thread-local state: only atomics, and a system call to wake somebody.
 *
 * Several handlers may post to one ring at once, on different threads or nested on one. Free
 * envelopes are a stack of indices with a tag; counters are shared, so they are exchanged.
 *
 * A handle is | serial of the engine 32 | slot + 1, 32 |; slots of the process are never freed, so
 * a stale handle finds no ring, or one of another engine, and is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/signal.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/processwide.h"
#include "engine/lease.h"
#include "engine/processor.h"
#include "sync/thread.h"

#define RINGS_MAX 64u
#define CAPACITY_DEFAULT 64u
#define CAPACITY_MAX 65536u
#define NONE UINT32_MAX

typedef struct weir__signal_ring {
    weir_engine *engine;
    weir_processor to;
    uint64_t handle;
    uint32_t capacity;
    weir__atomic_u64 free;   /* | tag 32 | index of the first free envelope 32 | */
    weir__atomic_u32 inside; /* posts under way: the mark of all its users together */
    weir__atomic_u64 attempted, full, stopping, unknown;
    struct weir__signal_ring *next; /* of the engine */
    weir__lone *envelopes;
} weir__signal_ring;

/* Set once, cleared by the engine's end; read by signal handlers. */
static WEIR__PROCESS_WIDE WEIR__ATOMIC(weir__signal_ring *) rings[RINGS_MAX];

const weir_event_type weir_signal_type = {
    sizeof(weir_event_type), "weir.signal", (uint32_t)sizeof(uint64_t), false, NULL, NULL
};

/* A free envelope keeps the index of the next one in its link. */
static weir__lone *pop_free(weir__signal_ring *ring)
{
    /* [G1] pairs with [G2]: the envelope's last reader is done with it. */
    uint64_t top = weir__load(&ring->free, acquire);
    for (;;) {
        const uint32_t index = (uint32_t)top;
        if (index == NONE) {
            return NULL;
        }
        weir__lone *lone = &ring->envelopes[index];
        const uint32_t below = (uint32_t)weir__load(&lone->pooled.link, relaxed);
        const uint64_t next = ((top >> 32) + 1) << 32 | below;
        if (weir__cas(&ring->free, &top, next, acquire, acquire)) {
            return lone;
        }
    }
}

static void push_free(weir__signal_ring *ring, weir__lone *lone)
{
    const uint32_t index = (uint32_t)(lone - ring->envelopes);
    uint64_t top = weir__load(&ring->free, relaxed);
    uint64_t next;
    do {
        weir__store(&lone->pooled.link, (uint32_t)top, relaxed);
        next = ((top >> 32) + 1) << 32 | index;
        /* [G2] pairs with [G1]. */
    } while (!weir__cas(&ring->free, &top, next, release, relaxed));
}

void weir__signal_give_back(weir__lone *lone)
{
    push_free(lone->home, lone);
}

static weir__signal_ring *first_of(weir_engine *engine)
{
    return weir__load(&engine->signals, acquire); /* [G6] pairs with [G5] */
}

bool weir__signals_quiet(weir_engine *engine)
{
    for (weir__signal_ring *r = first_of(engine); r != NULL; r = r->next) {
        if (weir__load(&r->inside, seq_cst) != 0) {
            return false;
        }
    }
    return true;
}

bool weir__signals_wait(weir_engine *engine, weir_ns deadline)
{
    for (weir__signal_ring *ring = first_of(engine); ring != NULL; ring = ring->next) {
        while (weir__load(&ring->inside, seq_cst) != 0) {
            if (deadline != WEIR_FOREVER && weir__clock_now() >= deadline) {
                return false;
            }
            weir__yield();
        }
    }
    return true;
}

void weir__signals_sum_done(weir_engine *engine, weir__sums *sums)
{
    for (weir__signal_ring *r = first_of(engine); r != NULL; r = r->next) {
        sums->refused_full += weir__load(&r->full, acquire);
        sums->refused_stopping += weir__load(&r->stopping, acquire);
        sums->refused_unknown += weir__load(&r->unknown, acquire);
    }
}

void weir__signals_sum_begun(weir_engine *engine, weir__sums *sums)
{
    for (weir__signal_ring *r = first_of(engine); r != NULL; r = r->next) {
        sums->attempted += weir__load(&r->attempted, acquire);
    }
}

static weir__signal_ring *new_ring(weir_engine *engine, weir_processor to, uint32_t capacity)
{
    weir__signal_ring *ring = weir__allocate(&engine->allocator, sizeof(*ring));
    if (ring == NULL) {
        return NULL;
    }
    ring->engine = engine;
    ring->to = to;
    ring->capacity = capacity;
    ring->envelopes = weir__allocate(&engine->allocator, capacity * sizeof(*ring->envelopes));
    if (ring->envelopes == NULL) {
        weir__release(&engine->allocator, ring, sizeof(*ring));
        return NULL;
    }
    for (uint32_t i = 0; i < capacity; i++) {
        weir__lone *lone = &ring->envelopes[i];
        lone->home = ring;
        weir__store(&lone->pooled.link, i + 1 < capacity ? i + 1 : NONE, relaxed);
    }
    return ring;
}

static void free_ring(weir_engine *engine, weir__signal_ring *ring)
{
    weir__release(&engine->allocator, ring->envelopes, ring->capacity * sizeof(*ring->envelopes));
    weir__release(&engine->allocator, ring, sizeof(*ring));
}

void weir__signals_close(weir_engine *engine)
{
    weir__signal_ring *next = first_of(engine);
    weir__store(&engine->signals, NULL, relaxed);
    while (next != NULL) {
        weir__signal_ring *ring = next;
        next = ring->next;
        weir__store(&rings[(uint32_t)ring->handle - 1], NULL, release);
        free_ring(engine, ring);
    }
}

weir_signal weir_signal_open(weir_engine *engine, weir_processor to, uint32_t capacity,
                             weir_error *error)
{
    const weir_signal none = { 0 };
    if (weir__error_is_set(error)) {
        return none;
    }
    if (!weir__engine_usable(engine)) {
        weir__error_at(error, WEIR_E_INVALID, "weir_signal_open.engine", "is no usable engine");
        return none;
    }
    if (capacity > CAPACITY_MAX) {
        weir__error_at(error, WEIR_E_INVALID, "weir_signal_open.capacity",
                       "is %u, must be 1 to %u (0 = the default, %u)", capacity, CAPACITY_MAX,
                       CAPACITY_DEFAULT);
        return none;
    }
    weir__mutex_lock(&engine->registry.lock);
    weir__processor *processor = weir__registry_find(&engine->registry, to);
    /* A handler must not wait for the thread that it has interrupted. */
    const bool prepared = processor != NULL && weir__lease_never(engine, processor);
    weir__mutex_unlock(&engine->registry.lock);
    if (processor == NULL) {
        weir__error_at(error, WEIR_E_INVALID, "weir_signal_open.to",
                       "is no processor of this engine, or gone");
        return none;
    }
    weir__signal_ring *ring =
        prepared ? new_ring(engine, to, capacity != 0 ? capacity : CAPACITY_DEFAULT) : NULL;
    if (ring == NULL) {
        weir__error_memory(error, "weir_signal_open");
        return none;
    }
    for (uint32_t i = 0; i < RINGS_MAX; i++) {
        weir__signal_ring *expected = NULL;
        ring->handle = engine->serial << 32 | (i + 1);
        /* [G3] pairs with [G4]: the ring is complete. */
        if (weir__cas(&rings[i], &expected, ring, release, relaxed)) {
            weir__mutex_lock(&engine->registry.lock);
            ring->next = weir__load(&engine->signals, relaxed);
            /* [G5] pairs with [G6]: the ring is complete, and those behind it were there before. */
            weir__store(&engine->signals, ring, release);
            weir__mutex_unlock(&engine->registry.lock);
            return (weir_signal){ ring->handle };
        }
    }
    free_ring(engine, ring);
    weir__error_at(error, WEIR_E_LIMIT, "weir_signal_open",
                   "%u signals are open in this process, which is the limit", RINGS_MAX);
    return none;
}

static weir_status offer(weir__signal_ring *ring, uint64_t value)
{
    weir_engine *engine = ring->engine;
    const weir__phase phase = weir__engine_phase(engine);
    if (phase >= WEIR__STOPPING) {
        weir__add(&ring->stopping, 1, seq_cst);
        return phase == WEIR__FORKED ? WEIR_E_INVALID : WEIR_STOPPING;
    }
    weir__processor *processor = weir__registry_find(&engine->registry, ring->to);
    if (processor == NULL) {
        weir__add(&ring->unknown, 1, seq_cst);
        return WEIR_UNKNOWN;
    }
    /* It is not leased: nothing is waited for. */
    WEIR_ASSERT_SLOW(((uintptr_t)weir__load(&processor->mailbox.beside, relaxed) & 1) == 0);
    weir__lone *lone = pop_free(ring);
    uint64_t before;
    const weir__claim claim =
        lone != NULL ? weir__mailbox_claim_beside(&processor->mailbox, &before) : WEIR__CLAIM_FULL;
    if (claim == WEIR__CLAIM_FULL || claim == WEIR__CLAIM_CLOSED) {
        if (lone != NULL) {
            push_free(ring, lone);
        }
        weir__add(claim == WEIR__CLAIM_FULL ? &ring->full : &ring->stopping, 1, seq_cst);
        return claim == WEIR__CLAIM_FULL ? WEIR_FULL : WEIR_STOPPING;
    }
    weir__envelope *envelope = &lone->envelope;
    lone->ask = 0;
    lone->tag = 0;
    lone->ticket = weir__mailbox_ticket(before);
    envelope->type = &weir_signal_type;
    envelope->size = (uint32_t)sizeof(value);
    envelope->sender = 0;
    envelope->flow = 0;
    memcpy(envelope->payload.bytes, &value, sizeof(value));
    weir__envelope_fill(envelope, WEIR__ENVELOPE_ALONE | WEIR__ENVELOPE_SIGNAL);
    weir__mailbox_put_beside(&processor->mailbox, lone);
    if (claim == WEIR__CLAIM_FIRST) {
        weir__dispatcher_push(weir__processor_dispatcher(processor), processor);
    }
    return WEIR_OK;
}

weir_status weir_signal_post(weir_signal signal, uint64_t value)
{
    const uint32_t slot = (uint32_t)signal.id;
    if (slot == 0 || slot > RINGS_MAX) {
        return WEIR_E_INVALID;
    }
    /* [G4] pairs with [G3]. */
    weir__signal_ring *ring = weir__load(&rings[slot - 1], acquire);
    if (ring == NULL || ring->handle != signal.id) {
        return WEIR_UNKNOWN;
    }
    /* seq_cst exchanges: a grace period and a stop see us without a barrier of ours. */
    weir__add(&ring->inside, 1, seq_cst);
    weir__add(&ring->attempted, 1, seq_cst);
    const weir_status status = offer(ring, value);
    if (status != WEIR_OK) {
        weir__engine_progress_if_stopping(ring->engine);
    }
    weir__sub(&ring->inside, 1, seq_cst);
    return status;
}
