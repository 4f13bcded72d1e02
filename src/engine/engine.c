/*
 * engine/engine.c - create, start, stop, destroy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/block.h"
#include "engine/bury.h"
#include "engine/crash.h"
#include "engine/fed.h"
#include "engine/hold.h"
#include "engine/keeper.h"
#include "engine/monitor.h"
#include "engine/options.h"
#include "engine/shutdown.h"
#include "engine/signal.h"
#include "engine/trace.h"
#include "engine/traceparent.h"
#include "engine/watchdog.h"
#include "sync/word.h"

weir_ns weir__deadline(weir_ns timeout, weir_ns when_zero)
{
    const weir_ns span = timeout == 0 ? when_zero : timeout;
    const weir_ns now = weir__clock_now();
    if (span == WEIR_FOREVER || span > WEIR_FOREVER - now) {
        return WEIR_FOREVER;
    }
    return span < 0 ? now : now + span;
}

bool weir__wait_until(weir__atomic_u32 *word, uint32_t seen, weir_ns deadline)
{
    if (deadline == WEIR_FOREVER) {
        weir__word_wait(word, seen, WEIR_FOREVER);
        return true;
    }
    const weir_ns left = deadline - weir__clock_now();
    if (left <= 0) {
        return false;
    }
    return weir__word_wait(word, seen, left) || weir__clock_now() < deadline;
}

weir_ns weir_time_now(const weir_engine *engine)
{
    (void)engine;
    return weir__clock_now();
}

/* ---- create ---- */

static void free_memory(weir_engine *engine)
{
    const weir_allocator allocator = engine->allocator;
    weir__stores_close(&engine->stores);
    weir__registry_close(engine);
    if (weir__load(&engine->routers, relaxed) != NULL) {
        engine->routers_close(engine);
    }
    if (weir__load(&engine->host, relaxed) != NULL) {
        engine->host_hooks->close(engine);
    }
    if (weir__load(&engine->admin, relaxed) != NULL) {
        engine->admin_close(engine);
    }
    if (weir__load(&engine->metrics, relaxed) != NULL) {
        engine->metrics_close(engine);
    }
    weir__trace_close(engine);
    weir__carriers_close(engine);
    weir__channels_close(engine);
    weir__waiters_free(engine);
    weir__latency_rules_free(engine);
    weir__release_text(&allocator, engine->name);
    weir__helper_plan_free(engine, &engine->scheduler_plan);
    weir__helper_plan_free(engine, &engine->helper_plan);
    if (engine->configured.config != NULL) {
        engine->configured.release(engine->configured.config);
    }
    weir__release(&allocator, engine, sizeof(*engine));
}

static weir_status plan_helpers(weir_engine *engine, weir_error *error)
{
    weir_engine_options *o = &engine->options;
    weir_status status =
        weir__helper_plan_make(engine, &engine->scheduler_plan, o->scheduler_thread,
                               "weir_engine_options.scheduler_thread", error);
    if (status == WEIR_OK) {
        status = weir__helper_plan_make(engine, &engine->helper_plan, o->helper_thread,
                                        "weir_engine_options.helper_thread", error);
    }
    o->scheduler_thread = NULL; /* they are the caller's, and copied */
    o->helper_thread = NULL;
    return status;
}

