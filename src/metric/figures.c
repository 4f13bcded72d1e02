/*
 * metric/figures.c - what figures are kept in: lists that grow, and texts in chunks that stay where
 * they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metric/figures.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/utf8.h"

#define LIST_FIRST 16u
#define CHUNK_SIZE ((size_t)32 << 10)

typedef struct weir__chunk {
    struct weir__chunk *next;
    size_t size, used; /* size: all of it */
    char bytes[];
} weir__chunk;

void *weir__list_add(weir__figures *f, weir__list *list, size_t size)
{
    WEIR_ASSERT(list->size == 0 || list->size == size);
    if (list->count == list->room) {
        const uint32_t room = list->room > 0 ? 2 * list->room : LIST_FIRST;
        void *items = weir__allocate(f->allocator, room * size);
        if (items == NULL) {
            f->failed = true;
            return NULL;
        }
        if (list->count > 0) {
            memcpy(items, list->items, list->count * size);
        }
        weir__release(f->allocator, list->items, list->room * size);
        list->items = items;
        list->room = room;
        list->size = (uint32_t)size;
    }
    return (char *)list->items + list->count++ * size;
}

void weir__list_close(const weir__figures *f, weir__list *list)
{
    weir__release(f->allocator, list->items, (size_t)list->room * list->size);
    *list = (weir__list){ .items = NULL };
}

/* NULL: no memory. */
static char *get_bytes(weir__figures *f, size_t length)
{
    weir__chunk *chunk = f->chunks;
    if (chunk == NULL || chunk->size - sizeof(*chunk) - chunk->used < length) {
        const size_t size = sizeof(*chunk) + (length > CHUNK_SIZE ? length : CHUNK_SIZE);
        chunk = weir__allocate_raw(f->allocator, size);
        if (chunk == NULL) {
            f->failed = true;
            return NULL;
        }
        *chunk = (weir__chunk){ .next = f->chunks, .size = size };
        f->chunks = chunk;
    }
    char *bytes = chunk->bytes + chunk->used;
    chunk->used += length;
    return bytes;
}

/* Returns where it ended. */
static char *put_bytes(char *out, const void *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

const char *weir__figures_join(weir__figures *f, const char *first, const char *second)
{
    char *bytes = get_bytes(f, strlen(first) + strlen(second) + 1);
    if (bytes == NULL) {
        return "";
    }
    char *end = put_bytes(bytes, first, strlen(first));
    (void)put_bytes(end, second, strlen(second) + 1);
    return bytes;
}

const char *weir__figures_text(weir__figures *f, const char *text)
{
    return text != NULL && text[0] != '\0' ? weir__figures_join(f, text, "") : "";
}

/* At most three bytes for one: what is not UTF-8 becomes U+FFFD. Returns where it ended. */
static char *put_escaped(char *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t left = strlen(text);
    while (left > 0) {
        const size_t length = weir__utf8_check(s, left);
        if (length == 0) {
            out = put_bytes(out, "\xef\xbf\xbd", 3);
        } else if (s[0] == '"' || s[0] == '\\' || s[0] == '\n') {
            *out++ = '\\';
            *out++ = s[0] == '\n' ? 'n' : (char)s[0];
        } else {
            out = put_bytes(out, s, length);
        }
        s += length > 0 ? length : 1;
        left -= length > 0 ? length : 1;
    }
    return out;
}

static char *put_label(char *out, const char *key, const char *value)
{
    out = put_bytes(out, key, strlen(key));
    out = put_escaped(put_bytes(out, "=\"", 2), value);
    *out++ = '"';
    return out;
}

const char *weir__figures_labels(weir__figures *f, const char *key, const char *value,
                                 const char *key2, const char *value2)
{
    size_t most = strlen(key) + 3 * strlen(value) + 4;
    most += key2 != NULL ? strlen(key2) + 3 * strlen(value2) + 4 : 0;
    char *bytes = get_bytes(f, most);
    if (bytes == NULL) {
        return "";
    }
    char *end = put_label(bytes, key, value);
    if (key2 != NULL) {
        *end++ = ',';
        end = put_label(end, key2, value2);
    }
    *end++ = '\0';
    f->chunks->used -= most - (size_t)(end - bytes); /* what it did not need */
    return bytes;
}

void weir__figures_close(weir__figures *f)
{
    for (uint32_t i = 0; i < WEIR__GROUPS; i++) {
        weir__list_close(f, &f->groups[i]);
    }
    weir__list_close(f, &f->edges);
    weir__list_close(f, &f->letters);
    weir__list_close(f, &f->errors);
    weir__list_close(f, &f->own);
    weir__list_close(f, &f->reasons);
    while (f->chunks != NULL) {
        weir__chunk *next = f->chunks->next;
        weir__release(f->allocator, f->chunks, f->chunks->size);
        f->chunks = next;
    }
}
