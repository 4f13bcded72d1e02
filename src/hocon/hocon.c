/*
 * hocon/hocon.c - layers in, a resolved tree out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon/hocon.h"

#include <string.h>

#include "base/memory.h"
#include "hocon/read.h"

enum { DEPTH = 64, DEPTH_MAX = 200, INCLUDE_DEPTH = 50, MIB = 1024 * 1024 };

weir__hocon *weir__hocon_create(const weir__hocon_options *options, weir__problems *problems)
{
    const weir_allocator *allocator = options != NULL && options->allocator != NULL
                                          ? options->allocator
                                          : weir__allocator_default();
    weir__hocon *document = weir__allocate(allocator, sizeof(*document));
    if (document == NULL) {
        return NULL;
    }
    document->allocator = allocator;
    document->problems = problems;
    document->tree = weir__tree_create(allocator, 0);
    if (options != NULL) {
        document->options = *options;
    }
    weir__hocon_options *own = &document->options;
    own->depth_max = own->depth_max == 0 ? DEPTH : own->depth_max;
    own->depth_max = own->depth_max > DEPTH_MAX ? DEPTH_MAX : own->depth_max;
    own->include_depth_max = own->include_depth_max == 0 ? INCLUDE_DEPTH : own->include_depth_max;
    own->file_size_max = own->file_size_max == 0 ? (size_t)16 * MIB : own->file_size_max;
    own->resolved_size_max =
        own->resolved_size_max == 0 ? (size_t)256 * MIB : own->resolved_size_max;
    if (document->tree != NULL) {
        weir__cell *root = weir__tree_memory(document->tree, sizeof(*root));
        if (root != NULL) {
            root->node.kind = WEIR__OBJECT;
            document->root = &root->node;
            return document;
        }
    }
    weir__hocon_destroy(document);
    return NULL;
}

void weir__hocon_destroy(weir__hocon *document)
{
    if (document == NULL) {
        return;
    }
    const weir_allocator *allocator = document->allocator;
    weir__tree_destroy(document->tree);
    weir__release(allocator, document->scratch, document->scratch_capacity);
    weir__release(allocator, document->pieces,
                  document->piece_capacity * sizeof(*document->pieces));
    weir__release(allocator, document->path, document->path_capacity * sizeof(*document->path));
    weir__release(allocator, document, sizeof(*document));
}

/* --- layers ----------------------------------------------------------------------------------- */

/* A reference.conf stands on its own: before something else is put over it, it is resolved as it
 * is. */
static bool begin_layer(weir__hocon *document)
{
    if (document->below != NULL && !document->spent && !weir__problems_failed(document->problems)) {
        const size_t errors = document->problems->errors;
        (void)weir__resolve_root(document);
        if (document->problems->errors > errors) {
            weir__problems_add(document->problems, WEIR__NOTE,
                               (weir__origin){ .source = document->below }, NULL,
                               "a reference.conf must resolve by itself, without what is put over "
                               "it");
        }
        document->below = NULL;
    }
    document->layers++;
    return !document->spent;
}

static bool is_reference(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash != NULL ? slash + 1 : path, "reference.conf") == 0;
}

bool weir__hocon_add_file(weir__hocon *document, const char *path)
{
    if (!begin_layer(document)) {
        return false;
    }
    weir__file file;
    weir__shown why;
    if (weir__file_read(document, path, false, &file, &why) != WEIR__FOUND) {
        weir__problems_add(document->problems, WEIR__ERROR, (weir__origin){ .source = path }, NULL,
                           "cannot read it: %s", why.text);
        return false;
    }
    const bool good = weir__file_into(document, NULL, &file, path, document->root);
    weir__file_release(document, &file);
    if (good && is_reference(path)) {
        document->below = weir__tree_source(document->tree, path);
    }
    return good;
}

bool weir__hocon_add_text(weir__hocon *document, const char *name, const char *text, size_t size)
{
    if (!begin_layer(document)) {
        return false;
    }
    weir__reader reader = { .document = document,
                            .source = weir__tree_source(document->tree, name) };
    char *copy = weir__allocate_raw(document->allocator, size + 1);
    if (copy == NULL || reader.source == NULL) {
        weir__problems_memory(document->problems);
        weir__release(document->allocator, copy, size + 1);
        return false;
    }
    if (size > 0) {
        memcpy(copy, text, size);
    }
    copy[size] = '\0';
    reader.start = copy;
    reader.end = copy + size;
    bool good = false;
    if (size > document->options.file_size_max) {
        weir__problems_add(document->problems, WEIR__ERROR,
                           (weir__origin){ .source = reader.source }, NULL,
                           "it is larger than %zu bytes", document->options.file_size_max);
    } else {
        good = weir__read_text_into(&reader, document->root);
    }
    weir__release(document->allocator, copy, size + 1);
    return good;
}

