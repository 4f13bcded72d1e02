/*
 * settings/check.c - a resolved tree against the tables: values, unknown keys, then the rules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "settings/config.h"
#include "sync/thread.h"

/* NOLINTBEGIN(misc-no-recursion): tables and trees are as deep as they were written or read */

enum { GIVEN_DEPTH_MAX = 8, ROOT_KEYS_LOOKED_AT = 1000 };

weir__node *weir__child(const weir__tree *tree, const weir__node *object, const char *key)
{
    return object != NULL ? weir__object_get(tree, object, key, strlen(key)) : NULL;
}

/* An object is made of all layers that have it: what counts is what stands in it. */
static bool is_given(const weir__node *node, int depth)
{
    if (node == NULL || node->kind == WEIR__NULL) {
        return false;
    }
    if (node->kind != WEIR__OBJECT || depth == 0) {
        return node->origin.source == NULL || strcmp(node->origin.source, WEIR__BUILT_IN) != 0;
    }
    for (size_t i = 0; i < node->object.count; i++) {
        if (is_given(node->object.members[i].value, depth - 1)) {
            return true;
        }
    }
    return false;
}

bool weir__is_given(const weir__node *node)
{
    return is_given(node, GIVEN_DEPTH_MAX);
}

const weir__node *weir__said(const weir__node *node)
{
    const weir__node *at = node;
    for (int depth = 0; at != NULL && at->kind == WEIR__OBJECT && depth < GIVEN_DEPTH_MAX;
         depth++) {
        const weir__node *next = NULL;
        if (at->origin.source != NULL && strcmp(at->origin.source, WEIR__BUILT_IN) != 0) {
            return at;
        }
        for (size_t i = 0; next == NULL && i < at->object.count; i++) {
            next = weir__is_given(at->object.members[i].value) ? at->object.members[i].value : NULL;
        }
        if (next == NULL) {
            return node;
        }
        at = next;
    }
    return at;
}

/* ---- keys that no table has ---- */

