/*
 * metric/json.c - the figures as JSON: a section for each group of the table, and what is no figure
 * (health, edges, dead letters, errors) behind them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "host/admin.h"
#include "metric/metric.h"
#include "metric/table.h"

/* What is written, and whether a comma is due. */
typedef struct writing {
    weir__textbuf out;
    bool ok;
    bool more; /* something stands before it in the object or list at hand */
} writing;

/* ---- pieces ---- */

static void add(writing *w, const char *text)
{
    w->ok = w->ok && weir__textbuf_append(&w->out, text, strlen(text));
}

static void separate(writing *w)
{
    if (w->more) {
        add(w, ",");
    }
    w->more = true;
}

static void open_with(writing *w, const char *key, const char *bracket)
{
    separate(w);
    if (key != NULL) {
        add(w, "\"");
        add(w, key);
        add(w, "\":");
    }
    add(w, bracket);
    w->more = false;
}

static void close_with(writing *w, const char *bracket)
{
    add(w, bracket);
    w->more = true;
}

static void add_key(writing *w, const char *key)
{
    separate(w);
    add(w, "\"");
    add(w, key);
    add(w, "\":");
}

static void add_text(writing *w, const char *key, const char *text)
{
    add_key(w, key);
    w->ok = w->ok && weir__admin_quote(&w->out, text != NULL ? text : "");
}

static void add_unsigned(writing *w, const char *key, uint64_t value)
{
    const weir__number n = { .kind = WEIR__NUMBER_UNSIGNED, .bits = value };
    add_key(w, key);
    w->ok = w->ok && weir__number_json(&w->out, &n);
}

static void add_real(writing *w, const char *key, double value)
{
    const weir__number n = { .kind = WEIR__NUMBER_REAL, .real = value };
    add_key(w, key);
    w->ok = w->ok && weir__number_json(&w->out, &n);
}

/* A moment of the wall clock, as people write it. */
static void add_time(writing *w, const char *key, weir_ns wall)
{
    char text[64];
    const time_t seconds = (time_t)(wall / WEIR_S);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL) {
        add_text(w, key, "");
        return;
    }
    const size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(text + length, sizeof(text) - length, ".%03dZ", (int)(wall / WEIR_MS % 1000));
    add_text(w, key, text);
}

/* ---- items of the table ---- */

static void add_latency(writing *w, const char *key, const weir_latency *latency)
{
    if (latency->struct_size == 0) {
        return; /* not measured */
    }
    open_with(w, key, "{");
    add_unsigned(w, "count", latency->count);
    add_unsigned(w, "sum_ns", latency->sum);
    for (uint32_t i = 0; i < WEIR__QUANTILES; i++) {
        weir_ns ns;
        memcpy(&ns, (const char *)latency + weir__quantiles[i].offset, sizeof(ns));
        add_unsigned(w, weir__quantiles[i].key, (uint64_t)ns);
    }
    close_with(w, "}");
}

static void add_row(writing *w, const weir__metric_row *row, const void *item)
{
    const void *at = (const char *)item + row->offset;
    if (row->value == WEIR__VALUE_TEXT) {
        const char *text;
        memcpy(&text, at, sizeof(text));
        add_text(w, row->key, text);
    } else if (row->value == WEIR__VALUE_LATENCY) {
        add_latency(w, row->key, at);
    } else if (row->value == WEIR__VALUE_BOOL) {
        add_key(w, row->key);
        add(w, weir__metric_number(row, item).bits != 0 ? "true" : "false");
    } else {
        const weir__number n = weir__metric_number(row, item);
        add_key(w, row->key);
        w->ok = w->ok && weir__number_json(&w->out, &n);
    }
}

/* Rows of a group stand next to each other. */
typedef struct span {
    uint32_t begin, end;
} span;

static span rows_of(weir__metric_group group)
{
    span s = { 0, 0 };
    while (weir__metric_rows[s.begin].group != group) {
        s.begin++;
    }
    s.end = s.begin;
    while (s.end < weir__metric_row_count && weir__metric_rows[s.end].group == group) {
        s.end++;
    }
    return s;
}

static const void *item_at(const weir__list *list, uint32_t i)
{
    return (const char *)list->items + (size_t)i * list->size;
}

static void add_rows(writing *w, span rows, const void *item)
{
    for (uint32_t i = rows.begin; i < rows.end; i++) {
        if (weir__metric_rows[i].key != NULL) {
            add_row(w, &weir__metric_rows[i], item);
        }
    }
}

static void add_object(writing *w, const weir__figures *f, weir__metric_group group)
{
    open_with(w, weir__metric_sections[group].key, "{");
    if (f->groups[group].count > 0) {
        add_rows(w, rows_of(group), f->groups[group].items);
    }
    close_with(w, "}");
}

static void add_list(writing *w, const weir__figures *f, weir__metric_group group)
{
    const weir__list *list = &f->groups[group];
    const span rows = rows_of(group);
    open_with(w, weir__metric_sections[group].key, "[");
    for (uint32_t i = 0; i < list->count && w->ok; i++) {
        open_with(w, NULL, "{");
        add_rows(w, rows, item_at(list, i));
        close_with(w, "}");
    }
    close_with(w, "]");
}

