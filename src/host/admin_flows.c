/*
 * host/admin_flows.c - built-in commands about routers, and about latencies: what is measured, and
 * what is not.
 *
 * Measured are the handlers of flows, one in latency-every, and how late timers come. Handlers of
 * processors are not: nothing times them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "host/admin.h"
#include "weir/flow.h"
#include "weir/timer.h"

/* ---- flows ---- */

static bool visit_router(void *context, weir_router router, const char *name)
{
    weir_admin_call *call = context;
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    if (weir_router_counters_get(call->engine, router, &c) != WEIR_OK) {
        return true;
    }
    weir_admin_row(call);
    weir_admin_text(call, "router", name);
    weir_admin_unsigned(call, "flows", c.flows);
    weir_admin_unsigned(call, "workers", c.workers);
    weir_admin_unsigned(call, "depth", c.depth);
    weir_admin_unsigned(call, "submitted", c.submitted);
    weir_admin_unsigned(call, "handled", c.handled);
    weir_admin_unsigned(call, "dropped", c.dropped_newest + c.dropped_oldest);
    weir_admin_unsigned(call, "dead", c.dead);
    weir_admin_unsigned(call, "refused", c.refused_full + c.refused_ingress + c.refused_flows);
    weir_admin_unsigned(call, "made", c.flows_made);
    weir_admin_unsigned(call, "finished", c.finished);
    weir_admin_unsigned(call, "idle", c.idle);
    weir_admin_unsigned(call, "evicted", c.evicted);
    weir_admin_unsigned(call, "moved", c.moved);
    weir_admin_real(call, "imbalance", c.imbalance);
    weir_admin_unsigned(call, "bytes", c.bytes);
    return !weir__admin_is_full(call);
}

static void add_worker(weir_admin_call *call, uint32_t index, const weir_worker_counters *c)
{
    char name[96] = "";
    (void)weir_processor_name(call->engine, c->processor, name, sizeof(name));
    weir_admin_row(call);
    weir_admin_unsigned(call, "worker", index);
    weir_admin_text(call, "processor", name);
    weir_admin_unsigned(call, "depth", c->depth);
    weir_admin_unsigned(call, "beyond", c->beyond);
    weir_admin_unsigned(call, "handled", c->handled);
    weir_admin_real(call, "rate", c->rate);
    weir_admin_number(call, "busy-ns", c->busy);
    weir_admin_unsigned(call, "p50-ns", c->p50_ns);
    weir_admin_unsigned(call, "p95-ns", c->p95_ns);
    weir_admin_unsigned(call, "p99-ns", c->p99_ns);
}

static weir_status on_flows(void *context, weir_admin_call *call)
{
    (void)context;
    const char *name = weir_admin_argument(call, 0);
    if (name == NULL) {
        weir_router_visit(call->engine, visit_router, call);
        return WEIR_OK;
    }
    const weir_router router = weir_router_find(call->engine, name);
    weir_worker_counters c = WEIR_WORKER_COUNTERS_INIT;
    uint32_t i = 0;
    while (router.id != 0 && weir_worker_counters_get(call->engine, router, i, &c) == WEIR_OK) {
        add_worker(call, i++, &c);
    }
    return i > 0 ? WEIR_OK
                 : weir_admin_fail(call, WEIR_UNKNOWN,
                                   "no router is called '%.64s'; 'flows' lists them", name);
}

/* ---- latency ---- */

static bool visit_latency(void *context, weir_router router, const char *name)
{
    weir_admin_call *call = context;
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    if (weir_router_counters_get(call->engine, router, &c) != WEIR_OK) {
        return true;
    }
    weir_admin_row(call);
    weir_admin_text(call, "what", "handlers of flows");
    weir_admin_text(call, "name", name);
    weir_admin_bool(call, "measured", c.timing);
    weir_admin_unsigned(call, "count", c.timed);
    weir_admin_unsigned(call, "p50-ns", c.p50_ns);
    weir_admin_unsigned(call, "p95-ns", c.p95_ns);
    weir_admin_unsigned(call, "p99-ns", c.p99_ns);
    weir_admin_unsigned(call, "max-ns", c.max_ns);
    return !weir__admin_is_full(call);
}

