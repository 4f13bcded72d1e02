/*
 * sync/crash_call.h - weir's handler of fatal signals, called like a function: with a signal that
 * never was, registers that were never saved, and a writer of the test's own.
 *
 * The program that includes this has a syscall(2) in front of the C library's, which notes timers,
 * signals and waits, and answers as the test wants it: no signal that the handler sends is sent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_CRASH_CALL_H
#define WEIR_TEST_CRASH_CALL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "inner_support.h"
#include "stderr_support.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "sync/crash.h"

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT };
enum { FATAL_SIGNALS = sizeof(fatal_signals) / sizeof(fatal_signals[0]) };

/* ---- the system's half ---- */

enum { WAIT_TIMES_OUT, WAIT_ENDS, WAIT_IS_REAL };

static struct {
    struct {
        bool refused;
        int id; /* given to the timer */
        int made, set, ended;
        clockid_t clock;
        struct sigevent event;
        struct itimerspec span;
        int set_id, ended_id;
    } timer;
    struct {
        bool refused; /* the first way */
        int count;
        pid_t process, thread;
        int number;
        siginfo_t info;
        int plain; /* by the second way */
        pid_t plain_process, plain_thread;
        int plain_number;
    } sent;
    struct {
        int kind;
        void (*before_real)(void);
        int count, wakes;
        struct timespec span;
        uint32_t woken;
    } wait;
    long thread; /* the calling thread's number; 0: as it is */
    int backtraces;
    void (*in_backtrace)(void);
} system_says;

static long (*real_syscall)(long, ...);

static long refuse(int number)
{
    errno = number;
    return -1;
}

static long answer_timer(long number, const long *a)
{
    if (number == SYS_timer_create) {
        system_says.timer.made++;
        system_says.timer.clock = (clockid_t)a[0];
        system_says.timer.event = *(const struct sigevent *)(uintptr_t)a[1];
        *(int *)(uintptr_t)a[2] = system_says.timer.refused ? 99 : system_says.timer.id;
        return system_says.timer.refused ? refuse(EAGAIN) : 0;
    }
    if (number == SYS_timer_settime) {
        system_says.timer.set++;
        system_says.timer.set_id = (int)a[0];
        system_says.timer.span = *(const struct itimerspec *)(uintptr_t)a[2];
        return (int)a[1] == 0 && a[3] == 0 ? 0 : refuse(EINVAL);
    }
    system_says.timer.ended++;
    system_says.timer.ended_id = (int)a[0];
    return 0;
}

static long answer_signal(long number, const long *a)
{
    if (number == SYS_rt_tgsigqueueinfo) {
        system_says.sent.count++;
        system_says.sent.process = (pid_t)a[0];
        system_says.sent.thread = (pid_t)a[1];
        system_says.sent.number = (int)a[2];
        system_says.sent.info = *(const siginfo_t *)(uintptr_t)a[3];
        return system_says.sent.refused ? refuse(EPERM) : 0;
    }
    system_says.sent.plain++;
    system_says.sent.plain_process = (pid_t)a[0];
    system_says.sent.plain_thread = (pid_t)a[1];
    system_says.sent.plain_number = (int)a[2];
    return 0;
}

/* True: it is done for real. */
static bool note_futex(const long *a, long *answer)
{
    if ((int)a[1] == FUTEX_WAKE_PRIVATE) {
        system_says.wait.wakes++;
        system_says.wait.woken = (uint32_t)a[2];
        return true;
    }
    system_says.wait.count++;
    system_says.wait.span = *(const struct timespec *)(uintptr_t)a[3];
    if (system_says.wait.kind == WAIT_IS_REAL) {
        system_says.wait.before_real();
        return true;
    }
    *answer = system_says.wait.kind == WAIT_ENDS ? 0 : refuse(ETIMEDOUT);
    return false;
}

static pthread_mutex_t noting = PTHREAD_MUTEX_INITIALIZER; /* guards system_says */

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved. */

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(list, long);
    }
    va_end(list);
    long answer = 0;
    bool real = false;
    (void)pthread_mutex_lock(&noting);
    switch (number) {
    case SYS_timer_create:
    case SYS_timer_settime:
    case SYS_timer_delete:
        answer = answer_timer(number, a);
        break;
    case SYS_rt_tgsigqueueinfo:
    case SYS_tgkill:
        answer = answer_signal(number, a);
        break;
    case SYS_futex:
        real = note_futex(a, &answer);
        break;
    case SYS_gettid:
        answer = system_says.thread;
        real = answer == 0;
        break;
    default:
        real = true;
    }
    (void)pthread_mutex_unlock(&noting);
    return real ? real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]) : answer;
}

