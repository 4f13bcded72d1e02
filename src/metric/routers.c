/*
 * metric/routers.c - figures of routers and their workers.
 *
 * A router that was stopped stays, with what it had, and the next of its name goes on from there:
 * so no counter falls. Its workers have rows while it runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "flow/router.h"
#include "metric/figures.h"

/* Routers by number: those that were stopped, too. */
typedef struct routers {
    weir__routers *all;
    uint32_t count;
} routers;

static weir__router *router_at(const routers *r, uint32_t i)
{
    return weir__load(&r->all->all[i], relaxed);
}

/* The one of that name after the i-th, up to `end`; or `end`. */
static uint32_t next_of_name(const routers *r, uint32_t i, const char *name, uint32_t end)
{
    while (i < end && strcmp(router_at(r, i)->name, name) != 0) {
        i++;
    }
    return i;
}

/* ---- workers ---- */

/* Flows that began on a worker and have not ended there; of a target those that go there. */
static uint64_t flows_of(weir__router *router, uint32_t index)
{
    weir__worker *worker = &router->workers[index];
    if (router->targeted) {
        return weir__load(&worker->flows, relaxed);
    }
    const uint64_t made = weir__cell_read(&worker->made);
    uint64_t ended = 0;
    for (uint32_t reason = 1; reason <= WEIR_FLOW_STOPPED; reason++) {
        ended += weir__cell_read(&worker->ended_as[reason]);
    }
    return made > ended ? made - ended : 0;
}

/* A target counts what it is sent itself, whoever sent it. */
static void take_target(weir_engine *engine, weir_worker_counters *c)
{
    weir_counters own = WEIR_COUNTERS_INIT;
    if (weir_processor_counters(engine, c->processor, &own) == WEIR_OK) {
        c->handled = own.handled + own.dead;
    }
}

/* What the i-th of those before it with the same name had. */
static void add_worker(weir__figures *f, const routers *r, uint32_t number, uint32_t index,
                       weir_worker_counters *c)
{
    const char *name = router_at(r, number)->name;
    for (uint32_t i = next_of_name(r, 0, name, number); i < number;
         i = next_of_name(r, i + 1, name, number)) {
        weir_worker_counters old = WEIR_WORKER_COUNTERS_INIT;
        weir__router *router = router_at(r, i);
        if (!router->targeted && weir_worker_counters_get(f->engine, (weir_router){ router->id },
                                                          index, &old) == WEIR_OK) {
            c->handled += old.handled;
            c->busy += old.busy;
        }
    }
}

static void take_workers(weir__figures *f, const routers *r, uint32_t number)
{
    weir__router *router = router_at(r, number);
    const weir_router handle = { router->id };
    weir_worker_counters c = WEIR_WORKER_COUNTERS_INIT;
    for (uint32_t i = 0;
         i < router->worker_count && weir_worker_counters_get(f->engine, handle, i, &c) == WEIR_OK;
         i++) {
        weir__worker_item *item = weir__list_add(f, &f->groups[WEIR__GROUP_WORKER], sizeof(*item));
        if (item == NULL) {
            return;
        }
        char text[WEIR__NAME_SIZE] = "";
        (void)snprintf(text, sizeof(text), "%u", i);
        item->labels = weir__figures_labels(f, "router", router->name, "worker", text);
        text[0] = '\0';
        (void)weir_processor_name(f->engine, c.processor, text, sizeof(text));
        item->processor = weir__figures_text(f, text);
        item->index = i;
        if (router->targeted) {
            take_target(f->engine, &c);
        } else {
            add_worker(f, r, number, i, &c);
        }
        item->flows = flows_of(router, i);
        item->c = c;
    }
}

/* ---- routers ---- */

static void add_router(weir__figures *f, const weir__router *router, weir_router_counters *sum)
{
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    if (weir_router_counters_get(f->engine, (weir_router){ router->id }, &c) != WEIR_OK) {
        return;
    }
    sum->submitted += c.submitted;
    sum->handled += c.handled;
    sum->dead += c.dead;
    sum->left += c.left;
    sum->dropped_newest += c.dropped_newest;
    sum->dropped_oldest += c.dropped_oldest;
    sum->refused_full += c.refused_full;
    sum->refused_ingress += c.refused_ingress;
    sum->refused_flows += c.refused_flows;
    sum->flows_made += c.flows_made;
    sum->finished += c.finished;
    sum->idle += c.idle;
    sum->evicted += c.evicted;
    sum->stopped += c.stopped;
    sum->moved += c.moved;
}

static void take_router(weir__figures *f, const routers *r, uint32_t number)
{
    weir__router *router = router_at(r, number);
    const bool stopped = weir__router_is_closed(router);
    const weir_router handle = { router->id };
    const weir__list *workers = &f->groups[WEIR__GROUP_WORKER];
    const uint32_t first = workers->count;
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    if (weir_router_counters_get(f->engine, handle, &c) != WEIR_OK) {
        return;
    }
    for (uint32_t i = next_of_name(r, 0, router->name, number); i < number;
         i = next_of_name(r, i + 1, router->name, number)) {
        add_router(f, router_at(r, i), &c);
    }
    if (!stopped) {
        take_workers(f, r, number);
    }
    weir__router_item *item = weir__list_add(f, &f->groups[WEIR__GROUP_ROUTER], sizeof(*item));
    if (item == NULL) {
        return;
    }
    item->labels = weir__figures_labels(f, "router", router->name, NULL, NULL);
    item->name = weir__figures_text(f, router->name);
    item->c = c;
    item->worker_first = first;
    item->worker_count = workers->count - first;
    item->running = !stopped;
    item->targeted = router->targeted;
    item->handle = stopped ? (weir_router){ 0 } : handle;
    if (stopped) {
        item->c.workers = 0;
        item->c.flows = 0;
    }
}

void weir__figures_routers(weir__figures *f)
{
    routers r = { .all = weir__load(&f->engine->routers, acquire) }; /* [Y9] */
    r.count = r.all != NULL ? weir__load(&r.all->count, acquire) : 0;
    for (uint32_t i = 0; i < r.count && !f->failed; i++) {
        const char *name = router_at(&r, i)->name;
        if (next_of_name(&r, i + 1, name, r.count) == r.count) { /* the last of its name */
            take_router(f, &r, i);
        }
    }
}
