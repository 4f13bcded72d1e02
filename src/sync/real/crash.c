/*
 * sync/real/crash.c - sigaction, sigaltstack, and the way from a fatal signal to the process's
 * death by way of a report.
 *
 * What runs in a signal handler here calls async-signal-safe functions and plain system calls, and
 * backtrace(3), which is made to load what it needs beforehand. It runs with every signal blocked,
 * but while something is written the fatal ones are open: a second fault must come back here and
 * end the part that caused it, since one that is blocked would end the process by the wrong signal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "sync/crash.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sync/mutex.h"
#include "sync/real/backtrace.h"
#include "sync/thread.h"
#include "sync/word.h"

#define REPORT_SECONDS 3
#define OTHERS_REPORT (10 * WEIR_S) /* how long a second crash waits for the first to be told */
#define PARTS_MAX 8u
#define PART_STACK PARTS_MAX
#define STACK_NEAR 65536u /* an access so close to the stack pointer is the stack's */
#define STACK_BYTES 65536u
#define STACK_KEPT 64u /* of that, for what was there before */
#define WRITE_TRIES 100

static const struct {
    int number;
    const char *name;
} fatal[] = {
    { SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" },   { SIGILL, "SIGILL" },
    { SIGFPE, "SIGFPE" },   { SIGTRAP, "SIGTRAP" }, { SIGABRT, "SIGABRT" },
};
enum { FATAL = sizeof(fatal) / sizeof(fatal[0]) };

static weir__mutex lock; /* guards users; dispositions are changed under it, but for a hand-over */
static uint32_t users;

/* Written under the lock before the handler that reads them is in force. */
static weir__crash_writer report_writer;
static struct sigaction before[FATAL];
/* Which thread has handed a signal over to the disposition before. */
static weir__atomic_u32 handed_by[FATAL];

static weir__atomic_u32 reporter; /* a wait word: the thread that reports; 0: nobody */

/* The reporter's own; its signal handler interrupts itself. */
static sigjmp_buf way_out;
static weir__atomic_u32 guarded;     /* a part is being written: way_out leads out of it */
static weir__atomic_u32 out_of_time; /* nothing more is written */

/* ---- writing ---- */

static bool in_time(void)
{
    return weir__load(&out_of_time, relaxed) == 0;
}

void weir__crash_write(const char *text, size_t length)
{
    for (int tries = 0; length > 0 && tries < WRITE_TRIES && in_time(); tries++) {
        const ssize_t written = write(STDERR_FILENO, text, length);
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        } else if (errno == EAGAIN) {
            struct pollfd full = { .fd = STDERR_FILENO, .events = POLLOUT };
            (void)poll(&full, 1, 100);
        } else if (errno != EINTR) {
            return; /* closed, or nobody reads: there is no one to tell */
        }
    }
}

/* ---- one thread reports ---- */

/* False: somebody else has taken too long with it. */
static bool claim(uint32_t me)
{
    for (int tries = 0; tries < 3; tries++) {
        uint32_t other = 0;
        /* [O5] pairs with [O6]: the last reporter is done with what is static here. */
        if (weir__cas(&reporter, &other, me, acquire, relaxed)) {
            return true;
        }
        if (!weir__word_wait(&reporter, other, OTHERS_REPORT)) {
            return false;
        }
    }
    return false;
}

static void release(void)
{
    /* [O6] pairs with [O5]. */
    weir__store(&reporter, 0, release);
    weir__word_wake(&reporter, INT32_MAX);
}

/* ---- the deadline ---- */

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Sends `signal` to the calling thread when the time is over. The system's own calls: the C
 * library's may allocate. Returns the timer, or -1. */
static int deadline_begin(int signal, uint32_t me)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal };
    event.sigev_notify_thread_id = (pid_t)me;
    const struct itimerspec span = { .it_value = { .tv_sec = REPORT_SECONDS } };
    int timer = -1;
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) {
        return -1;
    }
    (void)syscall(SYS_timer_settime, timer, 0, &span, NULL);
    return timer;
}

