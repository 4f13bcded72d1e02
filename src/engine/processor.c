/*
 * engine/processor.c - registration: by one, by many, by name.
 *
 * A registration that can fail does so before anything is visible: options, memory, names and
 * slots of all of a batch first, then all are published.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/processor.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/event_time.h"
#include "engine/lease.h"
#include "engine/life.h"
#include "engine/options.h"
#include "engine/stop.h"
#include "engine/supervise.h"
#include "engine/turn.h"

size_t weir__handle_text(weir_processor handle, char *out, size_t size)
{
    const int length =
        snprintf(out, size, "#%u.%u", WEIR__HANDLE_INDEX(handle.id), (unsigned)(handle.id >> 32));
    return length > 0 ? (size_t)length : 0;
}

size_t weir__processor_text(const weir__processor *processor, char *out, size_t size)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    weir__processor *p = (weir__processor *)(uintptr_t)processor;
    if (cold == NULL || cold->name == NULL) {
        return weir__handle_text((weir_processor){ weir__load(&p->id, relaxed) }, out, size);
    }
    const int length = snprintf(out, size, "%s", cold->name);
    return length > 0 ? (size_t)length : 0;
}

uint64_t weir__processor_done(const weir__processor *processor)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    return weir__cell_read(&processor->handled) + weir__cell_read(&processor->dead) +
           (cold != NULL ? weir__cell_read(&cold->left) : 0);
}

uint64_t weir__processor_evicted(const weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold != NULL ? weir__load(&cold->dropped_oldest, relaxed) : 0;
}

static bool needs_cold(const weir_processor_options *o, weir_overflow overflow)
{
    return o->name != NULL || o->cases.rows != NULL || o->unhandled != NULL || o->state_size > 0 ||
           o->init != NULL || o->destroy != NULL || overflow != WEIR_OVERFLOW_FAIL ||
           o->overflow != WEIR_OVERFLOW_DEFAULT || o->batch_max != 0 || o->block_max != 0 ||
           o->parent.id != 0 || o->dedicated || o->event_time != NULL ||
           o->on_failure != WEIR_RESUME;
}

static weir_status fill_cold(weir_engine *engine, weir__processor *p,
                             const weir_processor_options *o, weir_overflow overflow)
{
    weir__processor_cold *cold = weir__processor_cold_make(engine, p);
    if (cold == NULL || !weir__copy_text(&engine->allocator, o->name, &cold->name)) {
        return WEIR_E_NOMEM;
    }
    cold->cases = o->cases;
    cold->unhandled = o->unhandled;
    cold->argument = o->argument;
    cold->init = o->init;
    cold->destroy = o->destroy;
    weir__store(&cold->overflow, (uint32_t)overflow, relaxed);
    cold->blocks = overflow == WEIR_OVERFLOW_BLOCK;
    weir__store(&cold->block_max,
                (uint64_t)(o->block_max != 0 ? o->block_max : engine->options.block_max), relaxed);
    cold->own_overflow = o->overflow != WEIR_OVERFLOW_DEFAULT;
    cold->own_block_max = o->block_max != 0;
    cold->own_batch_max = o->batch_max != 0;
    if (o->state_size > 0) {
        p->state = weir__allocate(&engine->allocator, o->state_size);
        if (p->state == NULL) {
            return WEIR_E_NOMEM;
        }
        cold->state_size = o->state_size;
    }
    if (o->event_time != NULL) {
        cold->agenda = weir__agenda_make(engine, o->event_time, p->handler);
        p->handler = weir__event_time_handle;
    }
    if (o->on_failure != WEIR_RESUME) {
        cold->supervision = weir__supervision_make(engine, o);
    }
    return (o->event_time == NULL || cold->agenda != NULL) &&
                   (o->on_failure == WEIR_RESUME || cold->supervision != NULL)
               ? WEIR_OK
               : WEIR_E_NOMEM;
}

/* Everything about a processor that is not yet visible. */
static weir_status fill_in(weir_engine *engine, weir__processor *p, weir__dispatcher *dispatcher,
                           const weir_processor_options *o, const weir__processor_more *more)
{
    const weir_overflow overflow =
        o->overflow != WEIR_OVERFLOW_DEFAULT ? o->overflow : engine->options.overflow;
    const uint32_t limit = o->mailbox_max != 0 ? o->mailbox_max : engine->options.mailbox_max;
    uint32_t batch = o->batch_max != 0 ? o->batch_max : dispatcher->batch_max;
    batch = batch != 0 ? batch : engine->options.batch_max;
    weir__store(&p->dispatcher, dispatcher, relaxed); /* [S4] publishes it */
    p->handler = o->handler != NULL ? o->handler : weir__turn_by_case;
    p->state = o->argument;
    weir__store(&p->batch_max, (uint16_t)batch, relaxed);
    weir__run_over(p);
    weir__store(&p->rooms, NULL, relaxed);
    weir__store(&p->cold, NULL, relaxed);
    weir__store(&p->handled, 0, relaxed);
    weir__store(&p->dead, 0, relaxed);
    weir__store(weir__registry_high(p), 0, relaxed);
    weir__store(&p->control, o->init != NULL ? WEIR__CONTROL_INIT : 0u, relaxed);
    weir__mailbox_open_within(&p->mailbox, limit,
                              more != NULL && more->within != 0 ? more->within : limit, batch,
                              overflow == WEIR_OVERFLOW_DROP_OLDEST);
    weir_status status = needs_cold(o, overflow) ? fill_cold(engine, p, o, overflow) : WEIR_OK;
    if (status == WEIR_OK && more != NULL) {
        weir__processor_cold *cold = weir__processor_cold_make(engine, p);
        status = cold != NULL ? WEIR_OK : WEIR_E_NOMEM;
        if (cold != NULL) {
            cold->chore = more->chore;
            cold->own = true;
        }
    }
    return status;
}

