/*
 * tree/why.h - the sentences of the getters: what a value is, and what would be right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TREE_WHY_H
#define WEIR_TREE_WHY_H

#include "tree/read.h"

/* A boolean, a number or a string: what has a text. */
bool weir__node_is_scalar(const weir__node *node);

/* All of them answer false. */
/* "'maybe' is no boolean: it is true, yes, ..." */
bool weir__why_not(weir__why *why, const weir__node *node, const char *wanted, const char *right);
/* "3000000000 is beyond 32 bits, ..." */
bool weir__why_beyond(weir__why *why, const weir__node *node, const char *bound);
bool weir__why_memory(weir__why *why);

#endif /* WEIR_TREE_WHY_H */
