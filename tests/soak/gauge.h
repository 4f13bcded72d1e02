/*
 * soak/gauge.h - what the process and its engines use: resident memory, descriptors, threads, and
 * an allocator that knows what is still out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SOAK_GAUGE_H
#define WEIR_SOAK_GAUGE_H

#include <stdatomic.h>
#include <stdint.h>

#include <weir/weir.h>

/* After malloc_trim: what the C library keeps for later is not growth. KiB. */
int64_t soak_resident_kib(void);
int64_t soak_descriptors(void);
int64_t soak_threads(void);

/* One an engine. Every release must name the size that was allocated. */
typedef struct soak_purse {
    _Atomic int64_t bytes, blocks; /* out now */
    _Atomic int64_t most;          /* bytes, ever */
    _Atomic uint64_t wrong_size;   /* releases that named another size */
} soak_purse;

weir_allocator soak_purse_allocator(soak_purse *purse);

#endif /* WEIR_SOAK_GAUGE_H */
