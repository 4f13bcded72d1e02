/*
 * metric/edges.c - who sends to whom: what was seen, and what is known without being seen.
 *
 * Seen are posts between processors, by the events that are measured. Known are feeds and those who
 * subscribe, components and their feeds, routers and their targets, and what components name in
 * their configuration: these are there before anything flows. A processor goes by the name of the
 * component or router that it belongs to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "feed/feed.h"
#include "feed/subscribers.h"
#include "flow/router.h"
#include "host/host.h"
#include "metric/metric.h"
#include "weir/latency.h"

#define OUTSIDE "outside"

/* A processor, and what it is called here. */
typedef struct node {
    uint64_t id;
    uint32_t rank; /* of several for one processor the least counts */
    const char *name;
    uint64_t fed; /* events that it got of feeds */
} node;

/* What `from` sends to `to` goes by a router that it names: submits are seen as posts to the
 * router's targets. */
typedef struct detour {
    const char *from, *to, *router;
} detour;

typedef struct drawing {
    weir__figures *f;
    weir__list nodes;   /* by id, once they are sorted */
    weir__list detours; /* by their ends, likewise */
} drawing;

enum { RANK_COMPONENT, RANK_ROUTER, RANK_PROCESSOR };

/* ---- nodes ---- */

static void add_node(drawing *d, weir_processor processor, uint32_t rank, const char *kind,
                     const char *name)
{
    node *n = processor.id != 0 ? weir__list_add(d->f, &d->nodes, sizeof(*n)) : NULL;
    if (n != NULL) {
        *n = (node){ processor.id, rank, weir__figures_join(d->f, kind, name), 0 };
    }
}

static int by_id(const void *a, const void *b)
{
    const node *x = a;
    const node *y = b;
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return x->rank < y->rank ? -1 : x->rank > y->rank ? 1 : 0;
}

static void name_nodes(drawing *d)
{
    const weir__figures *f = d->f;
    const weir__list *list = &f->groups[WEIR__GROUP_COMPONENT];
    for (uint32_t i = 0; i < list->count; i++) {
        const weir__component_item *c = (const weir__component_item *)list->items + i;
        add_node(d, c->address, RANK_COMPONENT, "component:", c->name);
    }
    list = &f->groups[WEIR__GROUP_ROUTER];
    for (uint32_t i = 0; i < list->count; i++) {
        const weir__router_item *r = (const weir__router_item *)list->items + i;
        const weir__worker_item *workers = f->groups[WEIR__GROUP_WORKER].items;
        const weir__router *inner = weir__router_find(f->engine, r->handle);
        for (uint32_t w = 0; w < r->worker_count && !r->targeted; w++) {
            add_node(d, workers[r->worker_first + w].c.processor, RANK_ROUTER, "router:", r->name);
        }
        if (inner != NULL) {
            add_node(d, inner->caretaker, RANK_ROUTER, "router:", r->name);
        }
    }
    list = &f->groups[WEIR__GROUP_PROCESSOR];
    for (uint32_t i = 0; i < list->count; i++) {
        const weir__processor_item *p = (const weir__processor_item *)list->items + i;
        add_node(d, p->handle, RANK_PROCESSOR, "processor:", p->name);
    }
    if (d->nodes.count > 0) {
        qsort(d->nodes.items, d->nodes.count, sizeof(node), by_id);
    }
}

