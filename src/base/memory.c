/*
 * base/memory.c - the allocator, and the rules by which structs of two ages meet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/memory.h"

#include <string.h>

#include "base/assert.h"

#define PREPARED ((size_t)1 << 16) /* all of it is touched: worth a call of the system */

void *weir__allocate_raw(const weir_allocator *allocator, size_t size)
{
    WEIR_ASSERT(size > 0);
    return allocator->allocate(allocator->context, size, WEIR_CACHE_LINE);
}

void *weir__allocate_small(const weir_allocator *allocator, size_t size)
{
    WEIR_ASSERT(size > 0);
    return allocator->allocate(allocator->context, size, _Alignof(max_align_t));
}

void *weir__allocate(const weir_allocator *allocator, size_t size)
{
    void *memory = weir__allocate_raw(allocator, size);
    if (memory != NULL) {
        if (size >= PREPARED) {
            weir__memory_prepare(memory, size);
        }
        memset(memory, 0, size);
    }
    return memory;
}

void *weir__allocate_huge(const weir_allocator *allocator, size_t size)
{
    void *memory = allocator->allocate(allocator->context, size, WEIR__HUGE_PAGE);
    if (memory != NULL) {
        weir__memory_huge(memory, size);
        memset(memory, 0, size);
    }
    return memory;
}

void weir__release(const weir_allocator *allocator, void *memory, size_t size)
{
    if (memory != NULL) {
        allocator->release(allocator->context, memory, size);
    }
}

bool weir__copy_text(const weir_allocator *allocator, const char *text, char **out)
{
    *out = NULL;
    if (text == NULL) {
        return true;
    }
    const size_t size = strlen(text) + 1;
    *out = weir__allocate_raw(allocator, size);
    if (*out == NULL) {
        return false;
    }
    memcpy(*out, text, size);
    return true;
}

void weir__release_text(const weir_allocator *allocator, char *text)
{
    if (text != NULL) {
        weir__release(allocator, text, strlen(text) + 1);
    }
}

weir_status weir__options_read(void *target, size_t target_size, const void *source)
{
    if (source == NULL) {
        return WEIR_OK;
    }
    size_t size;
    memcpy(&size, source, sizeof(size));
    if (size < sizeof(size) || size > 65536) {
        return WEIR_E_INVALID;
    }
    const unsigned char *bytes = source;
    for (size_t i = target_size; i < size; i++) {
        if (bytes[i] != 0) {
            return WEIR_E_VERSION;
        }
    }
    memcpy(target, source, size < target_size ? size : target_size);
    return WEIR_OK;
}

weir_status weir__struct_fill(void *caller, const void *ours, size_t our_size)
{
    if (caller == NULL) {
        return WEIR_E_INVALID;
    }
    size_t size;
    memcpy(&size, caller, sizeof(size));
    if (size < sizeof(size) || size > 65536) {
        return WEIR_E_INVALID;
    }
    memcpy(caller, ours, size < our_size ? size : our_size);
    memcpy(caller, &size, sizeof(size));
    return WEIR_OK;
}
