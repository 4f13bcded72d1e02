/*
 * floor/rows.c - the rows of the floors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "floor/floor.h"
#include "suite/rows.h"

#define ROW(workload, summary, run, ...)                                                           \
    {                                                                                              \
        workload, "floor", summary, { __VA_ARGS__ }, run                                           \
    }

const bench_row bench_floor_rows[] = {
    ROW("w1", "two objects on one thread, a list each", floor_ping_pong, 1),
    ROW("w2-external", "4 threads write a ring, one reads it", floor_fan_in_external, 1),
    ROW("w2-inside", "4 objects on one thread write a ring, the fifth reads it",
        floor_fan_in_inside, 1),
    ROW("w3-1", "1,000 objects on one thread, 1 token", floor_ring_1, 1),
    ROW("w3-100", "1,000 objects on one thread, 100 tokens", floor_ring_100, 1),
    ROW("w4", "1 M records of 128 bytes: malloc, a message, free", floor_records, 1),
    ROW("w5-external", "2 producers, a channel to each thread, 64 objects", floor_spread, 1, 2, 4,
        8, 16),
    ROW("w6-parked", "a futex call wakes a thread", floor_wake_parked, 1),
    ROW("w6-spinning", "a thread looks at a word", floor_wake_spinning, 1),
    ROW("w6-hop-10k", "a channel, 10,000 events/s", floor_hop_10k, 1),
    ROW("w6-hop-100k", "a channel, 100,000 events/s", floor_hop_100k, 1),
    ROW("w6-hop-1m", "a channel, 1,000,000 events/s", floor_hop_1m, 1),
    ROW("w6-hop-10m", "a channel, 10,000,000 events/s", floor_hop_10m, 1),
    ROW("w6-half-load", "a channel, 50,000 events/s of 10 us", floor_hop_half, 1),
    ROW("w7-alone", "one thread writes a ring and reads it", floor_queue_alone, 1),
    ROW("w7-1", "one thread writes a ring, another reads it", floor_queue_1, 1),
    ROW("w7-4", "4 threads write a ring, one reads it", floor_queue_4, 1),
    ROW("w9-idle", "threads that sleep in a futex call", floor_idle, 8),
    ROW("w10", "threads that sleep 1 ms", floor_sleepers, 1, 2, 4, 8, 16),
    { NULL, NULL, NULL, { 0 }, NULL },
};
