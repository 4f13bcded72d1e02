/*
 * engine/thread.c - starting threads, and what they do around their duty. engine/seat.c makes them,
 * engine/placement.c sees them off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/thread.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/agents.h"
#include "engine/crash.h"
#include "engine/duty.h"
#include "engine/engine.h"
#include "engine/monitor.h"
#include "engine/options.h"
#include "engine/placement.h"
#include "engine/probe.h"
#include "engine/watchdog.h"
#include "sync/crash.h"
#include "sync/stack.h"
#include "sync/word.h"

/* ---- finding ---- */

weir__thread *weir__thread_by_name(weir_engine *engine, const char *name)
{
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        if (weir__load(&thread->state, acquire) < WEIR__THREAD_LEFT && !thread->replaced &&
            strcmp(thread->name, name) == 0) {
            return thread;
        }
    }
    return NULL;
}

/* ---- running ---- */

/* Name, cores, priority: by the thread itself, so that they are in force from its first step on. */
static bool settle_in(weir__thread *thread)
{
    weir_engine *engine = thread->engine;
    const weir_thread_options *options = &thread->options;
    char component[96];
    char number[16];
    weir__store(&thread->began, (uint64_t)weir__clock_now(), relaxed);
    weir__store(&thread->ended, 0, relaxed);
    weir__os_thread_name(thread->name);
    weir__store(&thread->system_id, (uint32_t)weir__os_thread_id(), relaxed);
    weir__tenant_admit(&thread->context.tenant);
    if (weir__load(&engine->stacks, relaxed) != 0) {
        weir__stack_admit();
        weir__watched_by(&thread->watched, (uint32_t)weir__os_thread_id());
    }
    snprintf(component, sizeof(component), "thread %.80s", thread->name);
    if (options->core_count > 0) {
        int32_t core;
        const int failure = weir__os_thread_pin(thread->cores, options->core_count, &core);
        snprintf(number, sizeof(number), "%d", (int)core);
        const weir_log_field field = { "core", number };
        if (failure != 0 && options->core_required) {
            weir__error_system(&thread->start_error, failure, component,
                               "core %d is required and cannot be had: it does not exist, or this "
                               "process may not use it",
                               (int)core);
            return false;
        }
        if (failure != 0) {
            thread->options.core_count = 0;
            weir__store(&thread->core, -1, relaxed);
            weir__log_say(&engine->log, NULL, WEIR_LOG_WARNING, WEIR_E_SYSTEM, component,
                          "the core cannot be had; the thread runs unpinned", &field, 1);
        }
    }
    const int failure = weir__os_thread_priority(options->priority, options->priority_value);
    if (failure != 0) {
        snprintf(number, sizeof(number), "%d", (int)options->priority_value);
        const weir_log_field field = { "priority", number };
        weir__log_say(&engine->log, NULL, WEIR_LOG_WARNING, WEIR_E_SYSTEM, component,
                      "the system refused its priority", &field, 1);
    }
    if (!weir__context_attach(&thread->context, &thread->seat)) {
        weir__error_memory(&thread->start_error, component);
        return false;
    }
    return true;
}

static void report(weir__thread *thread, weir__thread_state state)
{
    weir_engine *engine = thread->engine;
    /* [V2] pairs with [V3]: start_error. */
    weir__store(&thread->state, state, release);
    weir__add(&engine->threads_ready, 1, seq_cst);
    weir__word_wake(&engine->threads_ready, INT32_MAX);
}

static void run(void *argument)
{
    weir__thread *thread = argument;
    weir_engine *engine = thread->engine;
    thread->context.trace_serial = 0; /* what the last one on this seat recorded is its own */
    if (thread->crash_stack != NULL) {
        weir__crash_stack_begin(thread->crash_stack);
    }
    const bool settled = settle_in(thread);
    report(thread, settled ? WEIR__THREAD_READY : WEIR__THREAD_FAILED);
    if (settled) {
        /* The word is cleared before the conditions that it guards. */
        for (;;) {
            weir__store(&thread->wake, 0, seq_cst);
            if (weir__load(&engine->phase, seq_cst) != WEIR__CREATED ||
                weir__load(&thread->leave, seq_cst) != 0) {
                break;
            }
            (void)weir__thread_sleep(thread, WEIR_FOREVER);
        }
        weir__context_handler_begin(); /* whatever runs here is a handler or a hook */
        (void)weir__context_trail_swap(&thread->trail);
        weir__watched_up(engine, &thread->watched);
        weir__duty_run(thread);
        weir__agents_let_go(thread);
        weir__watched_rest(&thread->watched);
        (void)weir__context_trail_swap(NULL);
        weir__context_handler_end();
        if (weir__load(&thread->leave, relaxed) != 0) {
            weir__context_flush(&thread->context);
        }
        weir__context_detach(&thread->context);
    }
    if (thread->crash_stack != NULL) {
        weir__crash_stack_end(thread->crash_stack);
    }
    weir__watched_by(&thread->watched, 0);
    const weir_ns cpu = weir__os_thread_cpu(weir__os_thread_id());
    weir__store(&thread->cpu, cpu > 0 ? (uint64_t)cpu : 0, relaxed);
    weir__store(&thread->ended, (uint64_t)weir__clock_now(), relaxed);
    weir__store(&thread->system_id, 0, relaxed);
    weir__store(&thread->state, WEIR__THREAD_LEFT, seq_cst);
    weir__add(&engine->threads_out, 1, seq_cst);
    weir__word_wake(&engine->threads_out, INT32_MAX);
}

