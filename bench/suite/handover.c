/*
 * suite/handover.c - two threads, pinned to two cores, throw one word to and fro.
 *
 * In short series, of which the lower quartile counts: whoever is interrupted loses a whole
 * series, never the measurement.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "suite/handover.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "suite/clock.h"

enum { SERIES = 64, THROWS = 64, PATIENCE = 20000 };

typedef struct court {
    _Alignas(64) atomic_uint_least64_t ball; /* odd: the server has thrown it */
    _Alignas(64) double series_ns[SERIES];
} court;

/* Spins, because that is what is measured; gives way if the other one does not run at all. */
static void await(court *c, uint64_t value)
{
    for (uint32_t looks = 0; atomic_load_explicit(&c->ball, memory_order_acquire) != value;) {
        if (++looks >= PATIENCE) {
            (void)sched_yield();
        }
    }
}

static void *serve(void *argument)
{
    court *c = argument;
    uint64_t ball = 0;
    await(c, ball);
    for (uint32_t i = 0; i < SERIES; i++) {
        const int64_t begin = bench_now();
        for (uint32_t k = 0; k < THROWS; k++) {
            atomic_store_explicit(&c->ball, ++ball, memory_order_release);
            await(c, ++ball);
        }
        c->series_ns[i] = (double)(bench_now() - begin) / (2.0 * THROWS);
    }
    return NULL;
}

static void *answer(void *argument)
{
    court *c = argument;
    for (uint64_t ball = 0; ball < UINT64_C(2) * SERIES * THROWS; ball += 2) {
        await(c, ball + 1);
        atomic_store_explicit(&c->ball, ball + 2, memory_order_release);
    }
    return NULL;
}

static bool start_on(size_t core, void *(*run)(void *), court *c, pthread_t *thread)
{
    pthread_attr_t attributes;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    const bool started = pthread_attr_setaffinity_np(&attributes, sizeof(cores), &cores) == 0 &&
                         pthread_create(thread, &attributes, run, c) == 0;
    (void)pthread_attr_destroy(&attributes);
    return started;
}

/* How many of the two were found. */
static size_t find_two_cores(size_t cores[2])
{
    cpu_set_t usable;
    size_t count = 0;
    if (sched_getaffinity(0, sizeof(usable), &usable) == 0) {
        for (size_t i = 0; i < CPU_SETSIZE && count < 2; i++) {
            if (CPU_ISSET(i, &usable)) {
                cores[count++] = i;
            }
        }
    }
    return count;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_handover bench_handover_measure(void)
{
    court c;
    const bench_handover single = { BENCH_SINGLE, 0 };
    size_t cores[2];
    pthread_t server, answerer;
    atomic_init(&c.ball, UINT64_MAX); /* nobody throws before both are here */
    if (find_two_cores(cores) < 2 || !start_on(cores[0], serve, &c, &server)) {
        return single;
    }
    const bool both = start_on(cores[1], answer, &c, &answerer);
    atomic_store(&c.ball, 0);
    if (!both) { /* no second thread to be had: play both sides, and measure nothing */
        (void)answer(&c);
    }
    (void)pthread_join(server, NULL);
    if (!both) {
        return single;
    }
    (void)pthread_join(answerer, NULL);
    qsort(c.series_ns, SERIES, sizeof(c.series_ns[0]), compare);
    const double ns = c.series_ns[SERIES / 4];
    return (bench_handover){ ns < BENCH_HANDOVER_NEAR_MAX_NS ? BENCH_NEAR : BENCH_FAR, ns };
}
