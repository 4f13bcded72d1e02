/*
 * load/w07_ring.c - W7: the ring of a feed alone: one thread writes, one reads.
 *
 * As a feed uses it: each event is said to be there by a step of its own, which a sleeping reader
 * could rely on; the reader looks how far it has got, reads up to there, and gives all of it back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/memory.h"
#include "load/support.h"
#include "queue/spsc.h"
#include "suite/rows.h"

enum { PLACES = 1024 }; /* a feed's default */
#define EVENTS 20000000u

typedef struct mail {
    uint64_t sender, number;
} mail;

typedef struct scene {
    weir__spsc ring;
    uint64_t events;
    pthread_barrier_t start;
} scene;

static void write_one(weir__spsc *ring, uint64_t number)
{
    uint32_t spins = 0;
    while (!weir__spsc_has_room(ring)) {
        bench_give_way(&spins);
    }
    const mail m = { 0, number };
    memcpy(weir__spsc_at(ring, weir__spsc_next(ring)), &m, sizeof(m));
    weir__spsc_push(ring);
}

/* Returns how many there were. */
static uint64_t read_some(weir__spsc *ring, uint64_t head, uint64_t *disorder)
{
    const uint64_t tail = weir__spsc_tail(ring);
    for (uint64_t at = head; at < tail; at++) {
        mail m;
        memcpy(&m, weir__spsc_at(ring, at), sizeof(m));
        *disorder += m.number != at;
    }
    if (tail > head) {
        weir__spsc_free(ring, tail);
    }
    return tail - head;
}

static void *write_all(void *argument)
{
    scene *s = argument;
    (void)pthread_barrier_wait(&s->start);
    for (uint64_t i = 0; i < s->events; i++) {
        write_one(&s->ring, i);
    }
    return NULL;
}

static void run_1(const bench_setup *setup, bench_result *result)
{
    scene s = { .events = bench_scaled(setup, EVENTS, 1000) };
    if (!weir__spsc_open(&s.ring, weir__allocator_default(), PLACES, sizeof(mail))) {
        bench_wrong(result, "no memory");
        return;
    }
    (void)pthread_barrier_init(&s.start, NULL, 2);
    const pthread_t writer = load_thread(write_all, &s);
    (void)pthread_barrier_wait(&s.start);
    const int64_t begin = bench_now();
    uint64_t disorder = 0;
    uint32_t spins = 0;
    for (uint64_t got = 0; got < s.events;) {
        const uint64_t more = read_some(&s.ring, got, &disorder);
        got += more;
        if (more > 0) {
            spins = 0;
        } else {
            bench_give_way(&spins);
        }
    }
    bench_result_rate(result, s.events, bench_now() - begin);
    (void)pthread_join(writer, NULL);
    (void)pthread_barrier_destroy(&s.start);
    weir__spsc_close(&s.ring, weir__allocator_default());
    if (disorder != 0) {
        bench_wrong(result, "%llu events out of order", (unsigned long long)disorder);
    }
}

const bench_row load_w07_ring_rows[] = {
    { "w7-1", "weir-ring", "the ring of a feed alone: one writes, one reads", { 1 }, run_1 },
    { 0 },
};
