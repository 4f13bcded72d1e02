/*
 * engine/visit.c - what there is, one by one, for people who look at a running engine.
 *
 * No lock is held while a visitor runs, so it may call anything; what comes or goes meanwhile may
 * be missed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/visit.h"

#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/options.h"
#include "engine/processor.h"

#define AT_ONCE 64u /* slots looked at under one lock: nobody waits long behind a million */

/* Handles of those that live, from slot *next on, which moves; false: there are no more slots. */
static bool look(weir_engine *engine, uint32_t *next, weir_processor *found, uint32_t *count)
{
    weir__registry *registry = &engine->registry;
    *count = 0;
    weir__mutex_lock(&registry->lock);
    const uint32_t begin = *next;
    const uint32_t end = registry->used - begin < AT_ONCE ? registry->used : begin + AT_ONCE;
    for (uint32_t i = begin; i < end; i++) {
        weir__processor *p = weir__registry_slot(registry, i);
        if (weir__processor_is_live(p)) {
            found[(*count)++].id = weir__load(&p->id, relaxed);
        }
    }
    weir__mutex_unlock(&registry->lock);
    *next = end;
    return end > begin;
}

void weir_processor_visit(weir_engine *engine,
                          bool (*visit)(void *context, weir_processor processor), void *context)
{
    weir_processor found[AT_ONCE];
    uint32_t next = 0;
    uint32_t count;
    if (!weir__engine_usable(engine) || visit == NULL) {
        return;
    }
    while (look(engine, &next, found, &count)) {
        for (uint32_t i = 0; i < count; i++) {
            if (!visit(context, found[i])) {
                return;
            }
        }
    }
}

void weir_thread_visit(weir_engine *engine,
                       bool (*visit)(void *context, weir_thread thread, const char *name),
                       void *context)
{
    if (!weir__engine_usable(engine) || visit == NULL) {
        return;
    }
    char name[WEIR__NAME_SIZE];
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        const weir__thread *thread = weir__thread_at(engine, i);
        weir__mutex_lock(&engine->registry.lock);
        const weir_thread handle = { weir__cell_read(&thread->id) };
        if (handle.id != 0) {
            (void)snprintf(name, sizeof(name), "%s", thread->name != NULL ? thread->name : "");
        }
        weir__mutex_unlock(&engine->registry.lock);
        if (handle.id != 0 && !visit(context, handle, name)) {
            return;
        }
    }
}

size_t weir__engine_stuck(weir_engine *engine, char *who, size_t size)
{
    size_t count = 0;
    weir_processor one = { 0 };
    weir__mutex_lock(&engine->watch_lock);
    for (const weir__watched *w = engine->watched; w != NULL; w = w->next) {
        if (w->reports > 0) {
            one.id = w->doing.processor;
            count++;
        }
    }
    weir__mutex_unlock(&engine->watch_lock);
    if (count > 0 && weir_processor_name(engine, one, who, size) == 0) {
        (void)snprintf(who, size, "?");
    }
    return count;
}