weir_status weir__thread_start(weir__thread *thread, weir_error *error)
{
    if (thread->external) {
        /* Asleep until somebody rings. */
        weir__watched_rest(&thread->watched);
        if (!weir__duty_park(thread)) {
            weir__doorbell_ring(weir__load(&thread->doorbell, relaxed));
        }
        weir__store(&thread->began, (uint64_t)weir__clock_now(), relaxed);
        weir__store(&thread->state, WEIR__THREAD_READY, release);
        return WEIR_OK;
    }
    thread->start_error = (weir_error)WEIR_ERROR_INIT;
    weir__store(&thread->state, WEIR__THREAD_STARTED, release);
    const int failure = weir__os_thread_start(&thread->os, run, thread);
    if (failure != 0) {
        weir__store(&thread->state, WEIR__THREAD_NEW, release);
        char component[96];
        snprintf(component, sizeof(component), "thread %.80s", thread->name);
        return weir__error_system(error, failure, component, "the thread could not be started");
    }
    return WEIR_OK;
}

weir_status weir__thread_await(weir__thread *thread, weir_error *error)
{
    weir_engine *engine = thread->engine;
    for (;;) {
        const uint32_t seen = weir__load(&engine->threads_ready, seq_cst);
        /* [V3] pairs with [V2]. */
        const uint32_t state = weir__load(&thread->state, acquire);
        if (state != WEIR__THREAD_STARTED) {
            break;
        }
        weir__word_wait(&engine->threads_ready, seen, WEIR_FOREVER);
    }
    if (thread->start_error.status == WEIR_OK) {
        return WEIR_OK;
    }
    if (error != NULL && error->status == WEIR_OK) {
        const size_t size = error->struct_size;
        *error = thread->start_error;
        error->struct_size = size;
    }
    return thread->start_error.status;
}

void weir__thread_wake(weir__thread *thread)
{
    WEIR__PROBE1(wake, thread->index);
    weir__store(&thread->wake, 1, seq_cst);
    /* If it has none yet: the thread clears the word after it gets one, and before it looks whether
     * there is something to do. */
    const int32_t doorbell = weir__load(&thread->doorbell, seq_cst);
    if (doorbell >= 0) {
        weir__doorbell_ring(doorbell);
    } else {
        weir__word_wake(&thread->wake, 1);
    }
}

bool weir__thread_sleep(weir__thread *thread, weir_ns timeout)
{
    if (weir__load(&thread->doorbell, relaxed) < 0) {
        return weir__word_wait(&thread->wake, 0, timeout);
    }
    /* The word says whether the ring was for this sleep. */
    return weir__load(&thread->wake, seq_cst) != 0 ||
           weir__poller_wait(&thread->poller, timeout) == WEIR__POLLED_RUNG;
}

int weir__thread_need_poller(weir__thread *thread)
{
    if (thread->poller.descriptor >= 0) {
        return 0;
    }
    const int doorbell = weir__doorbell_open();
    if (doorbell < 0) {
        return -doorbell;
    }
    const int failure = weir__poller_open(&thread->poller, doorbell, !thread->external);
    if (failure != 0) {
        weir__doorbell_close(doorbell);
        return failure;
    }
    weir__store(&thread->doorbell, doorbell, seq_cst);
    return 0;
}

weir__thread *weir__thread_known(weir_engine *engine, weir_thread handle)
{
    const uint32_t place = (uint32_t)handle.id & WEIR__THREAD_INDEX_MASK;
    if (place == 0 || place > weir__threads_count(engine)) {
        return NULL;
    }
    weir__thread *thread = weir__thread_at(engine, place - 1);
    return weir__load(&thread->id, relaxed) == handle.id ? thread : NULL;
}

weir__thread *weir__thread_of(weir_engine *engine, weir_thread handle)
{
    weir__thread *thread = weir__thread_known(engine, handle);
    return thread != NULL && weir__load(&thread->state, acquire) != WEIR__THREAD_JOINED ? thread
                                                                                        : NULL;
}

/* ---- the public face ---- */

