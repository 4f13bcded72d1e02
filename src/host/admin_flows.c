/*
 * host/admin_flows.c - the built-in command about routers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host/admin.h"
#include "weir/flow.h"

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

const weir__admin_group weir__admin_flows = {
    (const weir__admin_row[]){
        { "flows", "[ROUTER]", "routers with their flows, or the workers of one", on_flows, false,
          false },
    },
    1,
};
