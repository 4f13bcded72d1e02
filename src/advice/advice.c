/*
 * advice/advice.c - all rules over two looks; the worst first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "advice/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice/look.h"

/* Less time between two looks says nothing about rates. */
#define SECONDS_LEAST 1e-3

/* By uptime, which no one sets; the time of day may jump. One that fell is another start. */
static void compare_times(weir__look *look)
{
    const json_t *then = json_object_get(look->before, "engine");
    const json_t *now = json_object_get(look->after, "engine");
    const double before = weir__look_number(then, "uptime_ns");
    double after = weir__look_number(now, "uptime_ns");
    if (look->before != NULL && (after < before || strcmp(weir__look_text(then, "name"),
                                                          weir__look_text(now, "name")) != 0)) {
        look->before = NULL;
        look->out->restarted = true;
    }
    if (look->before != NULL) {
        after = isnan(before)
                    ? weir__look_number(now, "time_ns") - weir__look_number(then, "time_ns")
                    : after - before;
    }
    look->twice = look->before != NULL;
    look->seconds = after / 1e9 >= SECONDS_LEAST ? after / 1e9 : 0;
    look->out->seconds = look->seconds;
}

static int compare_findings(const void *left, const void *right)
{
    const weir__finding *a = left, *b = right;
    if (a->severity != b->severity) {
        return a->severity > b->severity ? -1 : 1;
    }
    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    if (a->value != b->value) {
        return (a->value > b->value) != weir__rules[a->id].below ? -1 : 1;
    }
    return strcmp(a->what, b->what);
}

/* How many are not shown stands on the last of their rule. */
static void count_hidden(weir__findings *out)
{
    for (size_t i = out->count; i > 0; i--) {
        weir__finding *f = &out->items[i - 1];
        f->more = out->hidden[f->id];
        out->hidden[f->id] = 0;
    }
}

void weir__advice_make(const json_t *before, const json_t *after, weir__findings *out)
{
    *out = (weir__findings){ 0 };
    weir__look look = { .before = json_is_object(before) ? before : NULL,
                        .after = after,
                        .out = out };
    if (!json_is_object(after)) {
        return;
    }
    compare_times(&look);
    look.cores = weir__look_number(json_object_get(after, "process"), "cores_usable");
    look.cores = look.cores >= 1 ? look.cores : NAN;
    weir__look_at_process(&look);
    weir__look_at_threads(&look);
    weir__look_at_dispatchers(&look);
    weir__look_at_processors(&look);
    weir__look_at_streams(&look);
    qsort(out->items, out->count, sizeof(out->items[0]), compare_findings);
    count_hidden(out);
}

json_t *weir__advice_json(const weir__findings *findings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < findings->count; i++) {
        const weir__finding *f = &findings->items[i];
        /* JSON has no infinity. */
        const double value = isfinite(f->value) ? f->value : 1e18;
        if (json_array_append_new(
                list, json_pack("{s:s, s:s, s:s, s:f, s:s, s:s, s:i}", "rule", f->rule, "severity",
                                weir__severity_name(f->severity), "what", f->what, "value", value,
                                "text", f->text, "remedy", f->remedy, "more", (int)f->more)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return json_pack("{s:o}", "findings", list);
}
