/*
 * engine/dedicated.c - a dispatcher and a thread for one processor alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "engine/watchdog.h"

/* A pair that an earlier dedicated processor left behind. */
static weir__thread *find_free(weir_engine *engine)
{
    const uint32_t count = weir__load(&engine->thread_count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        const uint32_t state = weir__load(&thread->state, acquire);
        if (thread->servings[0].dispatcher->dedicated &&
            (state == WEIR__THREAD_LEFT || state == WEIR__THREAD_JOINED)) {
            return thread;
        }
    }
    return NULL;
}

static weir__thread *reuse(weir_engine *engine, weir__thread *thread, const char *name)
{
    char *copy;
    if (!weir__copy_text(&engine->allocator, name, &copy)) {
        return NULL;
    }
    if (weir__load(&thread->state, acquire) == WEIR__THREAD_LEFT) {
        weir__os_thread_join(&thread->os);
    }
    weir__watchdog_rename(engine, &thread->watched, copy);
    weir__release_text(&engine->allocator, thread->name);
    thread->name = copy;
    thread->options.name = copy;
    weir__store(&thread->leave, 0, relaxed);
    if (!thread->serves) {
        weir__thread_serve(thread);
    }
    weir__store(&thread->state, WEIR__THREAD_NEW, release);
    return thread;
}

weir__thread *weir__engine_dedicated_thread(weir_engine *engine, const char *name,
                                            weir_error *error)
{
    char thread_name[64];
    char dispatcher_name[64];
    const uint32_t index = weir__load(&engine->thread_count, relaxed);
    weir__thread *thread = find_free(engine);
    if (name != NULL) {
        snprintf(thread_name, sizeof(thread_name), "%.60s", name);
    } else {
        snprintf(thread_name, sizeof(thread_name), "weir-own-%u",
                 thread != NULL ? thread->index : index);
    }
    if (weir__thread_by_name(engine, thread_name) != NULL) {
        snprintf(thread_name, sizeof(thread_name), "weir-own-%u",
                 thread != NULL ? thread->index : index);
    }
    if (thread != NULL) {
        thread = reuse(engine, thread, thread_name);
        if (thread == NULL) {
            weir__error_memory(error, "weir_processor_add");
        }
        return thread;
    }
    /* Dispatchers of this kind are skipped by name: nobody else can be put on one. */
    snprintf(dispatcher_name, sizeof(dispatcher_name), "\ndedicated-%u", index);
    const char *const names[] = { dispatcher_name, NULL };
    weir_thread_options options;
    if (weir__options_thread(WEIR_THREAD(.name = thread_name, .dispatchers = names), &options,
                             error) != WEIR_OK) {
        return NULL;
    }
    thread = weir__thread_create(engine, &options, true, error);
    if (thread != NULL) {
        thread->servings[0].dispatcher->dedicated = true;
    }
    return thread;
}

weir_status weir__engine_start_dedicated(weir_engine *engine, weir__thread *thread,
                                         weir_error *error)
{
    if (weir__engine_phase(engine) == WEIR__CREATED) {
        return WEIR_OK;
    }
    const weir_status status = weir__thread_start(thread, error);
    /* A thread that fails to settle in would leave a processor that accepts and never handles. */
    return status == WEIR_OK ? weir__thread_await(thread, error) : status;
}
