/*
 * host/order.c - who is started before whom.
 *
 * A component names others: targets (what it sends to), `after`, and the feeds that its handler
 * subscribes to. Who is named as a target or in `after` comes first; a source comes after those who
 * subscribe to its feed. A router that is named stands for the processors that it routes to. Among
 * those that may come next, processors, services and sinks come before sources, and then who was
 * added first: so the order is the same every time, and the way down is its reverse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "flow/router.h"
#include "host/host.h"

/* `later` comes after `earlier`. */
typedef struct edge {
    weir_component *later, *earlier;
} edge;

typedef struct graph {
    weir__host *host;
    edge *edges; /* NULL: only counted, or only looked at */
    size_t count, room;
    weir_component *at; /* whose references are looked at */
    weir_error *error;
    weir_status status;
} graph;

static void add_edge(graph *g, weir_component *later, weir_component *earlier)
{
    if (later == earlier) {
        return; /* who sends to himself waits for nobody */
    }
    if (g->count < g->room) {
        g->edges[g->count] = (edge){ later, earlier };
    }
    g->count++;
}

static void component_path(const weir_component *component, const char *key, char *out, size_t size)
{
    snprintf(out, size, "component %s%s%s", component->name, key[0] != '\0' ? "." : "", key);
}

/* ---- references ---- */

static weir_component *by_address(weir__host *host, weir_processor address)
{
    weir_component *component = host->components;
    while (component != NULL && component->address.id != address.id) {
        component = component->next;
    }
    return component;
}

/* Those that a router routes to are there before who submits to it. */
static void add_router(graph *g, weir_router handle)
{
    const weir__router *router = weir__router_find(g->host->engine, handle);
    for (uint32_t i = 0; router != NULL && router->targeted && i < router->worker_count; i++) {
        weir_component *component = by_address(g->host, router->workers[i].handle);
        if (component != NULL) {
            add_edge(g, g->at, component);
        }
    }
}

