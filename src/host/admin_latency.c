/*
 * host/admin_latency.c - built-in commands about latencies: what is measured, and what came of
 * it.
 *
 * Dispatchers are always measured, processors if they are switched on; the handlers of flows by
 * their routers, if those are; and how late timers come. A pattern speaks of names, of whatever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "engine/latency.h"
#include "host/admin.h"
#include "weir/flow.h"
#include "weir/timer.h"

static const char *pattern_of(weir_admin_call *call)
{
    return weir_admin_argument(call, 0);
}

static bool is_meant(weir_admin_call *call, const char *name)
{
    const char *pattern = pattern_of(call);
    return pattern == NULL || weir__latency_fits(pattern, name);
}

/* ---- status ---- */

static void add_row(weir_admin_call *call, const char *what, const char *name,
                    const weir_latency *l)
{
    weir_admin_row(call);
    weir_admin_text(call, "what", what);
    weir_admin_text(call, "name", name);
    weir_admin_bool(call, "measured", true);
    weir_admin_unsigned(call, "count", l->count);
    weir_admin_number(call, "p50-ns", l->p50);
    weir_admin_number(call, "p95-ns", l->p95);
    weir_admin_number(call, "p99-ns", l->p99);
    weir_admin_number(call, "p999-ns", l->p999);
    weir_admin_number(call, "max-ns", l->max);
}

static bool visit_dispatcher(void *context, const char *name)
{
    weir_admin_call *call = context;
    weir_latency queueing = WEIR_LATENCY_INIT, handling = WEIR_LATENCY_INIT;
    if (is_meant(call, name) &&
        weir_dispatcher_latency(call->engine, name, &queueing, &handling) == WEIR_OK) {
        add_row(call, "waiting, of a dispatcher", name, &queueing);
        add_row(call, "handlers, of a dispatcher", name, &handling);
    }
    return !weir__admin_is_full(call);
}

static bool visit_processor(void *context, weir_processor processor)
{
    weir_admin_call *call = context;
    weir_latency queueing = WEIR_LATENCY_INIT, handling = WEIR_LATENCY_INIT;
    char name[256];
    (void)weir_processor_name(call->engine, processor, name, sizeof(name));
    if (is_meant(call, name) &&
        weir_processor_latency(call->engine, processor, &queueing, &handling) == WEIR_OK) {
        add_row(call, "waiting, of a processor", name, &queueing);
        add_row(call, "handlers, of a processor", name, &handling);
    }
    return !weir__admin_is_full(call);
}

static bool visit_router(void *context, weir_router router, const char *name)
{
    weir_admin_call *call = context;
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    if (is_meant(call, name) && weir_router_counters_get(call->engine, router, &c) == WEIR_OK) {
        weir_admin_row(call);
        weir_admin_text(call, "what", "handlers of flows");
        weir_admin_text(call, "name", name);
        weir_admin_bool(call, "measured", c.timing);
        weir_admin_unsigned(call, "count", c.timed);
        weir_admin_unsigned(call, "p50-ns", c.p50_ns);
        weir_admin_unsigned(call, "p95-ns", c.p95_ns);
        weir_admin_unsigned(call, "p99-ns", c.p99_ns);
        weir_admin_text(call, "p999-ns", NULL);
        weir_admin_unsigned(call, "max-ns", c.max_ns);
    }
    return !weir__admin_is_full(call);
}

static weir_status on_status(void *context, weir_admin_call *call)
{
    (void)context;
    weir_timer_counters t = WEIR_TIMER_COUNTERS_INIT;
    weir_dispatcher_visit(call->engine, visit_dispatcher, call);
    weir_processor_visit(call->engine, visit_processor, call);
    weir_router_visit(call->engine, visit_router, call);
    if (pattern_of(call) == NULL && weir_timer_counters_get(call->engine, &t) == WEIR_OK) {
        weir_admin_row(call);
        weir_admin_text(call, "what", "lateness of timers");
        weir_admin_text(call, "name", "");
        weir_admin_bool(call, "measured", true);
        weir_admin_unsigned(call, "count", t.posted);
        weir_admin_number(call, "p50-ns", t.late_p50);
        weir_admin_text(call, "p95-ns", NULL);
        weir_admin_number(call, "p99-ns", t.late_p99);
        weir_admin_number(call, "p999-ns", t.late_p999);
        weir_admin_number(call, "max-ns", t.late_max);
    }
    return WEIR_OK;
}

