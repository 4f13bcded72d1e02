/*
 * suite/clock.h - time as the rows read it, and the pause of one who looks again at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_CLOCK_H
#define WEIR_BENCH_SUITE_CLOCK_H

#include <sched.h>
#include <stdint.h>
#include <time.h>

static inline int64_t bench_clock_read(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Nanoseconds of the monotonic clock. */
static inline int64_t bench_now(void)
{
    return bench_clock_read(CLOCK_MONOTONIC);
}

/* CPU time of the whole process, user and system. */
static inline int64_t bench_cpu_now(void)
{
    return bench_clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

static inline void bench_sleep(int64_t ns)
{
    const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static inline void bench_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* One more look that found nothing: spins a little, then lets others on to the core. */
static inline void bench_give_way(uint32_t *looks)
{
    if (++*looks > 64) {
        (void)sched_yield();
    } else {
        bench_pause();
    }
}

#endif /* WEIR_BENCH_SUITE_CLOCK_H */
