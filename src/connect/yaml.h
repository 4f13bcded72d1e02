/*
 * connect/yaml.h - YAML into the same tree that HOCON becomes.
 *
 * YAML 1.2 with its core schema: `yes` is a string (which the getters read as true), 0x10 is 16.
 * Anchors, aliases and merge keys (<<) are expanded, within a bound. What a configuration has no
 * use for is refused, with its place: keys that are no texts or are there twice, several documents
 * in one file, a root that is no mapping. A file without any content is an empty object.
 *
 * A tag of one's own becomes something that can be read: `!!com.example.BusySpin {}`, or without a
 * value, is the string "BusySpin", the last part of its name; with keys of its own it stays an
 * object, which has that name under the key "!". The tag of another value is dropped with a note.
 *
 * The parser is libfyaml's, which ends at the first error of syntax; what is wrong otherwise is
 * told all at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_YAML_H
#define WEIR_CONNECT_YAML_H

#include "tree/tree.h"

/* Zeroed: the defaults. */
typedef struct weir__yaml_options {
    const weir_allocator *allocator; /* of the tree; libfyaml has the C library's */
    uint32_t depth_max;              /* default 64 */
    size_t file_size_max;            /* default 16 MiB */
    size_t alias_size_max;           /* bytes of what aliases stand for; default 64 MiB */
} weir__yaml_options;

/* Whether this command was built with libfyaml; if not, reading is an error that says so. */
bool weir__yaml_built_in(void);

/* Resolved, with a root. NULL: see the problems. `options` may be NULL. */
weir__tree *weir__yaml_read_file(const weir__yaml_options *options, const char *path,
                                 weir__problems *problems);
/* `name` stands in messages. */
weir__tree *weir__yaml_read_text(const weir__yaml_options *options, const char *name,
                                 const char *text, size_t size, weir__problems *problems);

#endif /* WEIR_CONNECT_YAML_H */
