/*
 * host/type.c - the component types that an engine knows, and where they came from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "host/descriptor.h"
#include "host/host.h"

#define PATH "weir_plugin_register"

static const weir__type_entry *find(weir__host *host, const char *name)
{
    const weir__type_entry *entry = host->types;
    while (entry != NULL && strcmp(entry->type->name, name) != 0) {
        entry = entry->next;
    }
    return entry;
}

/* A plugin, as far as its struct_size says: checked before. */
typedef struct reading {
    const weir_plugin *given;
    weir_plugin known;
} reading;

/* lock held. ALREADY: all of them are there, of this plugin. */
static weir_status look_for(weir__host *host, const reading *r, weir_error *error)
{
    const weir_plugin *plugin = &r->known;
    size_t there = 0;
    for (size_t i = 0; i < plugin->type_count; i++) {
        const weir__type_entry *entry = find(host, plugin->types[i]->name);
        if (entry != NULL && entry->from != r->given) {
            return weir__error_at(error, WEIR_E_TAKEN, PATH,
                                  "plugin %s: there is a type %s already, of plugin %s",
                                  plugin->name, entry->type->name, entry->from->name);
        }
        there += entry != NULL ? 1 : 0;
    }
    return there == plugin->type_count && there > 0 ? WEIR_ALREADY : WEIR_OK;
}

/* lock held. All or none, at the end of the list. */
static weir_status append(weir__host *host, const reading *r, weir_error *error)
{
    const weir_allocator *allocator = &host->engine->allocator;
    weir__type_entry *first = NULL, **last = &first;
    for (size_t i = 0; i < r->known.type_count; i++) {
        weir__type_entry *entry = weir__allocate(allocator, sizeof(*entry));
        if (entry == NULL) {
            while (first != NULL) {
                entry = first;
                first = entry->next;
                weir__release(allocator, entry, sizeof(*entry));
            }
            return weir__error_memory(error, PATH);
        }
        *entry = (weir__type_entry){ .type = r->known.types[i], .from = r->given };
        *last = entry;
        last = &entry->next;
    }
    weir__type_entry **end = &host->types;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = first;
    return WEIR_OK;
}

weir_status weir_plugin_register(weir_engine *engine, const weir_plugin *plugin, weir_error *error)
{
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, PATH ".engine", "is no usable engine");
    }
    weir_status status = weir_plugin_check(plugin, error);
    if (status != WEIR_OK) {
        return status;
    }
    weir__host *host = weir__host_need(engine);
    if (host == NULL) {
        return weir__error_memory(error, PATH);
    }
    reading r = { .given = plugin };
    (void)weir__options_read(&r.known, sizeof(r.known), plugin);
    weir__mutex_lock(&host->lock);
    status = look_for(host, &r, error);
    weir__mutex_unlock(&host->lock);
    if (status != WEIR_OK) {
        return status; /* ALREADY is none of an error's */
    }
    status = weir__plugin_load_once(plugin, error); /* its code runs: without the lock */
    if (status != WEIR_OK) {
        return status;
    }
    weir__mutex_lock(&host->lock);
    status = look_for(host, &r, error);
    status = status == WEIR_OK ? append(host, &r, error) : status;
    weir__mutex_unlock(&host->lock);
    return status;
}

const weir_component_type *weir_component_type_find(weir_engine *engine, const char *name)
{
    weir__host *host = weir__engine_usable(engine) ? weir__host_of(engine) : NULL;
    if (host == NULL || name == NULL) {
        return NULL;
    }
    weir__mutex_lock(&host->lock);
    const weir__type_entry *entry = find(host, name);
    weir__mutex_unlock(&host->lock);
    return entry != NULL ? entry->type : NULL; /* entries live as long as the engine */
}

void weir_component_type_visit(weir_engine *engine,
                               bool (*visit)(void *context, const weir_component_type *type,
                                             const weir_plugin *from),
                               void *context)
{
    weir__host *host = weir__engine_usable(engine) ? weir__host_of(engine) : NULL;
    if (host == NULL || visit == NULL) {
        return;
    }
    /* Entries are only ever added, at the end: what was there stays where it is. */
    weir__mutex_lock(&host->lock);
    const weir__type_entry *entry = host->types;
    weir__mutex_unlock(&host->lock);
    bool more = true;
    while (entry != NULL && more) {
        more = visit(context, entry->type, entry->from);
        weir__mutex_lock(&host->lock);
        entry = entry->next;
        weir__mutex_unlock(&host->lock);
    }
}
