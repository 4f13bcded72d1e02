/*
 * hocon/document.h - what stands between text and tree: a tree whose values may still be open.
 *
 * The document is built from the nodes of the tree that it will become. What needs no resolving is
 * a plain node from the start; a substitution, a concatenation that holds one, and a key whose
 * value depends on what lay there before are nodes of further kinds. Every list and object is a
 * cell, which knows whether something below it is open.
 *
 *   reference      ${path}
 *   concatenation  two or more pieces side by side, at least one of them a reference
 *   stack          the values that a key got one after another, the last one on top, as long as
 *                  nobody can know what they make together
 *   closure        a value to be resolved as the look-back saw the document (resolve.h)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOCON_DOCUMENT_H
#define WEIR_HOCON_DOCUMENT_H

#include "hocon/hocon.h"

enum {
    WEIR__REFERENCE = WEIR__OBJECT + 1,
    WEIR__CONCATENATION,
    WEIR__STACK,
    WEIR__CLOSURE,
};

/* Lists, objects, and all that is open. */
typedef struct weir__cell {
    weir__node node;
    bool open;           /* holds something to resolve */
    bool cut;            /* an object that hides what lies below it */
    bool kept;           /* all of its open parts are closures */
    bool busy;           /* its parts are being settled */
    uint8_t height;      /* of the settled value, 0 while unknown */
    uint32_t generation; /* of the resolving that `memo` belongs to */
    weir__node *memo;    /* what it became */
    size_t size;         /* of the settled value as a tree, 0 while unknown */
} weir__cell;

typedef struct weir__reference {
    weir__cell cell;
    const weir__text *path;
    uint32_t count;
    uint32_t prefix; /* how many of the first names are those of the including files */
    bool optional;
    bool list;                    /* ${NAME[]}: NAME_0, NAME_1, ... of the environment */
    bool self;                    /* its path is that of the key it was written at */
    struct weir__visit *visit;    /* the resolvings of it that are under way */
    struct weir__reference *from; /* that leads to it, while a chain of them is followed */
} weir__reference;

typedef struct weir__piece {
    weir__node *node;
    bool blank; /* white space outside quotes */
} weir__piece;

typedef struct weir__concatenation {
    weir__cell cell;
    weir__piece *pieces;
    size_t count;
    bool self;   /* one of the pieces is a reference to its own key */
    bool append; /* from +=: that reference, and a list */
} weir__concatenation;

typedef struct weir__stack {
    weir__cell cell;
    weir__node **layers; /* the first is the lowest */
    size_t count, capacity;
    /* NULL: the document wrote it. Else the object that was merged while resolving and holds it. */
    const weir__node *owner;
    /* While it is resolved: what the lowest n layers make, what layer n is, and the context in
     * which it looks at what is below it. */
    weir__node **below;
    weir__node **heads;
    const struct weir__context **contexts;
} weir__stack;

typedef struct weir__closure {
    weir__cell cell;
    weir__node *inner;
    const struct weir__context *context;
} weir__closure;

struct weir__hocon {
    const weir_allocator *allocator;
    weir__hocon_options options;
    weir__problems *problems;
    weir__tree *tree;
    weir__node *root;
    uint32_t generation;
    uint32_t includes; /* files included so far */
    size_t text_total; /* bytes of them */
    size_t layers;     /* added so far */
    const char *below; /* the reference.conf that lies lowest and is not tested yet */
    char *scratch;     /* for texts that are put together */
    size_t scratch_capacity;
    weir__piece *pieces; /* of the concatenations that are being read */
    size_t piece_count, piece_capacity;
    weir__text *path; /* of the key that is being read, from the root */
    size_t path_count, path_capacity;
    bool spent; /* no memory, or a limit was met: nothing more to try */
};

static inline weir__cell *weir__cell_of(weir__node *node)
{
    return (weir__cell *)node;
}

/* Lists, objects and open things are cells, scalars are not. */
static inline bool weir__is_cell(const weir__node *node)
{
    return (int)node->kind >= WEIR__LIST;
}

static inline bool weir__is_open(const weir__node *node)
{
    return weir__is_cell(node) && ((const weir__cell *)node)->open;
}

/* Neither a scalar nor a list nor an object before it is resolved. */
static inline bool weir__is_thunk(const weir__node *node)
{
    return (int)node->kind > WEIR__OBJECT;
}

/* Memory of the tree, zeroed. NULL: none, which stands in the problems; the document is spent. */
void *weir__document_memory(weir__hocon *document, size_t size);
/* Says so, when a function of the tree could not get `size` or what it wanted. */
void weir__document_lack(weir__hocon *document, size_t size);
weir__cell *weir__document_cell(weir__hocon *document, int kind, weir__origin origin, size_t size);
/* Grows an array of the document (not of the tree) to hold one more. */
bool weir__document_grow(weir__hocon *document, void **array, size_t count, size_t *capacity,
                         size_t item);
/* Room in `scratch`. */
bool weir__document_scratch(weir__hocon *document, size_t size);

/* --- merge.c ---------------------------------------------------------------------------------- */

weir__stack *weir__stack_create(weir__hocon *document, weir__origin origin, weir__node *lower,
                                weir__node *upper);
bool weir__stack_add(weir__hocon *document, weir__stack *stack, weir__node *value);
/* Puts `value` over what is in a key's place. Both belong to the document. */
bool weir__merge_push(weir__hocon *document, weir__node **slot, weir__node *value);
/* Puts `value` at a path below an object. */
bool weir__merge_at(weir__hocon *document, weir__node *object, const weir__text *path, size_t count,
                    weir__node *value);
/* Puts the members of `upper` over those of `lower`. */
bool weir__merge_objects(weir__hocon *document, weir__node *lower, weir__node *upper);
/* A copy of somebody else's nodes. */
weir__node *weir__merge_copy(weir__hocon *document, const weir__node *node, uint32_t depth);

/* --- resolve.c -------------------------------------------------------------------------------- */

/* The settled root, or NULL: see the problems. */
weir__node *weir__resolve_root(weir__hocon *document);

#endif /* WEIR_HOCON_DOCUMENT_H */
