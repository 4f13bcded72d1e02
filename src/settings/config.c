/*
 * settings/config.c - the life of a configuration: made, checked, shared with engines, freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/config.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "settings/layers.h"

void weir__config_retain(weir_config *config)
{
    weir__add(&config->references, 1, relaxed);
}

void weir__config_release(weir_config *config)
{
    /* [Z1] pairs with itself: who frees it has seen all that others did with it. */
    if (config == NULL || weir__sub(&config->references, 1, acq_rel) > 1) {
        return;
    }
    const weir_allocator allocator = config->allocator;
    weir__problems_close(&config->problems);
    weir__tree_destroy(config->tree);
    weir__release(&allocator, config, sizeof(*config));
}

void weir_config_destroy(weir_config *config)
{
    weir__config_release(config);
}

/* ---- making ---- */

static size_t count_tables(const weir_option_table *const *tables)
{
    size_t count = 0;
    while (tables != NULL && tables[count] != NULL) {
        count++;
    }
    return count;
}

/* Weir's tables, then the caller's. In the tree's memory. */
static bool join_tables(weir_config *config, const weir_option_table *const *more)
{
    const size_t own = count_tables(weir__tables), theirs = count_tables(more);
    const weir_option_table **all = (const weir_option_table **)weir__tree_memory(
        config->tree, (own + theirs + 1) * sizeof(const weir_option_table *));
    if (all == NULL) {
        return false;
    }
    memcpy(all, weir__tables, own * sizeof(const weir_option_table *));
    if (theirs > 0) {
        memcpy(all + own, more, theirs * sizeof(const weir_option_table *));
    }
    config->tables = all;
    return true;
}

/* What was read, checked. False: no memory. */
static bool finish(weir_config *config, const weir__request *request)
{
    const weir_option_table *const *more =
        request->options != NULL ? request->options->tables : NULL;
    if (config->tree == NULL) { /* nothing could be made of the texts, or no memory */
        return !config->problems.out_of_memory;
    }
    if (!join_tables(config, more) || !weir__legacy(config) || !weir__spell(config)) {
        return false;
    }
    return weir__config_check(config, request->cores);
}

weir_config *weir__config_make(const weir__request *request, weir_error *error)
{
    const weir_allocator *allocator =
        request->options != NULL && request->options->allocator != NULL
            ? request->options->allocator
            : weir__allocator_default();
    weir_config *config = weir__allocate(allocator, sizeof(*config));
    if (config == NULL) {
        weir__error_memory(error, "weir_config");
        return NULL;
    }
    weir__store(&config->references, 1, relaxed);
    config->allocator = *allocator;
    config->problems.allocator = &config->allocator;
    config->tree = weir__layers_resolve(config, request);
    if (!finish(config, request) || config->problems.out_of_memory) {
        weir__config_release(config);
        weir__error_memory(error, "weir_config");
        return NULL;
    }
    weir__problems_sort(&config->problems);
    return config;
}

/* ---- the public face ---- */

static bool check_tables(const weir_option_table *const *tables, weir_error *error)
{
    for (size_t i = 0; tables != NULL && tables[i] != NULL; i++) {
        const weir_option_table *table = tables[i];
        if (table->struct_size < sizeof(weir_option_table) || table->path == NULL ||
            table->path[0] == '\0' || (table->rows == NULL && table->row_count > 0)) {
            weir__error_at(error, WEIR_E_INVALID, "weir_config_options.tables",
                           "table %zu needs a struct_size, a path and rows", i);
            return false;
        }
    }
    return true;
}

/* The caller's struct, of whatever age, into ours. */
static bool read_options(const weir_config_options *in, weir_config_options *out, weir_error *error)
{
    memset(out, 0, sizeof(*out));
    const weir_status status = weir__options_read(out, sizeof(*out), in);
    if (status == WEIR_E_INVALID) {
        weir__error_at(error, status, "weir_config_options.struct_size",
                       "must be sizeof(weir_config_options): use the macro or _INIT");
    } else if (status != WEIR_OK) {
        weir__error_at(error, status, "weir_config_options",
                       "sets a field that this version of weir (%u.%u) does not know",
                       (unsigned)WEIR_VERSION_MAJOR, (unsigned)WEIR_VERSION_MINOR);
    } else if (out->allocator != NULL &&
               (out->allocator->allocate == NULL || out->allocator->release == NULL)) {
        weir__error_at(error, WEIR_E_INVALID, "weir_config_options.allocator",
                       "has no allocate or no release function");
        return false;
    }
    return status == WEIR_OK && check_tables(out->tables, error);
}

/* A config with errors is for those who asked for it. */
static weir_config *deliver(weir_config *config, bool keep_going, weir_error *error)
{
    if (config != NULL && !keep_going && weir__problems_failed(&config->problems)) {
        weir__problems_error(&config->problems, error);
        weir__config_release(config);
        return NULL;
    }
    return config;
}

weir_config *weir_config_load(const char *path, const weir_config_options *options,
                              weir_error *error)
{
    weir_config_options checked;
    if (weir__error_is_set(error) || !read_options(options, &checked, error)) {
        return NULL;
    }
    size_t count = path != NULL ? 1 : 0, more = 0;
    while (checked.files != NULL && checked.files[more] != NULL) {
        more++;
    }
    const weir_allocator *allocator =
        checked.allocator != NULL ? checked.allocator : weir__allocator_default();
    const size_t size = (count + more + 1) * sizeof(char *);
    const char **paths = weir__allocate(allocator, size);
    if (paths == NULL) {
        weir__error_memory(error, "weir_config_load");
        return NULL;
    }
    paths[0] = path;
    if (more > 0) {
        memcpy(paths + count, checked.files, more * sizeof(*paths));
    }
    const weir__request request = { .paths = count + more > 0 ? paths : NULL, .options = &checked };
    weir_config *config = weir__config_make(&request, error);
    weir__release(allocator, paths, size);
    return deliver(config, checked.keep_going, error);
}

weir_config *weir_config_parse(const char *name, const char *text, size_t size,
                               const weir_config_options *options, weir_error *error)
{
    weir_config_options checked;
    if (weir__error_is_set(error) || !read_options(options, &checked, error)) {
        return NULL;
    }
    if (text == NULL && size > 0) {
        weir__error_at(error, WEIR_E_INVALID, "weir_config_parse.text",
                       "is NULL, must have %zu bytes", size);
        return NULL;
    }
    const weir__request request = { .name = name != NULL ? name : "text",
                                    .text = text != NULL ? text : "",
                                    .text_size = size,
                                    .options = &checked };
    return deliver(weir__config_make(&request, error), checked.keep_going, error);
}

bool weir_config_problem_get(const weir_config *config, size_t i, weir_error *problem,
                             weir_config_severity *severity)
{
    if (config == NULL || i >= config->problems.count) {
        return false;
    }
    const weir__problem *found = &config->problems.items[i];
    if (severity != NULL) {
        *severity = found->severity == WEIR__NOTE      ? WEIR_CONFIG_NOTE
                    : found->severity == WEIR__WARNING ? WEIR_CONFIG_WARNING
                                                       : WEIR_CONFIG_ERROR;
    }
    if (problem != NULL) {
        weir_error full = WEIR_ERROR_INIT;
        weir__error_at(&full, WEIR_E_CONFIG, found->path, "%s", found->text);
        full.line = found->origin.line;
        full.column = found->origin.column;
        snprintf(full.file, sizeof(full.file), "%s", found->origin.source);
        (void)weir__struct_fill(problem, &full, sizeof(full));
    }
    return true;
}