static weir_status on_latency_status(void *context, weir_admin_call *call)
{
    (void)context;
    weir_timer_counters t = WEIR_TIMER_COUNTERS_INIT;
    weir_router_visit(call->engine, visit_latency, call);
    if (weir_timer_counters_get(call->engine, &t) == WEIR_OK) {
        weir_admin_row(call);
        weir_admin_text(call, "what", "lateness of timers");
        weir_admin_text(call, "name", "");
        weir_admin_bool(call, "measured", true);
        weir_admin_unsigned(call, "count", t.posted);
        weir_admin_number(call, "p50-ns", t.late_p50);
        weir_admin_text(call, "p95-ns", NULL);
        weir_admin_number(call, "p99-ns", t.late_p99);
        weir_admin_number(call, "max-ns", t.late_max);
    }
    weir_admin_row(call);
    weir_admin_text(call, "what", "handlers of processors");
    weir_admin_text(call, "name", "");
    weir_admin_bool(call, "measured", false);
    return WEIR_OK;
}

typedef struct setting {
    weir_admin_call *call;
    weir_status (*set)(weir_engine *engine, weir_router router);
    const char *did;
    uint32_t count;
} setting;

static bool set_one(void *context, weir_router router, const char *name)
{
    setting *s = context;
    const char *wanted = weir_admin_argument(s->call, 0);
    if (wanted != NULL && strcmp(wanted, name) != 0) {
        return true;
    }
    const weir_status status = s->set(s->call->engine, router);
    s->count++;
    weir_admin_row(s->call);
    weir_admin_text(s->call, "router", name);
    weir_admin_text(s->call, "latency",
                    status == WEIR_OK          ? s->did
                    : status == WEIR_E_INVALID ? "not measured: its targets handle its events"
                                               : weir_status_text(status));
    return true;
}

static weir_status set_all(weir_admin_call *call,
                           weir_status (*set)(weir_engine *engine, weir_router router),
                           const char *did)
{
    setting s = { call, set, did, 0 };
    weir_router_visit(call->engine, set_one, &s);
    return s.count > 0 || weir_admin_argument(call, 0) == NULL
               ? WEIR_OK
               : weir_admin_fail(call, WEIR_UNKNOWN,
                                 "no router is called '%.64s'; 'flows' lists them",
                                 weir_admin_argument(call, 0));
}

static weir_status turn_on(weir_engine *engine, weir_router router)
{
    return weir_router_latency_set(engine, router, true);
}

static weir_status turn_off(weir_engine *engine, weir_router router)
{
    return weir_router_latency_set(engine, router, false);
}

static weir_status on_latency_enable(void *context, weir_admin_call *call)
{
    (void)context;
    return set_all(call, turn_on, "measured from now on");
}

static weir_status on_latency_disable(void *context, weir_admin_call *call)
{
    (void)context;
    return set_all(call, turn_off, "not measured any more");
}

static weir_status on_latency_reset(void *context, weir_admin_call *call)
{
    (void)context;
    return set_all(call, weir_router_latency_reset, "begins anew");
}

const weir__admin_group weir__admin_flows = {
    (const weir__admin_row[]){
        { "flows", "[ROUTER]", "routers with their flows, or the workers of one", on_flows, false,
          false },
        { "latency status", NULL, "how long things take: what is measured, and what is not",
          on_latency_status, false, false },
        { "latency enable", "[ROUTER]", "times the handlers of flows, of all routers or of one",
          on_latency_enable, true, false },
        { "latency disable", "[ROUTER]",
          "stops timing the handlers of flows; what was measured stays", on_latency_disable, true,
          false },
        { "latency reset", "[ROUTER]", "begins anew with the latencies of flows", on_latency_reset,
          true, false },
    },
    5,
};
