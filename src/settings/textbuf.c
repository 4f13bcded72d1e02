/*
 * settings/textbuf.c - see textbuf.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settings/textbuf.h"

#include <string.h>

#include "base/memory.h"

bool weir__textbuf_append(void *textbuf, const char *bytes, size_t length)
{
    weir__textbuf *t = textbuf;
    if (t->length + length + 1 > t->size) {
        const size_t size = (t->length + length + 1) * 2;
        char *grown = weir__allocate_raw(t->allocator, size);
        if (grown == NULL) {
            return false;
        }
        if (t->length > 0) {
            memcpy(grown, t->bytes, t->length);
        }
        weir__release(t->allocator, t->bytes, t->size);
        t->bytes = grown;
        t->size = size;
    }
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
    t->bytes[t->length] = '\0';
    return true;
}

void weir__textbuf_close(weir__textbuf *textbuf)
{
    weir__release(textbuf->allocator, textbuf->bytes, textbuf->size);
    textbuf->bytes = NULL;
    textbuf->length = textbuf->size = 0;
}