static bool is_group(weir__host *host, const char *name)
{
    for (const weir_component *c = host->components; c != NULL; c = c->next) {
        if (c->group != NULL && strcmp(c->group, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool refuse_target(graph *g, const char *key, const weir_target *target,
                          const weir_component *named)
{
    char path[160], nearest[96];
    component_path(g->at, key, path, sizeof(path));
    if (named != NULL) {
        g->status =
            weir__error_at(g->error, WEIR_E_INVALID, path,
                           "names %s, which receives no events: it has no handler", target->name);
    } else if (is_group(g->host, target->name)) {
        g->status = weir__error_at(g->error, WEIR_E_INVALID, path,
                                   "names %s, of which there are several: name %s/1, or a router "
                                   "over all of them",
                                   target->name, target->name);
    } else {
        weir__host_nearest(g->host, target->name, nearest, sizeof(nearest));
        g->status = weir__error_at(g->error, WEIR_E_INVALID, path,
                                   "names %.64s, but no component, processor or router is called "
                                   "so%s",
                                   target->name, nearest);
    }
    return false;
}

static bool look_at_target(void *context, const char *key, weir_target *target)
{
    graph *g = context;
    weir_component *named = weir__host_find(g->host, target->name);
    if (named != NULL) {
        if (named->address.id == 0) {
            return refuse_target(g, key, target, named);
        }
        target->processor = named->address;
        add_edge(g, g->at, named);
        return true;
    }
    target->processor = weir_processor_find(g->host->engine, target->name);
    if (target->processor.id == 0) {
        target->router = weir_router_find(g->host->engine, target->name);
    }
    if (target->processor.id == 0 && target->router.id == 0) {
        return refuse_target(g, key, target, NULL);
    }
    add_router(g, target->router);
    return true;
}

static void look_at_after(graph *g)
{
    for (size_t i = 0; i < g->at->after.count && g->status == WEIR_OK; i++) {
        const char *name = g->at->after.items[i];
        bool found = false;
        for (weir_component *c = g->host->components; c != NULL; c = c->next) {
            if (weir__component_is_called(c, name)) {
                found = true;
                add_edge(g, g->at, c);
            }
        }
        if (!found) {
            char path[160], nearest[96];
            component_path(g->at, "after", path, sizeof(path));
            weir__host_nearest(g->host, name, nearest, sizeof(nearest));
            g->status =
                weir__error_at(g->error, WEIR_E_INVALID, path,
                               "names %.64s, but no component is called so%s", name, nearest);
        }
    }
}

static void look_at_feeds(graph *g)
{
    for (size_t i = 0; i < g->at->feeds.count && g->status == WEIR_OK; i++) {
        const char *name = g->at->feeds.items[i];
        weir_component *source = weir__host_find(g->host, name);
        if (source != NULL && source->port != NULL) {
            add_edge(g, source, g->at);
        }
        if (weir_feed_find(g->host->engine, name).id == 0) {
            char path[160], nearest[96];
            component_path(g->at, "feeds", path, sizeof(path));
            weir__host_nearest(g->host, name, nearest, sizeof(nearest));
            g->status =
                weir__error_at(g->error, WEIR_E_INVALID, path,
                               "names %.64s, but no source or feed is called so%s", name, nearest);
        }
    }
}

static void look_at(graph *g, weir_component *component)
{
    g->at = component;
    (void)weir__config_targets(&component->type, component->copy.config, look_at_target, g);
    if (g->status == WEIR_OK) {
        look_at_after(g);
    }
    if (g->status == WEIR_OK) {
        look_at_feeds(g);
    }
}

weir_status weir__component_resolve(weir_component *component, weir_error *error)
{
    graph g = { .host = component->host, .error = error };
    look_at(&g, component);
    return g.status;
}

/* ---- the order ---- */

/* The first one that must come before `component` and has not. */
static weir_component *awaited(const graph *g, const weir_component *component)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->edges[i].later == component && g->edges[i].earlier->waits_for > 0) {
            return g->edges[i].earlier;
        }
    }
    return NULL;
}

/* All that are left wait for one another: one circle is shown. `waits_for` of those that were
 * placed is 0. */
static weir_status refuse_cycle(graph *g)
{
    char text[200] = "";
    size_t used = 0;
    const weir_component *at = g->host->components;
    while (at->waits_for == 0) {
        at = at->next;
    }
    for (size_t i = 0; i < g->host->count; i++) {
        at = awaited(g, at); /* after so many steps it is in a circle for certain */
    }
    const weir_component *first = at;
    do {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s -> ", at->name);
        at = awaited(g, at);
    } while (at != first && used < sizeof(text));
    if (used < sizeof(text)) {
        snprintf(text + used, sizeof(text) - used, "%s", first->name);
    } else {
        memcpy(text + sizeof(text) - 4, "...", 4);
    }
    char path[96];
    component_path(first, "", path, sizeof(path));
    return weir__error_at(g->error, WEIR_E_INVALID, path,
                          "components wait for each other, so none can be first: %s", text);
}

/* Of those that wait for nobody the next: no source before the others. `number` 0: placed. */
static weir_component *next_of(weir__host *host)
{
    weir_component *source = NULL;
    for (weir_component *c = host->components; c != NULL; c = c->next) {
        if (c->number == 0 || c->waits_for != 0) {
            continue;
        }
        if (c->type.kind != WEIR_KIND_SOURCE) {
            return c;
        }
        source = source != NULL ? source : c;
    }
    return source;
}

static weir_status place_all(graph *g)
{
    weir__host *host = g->host;
    for (weir_component *c = host->components; c != NULL; c = c->next) {
        c->number = 1;
        c->waits_for = 0;
    }
    for (size_t i = 0; i < g->count; i++) {
        g->edges[i].later->waits_for++;
    }
    for (size_t placed = 0; placed < host->count; placed++) {
        weir_component *next = next_of(host);
        if (next == NULL) {
            return refuse_cycle(g);
        }
        next->number = 0;
        host->order[placed] = next;
        for (size_t i = 0; i < g->count; i++) {
            if (g->edges[i].earlier == next) {
                g->edges[i].later->waits_for--;
            }
        }
    }
    return WEIR_OK;
}

static void look_at_all(graph *g)
{
    g->count = 0;
    for (weir_component *c = g->host->components; c != NULL && g->status == WEIR_OK; c = c->next) {
        look_at(g, c);
    }
}

weir_status weir__host_resolve(weir__host *host, weir_error *error)
{
    const weir_allocator *allocator = &host->engine->allocator;
    graph g = { .host = host, .error = error };
    look_at_all(&g); /* counts them */
    if (g.status != WEIR_OK || host->count == 0) {
        return g.status;
    }
    const size_t room = g.count + 1;
    g.edges = weir__allocate(allocator, room * sizeof(*g.edges));
    if (g.edges == NULL) {
        return weir__error_memory(error, "weir_components_start");
    }
    g.room = room;
    look_at_all(&g);
    /* A router may have come or gone in between: then what did not fit is not known. */
    g.count = g.count < g.room ? g.count : g.room;
    if (g.status == WEIR_OK) {
        g.status = place_all(&g);
    }
    weir__release(allocator, g.edges, room * sizeof(*g.edges));
    return g.status;
}

/* ---- who would miss it ---- */

typedef struct search {
    const weir_component *named;
    bool found;
} search;

static bool compare_target(void *context, const char *key, weir_target *target)
{
    search *s = context;
    (void)key;
    s->found =
        s->found || (s->named->address.id != 0 && target->processor.id == s->named->address.id);
    return !s->found;
}

static bool is_among(const weir__names *names, const weir_component *component)
{
    for (size_t i = 0; i < names->count; i++) {
        if (weir__component_is_called(component, names->items[i])) {
            return true;
        }
    }
    return false;
}

bool weir__component_is_routed_to(const weir_component *component, char *name, size_t size)
{
    /* [Y9], as of every look at them. */
    weir__routers *routers = weir__load(&component->host->engine->routers, acquire);
    const uint32_t count = routers != NULL ? weir__load(&routers->count, acquire) : 0;
    for (uint32_t i = 0; i < count && component->address.id != 0; i++) {
        weir__router *router = weir__load(&routers->all[i], relaxed);
        for (uint32_t k = 0; router->targeted && k < router->worker_count; k++) {
            if (!weir__router_is_closed(router) &&
                router->workers[k].handle.id == component->address.id) {
                snprintf(name, size, "%s", router->name);
                return true;
            }
        }
    }
    return false;
}

const weir_component *weir__component_referrer(const weir_component *component)
{
    for (weir_component *c = component->host->components; c != NULL; c = c->next) {
        search s = { component, false };
        const bool sibling =
            c->group != NULL && component->group != NULL && strcmp(c->group, component->group) == 0;
        if (c == component || sibling) {
            continue;
        }
        (void)weir__config_targets(&c->type, c->copy.config, compare_target, &s);
        if (s.found || is_among(&c->after, component)) {
            return c;
        }
    }
    return NULL;
}