weir_engine *weir_engine_create(const weir_engine_options *options, weir_error *error)
{
    weir_engine_options checked;
    if (weir__error_is_set(error) || weir__options_engine(options, &checked, error) != WEIR_OK) {
        return NULL;
    }
    const weir_allocator *allocator =
        checked.allocator != NULL ? checked.allocator : weir__allocator_default();
    weir_engine *engine = weir__allocate(allocator, sizeof(*engine));
    if (engine == NULL) {
        weir__error_memory(error, "weir_engine_create");
        return NULL;
    }
    engine->allocator = *allocator;
    engine->options = checked;
    engine->born = weir__clock_now();
    engine->born_wall = weir__clock_wall();
    weir__stores_open(&engine->stores, &engine->allocator);
    weir__blocks_open(engine);
    const char *name = checked.name != NULL ? checked.name : "weir";
    if (!weir__copy_text(&engine->allocator, name, &engine->name)) {
        weir__error_memory(error, "weir_engine_create");
        free_memory(engine);
        return NULL;
    }
    engine->options.name = engine->name;
    if (plan_helpers(engine, error) != WEIR_OK) {
        free_memory(engine);
        return NULL;
    }
    weir__store(&engine->timers_left, checked.timers_max, relaxed);
    weir__store(&engine->latency_every, checked.latency_every, relaxed);
    weir__log_open(&engine->log, checked.log, checked.log_context, checked.log_level, engine->name);
    engine->log.begin = weir__context_handler_begin;
    engine->log.end = weir__context_handler_end;
    const int failure = weir__contexts_open(engine);
    if (failure != 0) {
        weir__error_system(error, failure, "weir_engine_create", "no thread-local key is left");
        free_memory(engine);
        return NULL;
    }
    weir__channels_open(engine);
    if (weir__registry_open(engine) != WEIR_OK) {
        weir__error_memory(error, "weir_engine_create");
        weir__contexts_close(engine);
        free_memory(engine);
        return NULL;
    }
    weir__crash_report_begin(engine);
    return engine;
}

/* ---- start ---- */

weir_status weir__engine_default_threads(weir_engine *engine, weir_error *error)
{
    const uint32_t count = engine->options.threads != 0 ? engine->options.threads : 1;
    weir_thread_options checked;
    weir_status status = weir__options_thread(NULL, &checked, error);
    /* Those that a try before this one has made are there. */
    while (engine->default_threads < count && status == WEIR_OK) {
        status =
            weir__thread_create(engine, &checked, false, error) != NULL ? WEIR_OK : WEIR_E_NOMEM;
        engine->default_threads += status == WEIR_OK ? 1 : 0;
    }
    engine->default_threads_made = status == WEIR_OK;
    return status;
}

bool weir__engine_wants_default_threads(const weir_engine *engine)
{
    if (engine->default_threads_made) {
        return false;
    }
    /* A number counts for the default dispatcher, whoever else was added; the default is for those
     * who added nobody. Threads of dedicated processors are not somebody. */
    if (engine->options.threads != 0) {
        return true;
    }
    const uint32_t count = weir__load(&((weir_engine *)(uintptr_t)engine)->thread_count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        const weir__thread *thread =
            weir__load(&((weir_engine *)(uintptr_t)engine)->threads[i], relaxed);
        if (thread->serves && thread->serving_count > 0 &&
            !thread->servings[0]->dispatcher->dedicated) {
            return false;
        }
    }
    return true;
}

/* Back to CREATED: those that run leave, and may be started again. */
static void undo_threads(weir_engine *engine, uint32_t started)
{
    for (uint32_t i = 0; i < started; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        const uint32_t state = weir__load(&thread->state, acquire);
        if (state == WEIR__THREAD_NEW || state == WEIR__THREAD_JOINED) {
            continue;
        }
        if (thread->external) {
            weir__store(&thread->state, WEIR__THREAD_NEW, release);
            continue;
        }
        weir__store(&thread->leave, 1, seq_cst);
        weir__thread_wake(thread);
        weir__os_thread_join(&thread->os);
        weir__store(&thread->leave, 0, relaxed);
        weir__store(&thread->state, WEIR__THREAD_NEW, release);
    }
}

static weir_status start_threads(weir_engine *engine, weir_error *error)
{
    weir_status status = weir__watchdog_start(engine, error);
    const uint32_t count = weir__load(&engine->thread_count, relaxed);
    uint32_t started = 0;
    for (; started < count && status == WEIR_OK; started++) {
        weir__thread *thread = weir__thread_at(engine, started);
        if (weir__load(&thread->state, relaxed) == WEIR__THREAD_NEW) {
            status = weir__thread_start(thread, error);
        }
    }
    for (uint32_t i = 0; i < count && status == WEIR_OK; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        if (weir__load(&thread->state, relaxed) != WEIR__THREAD_JOINED) {
            status = weir__thread_await(thread, error);
        }
    }
    status = status == WEIR_OK ? weir__monitor_need(engine, error) : status;
    if (status != WEIR_OK) {
        undo_threads(engine, started);
        weir__watchdog_undo(engine);
    }
    return status;
}