static bool has_row(const weir_option_table *table, const char *key)
{
    for (size_t i = 0; i < table->row_count; i++) {
        if (strcmp(weir__row(table->rows, i).key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* True: some table lies at `path` and `name` or below, or that at `path` has it. */
static bool leads_to_table(const weir_config *config, const char *path, const char *name)
{
    char wanted[160];
    const int length =
        snprintf(wanted, sizeof(wanted), "%s%s%s", path, path[0] != '\0' ? "." : "", name);
    for (size_t i = 0; config->tables[i] != NULL && length < (int)sizeof(wanted); i++) {
        const char *table = config->tables[i]->path;
        if ((strncmp(table, wanted, (size_t)length) == 0 &&
             (table[length] == '\0' || table[length] == '.')) ||
            (strcmp(table, path) == 0 && has_row(config->tables[i], name))) {
            return true;
        }
    }
    return false;
}

/* What stands below weir and belongs to nobody. */
static void check_weir(weir_config *config, weir__filler *filler)
{
    const weir__node *weir = weir__child(config->tree, config->tree->root, "weir");
    if (weir != NULL && weir->kind != WEIR__OBJECT && weir->kind != WEIR__NULL) {
        weir__problems_add(&config->problems, WEIR__ERROR, weir->origin, "weir",
                           "is %s, must be an object: weir.engine { ... }",
                           weir__kind_name(weir->kind));
        return;
    }
    for (size_t i = 0; weir != NULL && weir->kind == WEIR__OBJECT && i < weir->object.count; i++) {
        const weir__member *member = &weir->object.members[i];
        weir__path path, nearest;
        if (leads_to_table(config, "weir", member->key.bytes) ||
            member->value->kind == WEIR__NULL) {
            continue;
        }
        weir__path_begin(&path, "weir");
        weir__path_name(&path, member->key.bytes);
        const size_t distance = weir__distance(member->key.bytes, "engine");
        if (weir__distance_is_near(distance, member->key.bytes, "engine") ||
            !weir__nearest_key(filler, NULL, 0, &path, member->key.bytes, &nearest)) {
            weir__path_begin(&nearest, WEIR__ENGINE_PATH);
        }
        weir__problems_add(&config->problems, WEIR__ERROR, member->value->origin, path.text,
                           "is no key; did you mean %s?", nearest.text);
    }
}

/* The root belongs to the application, too: only what was probably meant for weir is told. */
static void check_root(weir_config *config, weir__filler *filler)
{
    const weir__node *root = config->tree->root;
    for (size_t i = 0; i < root->object.count && i < ROOT_KEYS_LOOKED_AT; i++) {
        const weir__member *member = &root->object.members[i];
        const char *key = member->key.bytes;
        const bool composite =
            member->value->kind == WEIR__OBJECT || member->value->kind == WEIR__LIST;
        weir__path path, nearest;
        weir__path_begin(&path, "");
        if (leads_to_table(config, "", key) || strcmp(key, "sss-events") == 0 ||
            strcmp(key, "agentThreads") == 0 || !(composite || strchr(key, '-') != NULL)) {
            continue;
        }
        const size_t distance = weir__distance(key, "weir");
        if (distance == 1 && weir__child(config->tree, member->value, "engine") != NULL) {
            weir__path_begin(&nearest, "weir");
        } else if (!weir__nearest_key(filler, NULL, 0, &path, key, &nearest)) {
            continue;
        } else {
            /* What has a name of its own above it is a single value: a struct is none. */
            const char *last = strrchr(nearest.text, '.');
            if (weir__distance(last != NULL ? last + 1 : nearest.text, key) != 0 ||
                (composite && strstr(nearest.text, ".NAME.") != NULL)) {
                continue;
            }
        }
        weir__path_name(&path, key);
        weir__problems_add(&config->problems, WEIR__WARNING, member->value->origin, path.text,
                           "is not read by weir; did you mean %s?", nearest.text);
    }
}

/* ---- tables ---- */

/* A caller's table: its values go nowhere yet, but must be right. */
static bool check_table(weir__filler *filler, const weir_option_table *table, size_t size)
{
    weir__path path;
    weir__path_begin(&path, table->path);
    void *scratch = weir__tree_memory(filler->tree, size);
    return scratch != NULL &&
           weir__fill(filler, table->rows, table->row_count,
                      weir__tree_at(filler->tree, filler->tree->root, table->path), &path, scratch);
}

/* How large a struct the rows fill at most. */
static size_t size_of(const weir_option *rows, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        const weir_option row = weir__row(rows, i);
        const size_t end = row.kind == WEIR_OPTION_GROUP ? size_of(row.rows, row.row_count)
                                                         : row.offset + sizeof(weir_option_items);
        size = end > size ? end : size;
    }
    return size;
}

/* Weir's own tables. False: no memory. */
static bool fill_settings(weir_config *config, weir__filler *filler, weir__node *engine)
{
    const weir_option_table *const own = weir__tables[WEIR__TABLE_ENGINE];
    const weir_option_table *const around = weir__tables[WEIR__TABLE_WEIR];
    weir__node *weir = weir__child(config->tree, config->tree->root, around->path);
    weir__path path;
    weir__path_begin(&path, own->path);
    bool memory = weir__fill(filler, own->rows, own->row_count, engine, &path, &config->engine);
    weir__path_begin(&path, around->path);
    for (size_t i = 0; i < around->row_count; i++) {
        const weir_option row = weir__row(around->rows, i);
        memory = weir__fill_row(filler, &row, weir, &path, &config->weir) && memory;
    }
    return memory;
}

bool weir__config_check(weir_config *config, uint32_t cores)
{
    weir__filler filler = { config->tree, &config->problems, config->tables };
    weir__node *engine = weir__tree_at(config->tree, config->tree->root, WEIR__ENGINE_PATH);
    check_weir(config, &filler);
    check_root(config, &filler);
    bool memory = fill_settings(config, &filler, engine);
    for (size_t i = WEIR__TABLES_OWN; memory && config->tables[i] != NULL; i++) {
        const weir_option_table *table = config->tables[i];
        memory = check_table(&filler, table, size_of(table->rows, table->row_count) + 64);
    }
    cores = cores != 0 ? cores : weir__cores_usable();
    if (!memory || !weir__plan_threads(config, engine, cores) ||
        !weir__plan_helpers(config, engine) || !weir__plan_flows(config)) {
        return false;
    }
    weir__check_rules(config, engine, cores);
    return true;
}

/* NOLINTEND(misc-no-recursion) */
