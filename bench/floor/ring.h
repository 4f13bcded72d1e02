/*
 * floor/ring.h - a ring that many write and one reads: one ticket a message, one word a slot.
 *
 * A writer draws a ticket and waits until its slot is free; the reader takes the slots in order.
 * What a writer never does is fail: it waits instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_FLOOR_RING_H
#define WEIR_BENCH_FLOOR_RING_H

#include "floor/floor.h"

#define FLOOR_RING_SLOTS (UINT64_C(1) << 16)

typedef struct floor_slot {
    _Atomic uint64_t turn; /* t: free for the t-th message; t + 1: that one is in it */
    uint64_t message;
} floor_slot;

typedef struct floor_ring {
    _Alignas(FLOOR_LINE) _Atomic uint64_t tickets;
    _Alignas(FLOOR_LINE) uint64_t head; /* the reader's */
    _Alignas(FLOOR_LINE) floor_slot slots[FLOOR_RING_SLOTS];
} floor_ring;

static inline floor_ring *floor_ring_create(bench_result *result)
{
    floor_ring *ring = floor_allocate(sizeof(*ring), result);
    for (uint64_t i = 0; ring != NULL && i < FLOOR_RING_SLOTS; i++) {
        atomic_init(&ring->slots[i].turn, i);
    }
    return ring;
}

static inline void floor_ring_put(floor_ring *ring, uint64_t message)
{
    const uint64_t ticket = atomic_fetch_add_explicit(&ring->tickets, 1, memory_order_relaxed);
    floor_slot *slot = &ring->slots[ticket % FLOOR_RING_SLOTS];
    uint32_t looks = 0;
    while (atomic_load_explicit(&slot->turn, memory_order_acquire) != ticket) {
        bench_give_way(&looks); /* ends: the reader comes round */
    }
    slot->message = message;
    atomic_store_explicit(&slot->turn, ticket + 1, memory_order_release);
}

static inline bool floor_ring_take(floor_ring *ring, uint64_t *message)
{
    floor_slot *slot = &ring->slots[ring->head % FLOOR_RING_SLOTS];
    if (atomic_load_explicit(&slot->turn, memory_order_acquire) != ring->head + 1) {
        return false;
    }
    *message = slot->message;
    atomic_store_explicit(&slot->turn, ring->head + FLOOR_RING_SLOTS, memory_order_release);
    ring->head++;
    return true;
}

#endif /* WEIR_BENCH_FLOOR_RING_H */
