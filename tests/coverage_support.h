/*
 * coverage_support.h - the counters of a process that is about to die.
 *
 * gcov writes what has run when a process exits; one that ends by a signal or by _exit writes
 * nothing, and all that only a crash runs would count as never run. In a build with gcov a copy of
 * the process exits in its place. In any other build this is nothing, and no signal is touched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_COVERAGE_SUPPORT_H
#define WEIR_TEST_COVERAGE_SUPPORT_H

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* gcov's runtime; it is there or it is not. */
extern void __gcov_init(void *) __attribute__((weak)); /* NOLINT: the name is the compiler's */

static inline bool coverage_is_counted(void)
{
    return __gcov_init != NULL;
}

/* Writes what this process has counted, its end being near. The system's own fork: no hook of
 * anybody's may run in the copy, and gcov's would begin to count anew. */
static inline void keep_coverage(void)
{
    if (coverage_is_counted()) {
        const pid_t copy = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (copy == 0) {
            (void)alarm(20);
            exit(0);
        }
        (void)waitpid(copy, NULL, 0);
    }
}

/* A fork whose hooks count in the child: gcov's own forgets what ran before it. */
static inline pid_t fork_counted(void)
{
    pid_t (*volatile plain)(void) = fork; /* tidy-ok: the compiler would put gcov's in its place */
    return plain();
}

static inline _Noreturn void leave_counted(int code)
{
    keep_coverage();
    _exit(code);
}

/* Of a fatal signal: the default, but counted. */
static inline void die_counted(int number)
{
    keep_coverage();
    (void)signal(number, SIG_DFL);
    (void)raise(number); /* comes when the handler returns, if the fault itself does not */
}

/* The default action of a fatal signal. It is a handler where coverage is counted. */
static inline void set_default_action(int number)
{
    struct sigaction action = { .sa_handler = SIG_DFL };
    if (coverage_is_counted()) {
        action.sa_handler = die_counted;
        action.sa_flags = SA_ONSTACK;
    }
    (void)sigaction(number, &action, NULL);
}

static inline bool is_default_action(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) == 0 &&
           (action->sa_handler == SIG_DFL || action->sa_handler == die_counted);
}

#endif /* WEIR_TEST_COVERAGE_SUPPORT_H */
