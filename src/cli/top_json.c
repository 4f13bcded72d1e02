/*
 * cli/top_json.c - the figures for programs: the same columns as on the screen, all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "cli/top.h"

/* JSON has no NAN; a whole number is written as one. */
static json_t *number(double value)
{
    if (!isfinite(value)) {
        return json_null();
    }
    return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value)
                                                       : json_real(value);
}

static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static json_t *row_json(const weir__top_table *table, const void *row)
{
    json_t *object = json_object();
    bool ok = object != NULL;
    for (uint32_t i = 0; ok && i < table->count; i++) {
        const weir__top_column *c = &table->columns[i];
        ok = set(object, c->key,
                 c->kind == WEIR__TOP_TEXT ? json_string(weir__top_cell_text(c, row))
                                           : number(weir__top_cell_number(c, row)));
    }
    if (!ok) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

static json_t *table_json(const weir__top_figures *figures, const weir__top_state *state,
                          uint32_t i)
{
    const weir__top_table *table = &weir__top_tables[i];
    weir__top_list list;
    json_t *array = json_array();
    bool ok = array != NULL && weir__top_list_open(&list, figures, state, i);
    if (ok) {
        for (size_t r = 0; ok && r < list.count; r++) {
            ok = json_array_append_new(array, row_json(table, list.rows[r])) == 0;
        }
        weir__top_list_close(&list);
    }
    if (!ok) {
        json_decref(array);
        array = NULL;
    }
    return array;
}

static json_t *engine_json(const weir__top_figures *f)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        { "uptime_s", f->uptime_ns / 1e9 },
        { "events_per_s", f->events_per_s },
        { "depth", f->depth },
        { "dropped", f->dropped },
        { "dropped_per_s", f->dropped_per_s },
        { "dead", f->dead },
        { "dead_per_s", f->dead_per_s },
        { "refused", f->refused },
        { "refused_per_s", f->refused_per_s },
        { "failures", f->failures },
        { "dead_letters", f->letters },
        { "processors", f->processors },
        { "processors_shown", f->processors_shown },
        { "threads", f->threads },
        { "timers", f->timers },
        { "cpu_cores", f->cpu },
        { "cores_usable", f->cores },
        { "rss_bytes", f->rss },
        { "throttled_per_s", f->throttled_per_s },
        { "throttled", f->throttling },
    };
    json_t *object = json_object();
    bool ok = object != NULL && set(object, "name", json_string(f->name)) &&
              set(object, "phase", json_string(f->phase)) &&
              set(object, "status", json_string(f->status));
    for (size_t i = 0; ok && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        ok = set(object, numbers[i].key, number(numbers[i].value));
    }
    if (!ok) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

json_t *weir__top_json(const weir__top_figures *figures, const weir__top_state *state)
{
    json_t *time = json_object_get(json_object_get(figures->document, "engine"), "time_ns");
    json_t *document = json_object();
    bool ok = document != NULL && set(document, "weir", json_string(figures->version)) &&
              json_object_set(document, "time_ns", time != NULL ? time : json_null()) == 0 &&
              set(document, "seconds", number(figures->seconds)) &&
              set(document, "since_start", json_boolean(figures->since_start)) &&
              set(document, "engine", engine_json(figures));
    for (uint32_t i = 0; ok && i < WEIR__TOP_TABLES; i++) {
        ok = set(document, weir__top_tables[i].name, table_json(figures, state, i));
    }
    if (!ok) {
        json_decref(document);
        document = NULL;
    }
    return document;
}
