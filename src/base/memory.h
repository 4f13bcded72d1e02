/*
 * base/memory.h - memory by way of the caller's allocator, and option structs of any age.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BASE_MEMORY_H
#define WEIR_BASE_MEMORY_H

#include "weir/base.h"

#define WEIR_CACHE_LINE 64

/* The C library's, for who brings none. */
const weir_allocator *weir__allocator_default(void);

/* Zeroed memory, or NULL. Alignment is that of a cache line. */
void *weir__allocate(const weir_allocator *allocator, size_t size);
/* Not zeroed: for large chunks that are carved, so that untouched pages stay untouched. */
void *weir__allocate_raw(const weir_allocator *allocator, size_t size);
/* The same for a few bytes of which there may be a million: aligned for numbers, not for lines. */
void *weir__allocate_small(const weir_allocator *allocator, size_t size);
/* Has the system get the pages of such a chunk ready in one go, if it can: touched one by one, each
 * costs a trip into the kernel. */
void weir__memory_prepare(void *memory, size_t size);
/* The same, zeroed, for memory that is touched all over, in whole huge pages: each is one entry of
 * the translation cache, if the system has them. */
#define WEIR__HUGE_PAGE ((size_t)2 << 20)
void *weir__allocate_huge(const weir_allocator *allocator, size_t size);
void weir__memory_huge(void *memory, size_t size);
void weir__release(const weir_allocator *allocator, void *memory, size_t size);

/* A copy of `text` (NULL gives NULL and success). False: no memory. */
bool weir__copy_text(const weir_allocator *allocator, const char *text, char **out);
void weir__release_text(const weir_allocator *allocator, char *text);

/*
 * Copies a caller's option struct over `target`, which must be zeroed. An older caller's struct is
 * a prefix of ours: what it lacks stays zero, the default. A newer one is taken if what we do not
 * know is zero, else E_VERSION. A size too small to hold itself is E_INVALID.
 */
weir_status weir__options_read(void *target, size_t target_size, const void *source);

/* The same the other way: fills what both sides know of a caller's outgoing struct. `ours` carries
 * the full size; the caller's struct_size is kept. E_INVALID: NULL or a nonsense size. */
weir_status weir__struct_fill(void *caller, const void *ours, size_t our_size);

#endif /* WEIR_BASE_MEMORY_H */
