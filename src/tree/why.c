/*
 * tree/why.c - quotes a value, however long and hostile it is, and says what is wrong with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tree/why.h"

#include <stdio.h>
#include <string.h>

enum { QUOTED_MAX = 40 }; /* bytes of a value: a message shows enough to find it */

typedef struct quoted {
    char text[QUOTED_MAX + 8];
} quoted;

bool weir__node_is_scalar(const weir__node *node)
{
    return node->kind == WEIR__BOOLEAN || node->kind == WEIR__NUMBER || node->kind == WEIR__STRING;
}

/* Where to cut so that no character is split. */
static size_t cut(weir__text text)
{
    if (text.length <= QUOTED_MAX) {
        return text.length;
    }
    size_t length = QUOTED_MAX;
    while (length > QUOTED_MAX - 4 && ((unsigned char)text.bytes[length] & 0xc0) == 0x80) {
        length--;
    }
    return length;
}

/* 'a string', 42, "an object"; a zero byte would end the message, and is shown as a blank. */
static quoted quote(const weir__node *node)
{
    quoted q;
    if (!weir__node_is_scalar(node)) {
        snprintf(q.text, sizeof(q.text), "%s", weir__kind_name(node->kind));
        return q;
    }
    const char *mark = node->kind == WEIR__STRING ? "'" : "";
    const size_t length = cut(node->text);
    char copy[QUOTED_MAX + 1];
    for (size_t i = 0; i < length; i++) {
        copy[i] = node->text.bytes[i] != '\0' ? node->text.bytes[i] : ' ';
    }
    copy[length] = '\0';
    snprintf(q.text, sizeof(q.text), "%s%s%s%s", mark, copy,
             length < node->text.length ? "..." : "", mark);
    return q;
}

bool weir__why_not(weir__why *why, const weir__node *node, const char *wanted, const char *right)
{
    if (why != NULL) {
        snprintf(why->text, sizeof(why->text), "%s is no %s: %s", quote(node).text, wanted, right);
    }
    return false;
}

bool weir__why_beyond(weir__why *why, const weir__node *node, const char *bound)
{
    if (why != NULL) {
        snprintf(why->text, sizeof(why->text), "%s is beyond %s", quote(node).text, bound);
    }
    return false;
}

bool weir__why_memory(weir__why *why)
{
    if (why != NULL) {
        snprintf(why->text, sizeof(why->text), "no memory to read it");
    }
    return false;
}
