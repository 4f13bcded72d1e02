/*
 * flow/figures.c - what routers did, in numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/memory.h"
#include "engine/turn.h"
#include "flow/latency.h"
#include "flow/router.h"
#include "flow/submit.h"
#include "flow/table.h"
#include "weir/counters.h"

static uint64_t submitted_to(weir__router *router)
{
    uint64_t sum = weir__load(&router->loose, relaxed);
    for (uint32_t i = 0; i <= router->shard_mask; i++) {
        sum += weir__cell_read(&router->shards[i].submitted);
    }
    return sum;
}

static double imbalance_of(const weir__router *router)
{
    uint64_t sum = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < router->worker_count; i++) {
        const uint64_t busy = weir__cell_read(&router->workers[i].busy);
        sum += busy;
        most = busy > most ? busy : most;
    }
    return sum > 0 ? (double)most * (double)router->worker_count / (double)sum : 0.0;
}

/* Inside the mark. */
static uint32_t depth_of(weir__router *router, const weir__worker *worker)
{
    const uint32_t depth = weir__worker_depth(router->engine, worker);
    return depth != UINT32_MAX ? depth : 0;
}

/* As many as have ended, or live and have begun. */
static uint64_t made_by(weir__router *router)
{
    uint64_t made = weir__load(&router->made, relaxed);
    for (uint32_t i = 0; i < router->worker_count; i++) {
        made += weir__cell_read(&router->workers[i].made);
    }
    return made;
}

/* The same. */
static uint32_t beyond_of(weir__router *router, const weir__worker *worker)
{
    const bool counts = router->options.overflow == WEIR_OVERFLOW_BLOCK && !router->targeted &&
                        !weir__router_is_closed(router);
    return counts ? weir__worker_beyond(router, worker) : 0;
}

static void count_ends(weir__router *router, weir_router_counters *c)
{
    uint64_t ended[WEIR_FLOW_STOPPED + 1] = { 0 };
    for (uint32_t reason = 1; reason <= WEIR_FLOW_STOPPED; reason++) {
        ended[reason] = weir__load(&router->dismissed[reason], relaxed);
        for (uint32_t i = 0; i < router->worker_count; i++) {
            ended[reason] += weir__cell_read(&router->workers[i].ended_as[reason]);
        }
    }
    c->finished = ended[WEIR_FLOW_FINISHED];
    c->idle = ended[WEIR_FLOW_IDLE];
    c->evicted = ended[WEIR_FLOW_EVICTED];
    c->stopped = ended[WEIR_FLOW_STOPPED];
}

/* The same for targets, whose events are counted where they are handled: here, what is not waiting
 * was. */
static void count_handled(weir__router *router, weir_router_counters *c)
{
    for (uint32_t i = 0; i < router->worker_count; i++) {
        const weir__worker *worker = &router->workers[i];
        c->handled += weir__cell_read(&worker->handled);
        c->dead += weir__cell_read(&worker->dead);
        c->depth += depth_of(router, worker);
    }
}

static void count_latency(weir__router *router, weir_router_counters *c)
{
    weir__histogram_sum *sum = &(weir__histogram_sum){ .count = 0 };
    weir__router_latency(router, 0, router->worker_count, sum);
    c->timed = sum->count;
    c->timing = !router->targeted && weir__load(&router->untimed, relaxed) == 0;
    c->p50_ns = weir__histogram_sum_percentile(sum, 50);
    c->p95_ns = weir__histogram_sum_percentile(sum, 95);
    c->p99_ns = weir__histogram_sum_percentile(sum, 99);
    c->max_ns = sum->max;
}

weir_status weir_router_counters_get(weir_engine *engine, weir_router handle,
                                     weir_router_counters *out)
{
    weir_router_counters c = WEIR_ROUTER_COUNTERS_INIT;
    weir__context *context = weir__engine_usable(engine) ? weir__context_find(engine) : NULL;
    if (context == NULL) {
        return WEIR_E_INVALID;
    }
    weir__router *router = weir__router_find(engine, handle);
    if (router == NULL) {
        return WEIR_UNKNOWN;
    }
    weir__context_enter(context);
    count_handled(router, &c);
    for (uint32_t i = 0; i < router->worker_count; i++) {
        c.ingress += beyond_of(router, &router->workers[i]);
    }
    weir__context_leave(context);
    count_latency(router, &c);
    c.dropped_newest = weir__load(&router->dropped_newest, relaxed);
    c.dropped_oldest = weir__load(&router->dropped_oldest, relaxed);
    c.submitted = submitted_to(router); /* after what became of it: never less */
    const uint64_t done = c.handled + c.dead + c.dropped_newest + c.dropped_oldest;
    if (weir__router_is_closed(router) && c.depth == 0 && !router->targeted) {
        c.left = c.submitted > done ? c.submitted - done : 0;
    }
    c.refused_full = weir__load(&router->refused_full, relaxed);
    c.refused_ingress = weir__load(&router->refused_ingress, relaxed);
    c.refused_flows = weir__load(&router->refused_flows, relaxed);
    c.flows = weir__load(&router->live, relaxed);
    c.flows_made = made_by(router);
    c.moved = weir__load(&router->moved, relaxed);
    count_ends(router, &c);
    c.workers = router->worker_count;
    c.imbalance = imbalance_of(router);
    c.bytes = weir__load(&router->bytes, relaxed);
    return weir__struct_fill(out, &c, sizeof(c));
}

