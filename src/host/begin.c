/*
 * host/begin.c - components begin: init, start, start_complete, in order.
 *
 * While the engine starts, threads run but no event is handled yet: there every `start` runs, and
 * start_complete of all but the sources. What was posted before waits in the mailboxes. Then the
 * engine runs, and the sources complete their start: what they publish finds everybody ready.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "host/host.h"

/* ---- one of them ---- */

weir__thread *weir__host_first_thread(weir_engine *engine, const char *dispatcher)
{
    weir__thread *first = NULL;
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        if (weir__cell_read(&thread->id) == 0 || thread->removing || thread->replaced ||
            (thread->serving_count > 0 && thread->servings[0]->dispatcher->dedicated)) {
            continue;
        }
        first = first != NULL ? first : thread;
        for (uint32_t k = 0; dispatcher != NULL && k < thread->serving_count; k++) {
            const char *name = thread->servings[k]->dispatcher->name;
            if (name != NULL && strcmp(name, dispatcher) == 0) {
                return thread;
            }
        }
    }
    return first;
}

/* The thread that it names, else one that serves its dispatcher, else the first one. */
static weir_status find_thread(weir_component *c, weir_error *error)
{
    weir_engine *engine = c->host->engine;
    weir_status status = WEIR_OK;
    weir__mutex_lock(&engine->registry.lock);
    if (weir__engine_phase(engine) == WEIR__CREATED && weir__engine_wants_default_threads(engine)) {
        status = weir__engine_default_threads(engine, error);
    }
    const weir__thread *thread = c->thread_name != NULL
                                     ? weir__thread_by_name(engine, c->thread_name)
                                     : weir__host_first_thread(engine, c->dispatcher);
    c->thread.id = thread != NULL ? weir__cell_read(&thread->id) : 0;
    bool memory = true;
    if (thread != NULL && c->thread_name == NULL) {
        memory = weir__copy_text(&engine->allocator, thread->name, &c->thread_name);
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (status == WEIR_OK && !memory) {
        status = weir__error_memory(error, "weir_components_start");
    }
    if (status == WEIR_OK && c->thread.id == 0) {
        char path[96];
        snprintf(path, sizeof(path), "component %s.thread", c->name);
        status = weir__error_at(error, WEIR_E_INVALID, path, "is \"%.64s\", and there is none",
                                c->thread_name != NULL ? c->thread_name : "");
    }
    return status;
}

static weir_status init(weir_component *c, weir_error *error)
{
    weir_error own = WEIR_ERROR_INIT;
    weir_status status = WEIR_OK;
    if (c->type.init != NULL) {
        weir__context_handler_begin(); /* a hook does not wait: locks of the host are held */
        status = c->type.init(c->state, c, c->copy.config, &own);
        weir__context_handler_end();
    }
    if (status == WEIR_OK || status == WEIR_ALREADY) {
        weir__component_phase_set(c, WEIR__COMPONENT_INITIALISED);
        return WEIR_OK;
    }
    char path[96];
    snprintf(path, sizeof(path), "component %s", c->name);
    status = status > 0 ? WEIR_E_FAILED : status;
    return weir__error_at(error, status, path, "init failed: %s",
                          own.status != 0 ? own.text : weir_status_text(status));
}

weir_status weir__component_begin(weir_component *c, weir_error *error)
{
    weir_status status = find_thread(c, error);
    if (status != WEIR_OK) {
        return status;
    }
    memset(c->state, 0, c->type.state_size); /* a start that failed may have been before */
    status = weir__component_join(c, error);
    if (status != WEIR_OK) {
        return status;
    }
    weir__component_attach(c, true);
    return init(c, error);
}

weir_status weir__component_announce(weir_component *c, weir_error *error)
{
    weir_status status = WEIR_OK;
    weir__component_settle(c);
    for (size_t i = 0; i < c->feeds.count && status == WEIR_OK; i++) {
        const weir_feed feed = weir_feed_find(c->host->engine, c->feeds.items[i]);
        status = weir_feed_subscribe(c->host->engine, feed, c->address);
        status = status == WEIR_ALREADY ? WEIR_OK : status;
        if (status != WEIR_OK) {
            char path[96];
            snprintf(path, sizeof(path), "component %s.feeds", c->name);
            status = status > 0 ? WEIR_E_FAILED : status;
            (void)weir__error_at(error, status, path, "cannot subscribe to %.64s: %s",
                                 c->feeds.items[i], weir_status_text(status));
        }
    }
    return status == WEIR_OK && c->type.kind == WEIR_KIND_SERVICE ? weir__service_arrive(c, error)
                                                                  : status;
}

/* ---- all of them: life held ---- */

static bool is_source(const weir_component *c)
{
    return c->type.kind == WEIR_KIND_SOURCE;
}

/* Between two hooks: does anybody want the end? */
static bool is_stopping(weir__host *host)
{
    return weir__load(&host->stop_asked, acquire) != 0;
}

static weir_status stopping(weir_error *error)
{
    (void)error; /* an outcome, not an error */
    return WEIR_STOPPING;
}

/* In reverse, whatever was begun. */
static void undo_all(weir__host *host)
{
    for (size_t i = host->count; i > 0; i--) {
        weir__component_undo(host->order[i - 1], WEIR_FOREVER);
    }
}

static weir_status init_all(weir__host *host, weir_error *error)
{
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < host->count && status == WEIR_OK; i++) {
        status = is_stopping(host) ? stopping(error) : weir__component_begin(host->order[i], error);
    }
    return status;
}

