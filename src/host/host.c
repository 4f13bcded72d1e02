/*
 * host/host.c - the engine's record of its components, found and freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host/host.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"

weir__host *weir__host_of(weir_engine *engine)
{
    /* [CO3] pairs with [CO4]: the record is zeroed, and knows its engine. */
    return weir__load(&engine->host, acquire);
}

static void free_names(const weir_allocator *allocator, weir__names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        weir__release_text(allocator, names->items[i]);
    }
    weir__release(allocator, names->items, names->count * sizeof(*names->items));
}

void weir__component_free(weir_component *component)
{
    const weir_allocator *allocator = &component->host->engine->allocator;
    for (size_t i = 0; i < component->origin_count; i++) {
        weir_origin_release(component->origins[i]);
    }
    weir__release(allocator, component->origins, component->origin_room * sizeof(void *));
    weir__config_copy_free(allocator, &component->copy);
    free_names(allocator, &component->after);
    free_names(allocator, &component->feeds);
    weir__release_text(allocator, component->name);
    weir__release_text(allocator, component->group);
    weir__release_text(allocator, component->thread_name);
    weir__release_text(allocator, component->dispatcher);
    weir__release(allocator, component, component->memory_size);
}

/* ---- the end of the engine ---- */

/* No thread runs any more: what was begun and not ended ends here. */
static void end_components(weir_engine *engine)
{
    weir__host *host = weir__host_of(engine);
    host->alone = true;
    for (size_t i = host->count; i > 0; i--) {
        weir__component_tear_down(host->order[i - 1], WEIR_FOREVER);
    }
    /* While origins and feeds are still there. */
    for (weir_component *component = host->components; component != NULL;) {
        weir_component *next = component->next;
        weir__component_free(component);
        component = next;
    }
    host->components = NULL;
}

static void close_host(weir_engine *engine)
{
    weir__host *host = weir__host_of(engine);
    const weir_allocator *allocator = &engine->allocator;
    while (host->types != NULL) {
        weir__type_entry *entry = host->types;
        host->types = entry->next;
        weir__release(allocator, entry, sizeof(*entry));
    }
    while (host->ports != NULL) {
        weir__port *port = host->ports;
        host->ports = port->next;
        weir__release_text(allocator, port->name);
        weir__release(allocator, port, sizeof(*port));
    }
    weir__services_free(host);
    weir__release(allocator, host->order, host->order_room * sizeof(void *));
    weir__release(allocator, host, sizeof(*host));
}

static void stop_host(weir_engine *engine)
{
    (void)weir_components_stop(engine, 0, NULL);
}

weir__host *weir__host_need(weir_engine *engine)
{
    static const weir__host_hooks hooks = { stop_host, end_components, close_host };
    weir__mutex_lock(&engine->registry.lock);
    weir__host *host = weir__load(&engine->host, relaxed);
    if (host == NULL) {
        host = weir__allocate(&engine->allocator, sizeof(*host));
        if (host != NULL) {
            host->engine = engine;
            weir__store(&host->stop_deadline, (uint64_t)WEIR_FOREVER, relaxed);
            engine->host_hooks = &hooks;
            weir__store(&engine->host, host, release); /* [CO4] */
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return host;
}

/* ---- finding ---- */

weir_component *weir__host_find(weir__host *host, const char *name)
{
    weir_component *component = host->components;
    while (component != NULL && strcmp(component->name, name) != 0) {
        component = component->next;
    }
    return component;
}

bool weir__component_is_called(const weir_component *component, const char *name)
{
    return strcmp(component->name, name) == 0 ||
           (component->group != NULL && strcmp(component->group, name) == 0);
}

void weir__host_nearest(weir__host *host, const char *name, char *out, size_t size)
{
    size_t least = SIZE_MAX;
    out[0] = '\0';
    for (const weir_component *c = host->components; c != NULL; c = c->next) {
        const size_t distance = weir__distance(name, c->name);
        if (distance < least && weir__distance_is_near(distance, name, c->name)) {
            least = distance;
            snprintf(out, size, "; did you mean %s?", c->name);
        }
    }
}

static const char *phase_name(weir__component_phase phase)
{
    static const char *const names[] = { "added",   "initialised", "started",
                                         "running", "stopping",    "failed" };
    return names[phase];
}

/* lock held. Its handler has failed, and its processor has ended of that, whatever the way. */
static bool has_failed(const weir_component *c)
{
    return weir__load(&((weir_component *)(uintptr_t)c)->failing, relaxed) != 0 &&
           c->address.id != 0 && weir_processor_name(c->host->engine, c->address, NULL, 0) == 0;
}

/* lock held. */
static weir_component_info info_of(const weir_component *c)
{
    weir__component_phase phase = weir__component_phase_of(c);
    if (phase == WEIR__COMPONENT_RUNNING && has_failed(c)) {
        phase = WEIR__COMPONENT_FAILED;
    }
    return (weir_component_info){
        .struct_size = sizeof(weir_component_info),
        .name = c->name,
        .type = c->given,
        .thread = c->thread_name != NULL ? c->thread_name : "",
        .phase = phase_name(phase),
        .rounds = weir__cell_read(&c->rounds),
        .work = weir__cell_read(&c->work),
        .failures = weir__load(&((weir_component *)(uintptr_t)c)->failures, relaxed),
        .address = c->address,
        .feed = weir_component_feed(c),
        .stopped = c->stopped,
    };
}

void weir_component_visit(weir_engine *engine,
                          bool (*visit)(void *context, const weir_component_info *info),
                          void *context)
{
    weir__host *host = weir__engine_usable(engine) ? weir__host_of(engine) : NULL;
    if (host == NULL || visit == NULL) {
        return;
    }
    weir__mutex_lock(&host->lock);
    bool more = true;
    for (size_t i = 0; i < host->count && more; i++) {
        const weir_component_info info = info_of(host->order[i]);
        more = visit(context, &info);
    }
    weir__mutex_unlock(&host->lock);
}

/* ---- what its own code asks ---- */

weir_engine *weir_component_engine(const weir_component *self)
{
    return self != NULL ? self->host->engine : NULL;
}

const char *weir_component_name(const weir_component *self)
{
    return self != NULL ? self->name : "";
}

weir_feed weir_component_feed(const weir_component *self)
{
    return self != NULL && self->port != NULL ? self->port->feed : (weir_feed){ 0 };
}

weir_processor weir_component_address(const weir_component *self)
{
    return self != NULL ? self->address : (weir_processor){ 0 };
}

void weir_component_wake(weir_component *self)
{
    /* One without rounds has an agent only now and then: nothing to look at. */
    if (self != NULL && weir__component_has_rounds(self) && self->agent != NULL) {
        weir__agent_wake(self->agent);
    }
}

weir_status weir_component_poll(weir_component *self, int fd, bool readable, bool writable)
{
    return self != NULL && self->agent != NULL
               ? weir__agent_poll(self->agent, fd, readable, writable)
               : WEIR_E_INVALID;
}
