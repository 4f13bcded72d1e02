/*
 * sync/real/poller.c - epoll(7) and timerfd_create(2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "sync/poller.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define LOOK_AT 16 /* at a time: that there is one is all that is asked */
#define DOORBELL (-1)

static int add(const weir__poller *poller, int descriptor, uint32_t events, int told_as)
{
    struct epoll_event event = { .events = events, .data.fd = told_as };
    return epoll_ctl(poller->descriptor, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : errno;
}

int weir__poller_open(weir__poller *poller, int doorbell, bool own)
{
    *poller = WEIR__POLLER_NONE;
    poller->doorbell = doorbell;
    poller->descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (poller->descriptor < 0) {
        return errno;
    }
    /* Edge-triggered, each ring is told once, and nobody has to read it. */
    const int failure = add(poller, doorbell, own ? EPOLLIN | EPOLLET : EPOLLIN, DOORBELL);
    if (failure != 0) {
        weir__poller_close(poller);
    }
    return failure;
}

void weir__poller_close(weir__poller *poller)
{
    if (poller->timer >= 0) {
        close(poller->timer);
    }
    if (poller->descriptor >= 0) {
        close(poller->descriptor);
    }
    *poller = WEIR__POLLER_NONE;
}

int weir__poller_watch(weir__poller *poller, int descriptor, bool readable, bool writable)
{
    const uint32_t events =
        (readable ? (uint32_t)EPOLLIN : 0) | (writable ? (uint32_t)EPOLLOUT : 0);
    struct epoll_event event = { .events = events, .data.fd = descriptor };
    if (events == 0) {
        /* One that was closed has left by itself. */
        (void)epoll_ctl(poller->descriptor, EPOLL_CTL_DEL, descriptor, &event);
        return 0;
    }
    if (epoll_ctl(poller->descriptor, EPOLL_CTL_MOD, descriptor, &event) == 0) {
        return 0;
    }
    return errno == ENOENT ? add(poller, descriptor, events, descriptor) : errno;
}

/* Milliseconds, rounded up: it is not to be over before it is. */
static int wait_coarsely(const weir__poller *poller, struct epoll_event *events, weir_ns timeout)
{
    const weir_ns ms = timeout / WEIR_MS + (timeout % WEIR_MS != 0 ? 1 : 0);
    const int most = timeout == WEIR_FOREVER ? -1 : ms > 1000000 ? 1000000 : (int)ms;
    return epoll_wait(poller->descriptor, events, LOOK_AT, most);
}

static int wait(const weir__poller *poller, struct epoll_event *events, weir_ns timeout)
{
    if (timeout == 0 || timeout == WEIR_FOREVER) {
        return wait_coarsely(poller, events, timeout);
    }
#ifdef SYS_epoll_pwait2
    const struct timespec span = { .tv_sec = (time_t)(timeout / WEIR_S),
                                   .tv_nsec = (long)(timeout % WEIR_S) };
    const long found =
        syscall(SYS_epoll_pwait2, poller->descriptor, events, LOOK_AT, &span, NULL, 0);
    if (found >= 0 || (errno != ENOSYS && errno != EPERM)) { /* a sandbox may know it not */
        return (int)found;
    }
#endif
    return wait_coarsely(poller, events, timeout);
}

weir__polled weir__poller_wait(weir__poller *poller, weir_ns timeout)
{
    struct epoll_event events[LOOK_AT];
    const int found = wait(poller, events, timeout > 0 ? timeout : 0);
    if (found == 0) {
        return WEIR__POLLED_TIME;
    }
    for (int i = 0; i < found; i++) {
        if (events[i].data.fd != DOORBELL) {
            return WEIR__POLLED_READY;
        }
    }
    return WEIR__POLLED_RUNG; /* an interruption, too */
}

int weir__poller_alarm(weir__poller *poller, weir_ns at)
{
    if (at == poller->alarm_at) {
        return 0;
    }
    if (poller->timer < 0) {
        poller->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        const int failure =
            poller->timer < 0 ? errno : add(poller, poller->timer, EPOLLIN, poller->timer);
        if (failure != 0) {
            return failure;
        }
    }
    const weir_ns when = at > 0 ? at : 1; /* 0 would be never */
    struct itimerspec setting = { .it_interval = { 0, 0 } };
    if (at != WEIR_FOREVER) {
        setting.it_value.tv_sec = (time_t)(when / WEIR_S);
        setting.it_value.tv_nsec = (long)(when % WEIR_S);
    }
    if (timerfd_settime(poller->timer, TFD_TIMER_ABSTIME, &setting, NULL) != 0) {
        return errno;
    }
    poller->alarm_at = at;
    return 0;
}
