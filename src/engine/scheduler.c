/*
 * engine/scheduler.c - making schedulers, finding them, ending them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/scheduler.h"

#include "base/memory.h"
#include "engine/block.h"
#include "engine/engine.h"
#include "engine/room.h"
#include "engine/watchdog.h"
#include "sync/word.h"

/* A handle is | generation 32 | engine 8 | timer 24 |, and a timer is number x schedulers + which:
 * each has its share of the numbers. */
#define TIMER_BITS 24u
#define TIMER_MASK ((1u << TIMER_BITS) - 1)
#define CREDIT_STEP 64u

static size_t table_bytes(const weir__scheduler *scheduler)
{
    return scheduler->wheel.store.table_size * sizeof(weir__timer_row);
}

static void release(weir_engine *engine, weir__scheduler *scheduler)
{
    weir__release(&engine->allocator, scheduler->wheel.store.table, table_bytes(scheduler));
    weir__release(&engine->allocator, scheduler, sizeof(*scheduler));
}

/* registry.lock held. */
static weir_status make(weir_engine *engine, uint32_t index)
{
    weir__scheduler *scheduler = weir__allocate(&engine->allocator, sizeof(*scheduler));
    if (scheduler == NULL) {
        return WEIR_E_NOMEM;
    }
    const uint32_t numbers = TIMER_MASK / engine->options.scheduler_threads;
    const uint32_t enough = weir__timer_rows(engine->options.timers_max);
    const uint32_t most = numbers / WEIR__SLAB_TIMERS;
    weir__timer_store *store = &scheduler->wheel.store;
    scheduler->engine = engine;
    scheduler->index = index;
    scheduler->trail.engine = engine;
    scheduler->trail.name = "weir-timer";
    scheduler->watched.trail = &scheduler->trail;
    scheduler->watched.name = scheduler->trail.name;
    weir__wheel_open(&scheduler->wheel);
    store->table_size = enough < most ? enough : most;
    store->table = weir__allocate(&engine->allocator, table_bytes(scheduler));
    if (store->table == NULL) {
        release(engine, scheduler);
        return WEIR_E_NOMEM;
    }
    scheduler->context = weir__context_borrow(engine);
    if (scheduler->context == NULL) {
        release(engine, scheduler);
        return WEIR_E_NOMEM;
    }
    weir__watchdog_add(engine, &scheduler->watched);
    if (weir__os_thread_start(&scheduler->os, weir__scheduler_run, scheduler) != 0) {
        weir__watchdog_remove(engine, &scheduler->watched);
        weir__context_give_back(scheduler->context);
        release(engine, scheduler);
        return WEIR_E_SYSTEM;
    }
    /* [H1] pairs with [H2]: it is complete. */
    weir__store(&engine->schedulers[index], scheduler, release);
    return WEIR_OK;
}

weir__scheduler *weir__scheduler_at(weir_engine *engine, uint32_t index)
{
    return weir__load(&engine->schedulers[index], acquire); /* [H2] pairs with [H1] */
}

WEIR__SELDOM static weir__scheduler *need(weir_engine *engine, uint32_t index, weir_status *status)
{
    weir__mutex_lock(&engine->registry.lock);
    *status = WEIR_OK;
    if (weir__engine_phase(engine) >= WEIR__STOPPING) {
        *status = WEIR_STOPPING; /* those that there are have been told: no new one may come */
    } else if (weir__scheduler_at(engine, index) == NULL) {
        *status = make(engine, index);
    }
    weir__mutex_unlock(&engine->registry.lock);
    return *status == WEIR_OK ? weir__scheduler_at(engine, index) : NULL;
}

weir__scheduler *weir__scheduler_of(weir__context *context, weir_status *status)
{
    weir_engine *engine = context->engine;
    if (weir__unlikely(context->scheduler == 0)) {
        const uint32_t turn = weir__add(&engine->scheduler_turn, 1, relaxed);
        context->scheduler = 1 + turn % engine->options.scheduler_threads;
    }
    weir__scheduler *scheduler = weir__scheduler_at(engine, context->scheduler - 1);
    return weir__likely(scheduler != NULL) ? scheduler
                                           : need(engine, context->scheduler - 1, status);
}

void weir__scheduler_change(weir__context *context)
{
    context->scheduler = 1 + context->scheduler % context->engine->options.scheduler_threads;
}

weir_timer weir__scheduler_handle(const weir__scheduler *scheduler, uint32_t number,
                                  uint32_t generation)
{
    const weir_engine *engine = scheduler->engine;
    const uint64_t timer = (uint64_t)number * engine->options.scheduler_threads + scheduler->index;
    return (weir_timer){ (uint64_t)generation << 32 |
                         (uint64_t)engine->registry.engine_tag << TIMER_BITS | timer };
}

weir__scheduler *weir__scheduler_by_handle(weir_engine *engine, weir_timer timer, uint32_t *number,
                                           uint32_t *generation)
{
    const uint32_t count = engine->options.scheduler_threads;
    const uint32_t low = (uint32_t)timer.id;
    if (low >> TIMER_BITS != engine->registry.engine_tag) {
        return NULL;
    }
    *number = (low & TIMER_MASK) / count;
    *generation = (uint32_t)(timer.id >> 32);
    return weir__scheduler_at(engine, (low & TIMER_MASK) % count);
}

