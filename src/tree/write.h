/*
 * tree/write.h - a tree as JSON, and a single value as HOCON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TREE_WRITE_H
#define WEIR_TREE_WRITE_H

#include "tree/tree.h"

/* Called with pieces of text, in order; false ends the writing. */
typedef bool (*weir__sink)(void *context, const char *bytes, size_t length);

/* Keys sorted by their bytes, two spaces a level, a newline at the end. False: the sink refused,
 * or no memory for sorting. */
bool weir__write_json(const weir__tree *tree, const weir__node *node, weir__sink sink,
                      void *context);
/* The same on one line, without the newline: [1, {"a": true}]. */
bool weir__write_json_line(const weir__tree *tree, const weir__node *node, weir__sink sink,
                           void *context);
/* One value on one line, as HOCON reads it back: for messages and generated files. */
bool weir__write_hocon(const weir__tree *tree, const weir__node *node, weir__sink sink,
                       void *context);

#endif /* WEIR_TREE_WRITE_H */
