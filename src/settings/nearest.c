/*
 * settings/nearest.c - which key was probably meant.
 *
 * First among those that may stand in the same place, by their letters or because it is called so
 * elsewhere; then among all, by the last name: who writes `backoff` at the root of a file is told
 * of weir.engine.backoff.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "base/nearest.h"
#include "settings/fill.h"

/* NOLINTBEGIN(misc-no-recursion): tables are as deep as they were written */

typedef struct search {
    const char *key;
    size_t distance;
    weir__path *out;
} search;

static void consider(search *s, weir__path *path, const char *name)
{
    const size_t distance = weir__distance(s->key, name);
    if (distance < s->distance && weir__distance_is_near(distance, s->key, name)) {
        const size_t length = path->length;
        s->distance = distance;
        weir__path_name(path, name);
        *s->out = *path;
        weir__path_cut(path, length);
    }
}

/* Tables are as deep as they are written: three levels. */
static void look_below(search *s, weir__path *path, const weir_option *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        if (row.kind == WEIR_OPTION_NAME) {
            continue;
        }
        consider(s, path, row.key);
        if (row.rows != NULL) {
            const size_t length = path->length;
            weir__path_name(path, row.key);
            if (row.kind == WEIR_OPTION_MAP) {
                weir__path_name(path, "NAME");
            } else if (row.kind == WEIR_OPTION_ITEMS) {
                weir__path_index(path, 0);
            }
            look_below(s, path, row.rows, row.row_count);
            weir__path_cut(path, length);
        }
    }
}

/* What has one name in a router, and another in a processor or in its option struct. */
static const struct {
    const char *other, *key;
} same[] = {
    { "overflow", "policy" },
    { "mailbox-max", "worker-capacity" },
    { "worker-max", "worker-capacity" },
    { "ingress-max", "ingress-capacity" },
    { "flows-max", "max-flows" },
    { "idle-timeout", "flow-idle-timeout" },
    { "idle", "idle-strategy" },
    { "dedicated", "own-threads" },
};

static void look_for_same(search *s, weir__path *path, const weir_option *row)
{
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        if (strcmp(same[i].other, s->key) == 0 && strcmp(same[i].key, row->key) == 0) {
            const size_t length = path->length;
            s->distance = 0;
            weir__path_name(path, row->key);
            *s->out = *path;
            weir__path_cut(path, length);
        }
    }
}

bool weir__nearest_key(const weir__filler *filler, const weir_option *rows, size_t count,
                       const weir__path *path, const char *key, weir__path *out)
{
    search s = { key, SIZE_MAX, out };
    weir__path here = *path;
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        if (row.kind != WEIR_OPTION_NAME) {
            consider(&s, &here, row.key);
            look_for_same(&s, &here, &row);
        }
    }
    for (size_t i = 0;
         s.distance == SIZE_MAX && filler->tables != NULL && filler->tables[i] != NULL; i++) {
        const weir_option_table *table = filler->tables[i];
        weir__path_begin(&here, table->path);
        look_below(&s, &here, table->rows, table->row_count);
    }
    return s.distance != SIZE_MAX;
}

/* NOLINTEND(misc-no-recursion) */