/* One that came while the engine runs. If it shares a dispatcher from now on, a monitor runs. */
static weir_status begin_to_serve(weir__thread *thread, weir_thread *handle, weir_error *error)
{
    weir_engine *engine = thread->engine;
    weir_status status = WEIR_OK;
    weir__mutex_lock(&engine->registry.lock);
    for (uint32_t i = 0; i < thread->serving_count && status == WEIR_OK; i++) {
        if (weir__load(&thread->servings[i]->dispatcher->threads, relaxed) != 0) {
            status = weir__monitor_start(engine, error);
        }
    }
    if (status == WEIR_OK) {
        weir__thread_serve(thread);
        handle->id = weir__load(&thread->id, relaxed);
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (status == WEIR_OK) {
        weir__monitor_wake(engine); /* what the others keep may be this thread's from now on */
    }
    return status;
}

weir_thread weir_thread_add(weir_engine *engine, const weir_thread_options *options,
                            weir_error *error)
{
    weir_thread handle = { 0 };
    weir_thread_options checked;
    if (weir__error_is_set(error)) {
        return handle;
    }
    if (!weir__engine_usable(engine)) {
        weir__error_at(error, WEIR_E_INVALID, "weir_thread_add.engine", "is no usable engine");
        return handle;
    }
    if (weir__options_thread(options, &checked, error) != WEIR_OK) {
        return handle;
    }
    weir__mutex_lock(&engine->registry.lock);
    weir__thread *thread = NULL;
    const weir__phase phase = weir__engine_phase(engine);
    if (phase >= WEIR__STOPPING) {
        weir__error_at(error, WEIR_E_INVALID, "weir_thread_add",
                       "the engine is stopping or stopped");
    } else {
        thread = weir__thread_create(engine, &checked, false, error);
    }
    weir_status status = thread != NULL ? WEIR_OK : WEIR_E_INVALID;
    if (thread != NULL && phase == WEIR__CREATED) {
        handle.id = weir__load(&thread->id, relaxed);
    } else if (thread != NULL) {
        status = weir__thread_start(thread, error);
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (status == WEIR_OK && phase != WEIR__CREATED) {
        status = weir__thread_await(thread, error);
        /* Only now: a dispatcher is not valid before a thread can serve it. */
        status = status == WEIR_OK ? begin_to_serve(thread, &handle, error) : status;
    }
    if (status != WEIR_OK && thread != NULL) {
        weir__thread_retire(thread);
    }
    return handle;
}

weir_thread weir_thread_find(weir_engine *engine, const char *name)
{
    if (!weir__engine_usable(engine) || name == NULL) {
        return (weir_thread){ 0 };
    }
    weir__mutex_lock(&engine->registry.lock);
    const weir__thread *thread = weir__thread_by_name(engine, name);
    const weir_thread found = { thread != NULL ? weir__cell_read(&thread->id) : 0 };
    weir__mutex_unlock(&engine->registry.lock);
    return found;
}

weir_status weir_dispatcher_tune(weir_engine *engine, const weir_dispatcher_options *options,
                                 weir_error *error)
{
    weir_dispatcher_options o;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_dispatcher_tune.engine",
                              "is no usable engine");
    }
    weir_status status = weir__options_dispatcher(options, &o, error);
    if (status != WEIR_OK) {
        return status;
    }
    weir__mutex_lock(&engine->registry.lock);
    weir__dispatcher *d = weir__dispatcher_find(engine, o.name);
    char names[160];
    weir__dispatcher_names(engine, names, sizeof(names));
    if (d == NULL) {
        status = weir__error_at(error, WEIR_E_INVALID, "weir_dispatcher_options.name",
                                "is \"%.60s\", which no thread serves; valid: %s", o.name,
                                names[0] != '\0' ? names : "none yet, add a thread first");
    } else if (weir__engine_phase(engine) != WEIR__CREATED) {
        status = weir__error_at(error, WEIR_E_INVALID, "weir_dispatcher_tune",
                                "the engine is started: tune before");
    } else {
        weir__backoff_plan plan = weir__backoff_read(&d->backoff), own = d->backoff_own;
        plan.base = o.backoff_base != 0 ? o.backoff_base : plan.base;
        plan.max = o.backoff_max != 0 ? o.backoff_max : plan.max;
        plan.multiplier = o.backoff_multiplier != 0 ? o.backoff_multiplier : plan.multiplier;
        if (plan.base >= plan.max) {
            status = weir__error_at(error, WEIR_E_INVALID, "weir_dispatcher_options.backoff_base",
                                    "is %lld ns, must be less than backoff_max (%lld ns)",
                                    (long long)plan.base, (long long)plan.max);
        } else {
            own.base = o.backoff_base != 0 ? o.backoff_base : own.base;
            own.max = o.backoff_max != 0 ? o.backoff_max : own.max;
            own.multiplier = o.backoff_multiplier != 0 ? o.backoff_multiplier : own.multiplier;
            d->backoff_own = own;
            weir__backoff_write(&d->backoff, &plan);
            d->fair = o.fair;
            d->batch_max = o.batch_max;
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return status;
}
