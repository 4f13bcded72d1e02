/*
 * tree/tree.h - a configuration as a tree of values, each of which knows where it was written.
 *
 * Readers (HOCON, YAML) build one; the settings, the getters and the writers read it. A tree owns
 * all memory of its nodes: they die together. Building may fail for want of memory; then a function
 * answers NULL or false, and the tree stays whole. Not thread-safe while it is built; what nobody
 * changes any more may be read by any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TREE_TREE_H
#define WEIR_TREE_TREE_H

#include "tree/problem.h"

typedef enum weir__kind {
    WEIR__NULL,
    WEIR__BOOLEAN,
    WEIR__NUMBER, /* as it was written: 1.50 stays 1.50 */
    WEIR__STRING,
    WEIR__LIST,
    WEIR__OBJECT,
} weir__kind;

typedef struct weir__node weir__node;

typedef struct weir__text {
    const char *bytes; /* UTF-8, may contain zero bytes; a zero byte follows */
    size_t length;
} weir__text;

typedef struct weir__member {
    weir__text key;
    weir__node *value;
} weir__member;

struct weir__node {
    weir__kind kind;
    bool truth; /* boolean */
    weir__origin origin;
    union {
        weir__text text; /* boolean and number as written, string */
        struct {
            weir__node **items;
            size_t count, capacity;
        } list;
        struct {
            weir__member *members; /* in the order of their first appearance */
            size_t count, capacity;
            uint32_t *index; /* NULL while there are few; else a hash table of position + 1 */
            size_t index_size;
        } object;
    };
};

typedef struct weir__tree {
    const weir_allocator *allocator;
    struct weir__chunk *chunks;
    size_t used, limit; /* bytes got, and the bound on them (0: none) */
    weir__node *root;   /* NULL until the builder sets it */
    uint64_t salt;      /* of the hash: keys of a hostile file do not collide by design */
} weir__tree;

/* NULL: no memory. `limit` bounds the bytes of all nodes and texts; 0: no bound. */
weir__tree *weir__tree_create(const weir_allocator *allocator, size_t limit);
void weir__tree_destroy(weir__tree *tree); /* NULL is a no-op */

/* Memory that lives as long as the tree, zeroed; NULL: none, or beyond the limit. */
void *weir__tree_memory(weir__tree *tree, size_t size);
bool weir__tree_text(weir__tree *tree, const char *bytes, size_t length, weir__text *out);
/* For origins: one copy of a source's name. NULL: no memory. */
const char *weir__tree_source(weir__tree *tree, const char *name);

/* New nodes; NULL: no memory. The origin's source must live as long as the tree. */
weir__node *weir__node_null(weir__tree *tree, weir__origin origin);
weir__node *weir__node_boolean(weir__tree *tree, weir__origin origin, bool truth);
weir__node *weir__node_number(weir__tree *tree, weir__origin origin, const char *bytes,
                              size_t length);
weir__node *weir__node_string(weir__tree *tree, weir__origin origin, const char *bytes,
                              size_t length);
weir__node *weir__node_list(weir__tree *tree, weir__origin origin);
weir__node *weir__node_object(weir__tree *tree, weir__origin origin);

bool weir__list_append(weir__tree *tree, weir__node *list, weir__node *item);
/* A key that is there already keeps its place and gets the new value. The key is copied. */
bool weir__object_set(weir__tree *tree, weir__node *object, const char *key, size_t length,
                      weir__node *value);
/* The place of a key's value, added with NULL in it if it is not there. NULL: no memory. Good until
 * the next key is added. */
weir__node **weir__object_slot(weir__tree *tree, weir__node *object, const char *key,
                               size_t length);
/* NULL: no such key, or not an object. */
weir__node *weir__object_get(const weir__tree *tree, const weir__node *object, const char *key,
                             size_t length);
/* Along plain names with dots between them, as in "weir.engine.backoff" (no quotes): NULL if one is
 * missing or lies below something that is no object. */
weir__node *weir__tree_at(const weir__tree *tree, const weir__node *from, const char *names);

const char *weir__kind_name(weir__kind kind); /* "an object", "a list", "a string", ... */

#endif /* WEIR_TREE_TREE_H */
