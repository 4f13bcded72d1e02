/*
 * settings/layers.c - built-in reference <- files in order <- environment <- overrides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/layers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "hocon/hocon.h"
#include "settings/textbuf.h"
#include "settings/writer.h"

extern char **environ; /* POSIX leaves the declaration to its user */

enum { PATH_SIZE = 256 };

typedef struct layers {
    weir_config *config;
    const weir__request *request;
    weir__hocon *document;
} layers;

static void say(layers *l, const char *source, const char *text)
{
    weir__problems_add(&l->config->problems, WEIR__ERROR, (weir__origin){ .source = source }, NULL,
                       "%s", text);
}

/* ---- the layers ---- */

static void add_built_in(layers *l)
{
    const weir_config_options *options = l->request->options;
    weir__textbuf t = { .allocator = &l->config->allocator };
    bool well =
        weir__write_reference(weir__tables, WEIR__REFERENCE_BUILT_IN, weir__textbuf_append, &t);
    if (options != NULL && options->tables != NULL) {
        well = well && weir__write_reference(options->tables, WEIR__REFERENCE_BUILT_IN,
                                             weir__textbuf_append, &t);
    }
    if (!well) {
        weir__problems_memory(&l->config->problems);
    } else {
        (void)weir__hocon_add_text(l->document, WEIR__BUILT_IN, t.bytes != NULL ? t.bytes : "",
                                   t.length);
    }
    weir__textbuf_close(&t);
}

static bool ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path), end_length = strlen(end);
    return length > end_length && strcmp(path + length - end_length, end) == 0;
}

static void add_file(layers *l, const char *path)
{
    if (!ends_with(path, ".yaml") && !ends_with(path, ".yml")) {
        (void)weir__hocon_add_file(l->document, path);
        return;
    }
    if (l->request->foreign == NULL) {
        say(l, path,
            "is YAML, which the weir command reads and this library does not: "
            "`weir config render` makes JSON of it");
        return;
    }
    weir__tree *tree = l->request->foreign(&l->config->allocator, path, &l->config->problems);
    if (tree != NULL) {
        (void)weir__hocon_add_tree(l->document, tree);
        weir__tree_destroy(tree);
    }
}

static bool ignores_environment(const layers *l)
{
    return l->request->options != NULL && l->request->options->ignore_environment;
}

/* Which file counts if none is named. NULL: none. */
static const char *find_file(const layers *l)
{
    static const char *const usual[] = { "./application.conf", "./weir.conf" };
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): whoever changes the environment does it before */
    const char *named = ignores_environment(l) ? NULL : getenv("WEIR_CONFIG");
    if (named != NULL && named[0] != '\0') {
        return named;
    }
    for (size_t i = 0; i < 2; i++) {
        if (access(usual[i], F_OK) == 0) {
            return usual[i];
        }
    }
    return NULL;
}

static void add_files(layers *l)
{
    const weir__request *request = l->request;
    if (request->text != NULL) {
        (void)weir__hocon_add_text(l->document, request->name, request->text, request->text_size);
    } else if (request->paths != NULL) {
        for (size_t i = 0; request->paths[i] != NULL; i++) {
            add_file(l, request->paths[i]);
        }
    } else {
        const char *found = find_file(l);
        if (found != NULL) {
            add_file(l, found);
        }
    }
}

/* ---- the environment ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_variable(layers *l, const char *variable)
{
    char name[PATH_SIZE], path[PATH_SIZE], source[PATH_SIZE + 16];
    const size_t length = strcspn(variable, "=");
    snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : sizeof(name) - 1),
             variable);
    snprintf(source, sizeof(source), "environment %s", name);
    if (length >= sizeof(name)) {
        say(l, source, "is no key: it is too long");
        return;
    }
    if (!weir__environment_path(name, path, sizeof(path))) {
        say(l, source, path);
        return;
    }
    weir__textbuf setting = { .allocator = &l->config->allocator };
    if (weir__textbuf_append(&setting, path, strlen(path)) &&
        weir__textbuf_append(&setting, variable + length, strlen(variable + length))) {
        (void)weir__hocon_add_setting(l->document, source, setting.bytes);
    } else {
        weir__problems_memory(&l->config->problems);
    }
    weir__textbuf_close(&setting);
}

static void add_environment(layers *l)
{
    size_t count = 0, kept = 0;
    if (ignores_environment(l) || environ == NULL) {
        return;
    }
    for (; environ[count] != NULL; count++) {
        kept += strncmp(environ[count], "WEIR__", 6) == 0;
    }
    if (kept == 0) {
        return;
    }
    /* Sorted: the same environment gives the same messages, however it was put together. */
    const size_t size = kept * sizeof(char *);
    const char **mine = weir__allocate(&l->config->allocator, size);
    if (mine == NULL) {
        weir__problems_memory(&l->config->problems);
        return;
    }
    size_t used = 0;
    for (size_t i = 0; i < count && used < kept; i++) {
        if (strncmp(environ[i], "WEIR__", 6) == 0) {
            mine[used++] = environ[i];
        }
    }
    qsort(mine, used, sizeof(*mine), by_name);
    for (size_t i = 0; i < used; i++) {
        add_variable(l, mine[i]);
    }
    weir__release(&l->config->allocator, mine, size);
}

static void add_overrides(layers *l)
{
    const weir_config_options *options = l->request->options;
    for (size_t i = 0;
         options != NULL && options->overrides != NULL && options->overrides[i] != NULL; i++) {
        (void)weir__hocon_add_setting(l->document, "-D", options->overrides[i]);
    }
}

weir__tree *weir__layers_resolve(weir_config *config, const weir__request *request)
{
    const weir_config_options *options = request->options;
    const weir__hocon_options hocon = {
        .allocator = &config->allocator,
        .include_root = options != NULL ? options->include_root : NULL,
        .ignore_environment = options != NULL && options->ignore_environment,
    };
    layers l = { config, request, weir__hocon_create(&hocon, &config->problems) };
    if (l.document == NULL) {
        weir__problems_memory(&config->problems);
        return NULL;
    }
    add_built_in(&l);
    add_files(&l);
    add_environment(&l);
    add_overrides(&l);
    /* After a syntax error what could be read is still worth a look: more of it may be wrong. */
    weir__tree *tree = weir__hocon_resolve(l.document);
    weir__hocon_destroy(l.document);
    return tree;
}
