/*
 * host/admin_host.c - built-in commands about components, services, feeds, errors, and how all of
 * it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "host/admin.h"
#include "weir/component.h"
#include "weir/metrics.h"

#define ERRORS_MAX 100u
#define LETTERS_MAX 1000u

/* ---- components, services ---- */

static const char *kind_name(weir_kind kind)
{
    static const char *const names[] = { "?", "source", "service", "sink", "processor" };
    return names[kind >= WEIR_KIND_SOURCE && kind <= WEIR_KIND_PROCESSOR ? (unsigned)kind : 0u];
}

static void add_component(weir_admin_call *call, const char *key, const weir_component_info *info)
{
    weir_admin_row(call);
    weir_admin_text(call, key, info->name);
    weir_admin_text(call, "kind", kind_name(info->type->kind));
    weir_admin_text(call, "type", info->type->name);
    weir_admin_text(call, "thread", info->thread);
    weir_admin_text(call, "phase", info->phase);
    weir_admin_unsigned(call, "rounds", info->rounds);
    weir_admin_unsigned(call, "work", info->work);
    weir_admin_unsigned(call, "failures", info->failures);
}

static bool visit_component(void *context, const weir_component_info *info)
{
    add_component(context, "component", info);
    return !weir__admin_is_full(context);
}

static weir_status on_components(void *context, weir_admin_call *call)
{
    (void)context;
    weir_component_visit(call->engine, visit_component, call);
    return WEIR_OK;
}

static bool visit_service(void *context, const weir_component_info *info)
{
    if (info->type->kind == WEIR_KIND_SERVICE) {
        add_component(context, "service", info);
    }
    return !weir__admin_is_full(context);
}

static weir_status on_services(void *context, weir_admin_call *call)
{
    (void)context;
    weir_component_visit(call->engine, visit_service, call);
    return WEIR_OK;
}

typedef struct owner {
    weir_processor processor;
    char *name;
    size_t size;
    bool found;
} owner;

