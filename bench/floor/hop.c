/*
 * floor/hop.c - W6, one hop at a given rate: a generator with a timetable, a channel, a reader that
 * spins.
 *
 * Event i is due at a fixed time, whatever happened to those before it, and its latency counts from
 * when it was due: a generator that was held up, or a full channel, makes events late instead of
 * making them disappear from the figures (no coordinated omission). At half load the reader is busy
 * for 10 us with each event: what is late then is the machine's own doing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "floor/channel.h"
#include "floor/floor.h"

typedef struct line {
    floor_channel *channel;
    int64_t *samples;
    uint64_t count, wrong;
    int64_t begin; /* written before the first event is sent */
    int64_t period_ps, work_ns;
    atomic_bool reader_is_there;
} line;

static int64_t due_of(const line *l, uint64_t event)
{
    return l->begin + (int64_t)event * l->period_ps / 1000;
}

static void *receive(void *argument)
{
    line *l = argument;
    atomic_store_explicit(&l->reader_is_there, true, memory_order_relaxed);
    for (uint64_t i = 0; i < l->count; i++) {
        uint64_t event;
        while (!floor_channel_take(l->channel, &event)) {
            bench_pause(); /* ends: so many are sent */
        }
        const int64_t now = bench_now();
        l->samples[i] = now - due_of(l, event);
        l->wrong += event != i;
        while (l->work_ns > 0 && bench_now() - now < l->work_ns) {
        }
    }
    return NULL;
}

static void generate(line *l)
{
    while (!atomic_load_explicit(&l->reader_is_there, memory_order_relaxed)) {
        (void)sched_yield();
    }
    l->begin = bench_now();
    for (uint64_t i = 0; i < l->count; i++) {
        const int64_t due = due_of(l, i);
        while (bench_now() < due) {
            bench_pause();
        }
        while (!floor_channel_put(l->channel, i)) {
            bench_pause(); /* ends: it is read */
        }
    }
}

/* For half a second at full load. */
static void run(uint64_t events_per_s, int64_t work_ns, const bench_setup *setup,
                bench_result *result)
{
    line l = { .count = bench_scaled(setup, events_per_s / 2, 100),
               .period_ps = (int64_t)(UINT64_C(1000000000000) / events_per_s),
               .work_ns = work_ns };
    pthread_t thread;
    l.channel = floor_allocate(sizeof(floor_channel), result);
    l.samples = floor_allocate(l.count * sizeof(int64_t), result);
    if (l.channel != NULL && l.samples != NULL && floor_start(&thread, receive, &l, result)) {
        generate(&l);
        (void)pthread_join(thread, NULL);
        bench_result_rate(result, l.count, bench_now() - l.begin);
        bench_result_latency(result, l.samples, l.count);
        if (l.wrong != 0) {
            bench_wrong(result, "%llu events out of order", (unsigned long long)l.wrong);
        }
    }
    free(l.samples);
    free(l.channel);
}

FLOOR_RUN(floor_hop_10k)
{
    run(10000, 0, setup, result);
}

FLOOR_RUN(floor_hop_100k)
{
    run(100000, 0, setup, result);
}

FLOOR_RUN(floor_hop_1m)
{
    run(1000000, 0, setup, result);
}

FLOOR_RUN(floor_hop_10m)
{
    run(10000000, 0, setup, result);
}

FLOOR_RUN(floor_hop_half)
{
    run(50000, 10000, setup, result);
}