/* One registration on its way. */
typedef struct entry {
    weir_processor_options options;
    weir__dispatcher *dispatcher;
    weir__processor *processor;
    weir__processor *parent;
    weir__thread *thread; /* dedicated */
    const weir__processor_more *more;
} entry;

/* The default dispatcher may be named before the engine's default thread exists. */
static weir__dispatcher *default_dispatcher(weir_engine *engine, weir_error *error)
{
    weir__dispatcher *dispatcher = weir__dispatcher_find(engine, "");
    if (dispatcher == NULL && weir__engine_phase(engine) == WEIR__CREATED &&
        weir__engine_wants_default_threads(engine)) {
        if (weir__engine_default_threads(engine, error) == WEIR_OK) {
            dispatcher = weir__dispatcher_find(engine, "");
        }
    }
    return dispatcher;
}

weir__dispatcher *weir__dispatcher_wanted(weir_engine *engine, const char *name, const char *path,
                                          weir_error *error)
{
    weir__dispatcher *dispatcher =
        name[0] != '\0' ? weir__dispatcher_find(engine, name) : default_dispatcher(engine, error);
    if (dispatcher != NULL && !dispatcher->dedicated) {
        return dispatcher;
    }
    char names[160];
    weir__dispatcher_names(engine, names, sizeof(names));
    weir__error_at(error, WEIR_E_INVALID, path, "is \"%.60s\", which no thread serves; valid: %s",
                   name, names[0] != '\0' ? names : "none yet, add a thread first");
    return NULL;
}

static weir_status place(weir_engine *engine, entry *e, weir_error *error)
{
    const char *name = e->options.dispatcher != NULL ? e->options.dispatcher : "";
    if (e->options.parent.id != 0) {
        e->parent = weir__registry_find(&engine->registry, e->options.parent);
        const weir__processor_cold *cold =
            e->parent != NULL ? weir__processor_cold_make(engine, e->parent) : NULL;
        if (e->parent == NULL) {
            return weir__error_at(error, WEIR_E_INVALID, "weir_processor_options.parent",
                                  "is no processor of this engine, or gone");
        }
        if (cold == NULL) {
            return weir__error_memory(error, "weir_processor_add");
        }
        const uint64_t word = weir__load(&e->parent->mailbox.word, acquire);
        if (cold->stop != NULL || cold->ending || (word & WEIR__MAILBOX_CLOSED) != 0) {
            return weir__error_at(error, WEIR_E_INVALID, "weir_processor_options.parent",
                                  "is being stopped");
        }
        if (cold->restart_waits ||
            (weir__load(&e->parent->control, relaxed) & WEIR__CONTROL_RESTART) != 0) {
            return weir__error_at(error, WEIR_E_INVALID, "weir_processor_options.parent",
                                  "is being restarted");
        }
    }
    if (e->options.name != NULL && weir__namemap_find(&engine->registry.names, e->options.name)) {
        return weir__error_at(error, WEIR_E_TAKEN, "weir_processor_options.name",
                              "is \"%.100s\", which is taken", e->options.name);
    }
    if (e->options.dedicated) {
        e->thread = weir__engine_dedicated_thread(engine, e->options.name, error);
        e->dispatcher = e->thread != NULL ? e->thread->servings[0]->dispatcher : NULL;
        return e->thread != NULL ? WEIR_OK : WEIR_E_NOMEM;
    }
    e->dispatcher =
        weir__dispatcher_wanted(engine, name, "weir_processor_options.dispatcher", error);
    return e->dispatcher != NULL ? WEIR_OK : WEIR_E_INVALID;
}

