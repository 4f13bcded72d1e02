/*
 * wall_jumps.c - loaded in front of the C library, it makes the wall clock jump: forward by a year,
 * back by two, anew at every look at it. The monotonic clock is left alone. A real jump would need
 * to set the machine's clock; this one is seen by one process only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define YEAR_S 31557600

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved. */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static atomic_uint looks;
    const long result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += atomic_fetch_add(&looks, 1) % 2 == 0 ? YEAR_S : -YEAR_S;
    }
    return (int)result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec t;
    (void)zone;
    const int result = clock_gettime(CLOCK_REALTIME, &t);
    now->tv_sec = t.tv_sec;
    now->tv_usec = t.tv_nsec / 1000;
    return result;
}

time_t time(time_t *out)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    if (out != NULL) {
        *out = t.tv_sec;
    }
    return t.tv_sec;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
