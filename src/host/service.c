/*
 * host/service.c - services: found by type and name, and those told that want to know.
 *
 * Entries are never freed before the engine: a lookup from a handler takes no lock. A service that
 * comes again under its name finds its entry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "host/host.h"
#include "sync/word.h"

#define PATIENCE (200 * WEIR_MS) /* with a watcher whose mailbox is full */

const weir_event_type weir_service_type = {
    .struct_size = sizeof(weir_event_type),
    .name = "weir.service",
    .size = sizeof(weir_service_change),
};

static bool matches(const weir__service_entry *entry, const char *type, const char *name)
{
    return (type == NULL || strcmp(entry->type, type) == 0) &&
           (name == NULL || strcmp(entry->name, name) == 0);
}

weir_processor weir_service_find(weir_engine *engine, const char *type, const char *name)
{
    weir__host *host = weir__engine_usable(engine) ? weir__host_of(engine) : NULL;
    weir_processor found = { 0 };
    /* [CO11] pairs with [CO12]: the entry is whole, and so are those behind it. */
    weir__service_entry *entry = host != NULL ? weir__load(&host->services, acquire) : NULL;
    while (entry != NULL && found.id == 0) {
        if (matches(entry, type, name)) {
            found.id = weir__load(&entry->address, relaxed);
        }
        entry = weir__load(&entry->next, relaxed);
    }
    return found;
}

/* ---- telling ---- */

/* The lock is held, so it waits for a full mailbox only briefly, and in a handler not at all. */
static weir_status post(weir__host *host, weir_processor who, const weir_event *event)
{
    const weir_event *const events[] = { event };
    const weir_ns end = weir__clock_now() + PATIENCE;
    for (;;) {
        weir_status status;
        if (weir_engine_post_batch(host->engine, &who, 1, events, 1, &status) == 1 ||
            status != WEIR_FULL || weir__context_in_handler() || weir__clock_now() >= end) {
            return status;
        }
        weir__atomic_u32 nobody;
        weir__init(&nobody, 0);
        weir__word_wait(&nobody, 0, WEIR_MS);
    }
}

/* False: it is gone for good. */
static bool tell(weir__host *host, const weir__service_watch *watch,
                 const weir__service_entry *entry, weir_processor address, bool arrived)
{
    weir_service_change change = { .address = address, .arrived = arrived };
    snprintf(change.type, sizeof(change.type), "%s", entry->type);
    snprintf(change.name, sizeof(change.name), "%s", entry->name);
    const weir_event event = { .type = &weir_service_type,
                               .data = &change,
                               .size = sizeof(change) };
    const weir_status status = post(host, watch->who, &event);
    if (status != WEIR_OK && status != WEIR_DROPPED && status != WEIR_UNKNOWN &&
        status != WEIR_STOPPING) {
        char text[200];
        snprintf(text, sizeof(text), "a watcher of services was not told that %s has %s: %s",
                 entry->name, arrived ? "come" : "gone", weir_status_text(status));
        weir__log_say(&host->engine->log, NULL, WEIR_LOG_WARNING, status, "services", text, NULL,
                      0);
    }
    return status != WEIR_UNKNOWN;
}

/* lock held. */
static void tell_all(weir__host *host, const weir__service_entry *entry, weir_processor address,
                     bool arrived)
{
    weir__service_watch **link = &host->watches;
    while (*link != NULL) {
        weir__service_watch *watch = *link;
        const bool wanted = watch->type == NULL || strcmp(watch->type, entry->type) == 0;
        if (!wanted || tell(host, watch, entry, address, arrived)) {
            link = &watch->next;
            continue;
        }
        *link = watch->next;
        weir__release_text(&host->engine->allocator, watch->type);
        weir__release(&host->engine->allocator, watch, sizeof(*watch));
    }
}

/* lock held. NULL: no memory. */
static weir__service_watch *add_watch(weir__host *host, const char *type, weir_processor who)
{
    const weir_allocator *allocator = &host->engine->allocator;
    weir__service_watch *watch = weir__allocate(allocator, sizeof(*watch));
    if (watch == NULL || !weir__copy_text(allocator, type, &watch->type)) {
        weir__release(allocator, watch, sizeof(*watch));
        return NULL;
    }
    watch->who = who;
    watch->next = host->watches;
    host->watches = watch;
    return watch;
}

