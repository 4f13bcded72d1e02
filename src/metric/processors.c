/*
 * metric/processors.c - figures of processors: those of the busiest one by one, of the others their
 * sum. However many there are, no more memory is needed than for those that are shown;
 * metric/shown.h says who that is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric/metric.h"
#include "metric/shown.h"
#include "weir/latency.h"

static int by_address(const void *a, const void *b)
{
    const uint64_t x = ((const weir__component_item *)a)->address.id;
    const uint64_t y = (*(const weir__component_item *const *)b)->address.id;
    return x < y ? -1 : x > y ? 1 : 0;
}

static int by_addresses(const void *a, const void *b)
{
    return by_address(*(const weir__component_item *const *)a, b);
}

/* The component that it is, by a list of them in the order of their addresses; "". */
static const char *component_of(const weir__list *by, weir_processor handle)
{
    const weir__component_item key = { .address = handle };
    void *const found =
        by->count > 0 ? bsearch(&key, by->items, by->count, sizeof(void *), by_address) : NULL;
    return found != NULL ? (*(weir__component_item **)found)->name : "";
}

/* A row goes on where the processor that had it before has ended. */
static void go_on(weir_latency *latency, const weir__measured *before, weir__measured *told)
{
    latency->count += before->count;
    latency->sum += before->sum;
    *told = (weir__measured){ latency->count, latency->sum };
}

static void add_item(weir__figures *f, weir__shown_row *row, const weir__list *components)
{
    char dispatcher[WEIR__NAME_SIZE] = "(its own)";
    weir__processor_item *item =
        weir__list_add(f, &f->groups[WEIR__GROUP_PROCESSOR], sizeof(*item));
    if (item == NULL) {
        return;
    }
    const weir_status placed =
        weir_processor_dispatcher(f->engine, row->handle, dispatcher, sizeof(dispatcher));
    if (placed == WEIR_OK || row->dispatcher[0] == '\0') { /* else it has ended meanwhile */
        memcpy(row->dispatcher, dispatcher, sizeof(dispatcher));
    }
    item->labels = weir__figures_labels(f, "processor", row->name, "dispatcher", row->dispatcher);
    item->name = weir__figures_text(f, row->name);
    item->dispatcher = weir__figures_text(f, row->dispatcher);
    item->component = component_of(components, row->handle);
    item->handle = row->handle;
    item->c = weir__shown_tell(row);
    weir_latency queueing = WEIR_LATENCY_INIT;
    weir_latency handling = WEIR_LATENCY_INIT;
    item->measured =
        weir_processor_latency(f->engine, row->handle, &queueing, &handling) == WEIR_OK;
    if (item->measured) {
        go_on(&queueing, &row->queueing_before, &row->queueing_told);
        go_on(&handling, &row->handling_before, &row->handling_told);
        item->queueing = queueing;
        item->handling = handling;
    }
    f->processors_shown++;
}

static void add_sum(weir__figures *f, const char *name, const weir_counters *c)
{
    weir__processor_item *item =
        weir__list_add(f, &f->groups[WEIR__GROUP_PROCESSOR], sizeof(*item));
    if (item != NULL) {
        item->labels = weir__figures_labels(f, "processor", name, "dispatcher", "");
        item->name = name;
        item->dispatcher = item->component = "";
        item->c = *c;
    }
}

static bool has_any(const weir__outcome *o)
{
    static const weir__outcome none;
    return memcmp(o, &none, sizeof(none)) != 0;
}

static void add_items(weir__shown_look *look, const weir__list *components)
{
    weir__figures *f = look->f;
    weir__shown *shown = look->shown;
    for (uint32_t i = 0; i < shown->count && !f->failed; i++) {
        add_item(f, &shown->rows[i], components);
    }
    if (look->hidden > 0 || has_any(&shown->others)) {
        add_sum(f, WEIR__METRICS_OTHERS, &look->others);
    }
    if (has_any(&shown->earlier)) {
        weir_counters earlier = WEIR_COUNTERS_INIT;
        weir__shown_counters(&earlier, &shown->earlier);
        add_sum(f, WEIR__METRICS_EARLIER, &earlier);
    }
}

void weir__figures_processors(weir__figures *f, uint32_t key, uint32_t most,
                              weir__health_look *health)
{
    weir__list components = { .items = NULL };
    weir__component_item *all = f->groups[WEIR__GROUP_COMPONENT].items;
    for (uint32_t i = 0; i < f->groups[WEIR__GROUP_COMPONENT].count; i++) {
        weir__component_item **one =
            all[i].address.id != 0 ? weir__list_add(f, &components, sizeof(void *)) : NULL;
        if (one != NULL) {
            *one = &all[i];
        }
    }
    if (components.count > 0) {
        qsort(components.items, components.count, sizeof(void *), by_addresses);
    }
    weir__shown_look look = { .f = f, .health = health, .most = most };
    weir__metrics *metrics = weir__metrics_of(f->engine);
    if (metrics != NULL) {
        weir__mutex_lock(&metrics->shown_lock);
        look.shown = weir__shown_find(f->engine, &metrics->shown, key);
        if (look.shown != NULL && weir__shown_update(&look)) {
            add_items(&look, &components);
        }
        weir__mutex_unlock(&metrics->shown_lock);
    }
    f->failed = f->failed || look.shown == NULL;
    f->processors_total = look.total;
    weir__list_close(f, &components);
    weir__list_close(f, &look.picks);
}
