/*
 * engine/reshape.c - one lock hold in which everything that can fail comes first: memory, then the
 * look at who would be left without a thread; then everything is written, and nothing fails any
 * more. What threads read without the lock are single words, each of which may be old or new: the
 * length of a turn, a policy, a delay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/reshape.h"

#include <string.h>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/placement.h"
#include "engine/stop.h"

/* ---- what can fail ---- */

static const weir__processor_shape *shape_of(const weir__shape *shape,
                                             const weir__processor_cold *cold)
{
    for (size_t i = 0; cold != NULL && cold->name != NULL && i < shape->processor_count; i++) {
        if (strcmp(shape->processors[i].name, cold->name) == 0) {
            return &shape->processors[i];
        }
    }
    return NULL;
}

/* Policies but to fail, and drops, are kept in the cold part. */
static bool make_cold_parts(weir_engine *engine, const weir__shape *shape)
{
    if (shape->defaults->overflow == WEIR_OVERFLOW_FAIL) {
        return true; /* who has a name has a cold part */
    }
    for (uint32_t i = 0; i < engine->registry.used; i++) {
        weir__processor *processor = weir__registry_slot(&engine->registry, i);
        if (!weir__processor_is_live(processor) || weir__processor_cold_of(processor) != NULL) {
            continue;
        }
        weir__processor_cold *cold = weir__processor_cold_make(engine, processor);
        if (cold == NULL) {
            return false;
        }
        weir__store(&cold->overflow, WEIR_OVERFLOW_FAIL, relaxed); /* what it was without */
    }
    return true;
}

/* ---- what cannot ---- */

static void shape_dispatcher(weir__dispatcher *d, const weir__shape *shape)
{
    const weir_engine_options *defaults = shape->defaults;
    weir__backoff_plan own = { .base = 0 };
    d->batch_max = 0;
    for (size_t i = 0; !d->dedicated && i < shape->dispatcher_count; i++) {
        const weir_dispatcher_options *o = &shape->dispatchers[i];
        if (strcmp(o->name, d->name) == 0) {
            own = (weir__backoff_plan){ o->backoff_base, o->backoff_max, o->backoff_multiplier, 0 };
            d->batch_max = o->batch_max;
        }
    }
    d->backoff_own = own;
    const weir__backoff_plan plan = {
        own.base != 0 ? own.base : defaults->backoff_base,
        own.max != 0 ? own.max : defaults->backoff_max,
        own.multiplier != 0 ? own.multiplier : defaults->backoff_multiplier,
        defaults->backoff_jitter,
    };
    weir__backoff_write(&d->backoff, &plan);
}

/* What is to be there from the beginning is: somebody wakes who waits, or makes room. */
static bool can_become(const weir__processor *processor, weir_overflow policy)
{
    return policy == WEIR_OVERFLOW_BLOCK         ? weir__processor_blocks(processor)
           : policy == WEIR_OVERFLOW_DROP_OLDEST ? weir__mailbox_evicts(&processor->mailbox)
                                                 : true;
}

static void settle_own(weir__own own, bool *flag)
{
    *flag = own == WEIR__OWN_LEAVE ? *flag : own == WEIR__OWN_GIVE;
}

/* False: it keeps its policy. */
static bool shape_policy(weir__processor *processor, weir__processor_cold *cold,
                         const weir__shape *shape, const weir__processor_shape *special)
{
    const weir__own overflow_own = special != NULL ? special->overflow_own : WEIR__OWN_LEAVE;
    const weir__own block_own = special != NULL ? special->block_own : WEIR__OWN_LEAVE;
    settle_own(overflow_own, &cold->own_overflow);
    settle_own(block_own, &cold->own_block_max);
    if (block_own == WEIR__OWN_GIVE || !cold->own_block_max) {
        const weir_ns block_max =
            block_own == WEIR__OWN_GIVE ? special->block_max : shape->defaults->block_max;
        weir__store(&cold->block_max, (uint64_t)block_max, relaxed);
    }
    if (overflow_own != WEIR__OWN_GIVE && cold->own_overflow) {
        return true;
    }
    const weir_overflow policy =
        overflow_own == WEIR__OWN_GIVE ? special->overflow : shape->defaults->overflow;
    if (!can_become(processor, policy)) {
        return false;
    }
    weir__store(&cold->overflow, (uint32_t)policy, relaxed);
    return true;
}