bool weir__hocon_add_tree(weir__hocon *document, const weir__tree *tree)
{
    if (!begin_layer(document) || tree->root == NULL) {
        return !document->spent;
    }
    weir__node *copy = weir__merge_copy(document, tree->root, 0);
    if (copy == NULL) {
        weir__document_lack(document, 0);
        return false;
    }
    if (copy->kind != WEIR__OBJECT) {
        weir__problems_add(document->problems, WEIR__ERROR, copy->origin, NULL,
                           "the root is an object, not %s", weir__kind_name(copy->kind));
        return false;
    }
    return weir__merge_objects(document, document->root, copy);
}

/* --- settings --------------------------------------------------------------------------------- */

/* The value of a setting, read as HOCON if all of it is one; NULL without a word if it is not. */
static weir__node *setting_value(weir__reader *reader)
{
    weir__hocon *document = reader->document;
    weir__problems *problems = document->problems;
    weir__problems quiet = { .allocator = problems->allocator };
    document->problems = &quiet;
    reader->late.allocator = problems->allocator;
    weir__skip_lines(reader);
    weir__node *value = weir__read_value(reader);
    weir__skip_lines(reader);
    if (reader->at < reader->end || reader->errors > 0 || reader->late.count > 0) {
        value = NULL;
    }
    document->problems = problems;
    if (quiet.out_of_memory || reader->late.out_of_memory) {
        weir__problems_memory(problems);
    }
    weir__problems_close(&reader->late);
    weir__problems_close(&quiet);
    return value;
}

static bool put_setting(weir__hocon *document, weir__reader *reader)
{
    bool ascii;
    if (weir__text_check(reader->start, (size_t)(reader->end - reader->start), &ascii) != NULL) {
        weir__read_fail(reader, reader->at, "it is not UTF-8");
        return false;
    }
    if (!weir__at_simple(reader) || *reader->at == '$') {
        weir__read_fail(reader, reader->at, "'%s' has no key: write key=value", reader->start);
        return false;
    }
    const size_t count = weir__scan_path(reader);
    if (count == 0 || *reader->at != '=') {
        if (count != 0) {
            weir__read_fail(reader, reader->at, "'%s' has no '=' behind its key: write key=value",
                            reader->start);
        }
        return false;
    }
    const char *text = ++reader->at;
    reader->depth = (uint32_t)count - 1;
    weir__node *value = setting_value(reader);
    if (value == NULL && !document->spent) {
        const weir__origin origin = { .source = reader->source };
        value = weir__node_string(document->tree, origin, text, (size_t)(reader->end - text));
    }
    return value != NULL && weir__merge_at(document, document->root, document->path, count, value);
}

bool weir__hocon_add_setting(weir__hocon *document, const char *source, const char *setting)
{
    if (!begin_layer(document)) {
        return false;
    }
    weir__reader reader = { .document = document,
                            .source = weir__tree_source(document->tree, source),
                            .start = setting,
                            .at = setting,
                            .end = setting + strlen(setting),
                            .line_start = setting,
                            .column_at = setting,
                            .column = 1 };
    if (reader.source == NULL) {
        weir__document_lack(document, 0);
        return false;
    }
    const bool good = put_setting(document, &reader);
    document->path_count = 0;
    return good;
}

/* --- out -------------------------------------------------------------------------------------- */

weir__tree *weir__hocon_resolve(weir__hocon *document)
{
    if (document->spent || weir__problems_failed(document->problems)) {
        return NULL;
    }
    weir__node *root = weir__resolve_root(document);
    if (root == NULL || weir__problems_failed(document->problems)) {
        return NULL;
    }
    weir__tree *tree = document->tree;
    tree->root = root;
    tree->limit = 0;
    document->tree = NULL;
    document->spent = true;
    return tree;
}

weir__node *weir__hocon_find(const weir__tree *tree, const char *expression,
                             weir__problems *problems)
{
    weir__hocon_options options = { .allocator = tree->allocator };
    weir__hocon *document = weir__hocon_create(&options, problems);
    if (document == NULL) {
        weir__problems_memory(problems);
        return NULL;
    }
    weir__reader reader = { .document = document,
                            .source = "",
                            .start = expression,
                            .at = expression,
                            .end = expression + strlen(expression),
                            .line_start = expression,
                            .column_at = expression,
                            .column = 1 };
    bool ascii;
    weir__node *node = NULL;
    weir__skip_blank(&reader);
    if (weir__text_check(expression, strlen(expression), &ascii) != NULL ||
        !weir__at_simple(&reader) || *reader.at == '$') {
        weir__read_fail(&reader, reader.at, "'%s' is no path", expression);
    } else if (weir__scan_path(&reader) != 0) {
        node = tree->root;
        for (size_t i = 0; i < document->path_count; i++) {
            const weir__text name = document->path[i];
            node = weir__object_get(tree, node, name.bytes, name.length);
        }
        if (reader.at < reader.end) {
            weir__read_fail(&reader, reader.at, "'%s' is no path", expression);
            node = NULL;
        }
    }
    weir__hocon_destroy(document);
    return node;
}
