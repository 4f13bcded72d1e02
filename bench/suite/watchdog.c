/*
 * suite/watchdog.c - an alarm whose text is written before it is set: a signal handler may do no
 * more than write(2) it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suite/watchdog.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static char text[256];
static size_t text_length;

static void bark(int number)
{
    (void)number;
    const ssize_t written = write(STDERR_FILENO, text, text_length);
    (void)written; /* there is no other way to say it */
    _exit(1);
}

static void set_alarm(double seconds)
{
    const time_t whole = (time_t)seconds;
    const struct itimerval when = {
        .it_value = { whole, (suseconds_t)((seconds - (double)whole) * 1e6) },
    };
    (void)setitimer(ITIMER_REAL, &when, NULL);
}

void bench_watchdog_set(const char *what, double seconds)
{
    const struct sigaction action = { .sa_handler = bark };
    const int length =
        snprintf(text, sizeof(text), "%s has not ended after %g s: it hangs\n", what, seconds);
    text_length = length < (int)sizeof(text) ? (size_t)length : sizeof(text) - 1;
    (void)sigaction(SIGALRM, &action, NULL);
    set_alarm(seconds);
}

void bench_watchdog_clear(void)
{
    set_alarm(0);
}
