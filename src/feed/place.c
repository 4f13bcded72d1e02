/*
 * feed/place.c - where subscribers run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/place.h"

#include "feed/lane.h"

static bool serves(const weir__thread *thread, const weir__dispatcher *dispatcher)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        if (thread->servings[i]->dispatcher == dispatcher) {
            return true;
        }
    }
    return false;
}

/* registry.lock held. The one thread that serves it; zero: there are none or several. */
static weir_thread only_thread(weir_engine *engine, weir__dispatcher *dispatcher)
{
    const uint32_t count = weir__threads_count(engine);
    weir_thread only = { 0 };
    if (weir__load(&dispatcher->threads, relaxed) != 1) {
        return only;
    }
    for (uint32_t i = 0; i < count && only.id == 0; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        if (thread->serves && serves(thread, dispatcher)) {
            only.id = weir__load(&thread->id, relaxed);
        }
    }
    return only;
}

weir_status weir__place_of(weir_engine *engine, weir_processor processor, weir_thread *out)
{
    weir_status status = WEIR_OK;
    *out = (weir_thread){ 0 };
    weir__mutex_lock(&engine->registry.lock);
    weir__processor *p = weir__registry_find(&engine->registry, processor);
    if (p == NULL) {
        status = WEIR_UNKNOWN;
    } else if ((weir__load(&p->mailbox.word, seq_cst) & WEIR__MAILBOX_CLOSED) != 0) {
        status = WEIR_STOPPING;
    } else {
        *out = only_thread(engine, weir__processor_dispatcher(p));
    }
    weir__mutex_unlock(&engine->registry.lock);
    return status;
}

bool weir__place_named(weir_engine *engine, uint32_t *index, weir_processor *out)
{
    weir__registry *registry = &engine->registry;
    bool found = false;
    weir__mutex_lock(&registry->lock);
    for (; !found && *index < registry->used; *index += found ? 0 : 1) {
        weir__processor *p = weir__registry_slot(registry, *index);
        const weir__processor_cold *cold = weir__processor_cold_of(p);
        if (weir__processor_is_live(p) && cold != NULL && cold->name != NULL && !cold->own) {
            out->id = weir__load(&p->id, relaxed);
            found = true;
        }
    }
    weir__mutex_unlock(&registry->lock);
    return found;
}

bool weir__place_is_mine(weir__context *context, const weir__lane *lane, weir_processor subscriber)
{
    bool mine = false;
    if (context->thread == NULL) {
        return false;
    }
    if (lane->thread.id != 0 && lane->thread.id == weir__load(&context->thread->id, relaxed)) {
        return true;
    }
    weir__context_enter(context);
    weir__processor *p = weir__registry_find(&context->engine->registry, subscriber);
    if (p != NULL) {
        mine = serves(context->thread, weir__processor_dispatcher(p));
    }
    weir__context_leave(context);
    return mine;
}
