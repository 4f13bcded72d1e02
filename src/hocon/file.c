/*
 * hocon/file.c - files: read whole, as what their names say they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "hocon/read.h"

static weir__found unreadable(weir__shown *why, const char *text)
{
    snprintf(why->text, sizeof(why->text), "%s", text);
    return WEIR__UNREADABLE;
}

static void describe(weir__shown *why, int error)
{
    char buffer[80];
    (void)unreadable(why, strerror_r(error, buffer, sizeof(buffer)));
}

/* An included file is a regular one, and lies below the folder that includes may not leave,
 * wherever links lead. `real` becomes its path. */
static weir__found look_at_include(const char *root, const char *path, char real[PATH_MAX],
                                   weir__shown *why)
{
    struct stat about;
    if (realpath(path, real) == NULL || stat(real, &about) != 0) {
        const int error = errno;
        describe(why, error);
        return error == ENOENT || error == ENOTDIR ? WEIR__MISSING : WEIR__UNREADABLE;
    }
    char top[PATH_MAX];
    if (root != NULL) {
        if (realpath(root, top) == NULL) {
            return unreadable(why, "the folder for includes is not there");
        }
        const size_t length = strlen(top);
        if (strncmp(top, real, length) != 0 || (real[length] != '/' && length > 1)) {
            return unreadable(why, "it lies outside the folder for includes");
        }
    }
    return S_ISREG(about.st_mode)   ? WEIR__FOUND
           : S_ISDIR(about.st_mode) ? unreadable(why, "it is a folder")
                                    : unreadable(why, "it is not a regular file");
}

/* An open file to its end, but not more than the limit and one byte. */
static weir__found read_open(const weir__hocon *document, FILE *stream, weir__file *out,
                             weir__shown *why)
{
    struct stat about;
    const size_t limit = document->options.file_size_max;
    if (fstat(fileno(stream), &about) != 0 || S_ISDIR(about.st_mode)) {
        return unreadable(why, "it is a folder");
    }
    const bool known = about.st_size > 0 && (uint64_t)about.st_size <= limit;
    out->capacity = known ? (size_t)about.st_size + 1 : 4096;
    out->text = weir__allocate_raw(document->allocator, out->capacity);
    while (out->text != NULL) {
        out->size += fread(out->text + out->size, 1, out->capacity - out->size, stream);
        if (out->size < out->capacity || out->size > limit) {
            break;
        }
        char *more = weir__allocate_raw(document->allocator, out->capacity * 2);
        if (more != NULL) {
            memcpy(more, out->text, out->size);
        }
        weir__release(document->allocator, out->text, out->capacity);
        out->text = more;
        out->capacity *= 2;
    }
    if (out->text == NULL) {
        weir__problems_memory(document->problems);
        return unreadable(why, "no memory");
    }
    if (ferror(stream) != 0 || out->size > limit) {
        if (ferror(stream) == 0) {
            snprintf(why->text, sizeof(why->text), "it is larger than %zu bytes", limit);
        } else {
            (void)unreadable(why, "it cannot be read");
        }
        weir__file_release(document, out);
        return WEIR__UNREADABLE;
    }
    out->text[out->size] = '\0';
    return WEIR__FOUND;
}

void weir__file_release(const weir__hocon *document, weir__file *file)
{
    weir__release(document->allocator, file->text, file->capacity);
    *file = (weir__file){ 0 };
}

weir__found weir__file_read(const weir__hocon *document, const char *path, bool included,
                            weir__file *out, weir__shown *why)
{
    *out = (weir__file){ 0 };
    char real[PATH_MAX];
    if (included) {
        const weir__found found = look_at_include(document->options.include_root, path, real, why);
        if (found != WEIR__FOUND) {
            return found;
        }
        path = real;
    }
    FILE *stream = fopen(path, "rbe");
    if (stream == NULL) {
        const int error = errno;
        describe(why, error);
        return error == ENOENT || error == ENOTDIR ? WEIR__MISSING : WEIR__UNREADABLE;
    }
    const weir__found found = read_open(document, stream, out, why);
    fclose(stream);
    return found;
}

weir__syntax weir__file_syntax(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot == NULL || strchr(dot, '/') != NULL) {
        return WEIR__UNNAMED;
    }
    return strcmp(dot, ".conf") == 0         ? WEIR__HOCON
           : strcmp(dot, ".json") == 0       ? WEIR__JSON
           : strcmp(dot, ".properties") == 0 ? WEIR__PROPERTIES
                                             : WEIR__UNNAMED;
}

bool weir__file_into(weir__hocon *document, const weir__reader *from, const weir__file *file,
                     const char *path, weir__node *object)
{
    weir__reader reader = { .document = document, .start = file->text };
    reader.end = file->text + file->size;
    reader.source = weir__tree_source(document->tree, path);
    if (reader.source == NULL) {
        weir__document_lack(document, 0);
        return false;
    }
    const char *slash = strrchr(reader.source, '/');
    reader.folder_length = slash != NULL ? (size_t)(slash - reader.source) + 1 : 0;
    const weir__syntax syntax = weir__file_syntax(path);
    reader.json = syntax == WEIR__JSON;
    if (from != NULL) {
        reader.depth = from->depth;
        reader.lists = from->lists;
        reader.include_depth = from->include_depth + 1;
        reader.prefix = (uint32_t)document->path_count;
    }
    if (syntax == WEIR__PROPERTIES) {
        return weir__read_properties(&reader, object);
    }
    if (syntax != WEIR__JSON) {
        return weir__read_text_into(&reader, object);
    }
    /* Of its own first: a key may stand there once, whatever it is put over. */
    weir__cell *own = weir__document_cell(
        document, WEIR__OBJECT, (weir__origin){ .source = reader.source, .line = 1 }, sizeof(*own));
    return own != NULL && weir__read_text_into(&reader, &own->node) &&
           weir__merge_objects(document, object, &own->node);
}
