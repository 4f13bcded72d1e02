/*
 * host/done.c - sources that come to their end: a file that is read once, an input that was closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "host/host.h"

bool weir_components_are_done(weir_engine *engine)
{
    weir__host *host = weir__engine_usable(engine) ? weir__host_of(engine) : NULL;
    if (host == NULL) {
        return false;
    }
    bool any = false, all = true;
    weir__mutex_lock(&host->lock);
    for (const weir_component *c = host->components; c != NULL; c = c->next) {
        if (c->type.kind == WEIR_KIND_SOURCE) {
            any = true;
            all = all && weir__load((weir__atomic_u32 *)(uintptr_t)&c->done, seq_cst) != 0;
        }
    }
    weir__mutex_unlock(&host->lock);
    return any && all;
}

/* Of two that end at once, one at least sees both: seq_cst, and each looks after it has said so. */
void weir_component_done(weir_component *self)
{
    if (self == NULL || self->type.kind != WEIR_KIND_SOURCE) {
        return;
    }
    weir__host *host = self->host;
    if (weir__exchange(&self->done, 1, seq_cst) == 0 && host->on_done != NULL &&
        weir_components_are_done(host->engine)) {
        host->on_done(host->on_done_context);
    }
}

void weir_components_on_done(weir_engine *engine, void (*hook)(void *context), void *context)
{
    weir__host *host = weir__engine_usable(engine) ? weir__host_need(engine) : NULL;
    if (host != NULL) {
        host->on_done = hook;
        host->on_done_context = context;
    }
}
