/*
 * floor/floor.h - what the bare floors share: threads, memory, a way to wait.
 *
 * A floor does what a workload asks for with the least that the hardware allows, and with no
 * feature at all: no handles, no bounds that are reported, no stopping, no counters, one purpose.
 * What weir costs above it is what its promises cost. Floors are programs, not the core: they use
 * atomics, threads and futexes directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_FLOOR_FLOOR_H
#define WEIR_BENCH_FLOOR_FLOOR_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "suite/bench.h"
#include "suite/clock.h"

#define FLOOR_LINE 64

static inline void floor_sleep_until(int64_t due)
{
    const struct timespec t = { (time_t)(due / 1000000000), (long)(due % 1000000000) };
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Starts a thread; false: there is none, and that was said. */
bool floor_start(pthread_t *thread, void *(*run)(void *), void *argument, bench_result *result);

/* Memory in whole cache lines, zeroed; NULL: there is none, and that was said. Ended by free. */
void *floor_allocate(size_t size, bench_result *result);

#define FLOOR_RUN(name) void name(const bench_setup *setup, bench_result *result)
FLOOR_RUN(floor_ping_pong);
FLOOR_RUN(floor_ring_1);
FLOOR_RUN(floor_ring_100);
FLOOR_RUN(floor_fan_in_external);
FLOOR_RUN(floor_fan_in_inside);
FLOOR_RUN(floor_queue_alone);
FLOOR_RUN(floor_queue_1);
FLOOR_RUN(floor_queue_4);
FLOOR_RUN(floor_records);
FLOOR_RUN(floor_spread);
FLOOR_RUN(floor_wake_parked);
FLOOR_RUN(floor_wake_spinning);
FLOOR_RUN(floor_hop_10k);
FLOOR_RUN(floor_hop_100k);
FLOOR_RUN(floor_hop_1m);
FLOOR_RUN(floor_hop_10m);
FLOOR_RUN(floor_hop_half);
FLOOR_RUN(floor_idle);
FLOOR_RUN(floor_sleepers);

#endif /* WEIR_BENCH_FLOOR_FLOOR_H */