/* Takes slot, memory and name. What it took so far is in *e, also if it fails. */
static weir_status prepare(weir_engine *engine, entry *e, weir_error *error)
{
    weir_status status = place(engine, e, error);
    if (status != WEIR_OK) {
        return status;
    }
    if (e->options.name != NULL && !weir__namemap_prepare(&engine->registry.names, 1)) {
        return weir__error_memory(error, "weir_processor_add");
    }
    e->processor = weir__registry_take(engine, &status);
    if (e->processor == NULL) {
        return status == WEIR_E_LIMIT
                   ? weir__error_at(error, status, "weir_engine_options.processors_max",
                                    "is %u, and so many are registered", engine->registry.maximum)
                   : weir__error_memory(error, "weir_processor_add");
    }
    status = fill_in(engine, e->processor, e->dispatcher, &e->options, e->more);
    if (status != WEIR_OK) {
        return weir__error_memory(error, "weir_processor_add");
    }
    const weir__processor_cold *cold = weir__processor_cold_of(e->processor);
    if (cold != NULL && cold->name != NULL) {
        /* Already in the map, so that two of one batch cannot share a name; not findable yet, since
         * its slot has no handle. */
        weir__namemap_put(&engine->registry.names, cold->name, UINT64_MAX);
    }
    return WEIR_OK;
}

static void undo(weir_engine *engine, entry *e)
{
    if (e->processor != NULL) {
        const weir__processor_cold *cold = weir__processor_cold_of(e->processor);
        if (cold != NULL && cold->name != NULL &&
            weir__namemap_find(&engine->registry.names, cold->name) == UINT64_MAX) {
            weir__namemap_remove(&engine->registry.names, cold->name);
        }
        weir__life_free(engine, e->processor);
        weir__registry_give_back(engine, e->processor);
    }
    if (e->thread != NULL) {
        weir__thread_withdraw(e->thread);
    }
}

static void join_family(weir_engine *engine, weir__processor *child, weir__processor *parent)
{
    weir__processor_cold *cold = weir__processor_cold_of(child);
    weir__processor_cold *above = weir__processor_cold_of(parent);
    cold->parent = parent;
    cold->next_sibling = above->first_child;
    if (above->first_child != NULL) {
        weir__processor_cold_of(above->first_child)->previous_sibling = child;
    }
    above->first_child = child;
    weir__processor_needs_final(engine, child);
    weir__processor_needs_final(engine, parent);
}

/* Nothing can fail any more. */
static weir_processor publish(weir_engine *engine, weir__context *context, entry *e)
{
    weir__processor *p = e->processor;
    weir__processor_cold *cold = weir__processor_cold_of(p);
    weir__store(&e->dispatcher->processors, weir__load(&e->dispatcher->processors, relaxed) + 1,
                relaxed);
    if (e->parent != NULL) {
        join_family(engine, p, e->parent);
    }
    if (cold != NULL && (cold->destroy != NULL || e->thread != NULL)) {
        weir__processor_needs_final(engine, p);
    }
    if (e->thread != NULL) {
        WEIR_ASSERT(cold != NULL); /* needs_cold says so */
        cold->dedicated = e->thread;
    }
    const bool init = e->options.init != NULL;
    if (init) {
        weir__cell_add(&context->tally.hooks_due, 1);
        if (weir__engine_phase(engine) < WEIR__RUNNING &&
            weir__dispatcher_runs_inits(e->dispatcher)) {
            weir__or(&p->control, WEIR__CONTROL_AWAITED, relaxed);
            weir__add(&engine->inits_awaited, 1, seq_cst);
        }
    }
    const weir_processor handle = weir__registry_publish(engine, p);
    if (e->more != NULL && e->more->shares_room) {
        cold->room_of = weir__processor_index(e->parent) + 1;
    }
    if (cold != NULL && cold->name != NULL) {
        weir__namemap_remove(&engine->registry.names, cold->name);
        weir__namemap_put(&engine->registry.names, cold->name, handle.id);
        weir__add(&engine->registry.named, 1, relaxed);
    }
    weir__latency_begin(engine, p);
    /* Posters may have been faster: then it is ready already, and init comes first all the same. */
    if (init && weir__mailbox_rouse(&p->mailbox)) {
        weir__dispatcher_push(e->dispatcher, p);
    }
    return handle;
}

