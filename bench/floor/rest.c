/*
 * floor/rest.c - W9 and W10: threads that sleep, for want of work and as work.
 *
 * Idle: each thread is in one futex call until the end. Blocking handlers: each thread calls
 * nanosleep again and again; the share of the time that was slept is what any engine could reach.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "floor/floor.h"

enum { THREADS_MAX = 64 };
#define SLEEP_NS 1000000L

/* ---- W9 ---- */

static void *rest(void *argument)
{
    atomic_uint *over = argument;
    while (atomic_load_explicit(over, memory_order_acquire) == 0) {
        (void)syscall(SYS_futex, over, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
    return NULL;
}

FLOOR_RUN(floor_idle)
{
    const int64_t span = (int64_t)bench_scaled(setup, 5000, 20) * 1000000;
    pthread_t threads[THREADS_MAX];
    atomic_uint over = 0;
    uint32_t started = 0;
    while (started < setup->threads && started < THREADS_MAX &&
           floor_start(&threads[started], rest, &over, result)) {
        started++;
    }
    floor_sleep_until(bench_now() + 10000000); /* they have gone to sleep */
    const int64_t before = bench_cpu_now();
    const int64_t begin = bench_now();
    floor_sleep_until(begin + span);
    result->seconds = (double)(bench_now() - begin) / 1e9;
    result->cpu_ms = (double)(bench_cpu_now() - before) / 1e6 / result->seconds; /* a second's */
    atomic_store_explicit(&over, 1, memory_order_release);
    (void)syscall(SYS_futex, &over, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* ---- W10 ---- */

typedef struct sleeper {
    _Alignas(FLOOR_LINE) uint64_t count;
    int64_t slept_ns;
    pthread_t thread;
} sleeper;

static void *sleep_often(void *argument)
{
    sleeper *self = argument;
    const struct timespec span = { 0, SLEEP_NS };
    for (uint64_t i = 0; i < self->count; i++) {
        const int64_t begin = bench_now();
        (void)nanosleep(&span, NULL);
        self->slept_ns += bench_now() - begin;
    }
    return NULL;
}

FLOOR_RUN(floor_sleepers)
{
    const uint64_t each = bench_scaled(setup, 256, 16);
    sleeper sleepers[THREADS_MAX];
    uint32_t started = 0;
    int64_t slept_ns = 0;
    const int64_t begin = bench_now();
    for (; started < setup->threads && started < THREADS_MAX; started++) {
        sleepers[started] = (sleeper){ .count = each };
        if (!floor_start(&sleepers[started].thread, sleep_often, &sleepers[started], result)) {
            break;
        }
    }
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(sleepers[i].thread, NULL);
        slept_ns += sleepers[i].slept_ns;
    }
    const int64_t elapsed = bench_now() - begin;
    bench_result_rate(result, each * started, elapsed);
    result->efficiency = (double)slept_ns / ((double)elapsed * setup->threads);
}
