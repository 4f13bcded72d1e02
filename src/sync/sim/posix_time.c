/*
 * sync/sim/posix_time.c - clocks, sleeps and poll(2) in virtual time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/time.h>
#include <unistd.h>

#include "sync/sim/posix.h"
#include "sync/thread.h"

#define POLL_NS WEIR_MS /* between two looks at descriptors of the system */

static bool is_wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static struct timespec to_timespec(weir_ns span)
{
    return (struct timespec){ .tv_sec = (time_t)(span / WEIR_S), .tv_nsec = (long)(span % WEIR_S) };
}

static weir_ns to_ns(const struct timespec *span)
{
    if (span->tv_sec < 0) {
        return 0;
    }
    return span->tv_sec >= WEIR_FOREVER / WEIR_S ? WEIR_FOREVER
                                                 : span->tv_sec * WEIR_S + span->tv_nsec;
}

weir_ns weir__sim_deadline(const struct timespec *at, clockid_t clock)
{
    const weir_ns wall_begin = weir__clock_wall() - weir__sim.now;
    const weir_ns time = at != NULL ? to_ns(at) : WEIR_FOREVER;
    return time == WEIR_FOREVER || !is_wall(clock) ? time : time - wall_begin;
}

/* ---- clocks ---- */

int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(clock_gettime)(clock, out);
    }
    *out = to_timespec(is_wall(clock) ? weir__clock_wall() : weir__clock_now());
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(gettimeofday)(out, zone);
    }
    const weir_ns now = weir__clock_wall();
    *out = (struct timeval){ .tv_sec = (time_t)(now / WEIR_S),
                             .tv_usec = (suseconds_t)(now % WEIR_S / WEIR_US) };
    return 0;
}

time_t time(time_t *out)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(time)(out);
    }
    const time_t now = (time_t)(weir__clock_wall() / WEIR_S);
    if (out != NULL) {
        *out = now;
    }
    return now;
}

int timespec_get(struct timespec *out, int base)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(timespec_get)(out, base);
    }
    *out = to_timespec(weir__clock_wall());
    return base;
}

/* ---- sleeps ---- */

static void sleep_for(weir_ns span, const weir__sim_site *site)
{
    weir__sim_step(site);
    weir__sim_flush(weir__sim.current);
    if (span > 0) {
        weir__sim_sleep_on(NULL, span);
    }
}

int nanosleep(const struct timespec *span, struct timespec *left)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(nanosleep)(span, left);
    }
    sleep_for(to_ns(span), WEIR__SIM_CALL("nanosleep"));
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *left)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(clock_nanosleep)(clock, flags, span, left);
    }
    const bool absolute = (flags & TIMER_ABSTIME) != 0;
    sleep_for(absolute ? weir__sim_deadline(span, clock) - weir__sim.now : to_ns(span),
              WEIR__SIM_CALL("clock_nanosleep"));
    return 0;
}

/* tidy-ok: it is defined here, not used */
int usleep(useconds_t span)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(usleep)(span);
    }
    sleep_for((weir_ns)span * WEIR_US, WEIR__SIM_CALL("usleep"));
    return 0;
}

unsigned sleep(unsigned span)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(sleep)(span);
    }
    sleep_for((weir_ns)span * WEIR_S, WEIR__SIM_CALL("sleep"));
    return 0;
}

int sched_yield(void)
{
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(sched_yield)();
    }
    weir__sim_give_way(WEIR__SIM_CALL("sched_yield"));
    return 0;
}

/* ---- poll: doorbells are simulated, all other descriptors are the system's ---- */

/* Looks once, without waiting. */
static int look(struct pollfd *descriptors, nfds_t count, bool *only_doorbells)
{
    int ready = 0;
    *only_doorbells = true;
    for (nfds_t i = 0; i < count; i++) {
        struct pollfd *one = &descriptors[i];
        one->revents = 0;
        if (weir__sim_is_doorbell(one->fd)) {
            one->revents = (short)(weir_sim_poll(one->fd, 0) ? one->events & POLLIN : 0);
        } else if (one->fd >= 0) {
            *only_doorbells = false;
            WEIR__SIM_REAL(poll)(one, 1, 0);
        }
        ready += one->revents != 0;
    }
    return ready;
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
    bool only_doorbells;
    if (!weir__sim_running()) {
        return WEIR__SIM_REAL(poll)(descriptors, count, timeout);
    }
    const weir_ns deadline =
        timeout < 0 ? WEIR_FOREVER : weir__sim.now + (weir_ns)timeout * WEIR_MS;
    for (;;) {
        const int ready = look(descriptors, count, &only_doorbells);
        if (ready > 0 || weir__sim.now >= deadline) {
            return ready;
        }
        const weir_ns left = deadline == WEIR_FOREVER ? WEIR_FOREVER : deadline - weir__sim.now;
        if (count == 1 && only_doorbells) {
            weir_sim_poll(descriptors[0].fd, left);
        } else { /* nobody tells us when a descriptor of the system is ready */
            sleep_for(left < POLL_NS ? left : POLL_NS, WEIR__SIM_CALL("poll"));
        }
    }
}

/* What poll is called in programs that are compiled with -D_FORTIFY_SOURCE. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): it is glibc's name */
WEIR_API int __poll_chk(struct pollfd *descriptors, nfds_t count, int timeout, size_t size);
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): it is glibc's name */
int __poll_chk(struct pollfd *descriptors, nfds_t count, int timeout, size_t size)
{
    WEIR_ASSERT(size / sizeof(*descriptors) >= count);
    return poll(descriptors, count, timeout);
}
