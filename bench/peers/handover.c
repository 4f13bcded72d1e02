/*
 * handover.c - what it costs at this moment to hand a cache line from one core to another.
 *
 *     cc -O2 -std=gnu11 -o handover handover.c -lpthread
 *     handover      prints ns, one way, on the first two cores that it may use; 0 if there is one
 *
 * The two cores of a virtual machine are moved about: the same hand-over costs a few times as much
 * an hour later, and whatever two busy cores share follows it. tools/bench-peers asks before and
 * after every measurement, by the rule of weir's own suite: two threads, each pinned, pass one word
 * to and fro in short series, of which the lower quartile counts, so that whoever is interrupted
 * loses a series and not the measurement.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "peer.h"

enum { SERIES = 64, ROUND_TRIPS = 128, PATIENCE = 20000 };

static _Alignas(128) _Atomic uint64_t line;

static void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) {
        fprintf(stderr, "handover: cannot run on core %d\n", core);
        exit(2);
    }
}

/* Gives way after long: the other one may have been put off its core by a third. */
static void wait_for(uint64_t value)
{
    uint64_t looks = 0;
    while (atomic_load_explicit(&line, memory_order_acquire) != value) {
        if (++looks >= PATIENCE) {
            sched_yield();
        }
    }
}

static void *answer(void *core)
{
    pin(*(const int *)core);
    for (uint64_t i = 0; i < (uint64_t)SERIES * ROUND_TRIPS; i++) {
        wait_for(2 * i + 1);
        atomic_store_explicit(&line, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

/* The first two cores that this process may use; answers how many it found. */
static int find_cores(int cores[static 2])
{
    cpu_set_t set;
    int found = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return 0;
    }
    for (int core = 0; core < CPU_SETSIZE && found < 2; core++) {
        if (CPU_ISSET((size_t)core, &set)) {
            cores[found++] = core;
        }
    }
    return found;
}

int main(void)
{
    int cores[2];
    uint64_t series[SERIES];
    pthread_t other;
    if (find_cores(cores) < 2) {
        puts("0");
        return 0;
    }
    pin(cores[0]);
    if (pthread_create(&other, NULL, answer, &cores[1]) != 0) {
        fprintf(stderr, "handover: no second thread\n");
        return 2;
    }
    for (uint64_t s = 0; s < SERIES; s++) {
        uint64_t start = peer_now_ns();
        for (uint64_t i = s * ROUND_TRIPS; i < (s + 1) * ROUND_TRIPS; i++) {
            atomic_store_explicit(&line, 2 * i + 1, memory_order_release);
            wait_for(2 * i + 2);
        }
        series[s] = peer_now_ns() - start;
    }
    (void)pthread_join(other, NULL);
    qsort(series, SERIES, sizeof *series, peer_compare);
    printf("%.1f\n", (double)series[SERIES / 4] / ROUND_TRIPS / 2);
    return 0;
}
