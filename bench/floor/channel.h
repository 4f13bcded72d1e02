/*
 * floor/channel.h - a ring that one writes and one reads: the fastest way between two threads.
 *
 * Each side keeps its own index, and a copy of the other's that it renews only when it must.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_FLOOR_CHANNEL_H
#define WEIR_BENCH_FLOOR_CHANNEL_H

#include "floor/floor.h"

#define FLOOR_CHANNEL_SLOTS 4096u

typedef struct floor_channel {
    _Alignas(FLOOR_LINE) _Atomic uint64_t tail; /* the writer's line */
    uint64_t head_seen;
    _Alignas(FLOOR_LINE) _Atomic uint64_t head; /* the reader's */
    uint64_t tail_seen;
    _Alignas(FLOOR_LINE) uint64_t slots[FLOOR_CHANNEL_SLOTS];
} floor_channel;

/* False: full. */
static inline bool floor_channel_put(floor_channel *channel, uint64_t message)
{
    const uint64_t tail = atomic_load_explicit(&channel->tail, memory_order_relaxed);
    if (tail - channel->head_seen == FLOOR_CHANNEL_SLOTS) {
        channel->head_seen = atomic_load_explicit(&channel->head, memory_order_acquire);
        if (tail - channel->head_seen == FLOOR_CHANNEL_SLOTS) {
            return false;
        }
    }
    channel->slots[tail % FLOOR_CHANNEL_SLOTS] = message;
    atomic_store_explicit(&channel->tail, tail + 1, memory_order_release);
    return true;
}

/* False: empty. */
static inline bool floor_channel_take(floor_channel *channel, uint64_t *message)
{
    const uint64_t head = atomic_load_explicit(&channel->head, memory_order_relaxed);
    if (head == channel->tail_seen) {
        channel->tail_seen = atomic_load_explicit(&channel->tail, memory_order_acquire);
        if (head == channel->tail_seen) {
            return false;
        }
    }
    *message = channel->slots[head % FLOOR_CHANNEL_SLOTS];
    atomic_store_explicit(&channel->head, head + 1, memory_order_release);
    return true;
}

#endif /* WEIR_BENCH_FLOOR_CHANNEL_H */
