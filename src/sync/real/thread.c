/*
 * sync/real/thread.c - pthreads, affinity, priorities, clocks, eventfd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "sync/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"

#define SLACK_NS 1000UL /* the usual is 50 us */

/* ---- threads ---- */

static void *trampoline(void *memory)
{
    const weir__os_thread *thread = memory;
    thread->run(thread->argument);
    return NULL;
}

/* All signals but those that a thread's own code causes. */
static void fill_with_others(sigset_t *others)
{
    static const int own[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT };
    sigfillset(others);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        sigdelset(others, own[i]);
    }
}

_Static_assert(sizeof(sigset_t) <= sizeof(weir__signals), "there is room for it");

void weir__signals_hold(weir__signals *held)
{
    sigset_t others;
    sigset_t before;
    fill_with_others(&others);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    memcpy(held, &before, sizeof(before));
}

void weir__signals_release(const weir__signals *held)
{
    sigset_t before;
    memcpy(&before, held, sizeof(before));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int weir__os_thread_start(weir__os_thread *thread, void (*run)(void *), void *argument)
{
    thread->run = run;
    thread->argument = argument;
    sigset_t others;
    sigset_t before;
    fill_with_others(&others);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    pthread_t handle;
    const int failure = pthread_create(&handle, NULL, trampoline, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure == 0) {
        thread->handle = (uintptr_t)handle;
    }
    return failure;
}

void weir__os_thread_join(weir__os_thread *thread)
{
    const int failure = pthread_join((pthread_t)thread->handle, NULL);
    WEIR_ASSERT(failure == 0);
}

void weir__os_thread_name(const char *name)
{
    char text[16];
    snprintf(text, sizeof(text), "%s", name);
    pthread_setname_np(pthread_self(), text);
}

void weir__os_thread_precise(void)
{
    (void)prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0); /* refused: as before */
}

int32_t weir__os_thread_id(void)
{
    return (int32_t)syscall(SYS_gettid);
}

weir_ns weir__os_thread_cpu(int32_t id)
{
    /* The system's number for the CPU clock of one thread: what pthread_getcpuclockid answers, but
     * that wants a handle, which is nobody's once it is joined. */
    const clockid_t clock = (clockid_t)((~(unsigned)id << 3) | 6u);
    struct timespec t;
    return id > 0 && clock_gettime(clock, &t) == 0 ? (weir_ns)t.tv_sec * WEIR_S + t.tv_nsec : -1;
}

#define STAT_CORE 36 /* words behind the name, which is in brackets and may have any letters */

int32_t weir__os_thread_core(int32_t id)
{
    char path[64];
    char text[1024] = "";
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)id);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return -1;
    }
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    for (int word = 0; at != NULL && word <= STAT_CORE; word++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL ? (int32_t)strtol(at, NULL, 10) : -1;
}

int weir__os_thread_pin(const int32_t *cores, uint32_t count, int32_t *wrong)
{
    cpu_set_t allowed;
    cpu_set_t set;
    CPU_ZERO(&set);
    *wrong = count > 0 ? cores[0] : -1;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return errno;
    }
    for (uint32_t i = 0; i < count; i++) {
        /* A core outside the mask would be dropped silently by the kernel: refuse it ourselves. */
        if (cores[i] < 0 || cores[i] >= CPU_SETSIZE || !CPU_ISSET((size_t)cores[i], &allowed)) {
            *wrong = cores[i];
            return EINVAL;
        }
        CPU_SET((size_t)cores[i], &set);
    }
    return sched_setaffinity(0, sizeof(set), &set) == 0 ? 0 : errno;
}

void weir__cores_allowed(weir__cores *out)
{
    cpu_set_t set;
    *out = (weir__cores){ 0 };
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return;
    }
    for (size_t i = 0; i < 64 * (size_t)WEIR__CORES_WORDS && i < CPU_SETSIZE; i++) {
        out->bits[i / 64] |= CPU_ISSET(i, &set) ? UINT64_C(1) << i % 64 : 0;
    }
}

int weir__os_thread_place(const weir__cores *cores)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t i = 0; i < 64 * (size_t)WEIR__CORES_WORDS && i < CPU_SETSIZE; i++) {
        if ((cores->bits[i / 64] >> i % 64 & 1) != 0) {
            CPU_SET(i, &set);
        }
    }
    return CPU_COUNT(&set) == 0 || sched_setaffinity(0, sizeof(set), &set) == 0 ? 0 : errno;
}