/* NULL: it has no figures of its own, or is gone. */
static node *node_of(const drawing *d, weir_processor processor)
{
    node *nodes = d->nodes.items;
    uint32_t low = 0;
    uint32_t high = d->nodes.count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (nodes[middle].id < processor.id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < d->nodes.count && nodes[low].id == processor.id ? &nodes[low] : NULL;
}

/* Those without figures of their own are one. */
static const char *name_of(const drawing *d, weir_processor processor)
{
    const node *n = node_of(d, processor);
    return processor.id == 0 ? OUTSIDE : n != NULL ? n->name : "processor:" WEIR__METRICS_OTHERS;
}

/* ---- edges ---- */

static bool add_edge(const drawing *d, const char *from, const char *to, uint64_t events)
{
    weir__edge_item *edge = weir__list_add(d->f, &d->f->edges, sizeof(*edge));
    if (edge != NULL) {
        *edge = (weir__edge_item){ from, to, events };
    }
    return edge != NULL;
}

/* What a feed delivers has no sender either. What is seen is an estimate: of the rest only what is
 * more than its error is from outside. */
static bool visit_edge(void *context, weir_processor sender, weir_processor receiver,
                       uint64_t events)
{
    const drawing *d = context;
    const node *to = node_of(d, receiver);
    if (sender.id == 0 && to != NULL && to->fed > 0) {
        const uint64_t rest = events > to->fed ? events - to->fed : 0;
        return rest <= events / 4 || add_edge(d, OUTSIDE, to->name, rest);
    }
    return add_edge(d, name_of(d, sender), name_of(d, receiver), events);
}

static void draw_feeds(const drawing *d)
{
    weir__figures *f = d->f;
    const weir__list *feeds = &f->groups[WEIR__GROUP_FEED];
    const weir__list *components = &f->groups[WEIR__GROUP_COMPONENT];
    for (uint32_t i = 0; i < feeds->count; i++) {
        const weir__feed_item *item = (const weir__feed_item *)feeds->items + i;
        weir_processor who[WEIR__METRICS_SUBSCRIBERS_MAX];
        const char *name = weir__figures_join(f, "feed:", item->name);
        const uint32_t count = weir__feed_subscribers(weir__feed_find(f->engine, item->handle), who,
                                                      WEIR__METRICS_SUBSCRIBERS_MAX);
        /* Each has got the same, but for what was dropped. */
        const uint64_t each =
            count > 0 ? item->c.delivered / (item->c.subscribers > 0 ? item->c.subscribers : count)
                      : 0;
        for (uint32_t s = 0; s < count; s++) {
            node *to = node_of(d, who[s]);
            (void)add_edge(d, name, name_of(d, who[s]), each);
            if (to != NULL) {
                to->fed += each + 1;
            }
        }
        for (uint32_t c = 0; c < components->count; c++) {
            const weir__component_item *owner = (const weir__component_item *)components->items + c;
            if (owner->feed_handle.id == item->handle.id) {
                (void)add_edge(d, weir__figures_join(f, "component:", owner->name), name,
                               item->c.published);
            }
        }
    }
}

static void draw_routers(const drawing *d)
{
    const weir__list *routers = &d->f->groups[WEIR__GROUP_ROUTER];
    const weir__worker_item *workers = d->f->groups[WEIR__GROUP_WORKER].items;
    for (uint32_t i = 0; i < routers->count; i++) {
        const weir__router_item *r = (const weir__router_item *)routers->items + i;
        for (uint32_t w = 0; r->targeted && w < r->worker_count; w++) {
            const weir__worker_item *worker = &workers[r->worker_first + w];
            (void)add_edge(d, weir__figures_join(d->f, "router:", r->name),
                           name_of(d, worker->c.processor), 0);
        }
    }
}

/* ---- what components name ---- */

typedef struct naming {
    drawing *d;
    const char *from;
} naming;

static void add_detours(drawing *d, const char *from, weir_router router, const char *name)
{
    const weir__list *routers = &d->f->groups[WEIR__GROUP_ROUTER];
    const weir__worker_item *workers = d->f->groups[WEIR__GROUP_WORKER].items;
    for (uint32_t i = 0; i < routers->count; i++) {
        const weir__router_item *r = (const weir__router_item *)routers->items + i;
        for (uint32_t w = 0; r->handle.id == router.id && r->targeted && w < r->worker_count; w++) {
            detour *one = weir__list_add(d->f, &d->detours, sizeof(*one));
            if (one != NULL) {
                *one = (detour){ from, name_of(d, workers[r->worker_first + w].c.processor), name };
            }
        }
    }
}

static bool visit_target(void *context, const char *key, weir_target *target)
{
    const naming *n = context;
    (void)key;
    if (target->processor.id != 0) {
        return add_edge(n->d, n->from, name_of(n->d, target->processor), 0);
    }
    if (target->router.id == 0) {
        return true;
    }
    const char *name = weir__figures_join(n->d->f, "router:", target->name);
    add_detours(n->d, n->from, target->router, name);
    return add_edge(n->d, n->from, name, 0);
}

static void draw_components(drawing *d)
{
    weir__host *host = weir__host_of(d->f->engine);
    if (host == NULL) {
        return;
    }
    weir__mutex_lock(&host->lock);
    for (weir_component *c = host->components; c != NULL && !d->f->failed; c = c->next) {
        naming n = { d, weir__figures_join(d->f, "component:", c->name) };
        (void)weir__config_targets(&c->type, c->copy.config, visit_target, &n);
    }
    weir__mutex_unlock(&host->lock);
}

/* ---- all of it ---- */

static int by_ends(const void *a, const void *b)
{
    const weir__edge_item *x = a;
    const weir__edge_item *y = b;
    const int order = strcmp(x->from, y->from);
    return order != 0 ? order : strcmp(x->to, y->to);
}

static int by_events(const void *a, const void *b)
{
    const weir__edge_item *x = a;
    const weir__edge_item *y = b;
    return x->events > y->events ? -1 : x->events < y->events ? 1 : by_ends(a, b);
}

static int by_detour(const void *a, const void *b)
{
    const detour *x = a;
    const detour *y = b;
    const int order = strcmp(x->from, y->from);
    return order != 0 ? order : strcmp(x->to, y->to);
}

/* Makes two of an edge that goes by a router. */
static void take_detours(const drawing *d)
{
    const weir__list *all = &d->detours;
    if (all->count == 0) {
        return;
    }
    qsort(all->items, all->count, sizeof(detour), by_detour);
    const uint32_t count = d->f->edges.count; /* more come behind them */
    for (uint32_t i = 0; i < count; i++) {
        weir__edge_item *edge = (weir__edge_item *)d->f->edges.items + i;
        const detour key = { edge->from, edge->to, NULL };
        const detour *by = bsearch(&key, all->items, all->count, sizeof(key), by_detour);
        if (by != NULL) {
            edge->to = by->router;
            (void)add_edge(d, by->router, by->to, edge->events);
        }
    }
}

/* Each pair once. */
static void merge(weir__list *edges)
{
    weir__edge_item *items = edges->items;
    uint32_t count = 0;
    if (edges->count == 0) {
        return;
    }
    qsort(items, edges->count, sizeof(*items), by_ends);
    for (uint32_t i = 1; i < edges->count; i++) {
        if (by_ends(&items[count], &items[i]) == 0) {
            items[count].events += items[i].events;
        } else {
            items[++count] = items[i];
        }
    }
    edges->count = count + 1;
    if (edges->count > WEIR__METRICS_EDGES_MAX) {
        qsort(items, edges->count, sizeof(*items), by_events);
        edges->count = WEIR__METRICS_EDGES_MAX;
    }
}

void weir__figures_edges(weir__figures *f)
{
    drawing d = { .f = f };
    name_nodes(&d);
    draw_feeds(&d);
    weir_edge_visit(f->engine, visit_edge, &d);
    draw_routers(&d);
    draw_components(&d);
    take_detours(&d);
    merge(&f->edges);
    weir__list_close(f, &d.detours);
    weir__list_close(f, &d.nodes);
}