static weir_status errand_all(weir__host *host, weir__errand errand, bool sources, bool others,
                              weir_error *error)
{
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < host->count && status == WEIR_OK; i++) {
        weir_component *c = host->order[i];
        if (is_source(c) ? !sources : !others) {
            continue;
        }
        status = is_stopping(host) ? stopping(error)
                                   : weir__component_errand(c, errand, error, WEIR_FOREVER);
    }
    return status;
}

/* Threads run. All but what makes sources speak. */
static weir_status start_others(weir_engine *engine, weir_error *error)
{
    weir__host *host = weir__host_of(engine);
    weir_status status = errand_all(host, WEIR__ERRAND_START, true, true, error);
    if (status == WEIR_OK) {
        status = errand_all(host, WEIR__ERRAND_COMPLETE, false, true, error);
    }
    for (size_t i = 0; i < host->count && status == WEIR_OK; i++) {
        if (!is_source(host->order[i])) {
            status = weir__component_announce(host->order[i], error);
        }
    }
    if (status != WEIR_OK) {
        undo_all(host); /* while its threads are there */
    }
    return status;
}

static weir_status start_sources(weir__host *host, weir_error *error)
{
    return errand_all(host, WEIR__ERRAND_COMPLETE, true, false, error);
}

/* The engine was started before, or is by this. */
static weir_status start_engine(weir__host *host, weir_error *error)
{
    weir_engine *engine = host->engine;
    weir__mutex_lock(&engine->registry.lock);
    engine->host_starting = start_others;
    weir__mutex_unlock(&engine->registry.lock);
    weir_status status = weir_engine_start(engine, error);
    weir__mutex_lock(&engine->registry.lock);
    engine->host_starting = NULL;
    weir__mutex_unlock(&engine->registry.lock);
    if (status == WEIR_ALREADY) {
        status = start_others(engine, error);
    }
    return status;
}

static weir_status start(weir__host *host, weir_error *error)
{
    if (host->ended || is_stopping(host) || weir__engine_phase(host->engine) >= WEIR__STOPPING) {
        return WEIR_STOPPING;
    }
    if (host->running) {
        return WEIR_ALREADY;
    }
    weir__mutex_lock(&host->lock);
    weir_status status = weir__host_resolve(host, error);
    weir__mutex_unlock(&host->lock);
    if (status != WEIR_OK) {
        return status;
    }
    status = init_all(host, error);
    status = status == WEIR_OK ? start_engine(host, error) : status;
    status = status == WEIR_OK ? start_sources(host, error) : status;
    if (status != WEIR_OK) {
        undo_all(host);
        if (weir__engine_phase(host->engine) == WEIR__RUNNING) {
            host->ended = true;
            (void)weir_engine_stop(host->engine, 0, NULL);
        }
        return status;
    }
    host->running = true;
    return WEIR_OK;
}

weir_status weir_components_start(weir_engine *engine, weir_error *error)
{
    weir_error own = WEIR_ERROR_INIT;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_components_start.engine",
                              "is no usable engine");
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir__host *host = weir__host_need(engine);
    if (host == NULL) {
        return weir__error_memory(error, "weir_components_start");
    }
    weir__mutex_lock(&host->life);
    const weir_status status = start(host, error != NULL ? error : &own);
    weir__mutex_unlock(&host->life);
    return status;
}
