/*
 * fault_support.h - an allocator that refuses its nth call, once or from then on, and counts what
 * is still out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_FAULT_SUPPORT_H
#define WEIR_TEST_FAULT_SUPPORT_H

#include "option_support.h"

typedef struct test_fault {
    atomic_bool armed;
    atomic_long until;   /* calls that still succeed; negative: all */
    atomic_bool lasting; /* once it has failed it goes on failing */
    atomic_long hits;    /* calls that were refused */
    atomic_size_t bytes; /* out */
    atomic_long wrong;   /* releases whose size is not what was allocated */
} test_fault;

typedef struct test_fault_header {
    void *base;
    size_t size;
} test_fault_header;

static inline bool test_fault_refuses(test_fault *fault)
{
    long until = atomic_load(&fault->until);
    while (until > 0 && !atomic_compare_exchange_weak(&fault->until, &until, until - 1)) {
    }
    if (until != 0) {
        return false;
    }
    if (!atomic_load(&fault->lasting)) {
        atomic_store(&fault->until, -1);
    }
    atomic_fetch_add(&fault->hits, 1);
    return true;
}

static inline void *test_fault_allocate(void *context, size_t size, size_t alignment)
{
    test_fault *fault = context;
    if (test_fault_refuses(fault)) {
        return NULL;
    }
    const size_t step =
        alignment < sizeof(test_fault_header) ? sizeof(test_fault_header) : alignment;
    void *base = NULL;
    if (posix_memalign(&base, step, step + size) != 0) {
        return NULL;
    }
    unsigned char *memory = (unsigned char *)base + step;
    const test_fault_header header = { base, size };
    memcpy(memory - sizeof(header), &header, sizeof(header));
    atomic_fetch_add(&fault->bytes, size);
    return memory;
}

static inline void test_fault_release(void *context, void *memory, size_t size)
{
    test_fault *fault = context;
    if (memory == NULL) {
        return;
    }
    test_fault_header header;
    memcpy(&header, (unsigned char *)memory - sizeof(header), sizeof(header));
    if (header.size != size) {
        atomic_fetch_add(&fault->wrong, 1);
    }
    atomic_fetch_sub(&fault->bytes, header.size);
    free(header.base);
}

static inline void test_fault_init(test_fault *fault)
{
    atomic_init(&fault->armed, false);
    atomic_init(&fault->until, -1);
    atomic_init(&fault->lasting, false);
    atomic_init(&fault->hits, 0);
    atomic_init(&fault->bytes, 0);
    atomic_init(&fault->wrong, 0);
}

static inline void test_fault_arm(test_fault *fault, long nth, bool lasting)
{
    atomic_store(&fault->lasting, lasting);
    atomic_store(&fault->hits, 0);
    atomic_store(&fault->until, nth);
    atomic_store(&fault->armed, true);
}

static inline bool test_fault_is_armed(test_fault *fault)
{
    return atomic_load(&fault->armed);
}

/* Returns how many calls were refused. */
static inline long test_fault_disarm(test_fault *fault)
{
    atomic_store(&fault->until, -1);
    atomic_store(&fault->armed, false);
    return atomic_load(&fault->hits);
}

#endif /* WEIR_TEST_FAULT_SUPPORT_H */
