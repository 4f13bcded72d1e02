/*
 * queue/spsc.c - the memory of a ring.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "queue/spsc.h"

#include "base/memory.h"

bool weir__spsc_open(weir__spsc *ring, const weir_allocator *allocator, uint32_t length,
                     uint32_t size)
{
    WEIR_ASSERT(length > 0 && length <= WEIR__SPSC_MAX && (length & (length - 1)) == 0);
    WEIR_ASSERT(ring->places == NULL);
    unsigned char *places = weir__allocate_raw(allocator, (size_t)length * size);
    if (places == NULL) {
        return false;
    }
    ring->mask = length - 1;
    ring->size = size;
    ring->places = places;
    return true;
}

void weir__spsc_close(weir__spsc *ring, const weir_allocator *allocator)
{
    if (ring->places != NULL) {
        weir__release(allocator, ring->places, ((size_t)ring->mask + 1) * ring->size);
        ring->places = NULL;
    }
}