/* There is no real frame below these calls. */
int backtrace(void **frames, int most)
{
    (void)frames;
    (void)most;
    system_says.backtraces++;
    if (system_says.in_backtrace != NULL) {
        system_says.in_backtrace();
    }
    return 0;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* ---- the writer ---- */

enum { PARTS_NOTED = 16 };

typedef bool (*writer_part)(uint32_t part);

static struct {
    writer_part act;
    weir__crash crash; /* as it was told last */
    uint32_t parts[PARTS_NOTED];
    uint32_t count;
} writer;

/* Two parts and no more. */
static inline bool two_parts(uint32_t part)
{
    if (part < 2) {
        weir__crash_write(part == 0 ? "first\n" : "second\n", part == 0 ? 6 : 7);
    }
    return part < 2;
}

static inline bool write_part(const weir__crash *crash, uint32_t part)
{
    writer.crash = *crash;
    if (writer.count < PARTS_NOTED) {
        writer.parts[writer.count] = part;
    }
    writer.count++;
    return writer.act(part);
}

/* ---- the call ---- */

/* A stack that can be read, above and below where the pointer stands. */
static char fake_stack[4 << 16];

static struct sigaction cmockas[FATAL_SIGNALS];
static const void *stack_pointer;                 /* of the next hit */
static void (*handler)(int, siginfo_t *, void *); /* weir's */
static char said[1 << 16];                        /* what the last call wrote to standard error */
static atomic_bool errno_is_kept;                 /* by every call */

static inline void application(int number, siginfo_t *info, void *frame)
{
    (void)number;
    (void)info;
    (void)frame;
}

static inline void set_action(int number, void (*action)(int, siginfo_t *, void *))
{
    const struct sigaction new = { .sa_sigaction = action, .sa_flags = SA_SIGINFO };
    assert_int_equal(0, sigaction(number, &new, NULL));
}

static inline struct sigaction action_of(int number)
{
    struct sigaction now;
    memset(&now, 0, sizeof(now));
    assert_int_equal(0, sigaction(number, NULL, &now));
    return now;
}

static inline bool is_action(int number, void (*action)(int, siginfo_t *, void *))
{
    const struct sigaction now = action_of(number);
    return (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == action;
}

/* Weir's handler is in front of the application's. Not in a fixture: cmocka's would be in front of
 * both. */
static inline void open_report(void)
{
    *(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
    memset(&system_says, 0, sizeof(system_says));
    memset(&writer, 0, sizeof(writer));
    writer.act = two_parts;
    errno_is_kept = true;
    stack_pointer = fake_stack + sizeof(fake_stack) / 2;
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        cmockas[i] = action_of(fatal_signals[i]);
        set_action(fatal_signals[i], application);
    }
    weir__crash_open(write_part);
    handler = action_of(SIGSEGV).sa_sigaction;
}

static inline void close_report(void)
{
    assert_true(errno_is_kept);
    weir__crash_close();
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        (void)sigaction(fatal_signals[i], &cmockas[i], NULL);
    }
}

static inline siginfo_t info_of(int number, int code)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = number;
    info.si_code = code;
    return info;
}

static inline ucontext_t frame_at(const void *top)
{
    ucontext_t frame;
    memset(&frame, 0, sizeof(frame));
#if defined(__x86_64__)
    frame.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)top;
#elif defined(__aarch64__)
    frame.uc_mcontext.sp = (uintptr_t)top;
#endif
    return frame;
}

/* What lay on the stack before must not matter. */
__attribute__((noinline)) static void dirty_the_stack(void)
{
    volatile unsigned char dirt[16384]; /* tidy-ok: stores that nobody reads */
    for (size_t i = 0; i < sizeof(dirt); i++) {
        dirt[i] = 0xff;
    }
}

/* The calling thread is hit by a signal. */
static inline void hit(siginfo_t info)
{
    ucontext_t frame = frame_at(stack_pointer);
    dirty_the_stack();
    errno = EXDEV;
    handler(info.si_signo, &info, &frame);
    if (errno != EXDEV) {
        errno_is_kept = false;
    }
}

/* The same, with standard error into `said`. */
static inline void hit_heard(siginfo_t info)
{
    const test_paper paper = test_hear();
    hit(info);
    test_heard(paper, said, sizeof(said));
}

#endif /* WEIR_TEST_CRASH_CALL_H */
