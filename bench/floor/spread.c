/*
 * floor/spread.c - W5: two producers outside, 64 objects, each with the one thread that serves it.
 *
 * Every producer has half of the objects, and a channel to each thread; an object's messages always
 * go to the same thread. So nothing is shared by more than two, and nothing is ever moved: no
 * balance either.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "floor/channel.h"
#include "floor/floor.h"

enum { PRODUCERS = 2, OBJECTS = 64, THREADS_MAX = 64 };

typedef struct object {
    _Alignas(FLOOR_LINE) uint64_t next; /* the number that is to come */
    uint64_t wrong;
} object;

typedef struct field {
    floor_channel *channels; /* [thread * PRODUCERS + producer] */
    object *objects;
    uint64_t each; /* messages for an object */
    uint32_t threads;
} field;

typedef struct party {
    field *in;
    uint32_t id;
    pthread_t thread;
} party;

static uint32_t thread_of(const field *in, uint32_t object_index)
{
    return object_index / PRODUCERS % in->threads;
}

static void *produce(void *argument)
{
    const party *self = argument;
    const field *in = self->in;
    for (uint64_t i = 0; i < in->each; i++) {
        for (uint32_t k = self->id; k < OBJECTS; k += PRODUCERS) {
            floor_channel *to = &in->channels[thread_of(in, k) * PRODUCERS + self->id];
            uint32_t looks = 0;
            while (!floor_channel_put(to, i * OBJECTS + k)) {
                bench_give_way(&looks); /* ends: it is read */
            }
        }
    }
    return NULL;
}

static void handle(object *objects, uint64_t message)
{
    object *o = &objects[message % OBJECTS];
    o->wrong += message / OBJECTS != o->next++;
}

static uint64_t drain(const field *in, uint32_t thread, uint32_t producer)
{
    floor_channel *from = &in->channels[thread * PRODUCERS + producer];
    uint64_t message, count = 0;
    while (floor_channel_take(from, &message)) {
        handle(in->objects, message);
        count++;
    }
    return count;
}

static void *consume(void *argument)
{
    const party *self = argument;
    const field *in = self->in;
    uint64_t left = 0;
    uint32_t looks = 0;
    for (uint32_t k = 0; k < OBJECTS; k++) {
        left += thread_of(in, k) == self->id ? in->each : 0;
    }
    while (left > 0) { /* ends: so many are sent */
        uint64_t count = 0;
        for (uint32_t p = 0; p < PRODUCERS; p++) {
            count += drain(in, self->id, p);
        }
        left -= count;
        if (count > 0) {
            looks = 0;
        } else {
            bench_give_way(&looks);
        }
    }
    return NULL;
}

static void run(field *in, bench_result *result)
{
    party parties[PRODUCERS + THREADS_MAX];
    const uint32_t count = PRODUCERS + in->threads;
    uint64_t wrong = 0;
    const int64_t begin = bench_now();
    for (uint32_t i = 0; i < count; i++) {
        const bool produces = i < PRODUCERS;
        parties[i] = (party){ .in = in, .id = produces ? i : i - PRODUCERS };
        if (!floor_start(&parties[i].thread, produces ? produce : consume, &parties[i], result)) {
            abort(); /* the others would wait for it for ever */
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        (void)pthread_join(parties[i].thread, NULL);
    }
    bench_result_rate(result, in->each * OBJECTS, bench_now() - begin);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        wrong += in->objects[i].wrong + (in->objects[i].next != in->each);
    }
    if (wrong != 0) {
        bench_wrong(result, "%llu messages missing or out of order", (unsigned long long)wrong);
    }
}

FLOOR_RUN(floor_spread)
{
    field in = { .each = bench_scaled(setup, 10000000 / OBJECTS, 10),
                 .threads = setup->threads < THREADS_MAX ? setup->threads : THREADS_MAX };
    in.channels = floor_allocate(sizeof(floor_channel) * PRODUCERS * in.threads, result);
    in.objects = floor_allocate(OBJECTS * sizeof(object), result);
    if (in.channels != NULL && in.objects != NULL) {
        run(&in, result);
    }
    free(in.objects);
    free(in.channels);
}
