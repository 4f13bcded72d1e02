/*
 * base/namemap.h - names to numbers: a small hash table with text keys. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_NAMEMAP_H
#define WEIR_BASE_NAMEMAP_H

#include "weir/base.h"

typedef struct weir__namemap_entry {
    const char *name; /* NULL: free; the owner of the text outlives the entry */
    uint64_t value;
} weir__namemap_entry;

typedef struct weir__namemap {
    const weir_allocator *allocator;
    weir__namemap_entry *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} weir__namemap;

void weir__namemap_close(weir__namemap *map);

/* 0: no such name. Values are never 0. */
uint64_t weir__namemap_find(const weir__namemap *map, const char *name);

/* Makes sure that the next `extra` puts cannot fail. False: no memory. */
bool weir__namemap_prepare(weir__namemap *map, size_t extra);
/* The name must be absent, and room prepared. Keeps the pointer. */
void weir__namemap_put(weir__namemap *map, const char *name, uint64_t value);
void weir__namemap_remove(weir__namemap *map, const char *name);

#endif /* WEIR_BASE_NAMEMAP_H */
