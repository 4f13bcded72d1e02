/*
 * flow/tune.c - other settings for a router that runs. What is read without a lock is one word
 * each, old or new.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/tune.h"

#include <stdio.h>

#include "flow/router.h"
#include "flow/sweep.h"

weir__router *weir__router_named(weir_engine *engine, const char *name)
{
    return weir__router_find(engine, weir_router_find(engine, name));
}

uint32_t weir__router_part_count(const weir__router *router)
{
    return 1 + (router->targeted ? 0 : router->worker_count);
}

bool weir__router_part(const weir__router *router, uint32_t i, weir_processor *out)
{
    if (i >= weir__router_part_count(router)) {
        return false;
    }
    *out = i == 0 ? router->caretaker : router->workers[i - 1].handle;
    return true;
}

bool weir__router_has_own_threads(const weir__router *router)
{
    return router->options.own_threads;
}

void weir__router_worker_name(const char *router, uint32_t i, char *out, size_t size)
{
    snprintf(out, size, "flows:%s/%u", router, i);
}

bool weir__router_tune_begin(weir_engine *engine)
{
    return weir__context_find(engine) != NULL;
}

void weir__router_tune(weir__router *router, weir_ns block_max, weir_ns idle_timeout)
{
    weir__context *context = weir__context_find(router->engine);
    if (block_max != 0) {
        weir__store(&router->block_max, (uint64_t)block_max, relaxed);
    }
    if (idle_timeout != 0 && context != NULL &&
        (uint64_t)idle_timeout != weir__load(&router->idle_timeout, relaxed)) {
        weir__context_enter(context);
        weir__sweep_retime(context, router, idle_timeout);
        weir__context_leave(context);
    }
}
