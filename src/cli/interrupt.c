/*
 * cli/interrupt.c - see interrupt.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static sigset_t both(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

int weir__interrupt_open(void)
{
    const sigset_t set = both();
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
        return -1;
    }
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool weir__interrupt_wait(int descriptor, weir_ns timeout)
{
    struct pollfd poll_set = { .fd = descriptor, .events = POLLIN };
    /* Rounded up: rounded down it would spin through the last millisecond. */
    const weir_ns milliseconds = timeout > 0 ? (timeout + WEIR_MS - 1) / WEIR_MS : 0;
    if (poll(&poll_set, 1, (int)milliseconds) <= 0) {
        return false;
    }
    struct signalfd_siginfo info;
    return read(descriptor, &info, sizeof(info)) == (ssize_t)sizeof(info);
}

void weir__interrupt_close(int descriptor)
{
    const sigset_t set = both();
    close(descriptor);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}