/* ---- switches ---- */

typedef struct change {
    weir_admin_call *call;
    weir_status (*router)(weir_engine *engine, weir_router router);
    const char *did;
    uint32_t fitting;
} change;

static bool change_router(void *context, weir_router router, const char *name)
{
    change *c = context;
    if (!is_meant(c->call, name)) {
        return true;
    }
    const weir_status status = c->router(c->call->engine, router);
    c->fitting++;
    weir_admin_row(c->call);
    weir_admin_text(c->call, "router", name);
    weir_admin_text(c->call, "latency",
                    status == WEIR_OK          ? c->did
                    : status == WEIR_E_INVALID ? "not measured: its targets handle its events"
                                               : weir_status_text(status));
    return true;
}

static bool count_processor(void *context, weir_processor processor)
{
    change *c = context;
    char name[256];
    (void)weir_processor_name(c->call->engine, processor, name, sizeof(name));
    c->fitting += is_meant(c->call, name) ? 1 : 0;
    return true;
}

static weir_status turn_on(weir_engine *engine, weir_router router)
{
    return weir_router_latency_set(engine, router, true);
}

static weir_status turn_off(weir_engine *engine, weir_router router)
{
    return weir_router_latency_set(engine, router, false);
}

static void add_processors(weir_admin_call *call, uint32_t count, const char *did)
{
    weir_admin_row(call);
    weir_admin_unsigned(call, "processors", count);
    weir_admin_text(call, "latency", did);
}

static weir_status nobody(weir_admin_call *call)
{
    return weir_admin_fail(call, WEIR_UNKNOWN,
                           "no processor and no router is called '%.64s'; 'processors list' and "
                           "'flows' have their names, and * and ? stand for letters",
                           pattern_of(call));
}

static weir_status on_enable(void *context, weir_admin_call *call)
{
    (void)context;
    change c = { call, turn_on, "measured from now on", 0 };
    uint32_t processors = 0;
    const weir_status status = weir_latency_enable(call->engine, pattern_of(call), &processors);
    if (status != WEIR_OK && status != WEIR_E_LIMIT) {
        return weir_admin_fail(call, status, "%s", weir_status_text(status));
    }
    add_processors(call, processors,
                   status == WEIR_OK ? "measured from now on, and those that come"
                                     : "measured from now on: latency-max-processors allows no "
                                       "more");
    weir_router_visit(call->engine, change_router, &c);
    return WEIR_OK;
}

static weir_status on_disable(void *context, weir_admin_call *call)
{
    (void)context;
    change c = { call, turn_off, "not measured any more", 0 };
    uint32_t processors = 0;
    const weir_status status = weir_latency_disable(call->engine, pattern_of(call), &processors);
    if (status != WEIR_OK) {
        return weir_admin_fail(call, status, "%s", weir_status_text(status));
    }
    add_processors(call, processors, "not measured any more");
    weir_router_visit(call->engine, change_router, &c);
    return c.fitting + processors > 0 || pattern_of(call) == NULL ? WEIR_OK : nobody(call);
}

static weir_status on_reset(void *context, weir_admin_call *call)
{
    (void)context;
    change c = { call, weir_router_latency_reset, "begins anew", 0 };
    const weir_status status = weir_latency_reset(call->engine, pattern_of(call));
    if (status != WEIR_OK) {
        return weir_admin_fail(call, status, "%s", weir_status_text(status));
    }
    weir_processor_visit(call->engine, count_processor, &c);
    add_processors(call, c.fitting, "those that are measured begin anew");
    weir_router_visit(call->engine, change_router, &c);
    return c.fitting > 0 || pattern_of(call) == NULL ? WEIR_OK : nobody(call);
}

const weir__admin_group weir__admin_latency = {
    (const weir__admin_row[]){
        { "latency status", "[PATTERN]",
          "how long events wait and are handled, how late timers come: what is measured", on_status,
          false, false },
        { "latency enable", "[PATTERN]",
          "measures processors and flows of routers whose names fit, those that come, too",
          on_enable, true, false },
        { "latency disable", "[PATTERN]", "measures them no longer", on_disable, true, false },
        { "latency reset", "[PATTERN]",
          "forgets what was measured; without a pattern all of it, that of dispatchers, too",
          on_reset, true, false },
    },
    4,
};