/* False: it keeps its policy. */
static bool shape_processor(weir__processor *processor, const weir__shape *shape)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    const weir__processor_shape *special = shape_of(shape, cold);
    const weir__own own = special != NULL ? special->batch_own : WEIR__OWN_LEAVE;
    if (cold != NULL) {
        settle_own(own, &cold->own_batch_max);
    }
    if (own == WEIR__OWN_GIVE) {
        weir__store(&processor->batch_max, (uint16_t)special->batch_max, relaxed);
    } else if (cold == NULL || !cold->own_batch_max) {
        const uint32_t there = weir__processor_dispatcher(processor)->batch_max;
        const uint32_t batch = there != 0 ? there : shape->defaults->batch_max;
        weir__store(&processor->batch_max, (uint16_t)batch, relaxed);
    }
    /* Without a cold part its policy is to fail, and that is what is wanted. */
    return cold == NULL || shape_policy(processor, cold, shape, special);
}

static void commit(weir_engine *engine, const weir__shape *shape, size_t *kept)
{
    const weir_engine_options *defaults = shape->defaults;
    weir_engine_options *options = &engine->options;
    options->mailbox_max = defaults->mailbox_max;
    options->overflow = defaults->overflow;
    options->block_max = defaults->block_max;
    options->batch_max = defaults->batch_max;
    options->backoff_base = defaults->backoff_base;
    options->backoff_max = defaults->backoff_max;
    options->backoff_multiplier = defaults->backoff_multiplier;
    options->backoff_jitter = defaults->backoff_jitter;
    const uint32_t dispatchers = weir__dispatchers_count(engine);
    for (uint32_t i = 0; i < dispatchers; i++) {
        shape_dispatcher(engine->dispatchers[i], shape);
    }
    *kept = 0;
    for (uint32_t i = 0; i < engine->registry.used; i++) {
        weir__processor *processor = weir__registry_slot(&engine->registry, i);
        if (weir__processor_is_live(processor) && !shape_processor(processor, shape)) {
            (*kept)++;
        }
    }
}

weir_status weir__engine_reshape(weir_engine *engine, const weir__shape *shape, size_t *kept,
                                 weir_error *error)
{
    size_t leaving = shape->leaving_count;
    weir_status status = WEIR_OK;
    weir__mutex_lock(&engine->registry.lock);
    if (weir__engine_phase(engine) >= WEIR__STOPPING) {
        status = weir__error_at(error, WEIR_E_INVALID, "weir_config_apply",
                                "the engine is stopping or stopped");
    } else if (!make_cold_parts(engine, shape)) {
        status = weir__error_memory(error, "weir_config_apply");
    } else {
        status = weir__threads_begin_to_go(engine, shape->leaving, &leaving, error);
    }
    if (status == WEIR_OK) {
        commit(engine, shape, kept);
    }
    weir__mutex_unlock(&engine->registry.lock);
    for (size_t i = 0; status == WEIR_OK && i < leaving; i++) {
        weir__thread_see_off(engine, shape->leaving[i]);
    }
    return status;
}

void weir__threads_replaced(weir_engine *engine, const weir_thread *threads, size_t count,
                            bool replaced)
{
    weir__mutex_lock(&engine->registry.lock);
    for (size_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_of(engine, threads[i]);
        if (thread != NULL) {
            thread->replaced = replaced;
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
}

void weir__thread_take_back(weir_engine *engine, weir_thread thread)
{
    (void)weir__thread_dismiss(engine, thread, NULL);
}

bool weir__engine_configure_lock(weir_engine *engine, weir__configured **configured)
{
    if (!weir__engine_usable(engine)) {
        return false;
    }
    weir__mutex_lock(&engine->configure_lock);
    *configured = &engine->configured;
    return true;
}

void weir__engine_configure_unlock(weir_engine *engine)
{
    weir__mutex_unlock(&engine->configure_lock);
}

void weir__engine_metrics_max(weir_engine *engine, uint32_t processors)
{
    weir__store(&engine->metrics_processors_max, processors, relaxed);
}

const weir_allocator *weir__engine_allocator(const weir_engine *engine)
{
    return &engine->allocator;
}

bool weir__engine_inside_handler(void)
{
    return weir__context_in_handler();
}