/* `family`: the first is the parent of the others. */
static weir_status register_all(weir_engine *engine, entry *entries, size_t count, bool family,
                                weir_processor *out, weir_error *error)
{
    weir__context *context = weir__context_find(engine);
    if (context == NULL) {
        return weir__error_memory(error, "weir_processor_add");
    }
    weir_status status = WEIR_OK;
    size_t ready = 0;
    weir__mutex_lock(&engine->registry.lock);
    if (weir__engine_phase(engine) >= WEIR__STOPPING) {
        status = weir__error_at(error, WEIR_E_INVALID, "weir_processor_add",
                                "the engine is stopping or stopped");
    }
    while (status == WEIR_OK && ready < count) {
        entries[ready].parent = family && ready > 0 ? entries[0].processor : NULL;
        status = prepare(engine, &entries[ready++], error);
    }
    for (size_t i = 0; status == WEIR_OK && i < count; i++) {
        status = entries[i].thread != NULL
                     ? weir__engine_start_dedicated(engine, entries[i].thread, error)
                     : WEIR_OK;
    }
    for (size_t i = 0; i < ready; i++) {
        if (status == WEIR_OK) {
            out[i] = publish(engine, context, &entries[i]);
        } else {
            undo(engine, &entries[i]);
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return status;
}

weir_status weir_processor_add_many(weir_engine *engine,
                                    const weir_processor_options *const *options, size_t count,
                                    weir_processor *out, weir_error *error)
{
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine) || options == NULL || out == NULL || count > 16000000) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_processor_add_many",
                              "needs an engine, options and a place for the handles");
    }
    if (count == 0) {
        return WEIR_OK;
    }
    memset(out, 0, count * sizeof(*out));
    entry *entries = weir__allocate(&engine->allocator, count * sizeof(*entries));
    if (entries == NULL) {
        return weir__error_memory(error, "weir_processor_add_many");
    }
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < count && status == WEIR_OK; i++) {
        status = weir__options_processor(options[i], &entries[i].options, error);
    }
    if (status == WEIR_OK) {
        status = register_all(engine, entries, count, false, out, error);
    }
    weir__release(&engine->allocator, entries, count * sizeof(*entries));
    return status;
}

weir_processor weir_processor_add(weir_engine *engine, const weir_processor_options *options,
                                  weir_error *error)
{
    weir_processor out = { 0 };
    entry one; /* its options are filled by the check */
    if (weir__error_is_set(error)) {
        return out;
    }
    if (!weir__engine_usable(engine)) {
        weir__error_at(error, WEIR_E_INVALID, "weir_processor_add.engine", "is no usable engine");
        return out;
    }
    one.dispatcher = NULL;
    one.processor = NULL;
    one.thread = NULL;
    one.more = NULL;
    if (weir__options_processor(options, &one.options, error) == WEIR_OK) {
        (void)register_all(engine, &one, 1, false, &out, error);
    }
    return out;
}

weir_status weir__processor_add_family(weir_engine *engine, const weir__processor_draft *drafts,
                                       size_t count, weir_processor *out, weir_error *error)
{
    entry *entries = weir__allocate(&engine->allocator, count * sizeof(*entries));
    weir_status status = entries != NULL ? WEIR_OK : weir__error_memory(error, "weir_router_add");
    for (size_t i = 0; i < count && status == WEIR_OK; i++) {
        entries[i].more = &drafts[i].more;
        status = weir__options_processor(&drafts[i].options, &entries[i].options, error);
    }
    if (status == WEIR_OK) {
        status = register_all(engine, entries, count, true, out, error);
    }
    weir__release(&engine->allocator, entries, count * sizeof(*entries));
    return status;
}

weir_processor weir_processor_find(weir_engine *engine, const char *name)
{
    if (!weir__engine_usable(engine) || name == NULL) {
        return (weir_processor){ 0 };
    }
    weir__mutex_lock(&engine->registry.lock);
    const uint64_t id = weir__namemap_find(&engine->registry.names, name);
    weir__mutex_unlock(&engine->registry.lock);
    return (weir_processor){ id != UINT64_MAX ? id : 0 };
}

size_t weir_processor_name(weir_engine *engine, weir_processor processor, char *out, size_t size)
{
    size_t length = 0;
    if (size > 0 && out != NULL) {
        out[0] = '\0';
    }
    if (!weir__engine_usable(engine)) {
        return 0;
    }
    weir__mutex_lock(&engine->registry.lock);
    const weir__processor *p = weir__registry_find(&engine->registry, processor);
    if (p != NULL) {
        length = weir__processor_text(p, out, size);
    }
    weir__mutex_unlock(&engine->registry.lock);
    return length;
}