/* ---- how many may be pending ---- */

/* All that a scheduler has and does not use. */
static uint32_t take_credit(weir__scheduler *scheduler)
{
    weir__brief_lock(&scheduler->lock);
    const uint32_t credit = scheduler->credit;
    scheduler->credit = 0;
    weir__brief_unlock(&scheduler->lock);
    return credit;
}

/* What is left of the engine's, or else what others have. */
static uint32_t find_credit(weir_engine *engine)
{
    uint32_t left = weir__load(&engine->timers_left, relaxed);
    uint32_t got;
    do {
        got = left < CREDIT_STEP ? left : CREDIT_STEP;
    } while (!weir__cas(&engine->timers_left, &left, left - got, relaxed, relaxed));
    for (uint32_t i = 0; i < engine->options.scheduler_threads && got == 0; i++) {
        weir__scheduler *other = weir__scheduler_at(engine, i);
        got = other != NULL ? take_credit(other) : 0;
    }
    return got;
}

bool weir__scheduler_get_credit(weir__scheduler *scheduler)
{
    weir_engine *engine = scheduler->engine;
    /* One at a time: what one has found and not yet put down, another would miss. */
    weir__mutex_lock(&engine->credit_lock);
    const uint32_t got = take_credit(scheduler) + find_credit(engine);
    weir__brief_lock(&scheduler->lock);
    scheduler->credit += got;
    weir__brief_unlock(&scheduler->lock);
    weir__mutex_unlock(&engine->credit_lock);
    return got > 0;
}

void weir__scheduler_put_credit(weir__scheduler *scheduler)
{
    scheduler->credit++;
    if (scheduler->credit >= 2 * CREDIT_STEP) {
        scheduler->credit -= CREDIT_STEP;
        weir__add(&scheduler->engine->timers_left, CREDIT_STEP, relaxed);
    }
}

/* ---- waking, unloading, ending ---- */

void weir__scheduler_wake(weir__scheduler *scheduler)
{
    weir__add(&scheduler->word, 1, release);
    weir__word_wake(&scheduler->word, 1);
}

void weir__scheduler_unload(weir__context *context, const weir__timer_load *load)
{
    if (load->holds == WEIR__HOLDS_BLOCK) {
        weir__block_release(context, load->payload.shared.block);
    } else if (load->holds == WEIR__HOLDS_PLACE) {
        weir__envelope *envelope = &load->payload.lone->envelope;
        weir__room_unreserve(context, load->to);
        if ((weir__load(&envelope->state, relaxed) & WEIR__ENVELOPE_BLOCK) != 0) {
            weir__block_release(context, envelope->payload.shared.block);
        }
        weir__lone_put(context, load->payload.lone);
    }
}

void weir__scheduler_give_back(weir__scheduler *scheduler, weir__timer_slab *slab)
{
    const weir_allocator *allocator = &scheduler->engine->allocator;
    weir__ahead_give_back(&scheduler->ahead, allocator, (weir__slab_kind)slab->kind);
    weir__slab_release(allocator, slab);
}

void weir__schedulers_close(weir_engine *engine)
{
    for (uint32_t i = 0; i < engine->options.scheduler_threads; i++) {
        weir__scheduler *scheduler = weir__scheduler_at(engine, i);
        if (scheduler != NULL) {
            weir__brief_lock(&scheduler->lock);
            scheduler->closed = true;
            weir__brief_unlock(&scheduler->lock);
            weir__scheduler_wake(scheduler);
        }
    }
}

bool weir__schedulers_left(weir_engine *engine)
{
    for (uint32_t i = 0; i < engine->options.scheduler_threads; i++) {
        weir__scheduler *scheduler = weir__scheduler_at(engine, i);
        if (scheduler != NULL && weir__load(&scheduler->left, acquire) == 0) { /* [H4]: [H3] */
            return false;
        }
    }
    return true;
}

void weir__schedulers_free(weir_engine *engine)
{
    for (uint32_t i = 0; i < engine->options.scheduler_threads; i++) {
        weir__scheduler *scheduler = weir__scheduler_at(engine, i);
        if (scheduler == NULL) {
            continue;
        }
        weir__os_thread_join(&scheduler->os);
        weir__watchdog_remove(engine, &scheduler->watched);
        const weir__timer_store *store = &scheduler->wheel.store;
        for (uint32_t k = 0; k < store->table_size; k++) {
            weir__slab_release(&engine->allocator, store->table[k].slab);
        }
        weir__ahead_give_back(&scheduler->ahead, &engine->allocator, WEIR__SLAB_HOOKS);
        weir__ahead_give_back(&scheduler->ahead, &engine->allocator, WEIR__SLAB_EVENTS);
        release(engine, scheduler);
        weir__store(&engine->schedulers[i], NULL, relaxed);
    }
}
