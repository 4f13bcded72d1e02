/*
 * hocon/where.c - for messages: which key something was written at, and what a substitution looked
 * like.
 *
 * Nothing keeps its path; who has an error to report goes and looks for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "hocon/read.h"
#include "hocon/resolve.h"

/* NOLINTBEGIN(misc-no-recursion): the document is as deep as the reader lets it be */

enum { NAMES_MAX = 256, LOOKS_MAX = 20 };

typedef struct search {
    weir__origin origin;
    weir__text names[NAMES_MAX];
    size_t count;
} search;

static bool is_at(const search *s, const weir__node *node)
{
    return node->origin.line == s->origin.line && node->origin.column == s->origin.column &&
           node->origin.source == s->origin.source;
}

static bool look(search *s, const weir__node *node);

static bool look_in_members(search *s, const weir__node *object)
{
    for (size_t i = 0; i < object->object.count; i++) {
        const weir__member *member = &object->object.members[i];
        if (s->count < NAMES_MAX && member->value != NULL) {
            s->names[s->count++] = member->key;
            if (look(s, member->value)) {
                return true;
            }
            s->count--;
        }
    }
    return false;
}

/* Recursion goes down the document, whose depth the reader bounds. */
static bool look(search *s, const weir__node *node)
{
    if (!weir__is_open(node)) {
        return false;
    }
    if (node->kind == WEIR__OBJECT) {
        return look_in_members(s, node);
    }
    if (is_at(s, node)) {
        return true;
    }
    bool found = false;
    if (node->kind == WEIR__LIST) {
        for (size_t i = 0; i < node->list.count && !found; i++) {
            found = look(s, node->list.items[i]);
        }
    } else if ((int)node->kind == WEIR__CONCATENATION) {
        const weir__concatenation *all = (const weir__concatenation *)node;
        for (size_t i = 0; i < all->count && !found; i++) {
            found = look(s, all->pieces[i].node);
        }
    } else if ((int)node->kind == WEIR__STACK) {
        const weir__stack *stack = (const weir__stack *)node;
        for (size_t i = 0; i < stack->count && !found; i++) {
            found = look(s, stack->layers[i]);
        }
    }
    return found;
}

void weir__where(const weir__hocon *document, weir__origin origin, char *path, size_t size)
{
    search s = { .origin = origin };
    /* A document with many errors is not gone through for each of them. */
    if (origin.source != NULL && document->problems->count < LOOKS_MAX &&
        look(&s, document->root) && weir__path_format(s.names, s.count, path, size) < size) {
        return;
    }
    path[0] = '\0';
}

weir__written weir__reference_text(const weir__reference *reference)
{
    weir__written w;
    const int start = snprintf(w.text, sizeof(w.text), "${%s", reference->optional ? "?" : "");
    const size_t size = sizeof(w.text) - (size_t)start;
    const size_t length =
        weir__path_format(reference->path + reference->prefix, reference->count - reference->prefix,
                          w.text + start, size);
    if (length + 4 > size) {
        snprintf(w.text + sizeof(w.text) - 5, 5, "...}");
    } else {
        snprintf(w.text + start + length, size - length, "%s}", reference->list ? "[]" : "");
    }
    return w;
}

/* NOLINTEND(misc-no-recursion) */
