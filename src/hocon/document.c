/*
 * hocon/document.c - the memory of a document.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hocon/document.h"

#include <string.h>

#include "base/memory.h"

/* Once: what comes after it only follows from it. Whether it is memory or the limit that is lacking
 * the tree does not say; near the limit, or past it by what was asked for, it is the limit. */
void weir__document_lack(weir__hocon *document, size_t size)
{
    const weir__tree *tree = document->tree;
    if (document->spent) {
        return;
    }
    document->spent = true;
    if (tree->limit != 0 && (size > tree->limit || tree->used > (tree->limit - size) / 4)) {
        weir__problems_add(document->problems, WEIR__ERROR, (weir__origin){ 0 }, NULL,
                           "resolving takes more than %zu bytes: substitutions that repeat what is "
                           "itself repeated grow without measure",
                           document->options.resolved_size_max);
    } else {
        weir__problems_memory(document->problems);
    }
}

void *weir__document_memory(weir__hocon *document, size_t size)
{
    void *memory = weir__tree_memory(document->tree, size);
    if (memory == NULL) {
        weir__document_lack(document, size);
    }
    return memory;
}

weir__cell *weir__document_cell(weir__hocon *document, int kind, weir__origin origin, size_t size)
{
    weir__cell *cell = weir__document_memory(document, size);
    if (cell != NULL) {
        cell->node.kind = (weir__kind)kind;
        cell->node.origin = origin;
        cell->open = kind > WEIR__OBJECT;
    }
    return cell;
}

bool weir__document_grow(weir__hocon *document, void **array, size_t count, size_t *capacity,
                         size_t item)
{
    if (count < *capacity) {
        return true;
    }
    const size_t more = *capacity == 0 ? 64 : *capacity * 2;
    void *new = weir__allocate_raw(document->allocator, more * item);
    if (new == NULL) {
        weir__problems_memory(document->problems);
        document->spent = true;
        return false;
    }
    if (count > 0) {
        memcpy(new, *array, count * item);
    }
    weir__release(document->allocator, *array, *capacity * item);
    *array = new;
    *capacity = more;
    return true;
}

bool weir__document_scratch(weir__hocon *document, size_t size)
{
    if (size <= document->scratch_capacity) {
        return true;
    }
    size_t capacity = document->scratch_capacity == 0 ? 256 : document->scratch_capacity;
    while (capacity < size) {
        capacity *= 2;
    }
    char *new = weir__allocate_raw(document->allocator, capacity);
    if (new == NULL) {
        weir__problems_memory(document->problems);
        document->spent = true;
        return false;
    }
    if (document->scratch_capacity > 0) {
        memcpy(new, document->scratch, document->scratch_capacity);
    }
    weir__release(document->allocator, document->scratch, document->scratch_capacity);
    document->scratch = new;
    document->scratch_capacity = capacity;
    return true;
}
