/*
 * server/figures.c - see figures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir/counters.h"

typedef struct taking {
    weir__run_figures *figures;
    weir_engine *engine;
    bool memory;
} taking;

static weir__component_figures *next(weir__run_figures *f)
{
    if (f->count == f->room) {
        const size_t room = f->room > 0 ? 2 * f->room : 16;
        weir__component_figures *larger = realloc(f->items, room * sizeof(*larger));
        if (larger == NULL) {
            return NULL;
        }
        f->items = larger;
        f->room = room;
    }
    weir__component_figures *item = &f->items[f->count++];
    memset(item, 0, sizeof(*item));
    return item;
}

static bool take_one(void *context, const weir_component_info *info)
{
    taking *t = context;
    weir__component_figures *item = next(t->figures);
    weir_feed_counters feed = WEIR_FEED_COUNTERS_INIT;
    if (item == NULL) {
        t->memory = false;
        return false;
    }
    snprintf(item->name, sizeof(item->name), "%s", info->name);
    snprintf(item->type, sizeof(item->type), "%s", info->type->name);
    snprintf(item->phase, sizeof(item->phase), "%s", info->phase);
    item->kind = info->type->kind;
    item->failures = info->failures;
    if (info->feed.id != 0 && weir_feed_counters_get(t->engine, info->feed, &feed) == WEIR_OK) {
        item->has_feed = true;
        item->published = feed.published;
        item->dropped_feed = feed.dropped;
        item->waits = feed.waits;
    }
    const weir_stop_report *stopped = &info->stopped;
    weir_counters own = WEIR_COUNTERS_INIT;
    if (stopped->struct_size > 0) { /* its processor is gone, and took its counters along */
        item->has_handler = true;
        item->accepted = stopped->accepted;
        item->handled = stopped->handled;
        item->dropped = stopped->dropped;
        item->dead = stopped->dead;
        item->left = stopped->left;
    } else if (info->address.id != 0 &&
               weir_processor_counters(t->engine, info->address, &own) == WEIR_OK) {
        item->has_handler = true;
        item->accepted = own.accepted;
        item->handled = own.handled;
        item->dropped = own.dropped;
        item->dead = own.dead;
        item->left = own.left;
        item->depth = own.depth;
    }
    return true;
}

bool weir__run_figures_take(weir__run_figures *figures, weir_engine *engine)
{
    taking t = { figures, engine, true };
    figures->count = 0;
    weir_component_visit(engine, take_one, &t);
    figures->engine = (weir_counters)WEIR_COUNTERS_INIT;
    (void)weir_engine_counters(engine, &figures->engine);
    figures->time = weir_time_now(engine);
    return t.memory;
}

void weir__run_figures_close(weir__run_figures *figures)
{
    free(figures->items);
    *figures = (weir__run_figures){ 0 };
}