static bool is_watched(const weir__host *host, const char *type, weir_processor who)
{
    for (const weir__service_watch *w = host->watches; w != NULL; w = w->next) {
        if (w->who.id == who.id &&
            (type == NULL || w->type == NULL ? type == w->type : strcmp(w->type, type) == 0)) {
            return true;
        }
    }
    return false;
}

weir_status weir_service_watch(weir_engine *engine, const char *type, weir_processor who)
{
    if (!weir__engine_usable(engine) || who.id == 0) {
        return WEIR_E_INVALID;
    }
    weir__host *host = weir__host_need(engine);
    if (host == NULL) {
        return WEIR_E_NOMEM;
    }
    weir_status status = WEIR_ALREADY;
    weir__mutex_lock(&host->lock);
    if (!is_watched(host, type, who)) {
        const weir__service_watch *watch = add_watch(host, type, who);
        status = watch != NULL ? WEIR_OK : WEIR_E_NOMEM;
        weir__service_entry *entry = weir__load(&host->services, relaxed);
        for (; watch != NULL && entry != NULL; entry = weir__load(&entry->next, relaxed)) {
            const weir_processor address = { weir__load(&entry->address, relaxed) };
            if (address.id != 0 && matches(entry, type, NULL)) {
                (void)tell(host, watch, entry, address, true);
            }
        }
    }
    weir__mutex_unlock(&host->lock);
    return status;
}

/* ---- coming and going ---- */

/* lock held. NULL: no memory. */
static weir__service_entry *entry_for(weir__host *host, const weir_component *c)
{
    const weir_allocator *allocator = &host->engine->allocator;
    weir__service_entry *entry = weir__load(&host->services, relaxed);
    while (entry != NULL && !matches(entry, c->type.name, c->name)) {
        entry = weir__load(&entry->next, relaxed);
    }
    if (entry != NULL) {
        return entry;
    }
    entry = weir__allocate(allocator, sizeof(*entry));
    if (entry == NULL || !weir__copy_text(allocator, c->name, &entry->name) ||
        !weir__copy_text(allocator, c->type.name, &entry->type)) {
        if (entry != NULL) {
            weir__release_text(allocator, entry->name);
        }
        weir__release(allocator, entry, sizeof(*entry));
        return NULL;
    }
    weir__store(&entry->next, weir__load(&host->services, relaxed), relaxed);
    weir__store(&host->services, entry, release); /* [CO12] */
    return entry;
}

weir_status weir__service_arrive(weir_component *c, weir_error *error)
{
    weir__host *host = c->host;
    weir__mutex_lock(&host->lock);
    c->service = entry_for(host, c);
    if (c->service != NULL) {
        weir__store(&c->service->address, c->address.id, relaxed);
        tell_all(host, c->service, c->address, true);
    }
    weir__mutex_unlock(&host->lock);
    return c->service != NULL ? WEIR_OK : weir__error_memory(error, "weir_component_add");
}

void weir__service_leave(weir_component *c)
{
    weir__host *host = c->host;
    if (c->service == NULL) {
        return;
    }
    weir__mutex_lock(&host->lock);
    weir__store(&c->service->address, 0, relaxed);
    tell_all(host, c->service, c->address, false);
    c->service = NULL;
    weir__mutex_unlock(&host->lock);
}

void weir__services_free(weir__host *host)
{
    const weir_allocator *allocator = &host->engine->allocator;
    while (host->watches != NULL) {
        weir__service_watch *watch = host->watches;
        host->watches = watch->next;
        weir__release_text(allocator, watch->type);
        weir__release(allocator, watch, sizeof(*watch));
    }
    weir__service_entry *entry = weir__load(&host->services, relaxed);
    while (entry != NULL) {
        weir__service_entry *next = weir__load(&entry->next, relaxed);
        weir__release_text(allocator, entry->type);
        weir__release_text(allocator, entry->name);
        weir__release(allocator, entry, sizeof(*entry));
        entry = next;
    }
}