weir_status weir_worker_counters_get(weir_engine *engine, weir_router handle, uint32_t index,
                                     weir_worker_counters *out)
{
    weir_worker_counters c = WEIR_WORKER_COUNTERS_INIT;
    weir__context *context = weir__engine_usable(engine) ? weir__context_find(engine) : NULL;
    if (context == NULL) {
        return WEIR_E_INVALID;
    }
    weir__router *router = weir__router_find(engine, handle);
    if (router == NULL || index >= router->worker_count) {
        return WEIR_UNKNOWN;
    }
    weir__worker *worker = &router->workers[index];
    weir__histogram_sum *sum = &(weir__histogram_sum){ .count = 0 };
    weir__router_latency(router, index, 1, sum);
    c.p50_ns = weir__histogram_sum_percentile(sum, 50);
    c.p95_ns = weir__histogram_sum_percentile(sum, 95);
    c.p99_ns = weir__histogram_sum_percentile(sum, 99);
    weir__context_enter(context);
    c.depth = depth_of(router, worker);
    c.beyond = beyond_of(router, worker);
    weir__context_leave(context);
    c.handled = weir__cell_read(&worker->handled) + weir__cell_read(&worker->dead);
    c.busy = (weir_ns)weir__cell_read(&worker->busy);
    c.processor = worker->handle;
    weir__mutex_lock(&router->look_lock);
    const weir_ns now = weir__clock_now();
    const weir_ns since = now - worker->looked_at;
    c.rate = since > 0 ? (double)(c.handled - worker->looked_handled) * 1e9 / (double)since : 0.0;
    worker->looked_at = now;
    worker->looked_handled = c.handled;
    weir__mutex_unlock(&router->look_lock);
    return weir__struct_fill(out, &c, sizeof(c));
}

static weir_status flow_counters(weir_engine *engine, weir_router handle, const weir__flow_key *key,
                                 weir_flow_counters *out)
{
    weir_flow_counters c = WEIR_FLOW_COUNTERS_INIT;
    weir__context *context = weir__context_find(engine);
    weir__router *router = weir__router_find(engine, handle);
    if (context == NULL || router == NULL) {
        return context == NULL ? WEIR_E_INVALID : WEIR_UNKNOWN;
    }
    weir__shard *shard = weir__shard_for(router, key);
    weir__context_enter(context);
    weir__brief_lock(&shard->lock);
    /* Inside the mark: the end of a router waits for those that find it open. */
    weir__flow *flow = weir__router_is_closed(router) ? NULL : weir__table_find(router, shard, key);
    if (flow != NULL) {
        c.submitted = flow->submitted;
        c.dropped = flow->dropped;
        c.handled = weir__load(&flow->handled, acquire); /* [Y5] */
        if (router->targeted && weir__flow_is_quiet(router, flow)) {
            c.handled = flow->submitted - flow->dropped;
        }
        c.worker = flow->worker;
    }
    weir__brief_unlock(&shard->lock);
    weir__context_leave(context);
    return flow != NULL ? weir__struct_fill(out, &c, sizeof(c)) : WEIR_UNKNOWN;
}

weir_status weir_flow_counters_get(weir_engine *engine, weir_router router, uint64_t flow,
                                   weir_flow_counters *out)
{
    if (!weir__engine_usable(engine) || flow == 0) {
        return WEIR_E_INVALID;
    }
    const weir__flow_key key = weir__flow_key_number(flow);
    return flow_counters(engine, router, &key, out);
}

weir_status weir_flow_counters_get_bytes(weir_engine *engine, weir_router router, const void *key,
                                         size_t size, weir_flow_counters *out)
{
    if (!weir__engine_usable(engine) || key == NULL || size == 0 || size > WEIR__FLOW_KEY_MAX) {
        return WEIR_E_INVALID;
    }
    const weir__flow_key found = weir__flow_key_bytes(key, size);
    return flow_counters(engine, router, &found, out);
}