static void deadline_end(int timer)
{
    if (timer >= 0) {
        (void)syscall(SYS_timer_delete, timer);
    }
}

/* ---- the report ---- */

static sigset_t fatal_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < FATAL; i++) {
        sigaddset(&set, fatal[i].number);
    }
    return set;
}

static weir__crash describe(int which, const siginfo_t *info, const void *frame, uint32_t me)
{
    const int number = fatal[which].number;
    weir__crash crash = { .signal = fatal[which].name, .thread = (int32_t)me };
    /* SI_KERNEL: the processor did not say where. */
    if ((number == SIGSEGV || number == SIGBUS) && info->si_code > 0 &&
        info->si_code != SI_KERNEL) {
        const uintptr_t stack = weir__frame_stack(frame);
        crash.has_address = true;
        crash.address = (uintptr_t)info->si_addr;
        crash.stack_overflow = number == SIGSEGV && crash.address < stack + STACK_NEAR &&
                               crash.address + STACK_NEAR >= stack;
    }
    return crash;
}

/* Writes one part. False: there is no such part. */
static bool attempt(const weir__crash *crash, uint32_t part, const void *frame)
{
    /* tidy-ok: out of a fault, and there is no other way but through the process's end */
    if (sigsetjmp(way_out, 1) != 0) {
        static const char sorry[] = "  (this part of the report crashed itself)\n";
        if (in_time()) {
            weir__crash_write(sorry, sizeof(sorry) - 1);
        }
        return true;
    }
    bool there = true;
    weir__store(&guarded, 1, relaxed);
    weir__compiler_fence();
    if (part != PART_STACK) {
        there = report_writer(crash, part);
    } else {
        weir__backtrace_write(frame);
    }
    weir__compiler_fence();
    weir__store(&guarded, 0, relaxed);
    return there;
}

/* A reader of standard error that has gone away must not decide how the process dies. */
static bool pipe_is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

static void forget_pipe(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    const struct timespec now = { 0 };
    (void)sigtimedwait(&set, NULL, &now);
}

/* False: there was nothing to say. */
static bool report(int which, const siginfo_t *info, const void *frame, uint32_t me)
{
    const weir__crash crash = describe(which, info, frame, me);
    const bool pipe_before = pipe_is_pending();
    const sigset_t open = fatal_set();
    sigset_t mask;
    weir__store(&out_of_time, 0, relaxed);
    pthread_sigmask(SIG_UNBLOCK, &open, &mask);
    const int timer = deadline_begin(fatal[which].number, me);
    bool said = false;
    for (uint32_t part = 0; part < PARTS_MAX && in_time() && attempt(&crash, part, frame); part++) {
        said = true;
    }
    if (said && in_time()) {
        (void)attempt(&crash, PART_STACK, frame);
    }
    deadline_end(timer);
    if (!pipe_before && pipe_is_pending()) {
        forget_pipe();
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return said;
}

/* ---- the end ---- */

/* The instruction is tried again when the handler returns; all other signals come once. */
static bool comes_again(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGSEGV || number == SIGILL || number == SIGFPE ||
                                 (number == SIGBUS && info->si_code != BUS_MCEERR_AO));
}

static void send_again(int number, const siginfo_t *info, uint32_t me)
{
    siginfo_t same = *info;
    /* It is blocked until the handler returns: then it hits where it hit. */
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)me, number, &same) != 0) {
        (void)syscall(SYS_tgkill, getpid(), (pid_t)me, number);
    }
}

static bool is_default(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) == 0 && action->sa_handler == SIG_DFL;
}

static void hand_over(int which, const siginfo_t *info, uint32_t me)
{
    const int number = fatal[which].number;
    const struct sigaction usual = { .sa_handler = SIG_DFL };
    /* A second time by one thread: two handlers hand it to each other, and it must end. */
    const bool again = weir__exchange(&handed_by[which], me, relaxed) == me;
    (void)sigaction(number, again ? &usual : &before[which], NULL);
    if (!comes_again(number, info)) {
        send_again(number, info, me);
    }
}

