/*
 * hocon/environment.c - what is not in the document may be in the environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hocon/resolve.h"
#include "hocon/text.h"

enum { NAME_SIZE = 512, LIST_MAX = 100000 };

static const char *ask(const weir__hocon *document, const char *name)
{
    if (document->options.environment != NULL) {
        return document->options.environment(document->options.environment_context, name);
    }
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): whoever changes the environment does it before */
    return getenv(name);
}

/* The names of the path with dots between them. */
static bool make_name(const weir__reference *reference, char name[NAME_SIZE])
{
    size_t used = 0;
    for (uint32_t i = reference->prefix; i < reference->count; i++) {
        const weir__text part = reference->path[i];
        if (used + part.length + 2 > NAME_SIZE - 16 ||
            memchr(part.bytes, '\0', part.length) != NULL ||
            memchr(part.bytes, '=', part.length) != NULL) {
            return false;
        }
        if (i > reference->prefix) {
            name[used++] = '.';
        }
        memcpy(name + used, part.bytes, part.length);
        used += part.length;
    }
    name[used] = '\0';
    return used > 0;
}

static weir__node *value_of(weir__resolver *r, const weir__reference *reference, const char *name)
{
    weir__hocon *document = r->document;
    const char *text = ask(document, name);
    bool ascii;
    if (text == NULL) {
        return &weir__undefined;
    }
    const size_t length = strlen(text);
    if (weir__text_check(text, length, &ascii) != NULL) {
        return weir__resolve_fail(r, reference->cell.node.origin,
                                  "the environment variable %s is not UTF-8", name);
    }
    const weir__origin origin = { .source = "environment" };
    weir__node *node = weir__node_string(document->tree, origin, text, length);
    if (node == NULL) {
        weir__document_lack(document, length);
        return &weir__failed;
    }
    return node;
}

/* NAME_0, NAME_1, ... up to the first that is not there. */
static weir__node *list_of(weir__resolver *r, const weir__reference *reference,
                           char name[NAME_SIZE])
{
    weir__hocon *document = r->document;
    const size_t length = strlen(name);
    weir__cell *list = weir__document_cell(
        document, WEIR__LIST, (weir__origin){ .source = "environment" }, sizeof(*list));
    for (int i = 0; list != NULL && i < LIST_MAX; i++) {
        snprintf(name + length, NAME_SIZE - length, "_%d", i);
        weir__node *item = value_of(r, reference, name);
        if (item == &weir__undefined) {
            break;
        }
        if (weir__is_answer(item)) {
            return item;
        }
        if (!weir__list_append(document->tree, &list->node, item)) {
            weir__document_lack(document, 0);
            return &weir__failed;
        }
    }
    if (list == NULL) {
        return &weir__failed;
    }
    return list->node.list.count > 0 ? &list->node : &weir__undefined;
}

weir__node *weir__from_environment(weir__resolver *r, const weir__reference *reference)
{
    char name[NAME_SIZE];
    if (r->document->options.ignore_environment || !make_name(reference, name)) {
        return &weir__undefined;
    }
    return reference->list ? list_of(r, reference, name) : value_of(r, reference, name);
}