static bool visit_owner(void *context, const weir_component_info *info)
{
    owner *o = context;
    if (info->address.id == o->processor.id) {
        (void)snprintf(o->name, o->size, "%s", info->name);
        o->found = true;
    }
    return !o->found;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the visitor writes it */
bool weir__admin_component_of(weir_engine *engine, weir_processor processor, char *out, size_t size)
{
    owner o = { processor, out, size, false };
    weir_component_visit(engine, visit_owner, &o);
    return o.found;
}

/* ---- feeds ---- */

static bool visit_feed(void *context, weir_feed feed, const char *name)
{
    weir_admin_call *call = context;
    weir_feed_counters c = WEIR_FEED_COUNTERS_INIT;
    if (weir_feed_counters_get(call->engine, feed, &c) != WEIR_OK) {
        return true;
    }
    weir_admin_row(call);
    weir_admin_text(call, "feed", name);
    weir_admin_unsigned(call, "subscribers", c.subscribers);
    weir_admin_unsigned(call, "published", c.published);
    weir_admin_unsigned(call, "delivered", c.delivered);
    weir_admin_unsigned(call, "dropped", c.dropped);
    weir_admin_unsigned(call, "filtered", c.filtered);
    weir_admin_unsigned(call, "failed", c.failed);
    weir_admin_unsigned(call, "deepest", c.deepest);
    weir_admin_unsigned(call, "waits", c.waits);
    weir_admin_unsigned(call, "waited-ns", c.waited_ns);
    weir_admin_text(call, "slowest", c.slowest);
    weir_admin_unsigned(call, "outstanding", c.outstanding);
    weir_admin_unsigned(call, "committed", c.committed);
    return !weir__admin_is_full(call);
}

static weir_status on_feeds(void *context, weir_admin_call *call)
{
    (void)context;
    weir_feed_visit(call->engine, visit_feed, call);
    return WEIR_OK;
}

/* ---- errors: what components reported, and events whose handler failed ---- */

typedef struct errors {
    weir_engine *engine;
    size_t count; /* of `all` */
    weir_failure all[ERRORS_MAX + LETTERS_MAX];
    weir_dead_letter letters[LETTERS_MAX];
} errors;

static bool keep_failure(void *context, const weir_failure *failure)
{
    errors *e = context;
    if (e->count < ERRORS_MAX) {
        e->all[e->count++] = *failure;
    }
    return e->count < ERRORS_MAX;
}

static void keep_letters(errors *e)
{
    e->letters[0].struct_size = sizeof(e->letters[0]);
    const size_t count = weir_dead_letter_read(e->engine, 0, e->letters, LETTERS_MAX);
    for (size_t i = 0; i < count; i++) {
        const weir_dead_letter *letter = &e->letters[i];
        if (letter->reason != WEIR_DEAD_FAILED) {
            continue;
        }
        weir_failure *f = &e->all[e->count++];
        f->time = letter->wall_time;
        f->status = letter->status;
        if (weir_processor_name(e->engine, letter->to, f->component, sizeof(f->component)) == 0) {
            (void)snprintf(f->component, sizeof(f->component), "(gone)");
        }
        (void)snprintf(f->text, sizeof(f->text), "%s",
                       letter->text[0] != '\0' ? letter->text : weir_status_text(letter->status));
    }
}

static int by_time(const void *a, const void *b)
{
    const weir_ns x = ((const weir_failure *)a)->time;
    const weir_ns y = ((const weir_failure *)b)->time;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* Oldest first. NULL: no memory. */
static errors *collect(weir_engine *engine)
{
    errors *e = weir__allocate(&engine->allocator, sizeof(*e));
    if (e != NULL) {
        e->engine = engine;
        weir_failure_visit(engine, keep_failure, e);
        keep_letters(e);
        qsort(e->all, e->count, sizeof(e->all[0]), by_time);
    }
    return e;
}

static weir_status on_errors(void *context, weir_admin_call *call)
{
    (void)context;
    errors *e = collect(call->engine);
    if (e == NULL) {
        return WEIR_E_NOMEM;
    }
    for (size_t i = e->count > ERRORS_MAX ? e->count - ERRORS_MAX : 0; i < e->count; i++) {
        weir_admin_row(call);
        weir__admin_time(call, "time", e->all[i].time);
        weir_admin_text(call, "component", e->all[i].component);
        weir_admin_text(call, "status", weir_status_name(e->all[i].status));
        weir_admin_text(call, "text", e->all[i].text);
    }
    weir__release(&call->engine->allocator, e, sizeof(*e));
    return WEIR_OK;
}

/* ---- health ---- */

typedef struct health {
    weir_admin_call *call;
    bool any;
} health;

static bool add_reason(void *context, const char *what, weir_health status, const char *reason)
{
    static const char *const names[] = { "up", "degraded", "down" };
    health *h = context;
    h->any = true;
    weir_admin_row(h->call);
    weir_admin_text(h->call, "what", what);
    weir_admin_text(h->call, "status", names[status <= WEIR_DOWN ? (unsigned)status : 2u]);
    weir_admin_text(h->call, "reason", reason);
    return !weir__admin_is_full(h->call);
}

static weir_status on_health(void *context, weir_admin_call *call)
{
    (void)context;
    health h = { .call = call };
    weir_health_visit(call->engine, add_reason, &h);
    if (!h.any) {
        char what[128];
        (void)snprintf(what, sizeof(what), "engine %s", call->engine->name);
        (void)add_reason(&h, what, WEIR_UP, "");
    }
    return WEIR_OK;
}

/* ---- metrics ---- */

/* The document in one field, as a text: it is what /metrics.json gives, for those who come by the
 * socket. */
static weir_status on_metrics_json(void *context, weir_admin_call *call)
{
    (void)context;
    weir_metrics_options options = WEIR_METRICS_OPTIONS_INIT;
    const char *most = weir_admin_argument(call, 0);
    if (most != NULL) {
        char *end;
        const unsigned long long value = strtoull(most, &end, 10);
        if (most[0] < '0' || most[0] > '9' || *end != '\0' || value < 1 || value > UINT32_MAX) {
            return weir_admin_fail(call, WEIR_E_INVALID,
                                   "how many processors: a number from 1 on, not '%s'", most);
        }
        options.processors_max = (uint32_t)value;
    }
    char *text = weir_metrics_json(call->engine, &options, NULL);
    if (text == NULL) {
        return WEIR_E_NOMEM;
    }
    weir_admin_text(call, "json", text);
    weir_metrics_free(call->engine, text);
    return WEIR_OK;
}

const weir__admin_group weir__admin_host = {
    (const weir__admin_row[]){
        { "components", NULL, "sources, services, sinks and processors of the configuration",
          on_components, false, false },
        { "services", NULL, "services: where they run, and how they fare", on_services, false,
          false },
        { "feeds", NULL, "feeds: what was published, who is slow, what is committed", on_feeds,
          false, false },
        { "errors", NULL, "the last 100 errors, with component and time", on_errors, false, false },
        { "health", NULL, "up, degraded or down, and why", on_health, false, false },
        { "metrics json", "[PROCESSORS]",
          "every figure as one JSON document, of at most so many processors", on_metrics_json,
          false, false },
    },
    6,
};
