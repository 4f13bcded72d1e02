/*
 * tree/tree_support.h - nodes from a word, for the tests of the room tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_TREE_SUPPORT_H
#define WEIR_TEST_TREE_SUPPORT_H

#include "inner_support.h"

#include "tree/read.h"
#include "tree/tree.h"
#include "tree/write.h"

static const weir__origin nowhere;

/* A tree that the test's fixture makes and ends. */
static inline weir__tree *new_tree(void)
{
    weir__tree *tree = weir__tree_create(NULL, 0);
    assert_non_null(tree);
    return tree;
}

static inline weir__node *string_of(weir__tree *tree, const char *text)
{
    weir__node *node = weir__node_string(tree, nowhere, text, strlen(text));
    assert_non_null(node);
    return node;
}

static inline weir__node *number_of(weir__tree *tree, const char *text)
{
    weir__node *node = weir__node_number(tree, nowhere, text, strlen(text));
    assert_non_null(node);
    return node;
}

static inline void set(weir__tree *tree, weir__node *object, const char *key, weir__node *value)
{
    assert_true(weir__object_set(tree, object, key, strlen(key), value));
}

/* What a writer wrote, as far as there is room. */
typedef struct written {
    size_t length;
    size_t refuse_from; /* bytes; 0: never */
    char text[8192];
} written;

static inline bool write_down(void *context, const char *bytes, size_t length)
{
    written *w = context;
    if (w->refuse_from != 0 && w->length + length >= w->refuse_from) {
        return false;
    }
    for (size_t i = 0; i < length && w->length + i < sizeof(w->text) - 1; i++) {
        w->text[w->length + i] = bytes[i];
    }
    w->length += length;
    w->text[w->length < sizeof(w->text) ? w->length : sizeof(w->text) - 1] = '\0';
    return true;
}

#endif /* WEIR_TEST_TREE_SUPPORT_H */