static void add_routers(writing *w, const weir__figures *f)
{
    const weir__list *list = &f->groups[WEIR__GROUP_ROUTER];
    const span rows = rows_of(WEIR__GROUP_ROUTER);
    const span worker_rows = rows_of(WEIR__GROUP_WORKER);
    open_with(w, weir__metric_sections[WEIR__GROUP_ROUTER].key, "[");
    for (uint32_t i = 0; i < list->count && w->ok; i++) {
        const weir__router_item *router = item_at(list, i);
        open_with(w, NULL, "{");
        add_rows(w, rows, router);
        open_with(w, "worker", "[");
        for (uint32_t k = 0; k < router->worker_count; k++) {
            open_with(w, NULL, "{");
            add_rows(w, worker_rows,
                     item_at(&f->groups[WEIR__GROUP_WORKER], router->worker_first + k));
            close_with(w, "}");
        }
        close_with(w, "]");
        close_with(w, "}");
    }
    close_with(w, "]");
}

/* ---- the rest ---- */

static void add_health(writing *w, const weir__figures *f)
{
    const weir__reason_item *items = f->reasons.items;
    open_with(w, "health", "{");
    add_text(w, "status", weir__health_name(f->health));
    open_with(w, "reasons", "[");
    for (uint32_t i = 0; i < f->reasons.count; i++) {
        open_with(w, NULL, "{");
        add_text(w, "what", items[i].what);
        add_text(w, "status", weir__health_name(items[i].health));
        add_text(w, "reason", items[i].reason);
        close_with(w, "}");
    }
    close_with(w, "]");
    close_with(w, "}");
}

static void add_edges(writing *w, const weir__figures *f)
{
    const weir__edge_item *items = f->edges.items;
    open_with(w, "edges", "[");
    for (uint32_t i = 0; i < f->edges.count && w->ok; i++) {
        open_with(w, NULL, "{");
        add_text(w, "from", items[i].from);
        add_text(w, "to", items[i].to);
        add_unsigned(w, "events", items[i].events);
        close_with(w, "}");
    }
    close_with(w, "]");
}

static void add_letters(writing *w, const weir__figures *f)
{
    const weir__letter_item *items = f->letters.items;
    open_with(w, "dead_letters", "[");
    for (uint32_t i = 0; i < f->letters.count; i++) {
        open_with(w, NULL, "{");
        add_unsigned(w, "number", items[i].number);
        add_text(w, "reason", items[i].reason);
        add_text(w, "status", items[i].status);
        add_text(w, "sender", items[i].sender);
        add_text(w, "receiver", items[i].receiver);
        add_text(w, "type", items[i].type);
        add_unsigned(w, "size", items[i].size);
        add_time(w, "time", items[i].time);
        add_text(w, "text", items[i].text);
        close_with(w, "}");
    }
    close_with(w, "]");
}

static void add_errors(writing *w, const weir__figures *f)
{
    const weir__error_item *items = f->errors.items;
    open_with(w, "errors", "[");
    for (uint32_t i = 0; i < f->errors.count; i++) {
        open_with(w, NULL, "{");
        add_text(w, "component", items[i].component);
        add_time(w, "time", items[i].time);
        add_text(w, "status", items[i].status);
        add_text(w, "text", items[i].text);
        close_with(w, "}");
    }
    close_with(w, "]");
}

static void add_own(writing *w, const weir__figures *f)
{
    const weir__own_item *items = f->own.items;
    open_with(w, "own", "[");
    for (uint32_t i = 0; i < f->own.count && w->ok; i++) {
        open_with(w, NULL, "{");
        add_text(w, "name", items[i].name);
        add_text(w, "labels", items[i].labels);
        add_text(w, "kind", items[i].kind == WEIR_METRIC_COUNTER ? "counter" : "gauge");
        add_text(w, "help", items[i].help);
        add_real(w, "value", items[i].value);
        close_with(w, "}");
    }
    close_with(w, "]");
}

/* ---- all of it ---- */

static void write(writing *w, const weir__figures *f)
{
    char version[32];
    (void)snprintf(version, sizeof(version), "%d.%d.0", WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR);
    open_with(w, NULL, "{");
    add_text(w, "weir", version);
    add_object(w, f, WEIR__GROUP_ENGINE);
    add_object(w, f, WEIR__GROUP_PROCESS);
    add_health(w, f);
    add_list(w, f, WEIR__GROUP_DISPATCHER);
    add_list(w, f, WEIR__GROUP_THREAD);
    add_list(w, f, WEIR__GROUP_PROCESSOR);
    add_unsigned(w, "processors_total", f->processors_total);
    add_unsigned(w, "processors_shown", f->processors_shown);
    add_list(w, f, WEIR__GROUP_FEED);
    add_routers(w, f);
    add_object(w, f, WEIR__GROUP_TIMER);
    add_list(w, f, WEIR__GROUP_COMPONENT);
    add_edges(w, f);
    add_letters(w, f);
    add_errors(w, f);
    add_own(w, f);
    close_with(w, "}");
}

char *weir_metrics_json(weir_engine *engine, const weir_metrics_options *options, size_t *size)
{
    if (size != NULL) {
        *size = 0;
    }
    if (!weir__engine_usable(engine)) {
        return NULL;
    }
    weir__figures f;
    writing w = { .out = { .allocator = &engine->allocator }, .ok = true };
    char *text = NULL;
    if (weir__figures_take(&f, engine, options)) {
        write(&w, &f);
        if (w.ok && weir__copy_text(&engine->allocator, w.out.bytes, &text) && size != NULL) {
            *size = w.out.length;
        }
    }
    weir__figures_close(&f);
    weir__textbuf_close(&w.out);
    return text;
}
