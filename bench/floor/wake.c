/*
 * floor/wake.c - W6: from a store in one thread until another one sees it.
 *
 * A thousand a second, so that there is a millisecond of silence before each. Parked: the other
 * thread sleeps in the kernel, and is woken by a futex call. Spinning: it looks at the word all the
 * time. When it was rung stands in the same line as the word: one line is handed over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "floor/floor.h"

#define SILENCE_NS 1000000

typedef struct doorbell {
    _Alignas(FLOOR_LINE) _Atomic int64_t rung_at;
    atomic_uint rings;
    /* Not written while it is in use. */
    _Alignas(FLOOR_LINE) bool spins;
    uint64_t count;
    int64_t *samples;
} doorbell;

static void wait_for_ring(doorbell *bell, unsigned seen)
{
    while (atomic_load_explicit(&bell->rings, memory_order_acquire) == seen) {
        if (bell->spins) {
            bench_pause();
        } else {
            (void)syscall(SYS_futex, &bell->rings, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
        }
    }
}

static void *listen(void *argument)
{
    doorbell *bell = argument;
    for (unsigned i = 0; i < bell->count; i++) {
        wait_for_ring(bell, i);
        bell->samples[i] = bench_now() - atomic_load_explicit(&bell->rung_at, memory_order_relaxed);
    }
    return NULL;
}

static void ring_all(doorbell *bell)
{
    int64_t due = bench_now();
    for (uint64_t i = 0; i < bell->count; i++) {
        due += SILENCE_NS;
        floor_sleep_until(due);
        atomic_store_explicit(&bell->rung_at, bench_now(), memory_order_relaxed);
        (void)atomic_fetch_add_explicit(&bell->rings, 1, memory_order_release);
        if (!bell->spins) {
            (void)syscall(SYS_futex, &bell->rings, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        }
    }
}

static void run(bool spins, const bench_setup *setup, bench_result *result)
{
    doorbell bell = { .spins = spins, .count = bench_scaled(setup, 3000, 20) };
    pthread_t thread;
    bell.samples = floor_allocate(bell.count * sizeof(int64_t), result);
    if (bell.samples != NULL && floor_start(&thread, listen, &bell, result)) {
        ring_all(&bell);
        (void)pthread_join(thread, NULL);
        for (uint64_t i = 0; i < bell.count; i++) {
            if (bell.samples[i] < 0) {
                bench_wrong(result, "ring %llu was heard before it was rung",
                            (unsigned long long)i);
            }
        }
        bench_result_latency(result, bell.samples, bell.count);
    }
    free(bell.samples);
}

FLOOR_RUN(floor_wake_parked)
{
    run(false, setup, result);
}

FLOOR_RUN(floor_wake_spinning)
{
    run(true, setup, result);
}
