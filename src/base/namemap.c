/*
 * base/namemap.c - open addressing with linear probing, at most three quarters full; a removal
 * closes its gap by moving back what probed past it, so there are no tombstones to clean up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/namemap.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define CAPACITY_FIRST 16

/* FNV-1a: names are short and come from the program, not from its enemies. */
static uint64_t hash(const char *name)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        h = (h ^ *c) * UINT64_C(1099511628211);
    }
    return h ^ (h >> 32);
}

/* The place of `name`, or the free place where it would go. Ends: the table is never full. */
static size_t place_of(const weir__namemap *map, const char *name)
{
    const size_t mask = map->capacity - 1;
    size_t i = (size_t)hash(name) & mask;
    while (map->entries[i].name != NULL && strcmp(map->entries[i].name, name) != 0) {
        i = (i + 1) & mask;
    }
    return i;
}

void weir__namemap_close(weir__namemap *map)
{
    weir__release(map->allocator, map->entries, map->capacity * sizeof(*map->entries));
    map->entries = NULL;
    map->capacity = 0;
    map->count = 0;
}

uint64_t weir__namemap_find(const weir__namemap *map, const char *name)
{
    if (map->capacity == 0 || name == NULL) {
        return 0;
    }
    const weir__namemap_entry *entry = &map->entries[place_of(map, name)];
    return entry->name != NULL ? entry->value : 0;
}

bool weir__namemap_prepare(weir__namemap *map, size_t extra)
{
    size_t capacity = map->capacity != 0 ? map->capacity : CAPACITY_FIRST;
    while ((map->count + extra) * 4 > capacity * 3) {
        capacity *= 2;
    }
    if (capacity == map->capacity) {
        return true;
    }
    weir__namemap_entry *entries = weir__allocate(map->allocator, capacity * sizeof(*entries));
    if (entries == NULL) {
        return false;
    }
    weir__namemap larger = { map->allocator, entries, capacity, 0 };
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].name != NULL) {
            weir__namemap_put(&larger, map->entries[i].name, map->entries[i].value);
        }
    }
    weir__release(map->allocator, map->entries, map->capacity * sizeof(*map->entries));
    *map = larger;
    return true;
}

void weir__namemap_put(weir__namemap *map, const char *name, uint64_t value)
{
    WEIR_ASSERT(value != 0);
    WEIR_ASSERT((map->count + 1) * 4 <= map->capacity * 3);
    const size_t i = place_of(map, name);
    WEIR_ASSERT(map->entries[i].name == NULL);
    map->entries[i] = (weir__namemap_entry){ name, value };
    map->count++;
}

void weir__namemap_remove(weir__namemap *map, const char *name)
{
    if (map->capacity == 0) {
        return;
    }
    const size_t mask = map->capacity - 1;
    size_t hole = place_of(map, name);
    if (map->entries[hole].name == NULL) {
        return;
    }
    map->count--;
    for (size_t i = (hole + 1) & mask; map->entries[i].name != NULL; i = (i + 1) & mask) {
        const size_t home = (size_t)hash(map->entries[i].name) & mask;
        /* It may move into the hole if the hole lies on its way from home to here. */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    }
    map->entries[hole] = (weir__namemap_entry){ NULL, 0 };
}