/* The reporter was interrupted: by a fault of the report, or because its time is over. */
static void interrupted(int which, const siginfo_t *info)
{
    if (info->si_code == SI_TIMER) {
        weir__store(&out_of_time, 1, relaxed);
    }
    if (weir__load(&guarded, relaxed) != 0) {
        weir__store(&guarded, 0, relaxed);
        siglongjmp(way_out, 1); /* tidy-ok: see attempt */
    }
    if (info->si_code != SI_TIMER) {
        const struct sigaction usual = { .sa_handler = SIG_DFL };
        (void)sigaction(fatal[which].number, &usual, NULL);
    }
}

static void on_fatal(int number, siginfo_t *info, void *frame)
{
    const int saved = errno;
    const uint32_t me = (uint32_t)weir__os_thread_id();
    int which = 0;
    while (which < FATAL - 1 && fatal[which].number != number) {
        which++;
    }
    if (weir__load(&reporter, relaxed) == me) {
        interrupted(which, info);
        errno = saved;
        return;
    }
    const bool sent =
        (info->si_code == SI_USER || info->si_code == SI_QUEUE) && info->si_pid != getpid();
    if (!sent && claim(me)) {
        const bool said = report(which, info, frame, me);
        if (!said || !is_default(&before[which])) {
            release();
        } /* else the process ends: nobody else begins to speak */
    }
    hand_over(which, info, me);
    errno = saved;
}

/* ---- open and close ---- */

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_fatal;
}

static void install(void)
{
    struct sigaction ours = { .sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigfillset(&ours.sa_mask);
    for (int i = 0; i < FATAL; i++) {
        struct sigaction now;
        /* Ours already: a child after fork, which opens again what its parent had open. */
        if (sigaction(fatal[i].number, NULL, &now) == 0 && !is_ours(&now)) {
            before[i] = now;
            weir__store(&handed_by[i], 0, relaxed);
            (void)sigaction(fatal[i].number, &ours, NULL);
        }
    }
}

void weir__crash_open(weir__crash_writer writer)
{
    weir__mutex_lock(&lock);
    if (users++ == 0) {
        report_writer = writer;
        weir__backtrace_load();
        install();
    }
    weir__mutex_unlock(&lock);
}

void weir__crash_close(void)
{
    weir__mutex_lock(&lock);
    if (--users == 0) {
        for (int i = 0; i < FATAL; i++) {
            struct sigaction now;
            /* Whoever came after us stays, and may pass signals on to us for ever. */
            if (sigaction(fatal[i].number, NULL, &now) == 0 && is_ours(&now)) {
                (void)sigaction(fatal[i].number, &before[i], NULL);
            }
        }
    }
    weir__mutex_unlock(&lock);
}

void weir__crash_after_fork(void)
{
    lock = (weir__mutex){ { 0 } };
    users = 0;
    weir__store(&reporter, 0, relaxed);
}

/* ---- the stack ---- */

size_t weir__crash_stack_size(void)
{
    size_t frame = 4096; /* what the kernel writes for one signal; two may meet */
#ifdef AT_MINSIGSTKSZ
    const size_t least = getauxval(AT_MINSIGSTKSZ);
    frame = least > frame ? least : frame;
#endif
    return (STACK_BYTES + 2 * frame + 63) & ~(size_t)63;
}

static stack_t stack_in(void *memory)
{
    return (stack_t){ .ss_sp = (char *)memory + STACK_KEPT,
                      .ss_size = weir__crash_stack_size() - STACK_KEPT };
}

void weir__crash_stack_begin(void *memory)
{
    _Static_assert(sizeof(stack_t) <= STACK_KEPT, "the one before fits in front");
    const stack_t ours = stack_in(memory);
    stack_t *kept = memory;
    *kept = (stack_t){ .ss_flags = SS_DISABLE };
    (void)sigaltstack(&ours, kept);
}

void weir__crash_stack_end(void *memory)
{
    const stack_t ours = stack_in(memory);
    const stack_t *kept = memory;
    stack_t now;
    /* A sanitizer unmaps the one it finds at the thread's end: that must be its own. */
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == ours.ss_sp) {
        (void)sigaltstack(kept, NULL);
    }
}
