/*
 * server/plugins.c - finds and opens what weir.plugins names; the types of all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "connect/types.h"
#include "server/compose.h"

#ifndef WEIR_PLUGIN_DIR
#define WEIR_PLUGIN_DIR "/usr/local/lib/weir/plugins"
#endif

/* ---- where it is ---- */

/* FOLDER/NAME, or with .so behind it. False: neither is there. */
static bool try_folder(const char *folder, size_t length, const char *name, char *out, size_t size)
{
    static const char *const ends[] = { "", ".so" };
    for (size_t i = 0; i < 2; i++) {
        const int used =
            snprintf(out, size, "%.*s%s%s%s", (int)length, folder,
                     length > 0 && folder[length - 1] != '/' ? "/" : "", name, ends[i]);
        if (used > 0 && (size_t)used < size && access(out, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* The folder of the file that says it, "." if it was no file. */
static size_t folder_of(const weir__origin *origin, const char **folder)
{
    const char *slash = origin->source != NULL && origin->line > 0 && origin->source[0] != '-' &&
                                strncmp(origin->source, "environment", 11) != 0
                            ? strrchr(origin->source, '/')
                            : NULL;
    *folder = slash != NULL ? origin->source : ".";
    return slash != NULL && slash != origin->source ? (size_t)(slash - origin->source) : 1;
}

/* A folder that is not absolute is one of the file that says it. */
static bool try_said(const weir__node *folder, const char *name, char *out, size_t size)
{
    const char *base;
    const size_t length = folder_of(&folder->origin, &base);
    char whole[PATH_MAX];
    if (folder->kind != WEIR__STRING) {
        return false;
    }
    const char *text = folder->text.bytes;
    const int used = snprintf(whole, sizeof(whole), "%.*s%s%s", text[0] == '/' ? 0 : (int)length,
                              base, text[0] == '/' ? "" : "/", text);
    return used > 0 && (size_t)used < sizeof(whole) &&
           try_folder(whole, (size_t)used, name, out, size);
}

static bool find_plugin(const weir_config *config, const weir__node *said, char *out, size_t size)
{
    const char *name = said->text.bytes, *folder;
    if (name[0] == '/') {
        return try_folder("", 0, name, out, size);
    }
    const size_t length = folder_of(&said->origin, &folder);
    if (try_folder(folder, length, name, out, size)) {
        return true;
    }
    const weir__node *weir = weir__child(config->tree, config->tree->root, "weir");
    const weir__node *path = weir__child(config->tree, weir, "plugin-path");
    for (size_t i = 0; path != NULL && path->kind == WEIR__LIST && i < path->list.count; i++) {
        if (try_said(path->list.items[i], name, out, size)) {
            return true;
        }
    }
    return try_folder(WEIR_PLUGIN_DIR, strlen(WEIR_PLUGIN_DIR), name, out, size);
}

/* ---- opening ---- */

static bool is_open(const weir__composition *c, const weir_plugin *plugin)
{
    for (size_t i = 0; i < c->plugin_count; i++) {
        if (c->plugins[i].plugin == plugin) {
            return true;
        }
    }
    return false;
}

/* A name must lead to one type. */
static bool types_are_new(const weir__composition *c, const weir_plugin *plugin, const char **taken)
{
    for (size_t i = 0; i < plugin->type_count; i++) {
        if (weir__compose_type(c, plugin->types[i]->name) != NULL) {
            *taken = plugin->types[i]->name;
            return false;
        }
    }
    return true;
}

static bool open_one(weir__composition *c, const weir_config *config, const weir__node *said,
                     const char *at, weir__problems *problems)
{
    char path[PATH_MAX];
    const weir_plugin *plugin = NULL;
    const char *taken = NULL;
    weir_error error = WEIR_ERROR_INIT;
    weir__text copy;
    if (said->kind != WEIR__STRING) {
        return true; /* said where it was read */
    }
    if (!find_plugin(config, said, path, sizeof(path))) {
        weir__problems_add(problems, WEIR__ERROR, said->origin, at,
                           "'%.200s' is not there: neither beside the file, nor in "
                           "weir.plugin-path, nor in %s",
                           said->text.bytes, WEIR_PLUGIN_DIR);
        return true;
    }
    if (weir_plugin_open(path, &plugin, &error) != WEIR_OK) {
        weir__problems_add(problems, WEIR__ERROR, said->origin, at, "cannot be loaded: %s",
                           error.text);
        return true;
    }
    if (is_open(c, plugin)) {
        return true;
    }
    if (!types_are_new(c, plugin, &taken)) {
        weir__problems_add(problems, WEIR__ERROR, said->origin, at,
                           "brings type '%.60s', which is there already", taken);
        return true;
    }
    if (!weir__tree_text(c->memory, path, strlen(path), &copy)) {
        return false;
    }
    c->plugins[c->plugin_count++] = (weir__opened){ copy.bytes, plugin };
    return true;
}

bool weir__compose_plugins(weir__composition *c, const weir_config *config,
                           weir__problems *problems)
{
    const weir__node *weir = weir__child(config->tree, config->tree->root, "weir");
    const weir__node *list = weir__child(config->tree, weir, "plugins");
    if (list == NULL || list->kind != WEIR__LIST) {
        return true;
    }
    c->plugins = weir__tree_memory(c->memory, (list->list.count + 1) * sizeof(*c->plugins));
    for (size_t i = 0; c->plugins != NULL && i < list->list.count; i++) {
        char at[40];
        snprintf(at, sizeof(at), "weir.plugins[%zu]", i);
        if (!open_one(c, config, list->list.items[i], at, problems)) {
            return false;
        }
    }
    return c->plugins != NULL;
}

/* ---- types ---- */

void weir__compose_types(const weir__composition *c,
                         bool (*visit)(void *context, const weir_component_type *type,
                                       const weir_plugin *from),
                         void *context)
{
    for (size_t p = 0; p <= c->plugin_count; p++) {
        const weir_plugin *from = p == 0 ? &weir__connect_plugin : c->plugins[p - 1].plugin;
        for (size_t i = 0; i < from->type_count; i++) {
            if (!visit(context, from->types[i], from)) {
                return;
            }
        }
    }
}

typedef struct wanted {
    const char *name;
    const weir_component_type *found;
} wanted;

static bool is_wanted(void *context, const weir_component_type *type, const weir_plugin *from)
{
    wanted *w = context;
    (void)from;
    if (strcmp(type->name, w->name) == 0) {
        w->found = type;
    }
    return w->found == NULL;
}

const weir_component_type *weir__compose_type(const weir__composition *c, const char *name)
{
    wanted w = { name, NULL };
    weir__compose_types(c, is_wanted, &w);
    return w.found;
}
