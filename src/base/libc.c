/*
 * base/libc.c - what the library asks of libc, and a simulated build does not: memory, and the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/memory.h"

static void *libc_allocate(void *context, size_t size, size_t alignment)
{
    (void)context;
    if (size > SIZE_MAX - alignment) {
        return NULL;
    }
    /* C11 wants the size to be a multiple of the alignment. */
    return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void libc_release(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

const weir_allocator *weir__allocator_default(void)
{
    static const weir_allocator libc = { libc_allocate, libc_release, NULL };
    return &libc;
}

void weir__memory_prepare(void *memory, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    /* Whole pages only, and those that are there already stay as they are. */
    const uintptr_t page = 4096;
    const uintptr_t first = ((uintptr_t)memory + page - 1) & ~(page - 1);
    const uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);
    if (end > first) {
        const int before = errno;
        (void)madvise((void *)first, end - first, MADV_POPULATE_WRITE); /* refused: one by one */
        errno = before;
    }
#else
    (void)memory;
    (void)size;
#endif
}

void weir__memory_huge(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
    const int before = errno;
    (void)madvise(memory, size, MADV_HUGEPAGE); /* refused: small ones */
    errno = before;
#else
    (void)memory;
    (void)size;
#endif
}

_Noreturn void weir__assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: weir assertion failed: %s\n", file, line, expression);
    abort();
}
