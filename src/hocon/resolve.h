/*
 * hocon/resolve.h - how an open value becomes what it stands for.
 *
 * The head of a value is what it is on the outside: a scalar, a list or an object whose parts may
 * still be open. A substitution asks for heads along its path only, so that ${bar.foo} does not
 * need the rest of bar, and is resolved once, whoever asks. Settling goes through the parts, from
 * the root down, when all heads can be had.
 *
 * Looking back: while layer n of a stack is resolved, whoever comes to that stack again sees the
 * layers below n only. A context is the list of such limits; it is part of the question, and what
 * a layer brings, or was found through a limit, keeps its context (a closure) for the parts that
 * are still open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOCON_RESOLVE_H
#define WEIR_HOCON_RESOLVE_H

#include "hocon/document.h"

/* Equal contexts are one and the same. */
typedef struct weir__context {
    const struct weir__context *outer;
    const weir__stack *stack;
    size_t limit;                     /* how many of its layers can be seen */
    const struct weir__context *next; /* of the same stack and limit */
} weir__context;

/* A reference that is being resolved. */
typedef struct weir__visit {
    const weir__reference *reference;
    const weir__context *context;
    struct weir__visit *earlier; /* of the same reference */
    struct weir__visit *outer;   /* that led here */
} weir__visit;

typedef struct weir__resolver {
    weir__hocon *document;
    weir__visit *visit;
    const weir__reference *cycle; /* where the last one closed */
    uint64_t work;
    uint32_t nesting; /* of heads */
    uint32_t depth;   /* of what is being settled */
    uint32_t cycles;  /* that were met */
    bool touched;     /* a limit was met */
} weir__resolver;

/* Answers that are no value: nothing is there; the question leads back to itself; an error that was
 * reported. */
extern weir__node weir__undefined, weir__cycling, weir__failed;

static inline bool weir__is_answer(const weir__node *node)
{
    return node == &weir__undefined || node == &weir__cycling || node == &weir__failed;
}

weir__node *weir__head(weir__resolver *r, weir__node *node, const weir__context *context);
/* Resolves what a reference leads to by way of many others, from the far end. */
void weir__follow(weir__resolver *r, weir__reference *reference);
/* What was remembered in this resolving, or NULL. */
weir__node *weir__remembered(const weir__resolver *r, const weir__cell *cell);
weir__node *weir__remember(const weir__resolver *r, weir__cell *cell, weir__node *value);
/* Adds to the work done; false: it is too much, which was reported. */
bool weir__work(weir__resolver *r, size_t amount, weir__origin origin);
/* An error at `origin`. */
__attribute__((format(printf, 3, 4))) weir__node *
weir__resolve_fail(weir__resolver *r, weir__origin origin, const char *format, ...);

/* --- where.c ---------------------------------------------------------------------------------- */

typedef struct weir__written {
    char text[160];
} weir__written;

/* A substitution as it was written, without the path of the including files. */
weir__written weir__reference_text(const weir__reference *reference);
/* The path of the key that a part of the document was written at; "" if it is not found. */
void weir__where(const weir__hocon *document, weir__origin origin, char *path, size_t size);

/* --- join.c ----------------------------------------------------------------------------------- */

/* `layer`: of a stack; then all that it brings keeps the context. */
weir__node *weir__head_concatenation(weir__resolver *r, weir__concatenation *all,
                                     const weir__context *context, bool layer);
/* Puts the members of an object over those of one that was made while resolving. */
bool weir__overlay(weir__resolver *r, weir__node *lower, weir__node *upper);
/* A list or an object whose open parts are to be resolved in a context. */
weir__node *weir__keep_context(weir__resolver *r, weir__node *node, const weir__context *context);
/* The object itself, or a copy that hides what it will be put over. */
weir__node *weir__cut(weir__resolver *r, weir__node *object);

/* --- settle.c --------------------------------------------------------------------------------- */

weir__node *weir__settle(weir__resolver *r, weir__node *node);

/* --- environment.c ---------------------------------------------------------------------------- */

weir__node *weir__from_environment(weir__resolver *r, const weir__reference *reference);

#endif /* WEIR_HOCON_RESOLVE_H */
