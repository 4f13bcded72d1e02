/*
 * settings/fill.h - fills a struct from an object of a tree, by rows; finds all that is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_FILL_H
#define WEIR_SETTINGS_FILL_H

#include "settings/path.h"
#include "tree/tree.h"
#include "weir/config.h"

typedef struct weir__filler {
    weir__tree *tree; /* lists, items and texts of fallbacks are put into its memory */
    weir__problems *problems;
    const weir_option_table *const *tables; /* where to look for what was meant; ends with NULL */
} weir__filler;

/* `node` NULL or null: nothing is there, the fallbacks count. False: no memory; what is wrong with
 * the values is in the problems. `out` is zeroed by the caller. */
bool weir__fill(weir__filler *filler, const weir_option *rows, size_t count, weir__node *node,
                weir__path *path, void *out);

/* Only the member of one row, in an object where others' keys may stand, too. */
bool weir__fill_row(weir__filler *filler, const weir_option *row, weir__node *object,
                    weir__path *path, void *out);

/* Row i of an array whose rows may be of another size than ours: a version ago, or ahead. */
weir_option weir__row(const weir_option *rows, size_t i);

/* The fallback of a row as a node, NULL: it has none, or no memory (then *memory is false). */
weir__node *weir__fallback(weir__tree *tree, const weir_option *row, bool *memory);

/* "5s", "1500us", "never"; "256MiB", "1000B": as they are written in a file. */
void weir__duration_text(weir_ns duration, char *out, size_t size);
void weir__bytes_text(uint64_t bytes, char *out, size_t size);

/* What was probably meant by a key of the object at `path` that none of `rows` knows: writes the
 * whole path. False: nothing is near. */
bool weir__nearest_key(const weir__filler *filler, const weir_option *rows, size_t count,
                       const weir__path *path, const char *key, weir__path *out);

#endif /* WEIR_SETTINGS_FILL_H */
