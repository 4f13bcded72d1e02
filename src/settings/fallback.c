/*
 * settings/fallback.c - the fallback of a row as a node: a text, or a list such as [["a"], [b, c]].
 *
 * Fallbacks are constants of a program: this reads what rows are written with, not HOCON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "settings/fill.h"

enum { DEPTH_MAX = 4 };

static const weir__origin built_in = { .source = "built-in" };

static const char *skip(const char *at)
{
    return at + strspn(at, " ,");
}

/* A word or a quoted text. NULL: no memory. */
static weir__node *read_text(weir__tree *tree, const char **at)
{
    const bool quoted = **at == '"';
    const char *begin = *at + (quoted ? 1 : 0);
    const size_t length = strcspn(begin, quoted ? "\"" : ",] ");
    *at = begin + length + (quoted && begin[length] == '"' ? 1 : 0);
    return weir__node_string(tree, built_in, begin, length);
}

/* Lists within lists: a stack of them in place of recursion. NULL: no memory. */
static weir__node *read_list(weir__tree *tree, const char *at)
{
    weir__node *stack[DEPTH_MAX];
    size_t depth = 0;
    for (at = skip(at); *at != '\0'; at = skip(at)) {
        if (*at == '[' && depth < DEPTH_MAX) {
            weir__node *list = weir__node_list(tree, built_in);
            if (list == NULL || (depth > 0 && !weir__list_append(tree, stack[depth - 1], list))) {
                return NULL;
            }
            stack[depth++] = list;
            at++;
        } else if (*at == ']') {
            if (--depth == 0) {
                return stack[0];
            }
            at++;
        } else {
            weir__node *text = read_text(tree, &at);
            if (text == NULL || !weir__list_append(tree, stack[depth - 1], text)) {
                return NULL;
            }
        }
    }
    return stack[0]; /* not closed: what was read so far */
}

weir__node *weir__fallback(weir__tree *tree, const weir_option *row, bool *memory)
{
    *memory = true;
    if (row->fallback == NULL) {
        return NULL;
    }
    weir__node *node = row->fallback[0] == '[' ? read_list(tree, row->fallback)
                                               : weir__node_string(tree, built_in, row->fallback,
                                                                   strlen(row->fallback));
    *memory = node != NULL;
    return node;
}
