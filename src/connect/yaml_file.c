/*
 * connect/yaml_file.c - the bytes of a YAML file, if it is one and not too large.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerror_r that answers the text */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "connect/yaml.h"

enum { FIRST_SIZE = 64 * 1024 };

typedef struct contents {
    const weir_allocator *allocator;
    char *bytes;
    size_t size, capacity;
} contents;

/* False: no memory. */
static bool grow(contents *c, size_t most)
{
    const size_t twice = c->capacity == 0 ? FIRST_SIZE : c->capacity * 2;
    const size_t capacity = twice < most ? twice : most;
    char *bytes = weir__allocate_raw(c->allocator, capacity);
    if (bytes == NULL) {
        return false;
    }
    if (c->size > 0) {
        memcpy(bytes, c->bytes, c->size);
    }
    weir__release(c->allocator, c->bytes, c->capacity);
    c->bytes = bytes;
    c->capacity = capacity;
    return true;
}

static void cannot(weir__problems *problems, weir__origin origin, const char *why)
{
    weir__problems_add(problems, WEIR__ERROR, origin, NULL, "cannot read it: %s", why);
}

static void cannot_for(weir__problems *problems, weir__origin origin, int error)
{
    char text[128];
    cannot(problems, origin, strerror_r(error, text, sizeof(text)));
}

/* A pipe says at its end how long it was, so the size is not asked for before. */
static bool read_all(FILE *file, contents *c, size_t most, weir__origin origin,
                     weir__problems *problems)
{
    for (;;) {
        if (c->size == c->capacity && !grow(c, most + 1)) {
            weir__problems_memory(problems);
            return false;
        }
        errno = 0;
        const size_t got = fread(c->bytes + c->size, 1, c->capacity - c->size, file);
        c->size += got;
        if (ferror(file) != 0) {
            cannot_for(problems, origin, errno);
            return false;
        }
        if (c->size > most) {
            weir__problems_add(problems, WEIR__ERROR, origin, NULL,
                               "cannot read it: it is larger than %zu bytes", most);
            return false;
        }
        if (got == 0) {
            return true;
        }
    }
}

weir__tree *weir__yaml_read_file(const weir__yaml_options *options, const char *path,
                                 weir__problems *problems)
{
    const weir__origin origin = { .source = path };
    const weir_allocator *given = options != NULL ? options->allocator : NULL;
    contents c = { .allocator = given != NULL ? given : weir__allocator_default() };
    const size_t bound = options != NULL ? options->file_size_max : 0;
    if (!weir__yaml_built_in()) {
        return weir__yaml_read_text(options, path, "", 0, problems);
    }
    FILE *file = fopen(path, "rbe");
    struct stat status;
    if (file == NULL) {
        cannot_for(problems, origin, errno);
        return NULL;
    }
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        cannot(problems, origin, "it is a folder");
        fclose(file);
        return NULL;
    }
    weir__tree *tree = NULL;
    if (read_all(file, &c, bound != 0 ? bound : (size_t)16 << 20, origin, problems)) {
        tree = weir__yaml_read_text(options, path, c.bytes, c.size, problems);
    }
    weir__release(c.allocator, c.bytes, c.capacity);
    fclose(file);
    return tree;
}
