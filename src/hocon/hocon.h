/*
 * hocon/hocon.h - from layers of HOCON text to one resolved tree.
 *
 * Layers are merged in the order in which they are added, later ones over earlier ones; then
 * substitutions are resolved over the whole, so that a later layer feeds the substitutions of an
 * earlier one:
 *
 *     weir__hocon *document = weir__hocon_create(&options, &problems);
 *     weir__hocon_add_file(document, "reference.conf");
 *     weir__hocon_add_file(document, "application.conf");
 *     weir__tree *tree = weir__hocon_resolve(document);
 *     weir__hocon_destroy(document);
 *
 * All of the specification, with the choices that docs/hocon.md lists. Every add and the
 * resolving put what they find into `problems` and go on where they can: a NULL tree or `false`
 * means that errors stand there. Needs nothing but the C library; one thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOCON_HOCON_H
#define WEIR_HOCON_HOCON_H

#include "tree/problem.h"
#include "tree/tree.h"

/* Zeroed: the defaults. */
typedef struct weir__hocon_options {
    const weir_allocator *allocator; /* default the C library's */
    uint32_t depth_max;              /* of braces, brackets, paths; default 64 */
    uint32_t include_depth_max;      /* default 50 */
    size_t file_size_max;            /* default 16 MiB */
    size_t resolved_size_max;        /* bytes of the resolved tree; default 256 MiB */
    const char *include_root;        /* includes may not leave it (after symbolic links); default:
                                        they may go anywhere */
    bool ignore_environment;         /* ${HOME} is undefined, not looked up */
    /* The environment, name by name; default getenv. NULL: not set. */
    const char *(*environment)(void *context, const char *name);
    void *environment_context;
} weir__hocon_options;

typedef struct weir__hocon weir__hocon;

/* NULL: no memory. `problems` is the caller's and must outlive the document. */
weir__hocon *weir__hocon_create(const weir__hocon_options *options, weir__problems *problems);
void weir__hocon_destroy(weir__hocon *document); /* NULL is a no-op */

/* By its name: .conf, .json and .properties are read as what they are, anything else as HOCON. */
bool weir__hocon_add_file(weir__hocon *document, const char *path);
/* `name` stands in messages. Includes are relative to the working directory. */
bool weir__hocon_add_text(weir__hocon *document, const char *name, const char *text, size_t size);
/* A tree that somebody else read (YAML, the environment). It is copied. */
bool weir__hocon_add_tree(weir__hocon *document, const weir__tree *tree);
/* "weir.engine.batch-max=8", as behind -D: a path expression, and a HOCON value; what is no HOCON
 * value (a colon in a path name, say) is taken as a string. `source` stands in messages. */
bool weir__hocon_add_setting(weir__hocon *document, const char *source, const char *setting);

/* The resolved tree, which does not need the document any more; NULL: see the problems. May be
 * called once. A value that was substituted in several places is one and the same node in all of
 * them: who changes it changes all. */
weir__tree *weir__hocon_resolve(weir__hocon *document);

/* A path expression (`a."b.c".d`) from a tree's root. NULL with a message in `problems` if it is no
 * path; NULL without one if nothing lies there. */
weir__node *weir__hocon_find(const weir__tree *tree, const char *expression,
                             weir__problems *problems);

#endif /* WEIR_HOCON_HOCON_H */
