/*
 * flow/latency.c - how long a router's handlers take: on, off, and from now on.
 *
 * The histograms of workers only grow, since only their workers write them. A reset keeps what they
 * hold at that moment, and whoever looks later takes it away again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/latency.h"

#include <string.h>

#include "base/memory.h"

void weir__router_latency(weir__router *router, uint32_t first, uint32_t count,
                          weir__histogram_sum *sum)
{
    weir__mutex_lock(&router->look_lock);
    for (uint32_t i = first; i < first + count; i++) {
        weir__histogram_sum_add_live(sum, &router->workers[i].latency);
    }
    for (uint32_t i = first; router->latency_since != NULL && i < first + count; i++) {
        weir__histogram_sum_subtract(sum, &router->latency_since[i]);
    }
    weir__mutex_unlock(&router->look_lock);
}

void weir__router_latency_free(weir__router *router)
{
    weir__release(&router->engine->allocator, router->latency_since,
                  router->worker_count * sizeof(*router->latency_since));
}

weir_status weir_router_latency_set(weir_engine *engine, weir_router handle, bool timed)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__router *router = weir__router_find(engine, handle);
    if (router == NULL) {
        return WEIR_UNKNOWN;
    }
    if (router->targeted) {
        return WEIR_E_INVALID;
    }
    weir__store(&router->untimed, timed ? 0 : 1, relaxed);
    return WEIR_OK;
}

weir_status weir_router_latency_reset(weir_engine *engine, weir_router handle)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__router *router = weir__router_find(engine, handle);
    if (router == NULL) {
        return WEIR_UNKNOWN;
    }
    const size_t size = router->worker_count * sizeof(*router->latency_since);
    weir__histogram_sum *made = weir__allocate(&engine->allocator, size);
    if (made == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__mutex_lock(&router->look_lock);
    for (uint32_t i = 0; i < router->worker_count; i++) {
        weir__histogram_sum_add_live(&made[i], &router->workers[i].latency);
    }
    weir__histogram_sum *old = router->latency_since;
    router->latency_since = made;
    weir__mutex_unlock(&router->look_lock);
    weir__release(&engine->allocator, old, size);
    return WEIR_OK;
}

void weir_router_visit(weir_engine *engine,
                       bool (*visit)(void *context, weir_router router, const char *name),
                       void *context)
{
    if (!weir__engine_usable(engine) || visit == NULL) {
        return;
    }
    weir__routers *routers = weir__load(&engine->routers, acquire); /* [Y9] */
    const uint32_t count = routers != NULL ? weir__load(&routers->count, acquire) : 0;
    for (uint32_t i = 0; i < count; i++) {
        weir__router *router = weir__load(&routers->all[i], relaxed);
        if (!weir__router_is_closed(router) &&
            !visit(context, (weir_router){ router->id }, router->name)) {
            return;
        }
    }
}