static bool wait_for_inits(weir_engine *engine)
{
    for (;;) {
        const uint32_t seen = weir__load(&engine->progress, seq_cst);
        if (weir__load(&engine->inits_awaited, seq_cst) == 0) {
            return weir__load(&engine->start_failed, seq_cst) == 0;
        }
        weir__word_wait(&engine->progress, seen, WEIR_FOREVER);
    }
}

void weir__engine_wake_threads(weir_engine *engine)
{
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        if (!thread->external) {
            weir__thread_wake(thread);
        }
    }
}

/* start_lock held. */
static weir_status start(weir_engine *engine, weir_error *error)
{
    weir__mutex_lock(&engine->registry.lock);
    const weir__phase phase = weir__engine_phase(engine);
    if (phase != WEIR__CREATED) {
        weir__mutex_unlock(&engine->registry.lock);
        return phase >= WEIR__STOPPING ? WEIR_STOPPING : WEIR_ALREADY;
    }
    weir_error own_error = WEIR_ERROR_INIT;
    engine->start_error = error != NULL ? error : &own_error;
    weir_status status = weir__engine_wants_default_threads(engine)
                             ? weir__engine_default_threads(engine, engine->start_error)
                             : WEIR_OK;
    status = status == WEIR_OK ? start_threads(engine, engine->start_error) : status;
    if (status == WEIR_OK) {
        /* Under the lock: whoever adds a thread after this starts it himself. */
        weir__store(&engine->phase, WEIR__STARTING, seq_cst);
        weir__engine_wake_threads(engine);
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (status != WEIR_OK) {
        return status;
    }
    bool well = wait_for_inits(engine);
    weir__mutex_lock(&engine->registry.lock);
    weir_status (*host_starting)(weir_engine *, weir_error *) = engine->host_starting;
    weir_error *start_error = engine->start_error;
    weir__mutex_unlock(&engine->registry.lock);
    weir_status hosted = WEIR_OK;
    if (well && host_starting != NULL) {
        hosted = host_starting(engine, start_error);
        well = hosted == WEIR_OK;
    }
    weir__mutex_lock(&engine->registry.lock);
    status = well || hosted != WEIR_OK ? hosted : engine->start_error->status;
    engine->start_error = NULL;
    weir__mutex_unlock(&engine->registry.lock);
    if (!well) {
        engine->stop_status = status;
        weir__shutdown_failed_start(engine);
        return status;
    }
    weir__store(&engine->phase, WEIR__RUNNING, seq_cst);
    weir__mutex_lock(&engine->registry.lock); /* no dispatcher goes while we are at it */
    const uint32_t count = weir__dispatchers_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir__hold_release(engine->dispatchers[i]);
        if (weir__dispatcher_has_work(engine->dispatchers[i])) {
            weir__dispatcher_wake(engine->dispatchers[i]);
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return WEIR_OK;
}

weir_status weir_engine_start(weir_engine *engine, weir_error *error)
{
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_engine_start.engine",
                              "is no usable engine");
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir__mutex_lock(&engine->start_lock);
    const weir_status status = start(engine, error);
    weir__mutex_unlock(&engine->start_lock);
    return status;
}

/* ---- stop ---- */

weir_status weir_engine_stop(weir_engine *engine, weir_ns timeout, weir_stop_report *report)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    bool mine = weir__shutdown_claim(engine);
    if (mine) {
        weir__shutdown(engine, timeout);
    }
    /* [T4] pairs with [T3]. An asynchronous stop that could not be begun is taken over. */
    while (weir__load(&engine->stop_done, seq_cst) != 2) {
        weir__word_wait(&engine->stop_done, 1, WEIR_FOREVER);
        if (weir__shutdown_claim(engine)) {
            mine = true;
            weir__shutdown(engine, timeout);
        }
    }
    if (report != NULL) {
        weir__struct_fill(report, &engine->stop_report, sizeof(engine->stop_report));
    }
    return mine ? engine->stop_status : WEIR_ALREADY;
}

