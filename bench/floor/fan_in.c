/*
 * floor/fan_in.c - W2 and W7: several write into one ring, one reads it.
 *
 * External: four threads write, the caller reads. Inside: four objects on one thread, each writes
 * 64 messages, then the reader has its turn; so the ring is never full, and what is left is the
 * cost of writing and reading it. The queue alone: one thread writes and reads, or one or four
 * write and another reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "floor/floor.h"
#include "floor/ring.h"

enum { WRITERS = 4, AT_ONCE = 64 };
#define NUMBER_BITS 56 /* of a message; the rest is its writer */

typedef struct writer {
    floor_ring *ring;
    uint64_t id, count;
    pthread_t thread;
} writer;

typedef struct reader {
    uint64_t next[WRITERS];
    uint64_t wrong;
} reader;

static uint64_t message_of(uint64_t id, uint64_t number)
{
    return id << NUMBER_BITS | number;
}

static void read_one(reader *self, uint64_t message)
{
    const uint64_t id = message >> NUMBER_BITS;
    self->wrong += id >= WRITERS || message != message_of(id, self->next[id % WRITERS]);
    self->next[id % WRITERS]++;
}

static void *write_all(void *argument)
{
    const writer *self = argument;
    for (uint64_t i = 0; i < self->count; i++) {
        floor_ring_put(self->ring, message_of(self->id, i));
    }
    return NULL;
}

static void judge(const reader *self, bench_result *result)
{
    if (self->wrong != 0) {
        bench_wrong(result, "%llu messages out of order", (unsigned long long)self->wrong);
    }
}

static void run(uint32_t count, uint64_t each, bench_result *result)
{
    floor_ring *ring = floor_ring_create(result);
    writer writers[WRITERS];
    reader self = { { 0 }, 0 };
    uint32_t started = 0;
    if (ring == NULL) {
        return;
    }
    const int64_t begin = bench_now();
    for (; started < count; started++) {
        writers[started] = (writer){ .ring = ring, .id = started, .count = each };
        if (!floor_start(&writers[started].thread, write_all, &writers[started], result)) {
            break;
        }
    }
    for (uint64_t i = 0; i < started * each; i++) {
        uint64_t message;
        uint32_t looks = 0;
        while (!floor_ring_take(ring, &message)) {
            bench_give_way(&looks); /* ends: so many are written */
        }
        read_one(&self, message);
    }
    bench_result_rate(result, started * each, bench_now() - begin);
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(writers[i].thread, NULL);
    }
    judge(&self, result);
    free(ring);
}

FLOOR_RUN(floor_fan_in_external)
{
    run(WRITERS, bench_scaled(setup, 10000000 / WRITERS, 1000), result);
}

FLOOR_RUN(floor_queue_1)
{
    run(1, bench_scaled(setup, 10000000, 1000), result);
}

FLOOR_RUN(floor_queue_4)
{
    floor_fan_in_external(setup, result);
}

/* One thread: in each round every writer writes so many messages, and the reader reads all. */
static void run_in_turn(uint64_t writers, uint64_t at_once, uint64_t rounds, bench_result *result)
{
    const uint64_t total = rounds * writers * at_once;
    floor_ring *ring = floor_ring_create(result);
    reader self = { { 0 }, 0 };
    uint64_t handled = 0;
    if (ring == NULL) {
        return;
    }
    const int64_t begin = bench_now();
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t message;
        for (uint64_t id = 0; id < writers; id++) {
            for (uint64_t i = 0; i < at_once; i++) {
                floor_ring_put(ring, message_of(id, round * at_once + i));
            }
        }
        while (floor_ring_take(ring, &message)) {
            read_one(&self, message);
            handled++;
        }
    }
    bench_result_rate(result, total, bench_now() - begin);
    if (handled != total) {
        bench_wrong(result, "%llu of %llu messages", (unsigned long long)handled,
                    (unsigned long long)total);
    }
    judge(&self, result);
    free(ring);
}

FLOOR_RUN(floor_fan_in_inside)
{
    run_in_turn(WRITERS, AT_ONCE, bench_scaled(setup, 10000000 / (WRITERS * AT_ONCE), 10), result);
}

FLOOR_RUN(floor_queue_alone)
{
    run_in_turn(1, 1, bench_scaled(setup, 10000000, 1000), result);
}
