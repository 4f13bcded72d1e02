/*
 * sync/real/stack.c - a stack, by way of tgkill and a signal handler.
 *
 * The one word `request` decides who writes `taken`. It holds the number of the thread that is
 * asked; that thread, in its handler, exchanges it for TAKING, and only then writes; a request that
 * is given up is taken back by an exchange, too. So a signal that comes late finds another number
 * there, or none, and nobody writes what somebody reads. A thread that is caught in the middle of
 * writing for longer than anybody waits keeps the memory: until it is done, there are no stacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "sync/stack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync/mutex.h"
#include "sync/real/backtrace.h"
#include "sync/thread.h"
#include "sync/word.h"

enum { SIGNAL = SIGURG };

#define LOOK_EVERY (10 * WEIR_MS) /* whether it is still there */

/* Values of `request` besides the numbers of threads, which are small. */
#define NOBODY 0u
#define TAKING UINT32_MAX
#define DONE (UINT32_MAX - 1)

static weir__mutex lock;         /* one asks at a time */
static weir__atomic_u32 request; /* a wait word */
static weir__stack taken;        /* whose writer has made `request` TAKING */
static struct sigaction before;  /* under the lock: what our handler stands in front of */

static void on_request(int number, siginfo_t *info, void *frame)
{
    const int saved = errno;
    uint32_t me = (uint32_t)weir__os_thread_id();
    (void)number;
    (void)info;
    /* [O1] pairs with [O2]: the last one who asked has read what was there. */
    if (weir__cas(&request, &me, TAKING, acquire, relaxed)) {
        taken.count = weir__backtrace_take(frame, taken.frames, WEIR__STACK_FRAMES);
        /* [O3] pairs with [O4]: the stack. */
        weir__store(&request, DONE, release);
        weir__word_wake(&request, INT32_MAX);
    }
    errno = saved;
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_request;
}

static bool is_nobodys(const struct sigaction *action)
{
    return is_ours(action) || ((action->sa_flags & SA_SIGINFO) == 0 &&
                               (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN));
}

bool weir__stack_prepare(void)
{
    struct sigaction now;
    sigset_t blocked;
    weir__backtrace_load();
    return sigaction(SIGNAL, NULL, &now) == 0 && is_nobodys(&now) &&
           pthread_sigmask(SIG_SETMASK, NULL, &blocked) == 0 && sigismember(&blocked, SIGNAL) == 0;
}

void weir__stack_admit(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void note_before(const struct sigaction *action)
{
    if (!is_ours(action)) {
        before = *action;
    }
}

/* False: the signal is somebody else's. */
static bool install(void)
{
    struct sigaction ours = { .sa_sigaction = on_request, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigaction now;
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGNAL, NULL, &now) != 0 || !is_nobodys(&now)) {
        return false;
    }
    note_before(&now); /* first: a fork may come between */
    if (sigaction(SIGNAL, &ours, &now) != 0) {
        return false;
    }
    if (!is_nobodys(&now)) { /* it came between the two */
        (void)sigaction(SIGNAL, &now, NULL);
        return false;
    }
    note_before(&now);
    return true;
}

static void put_back(void)
{
    struct sigaction now;
    /* Whoever came after us stays. */
    if (sigaction(SIGNAL, NULL, &now) == 0 && is_ours(&now)) {
        (void)sigaction(SIGNAL, &before, NULL);
    }
}

static bool is_there(uint32_t thread)
{
    return syscall(SYS_tgkill, getpid(), (pid_t)thread, 0) == 0;
}

/* Until the thread has answered; twice as long if it has begun to. One that was about to end may
 * have taken the signal along, though somebody has joined it: it is looked after. */
static bool await(uint32_t thread, weir_ns most)
{
    weir_ns end = weir__clock_now() + most;
    bool begun = false;
    for (;;) {
        /* [O4] pairs with [O3]. */
        uint32_t seen = weir__load(&request, acquire);
        const weir_ns left = end - weir__clock_now();
        if (seen == DONE) {
            return true;
        }
        if (left > 0 && is_there(thread)) {
            weir__word_wait(&request, seen, left < LOOK_EVERY ? left : LOOK_EVERY);
            continue;
        }
        if (begun || weir__cas(&request, &thread, NOBODY, relaxed, relaxed)) {
            return false;
        }
        begun = true; /* it is TAKING, or DONE by now */
        end += most;
    }
}

bool weir__stack_take(int32_t thread, weir_ns most, weir__stack *stack)
{
    bool answered = false;
    weir__mutex_lock(&lock);
    if (weir__load(&request, acquire) != TAKING && install()) {
        /* [O2] pairs with [O1]. */
        weir__store(&request, (uint32_t)thread, release);
        if (syscall(SYS_tgkill, getpid(), (pid_t)thread, SIGNAL) == 0) {
            answered = await((uint32_t)thread, most);
        } else {
            weir__store(&request, NOBODY, relaxed); /* it is gone: nobody else has that number */
        }
        put_back();
    }
    if (answered) {
        *stack = taken;
    }
    weir__mutex_unlock(&lock);
    return answered && stack->count > 0;
}

void weir__stack_frame_text(void *frame, char *out, size_t size)
{
    weir__backtrace_text(frame, out, size);
}

void weir__stack_after_fork(void)
{
    lock = (weir__mutex){ { 0 } };
    weir__store(&request, NOBODY, relaxed);
    put_back();
}