weir_status weir_engine_stop_async(weir_engine *engine, weir_ns timeout)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir_status status = WEIR_ALREADY;
    weir__mutex_lock(&engine->registry.lock);
    if (weir__load(&engine->stop_done, seq_cst) == 0) {
        status = weir__keeper_need(engine);
        if (status == WEIR_OK) {
            if (!weir__shutdown_claim(engine)) {
                status = WEIR_ALREADY;
            } else {
                status = weir__keeper_stop_engine(engine, timeout);
                if (status == WEIR_OK) {
                    weir__shutdown_announce(engine);
                } else {
                    weir__store(&engine->stop_done, 0, seq_cst); /* nobody stops it after all */
                    weir__word_wake(&engine->stop_done, INT32_MAX);
                }
            }
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return status;
}

weir_status weir_engine_wait(weir_engine *engine, weir_ns timeout, weir_stop_report *report)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    const weir_ns deadline = weir__deadline(timeout, WEIR_FOREVER);
    uint32_t seen;
    weir_stop_report none = WEIR_STOP_REPORT_INIT;
    while ((seen = weir__load(&engine->stop_done, seq_cst)) != 2) {
        if (!weir__wait_until(&engine->stop_done, seen, deadline)) {
            if (report != NULL) {
                weir__struct_fill(report, &none, sizeof(none));
            }
            return WEIR_TIMEOUT;
        }
    }
    if (report != NULL) {
        weir__struct_fill(report, &engine->stop_report, sizeof(engine->stop_report));
    }
    return WEIR_OK;
}

/* ---- destroy ---- */

static void free_threads(weir_engine *engine)
{
    const uint32_t count = weir__load(&engine->thread_count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread_free(weir__thread_at(engine, i));
    }
}

void weir_engine_destroy(weir_engine *engine)
{
    if (!weir__engine_usable(engine)) {
        return; /* NULL, or a child's copy: its threads live in the parent only */
    }
    if (weir__context_in_handler()) {
        weir__log_say(&engine->log, NULL, WEIR_LOG_ERROR, WEIR_E_BLOCKING, "engine",
                      "destroy was called inside a handler: nothing is done", NULL, 0);
        return;
    }
    const weir__host_hooks *host =
        weir__load(&engine->host, acquire) != NULL ? engine->host_hooks : NULL;
    if (host != NULL) {
        host->stop(engine);
    }
    (void)weir_engine_stop(engine, 0, NULL);
    weir__monitor_close(engine);
    /* A handler or hook that has still not returned holds everything up: its memory is in use. The
     * handlers first: one of them may be about to wake a scheduler, or to begin an asynchronous
     * stop, as may a timer's hook. */
    weir__shutdown_join(engine, WEIR_FOREVER);
    weir__schedulers_free(engine);
    weir__keeper_close(engine);
    weir__bury_all(engine);
    if (host != NULL) {
        host->end(engine);
    }
    weir__keeper_close(engine); /* a destroy hook may have begun an asynchronous stop */
    if (weir__load(&engine->feeds, relaxed) != NULL) {
        engine->fed->close(engine);
    }
    weir__watchdog_close(engine);
    weir__signals_close(engine);
    weir__downs_close(engine);
    weir__letters_close(engine);
    weir__contexts_close(engine); /* from here on, threads that end leave the pools alone */
    weir__blocks_close(engine);
    free_threads(engine);
    weir__dispatchers_free(engine);
    weir__crash_report_end(engine);
    free_memory(engine);
}
