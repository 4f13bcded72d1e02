/*
 * tree/read.h - a value as what a program wants: numbers, durations, sizes, lists.
 *
 * The rules are those of HOCON: a number may be written as a string and the other way round, "yes"
 * and "on" are true, a duration without a unit is in milliseconds, 10k is 10,240 bytes and 10kB
 * 10,000, an object with numeric keys is a list if a list is wanted. A wrong value is explained:
 * weir__read_* fill `why` with what it is and what would be right, and answer false.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TREE_READ_H
#define WEIR_TREE_READ_H

#include "tree/tree.h"

typedef struct weir__why {
    char text[200]; /* "'10 parsecs' is no duration: units are ns, us, ms, s, m, h, d" */
} weir__why;

bool weir__read_boolean(const weir__node *node, bool *out, weir__why *why);
bool weir__read_long(const weir__node *node, int64_t *out, weir__why *why);
/* As the reference does: a fraction is cut off, 32 bits are the bound. */
bool weir__read_int(const weir__node *node, int32_t *out, weir__why *why);
bool weir__read_double(const weir__node *node, double *out, weir__why *why);
/* Scalars as they were written; not null, not a list or an object. */
bool weir__read_text(const weir__node *node, weir__text *out, weir__why *why);
bool weir__read_nanoseconds(const weir__node *node, int64_t *out, weir__why *why);
/* A duration whose bare numbers count in another unit (nanoseconds each). */
bool weir__read_duration(const weir__node *node, int64_t unit, int64_t *out, weir__why *why);
bool weir__read_bytes(const weir__node *node, uint64_t *out, weir__why *why);
/* A list, or an object with numeric keys: its items in `out` (memory of the tree). */
bool weir__read_list(weir__tree *tree, const weir__node *node, weir__node ***out, size_t *count,
                     weir__why *why);

#endif /* WEIR_TREE_READ_H */