int weir__os_thread_priority(weir_priority policy, int32_t value)
{
    if (policy == WEIR_PRIORITY_DEFAULT) {
        return 0;
    }
    if (policy == WEIR_PRIORITY_NICE) {
        return setpriority(PRIO_PROCESS, (id_t)weir__os_thread_id(), value) == 0 ? 0 : errno;
    }
    const struct sched_param parameter = { .sched_priority = value };
    const int kind = policy == WEIR_PRIORITY_FIFO ? SCHED_FIFO : SCHED_RR;
    return pthread_setschedparam(pthread_self(), kind, &parameter);
}

void weir__yield(void)
{
    sched_yield();
}

int32_t weir__os_core(void)
{
    return (int32_t)sched_getcpu();
}

/* Cores of quota by cgroup v2, rounded up; 0: no limit is readable. */
static uint32_t quota_cores(void)
{
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (file == NULL) {
        return 0;
    }
    char text[64] = "";
    const char *line = fgets(text, sizeof(text), file);
    fclose(file);
    if (line == NULL || strncmp(text, "max", 3) == 0) {
        return 0;
    }
    char *end = NULL;
    const unsigned long long quota = strtoull(text, &end, 10);
    const unsigned long long period = end != NULL ? strtoull(end, NULL, 10) : 0;
    if (quota == 0 || period == 0) {
        return 0;
    }
    const unsigned long long cores = (quota + period - 1) / period;
    return cores > 4096 ? 4096 : (uint32_t)cores;
}

uint32_t weir__cores_usable(void)
{
    cpu_set_t allowed;
    uint32_t count = 1;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 0) {
        count = (uint32_t)CPU_COUNT(&allowed);
    }
    const uint32_t quota = quota_cores();
    return quota != 0 && quota < count ? quota : count;
}

/* ---- the thread-local pointer ---- */

_Thread_local void *weir__local_pointer;
static pthread_key_t local_key;
static void (*local_hook)(void *);

static void run_local_hook(void *ignored)
{
    (void)ignored;
    if (weir__local_pointer != NULL) {
        local_hook(weir__local_pointer);
        weir__local_pointer = NULL;
    }
}

int weir__local_at_exit(void (*hook)(void *))
{
    local_hook = hook;
    return pthread_key_create(&local_key, run_local_hook);
}

void weir__local_arm(void)
{
    /* Any non-NULL value makes the destructor run. Without memory for it the thread's context is
     * given back at the engine's end instead. */
    (void)pthread_setspecific(local_key, &weir__local_pointer);
}

int weir__after_fork(void (*hook)(void))
{
    return pthread_atfork(NULL, NULL, hook);
}

/* ---- time and chance ---- */

static weir_ns read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (weir_ns)now.tv_sec * WEIR_S + now.tv_nsec;
}

weir_ns weir__clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

weir_ns weir__clock_coarse(void)
{
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

weir_ns weir__clock_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

/* Where the system refuses (a sandbox, a machine that has only just begun): better than the same
 * number every time, but a stranger may guess it. */
static uint64_t seed_of_clock(void)
{
    return (uint64_t)read_clock(CLOCK_MONOTONIC) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

uint64_t weir__random_seed(void)
{
    const int saved = errno;
    uint64_t seed = 0;
    const ssize_t got = getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
    errno = saved;
    return got == (ssize_t)sizeof(seed) ? seed : seed_of_clock();
}

/* ---- the doorbell ---- */

int weir__doorbell_open(void)
{
    const int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}

void weir__doorbell_ring(int descriptor)
{
    const int saved = errno;
    const uint64_t one = 1;
    ssize_t written;
    do { /* ends: each turn of it is an interruption */
        written = write(descriptor, &one, sizeof(one));
        /* EAGAIN means that it is readable already, which is all we want. */
    } while (written < 0 && errno == EINTR);
    errno = saved;
}

void weir__doorbell_clear(int descriptor)
{
    uint64_t count;
    const ssize_t ignored = read(descriptor, &count, sizeof(count));
    (void)ignored;
}

void weir__doorbell_close(int descriptor)
{
    close(descriptor);
}
