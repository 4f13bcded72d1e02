/*
 * sync/sim/calibrate.c - what the scale model's costs are on this machine, measured.
 *
 * The one file of the simulator that uses the machine as it is: two real threads, each on a core of
 * its own, with real atomics and futexes. Costs of lines are measured over many lines at once, each
 * found through the one before, so that nothing is fetched ahead; each figure is the median of many
 * short measurements. A real-time priority, if it is allowed, keeps others away meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sync/sim/scale.h"

#define LINES 256u
#define SAMPLES 201u
#define REPEAT 64u
#define SLEEPS 41u
#define SLEEP_NS 10000
#define SPINS 20000u /* much longer than any answer takes whose thread is on its core */
/* The engine's code, per access: it has about eight in the time of a load that waits for another.
 * Found once, with handlers that do nothing (docs/scale.md). */
#define ACCESSES_PER_HIT 8.0

enum task { READ, LOCK, DOZE, END };

typedef struct cell {
    _Alignas(64) atomic_uint next;
} cell;

typedef struct pair {
    _Alignas(64) atomic_uint turn; /* 0: nobody's; 1: the partner's */
    enum task task;
    int core;
    bool realtime;
    double woken; /* written by the partner */
    _Alignas(64) atomic_uint word;
    _Alignas(64) atomic_uint up;
    cell cells[LINES];
} pair;

/* The system's own clock: a program that the simulator runs has another under that name. */
static int (*system_clock)(clockid_t, struct timespec *) = clock_gettime;

static void find_clock(void)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *found = libc != NULL ? dlsym(libc, "clock_gettime") : NULL;
    if (found != NULL) {
        memcpy(&system_clock, &found, sizeof(system_clock)); /* ISO C has no cast for it */
    }
}

static double now(void)
{
    struct timespec t;
    system_clock(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long futex(atomic_uint *word, int what, unsigned value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, what | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples, size_t count)
{
    qsort(samples, count, sizeof(samples[0]), compare);
    return samples[count / 2];
}

/* ---- two threads ---- */

/* Until the word is that. Whoever else wants this core gets it if that takes long: two processes
 * that measure at once have the same priority, and each would keep the other's partner off. */
static void await_word(const atomic_uint *word, unsigned wanted)
{
    for (unsigned spins = 0; atomic_load_explicit(word, memory_order_acquire) != wanted; spins++) {
        if (spins >= SPINS) {
            syscall(SYS_sched_yield);
        }
    }
}

/* To that core, and above everybody else there. False: the latter is not allowed. */
static bool settle_on(int core)
{
    const struct sched_param parameter = { .sched_priority = 1 };
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    sched_setaffinity(0, sizeof(set), &set);
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) == 0;
}

/* Goes through all lines, each named by the one before. */
static void pass(pair *p, enum task how)
{
    unsigned at = 0;
    for (unsigned i = 0; i < LINES; i++) {
        at = how == READ ? atomic_load_explicit(&p->cells[at].next, memory_order_relaxed)
                         : atomic_fetch_add(&p->cells[at].next, 0);
    }
    __asm__ volatile("" ::"r"(at));
}

static void doze(pair *p)
{
    atomic_store(&p->up, 1);
    while (atomic_load(&p->word) == 0) {
        futex(&p->word, FUTEX_WAIT, 0, NULL);
    }
    p->woken = now();
}

static void *partner(void *argument)
{
    pair *p = argument;
    settle_on(p->core);
    atomic_store(&p->turn, 0);
    for (;;) {
        await_word(&p->turn, 1);
        const enum task task = p->task;
        if (task == END) {
            return NULL;
        }
        if (task == DOZE) {
            doze(p);
        } else {
            pass(p, task);
        }
        atomic_store_explicit(&p->turn, 0, memory_order_release);
    }
}

static void begin_there(pair *p, enum task task)
{
    p->task = task;
    atomic_store_explicit(&p->turn, 1, memory_order_release);
}

static void await(pair *p)
{
    await_word(&p->turn, 0);
}

/* ---- lines ---- */

/* A ring through all of them, in an order that no prefetcher guesses. */
static void shuffle(pair *p)
{
    unsigned order[LINES];
    uint64_t chance = 1;
    for (unsigned i = 0; i < LINES; i++) {
        order[i] = i;
    }
    for (unsigned i = LINES - 1; i > 0; i--) {
        chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const unsigned k = (unsigned)((chance >> 33) % (i + 1));
        const unsigned kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    for (unsigned i = 0; i < LINES; i++) {
        atomic_init(&p->cells[order[i]].next, order[(i + 1) % LINES]);
    }
}

/* The last of the steps is timed, per line. "lR": there LOCK, here READ. */
static double lines_take(pair *p, const char *steps)
{
    double samples[SAMPLES];
    for (unsigned s = 0; s < SAMPLES; s++) {
        double span = 0;
        for (const char *step = steps; *step != '\0'; step++) {
            const enum task task = (*step | 32) == 'l' ? LOCK : READ;
            if (*step >= 'a') {
                begin_there(p, task);
                await(p);
            } else {
                const double begin = now();
                pass(p, task);
                span = now() - begin;
            }
        }
        samples[s] = span / LINES;
    }
    return median(samples, SAMPLES);
}

/* ---- what one core does ---- */

static void read_clock(atomic_uint *unused)
{
    (void)unused;
    (void)now();
}

static void pause_once(atomic_uint *unused)
{
    (void)unused;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

static void yield_once(atomic_uint *unused)
{
    (void)unused;
    syscall(SYS_sched_yield);
}

static void wake_nobody(atomic_uint *word)
{
    futex(word, FUTEX_WAKE, 1, NULL);
}

static double one_takes(void (*what)(atomic_uint *))
{
    static atomic_uint word;
    double samples[SAMPLES];
    for (unsigned s = 0; s < SAMPLES; s++) {
        const double begin = now();
        for (unsigned i = 0; i < REPEAT; i++) {
            what(&word);
        }
        samples[s] = (now() - begin) / REPEAT;
    }
    return median(samples, SAMPLES);
}

/* ---- sleeping ---- */

static void nap(long ns)
{
    static atomic_uint word;
    const struct timespec span = { 0, ns };
    futex(&word, FUTEX_WAIT, 0, &span);
}

static double sleeps_are_late(void)
{
    double samples[SLEEPS];
    for (unsigned s = 0; s < SLEEPS; s++) {
        const double begin = now();
        nap(SLEEP_NS);
        samples[s] = now() - begin - SLEEP_NS;
    }
    return median(samples, SLEEPS);
}

static void measure_wake(pair *p, weir__scale_costs *costs)
{
    double calls[SLEEPS];
    double latencies[SLEEPS];
    for (unsigned s = 0; s < SLEEPS; s++) {
        atomic_store(&p->word, 0);
        atomic_store(&p->up, 0);
        begin_there(p, DOZE);
        await_word(&p->up, 1);
        nap(200000); /* it sleeps by now; if not, one sample of many is off */
        const double begin = now();
        atomic_store(&p->word, 1);
        futex(&p->word, FUTEX_WAKE, 1, NULL);
        calls[s] = now() - begin;
        await(p);
        latencies[s] = p->woken - begin;
    }
    costs->wake = median(calls, SLEEPS);
    costs->latency = median(latencies, SLEEPS);
}

/* ---- all of it ---- */

static void measure_lines(pair *p, weir__scale_costs *costs)
{
    const double hit = lines_take(p, "LR");
    const double local = lines_take(p, "LL");
    costs->access = hit / ACCESSES_PER_HIT;
    costs->locked = local;
    if (p->core >= 0) {
        /* Whoever is interrupted in one of the two may find that there is nothing to transfer: then
         * it is what it was, the usual. */
        const double transfer = lines_take(p, "lR") - hit;
        costs->transfer = transfer >= 2 && transfer < 5000 ? transfer : costs->transfer;
        costs->read_takes = lines_take(p, "lRL") - local < costs->transfer / 2;
    }
}

static void measure_alone(pair *p, weir__scale_costs *costs)
{
    measure_lines(p, costs);
    costs->clock = one_takes(read_clock);
    costs->pause = one_takes(pause_once);
    costs->yield = one_takes(yield_once);
    costs->call = one_takes(wake_nobody);
    /* A real-time thread has exact timers. */
    costs->late = sleeps_are_late() - (p->realtime ? 0 : costs->slack);
    costs->late = costs->late > 0 ? costs->late : 0;
}

/* The first two cores that this process may use; -1: there is none. */
static void find_cores(const cpu_set_t *allowed, int found[2])
{
    int count = 0;
    found[0] = found[1] = -1;
    for (int i = 0; i < CPU_SETSIZE && count < 2; i++) {
        if (CPU_ISSET((size_t)i, allowed)) {
            found[count++] = i;
        }
    }
}

/* On a thread of its own, so that the caller's stays as it is. */
static void *measure(void *argument)
{
    weir__scale_costs *costs = argument;
    static pair p;
    pthread_t other;
    cpu_set_t allowed;
    int cores[2];
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    find_cores(&allowed, cores);
    shuffle(&p);
    p.core = cores[1];
    atomic_init(&p.turn, 1);
    const bool paired = p.core >= 0 && pthread_create(&other, NULL, partner, &p) == 0;
    if (!paired) {
        p.core = -1;
    } else {
        await(&p); /* before this thread is above all others: the new one may be on its core */
    }
    costs->slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    p.realtime = settle_on(cores[0] >= 0 ? cores[0] : 0);
    measure_alone(&p, costs);
    if (paired) {
        measure_wake(&p, costs);
        begin_there(&p, END);
        pthread_join(other, NULL);
    }
    return paired ? costs : NULL;
}

/* As they are printed, so that the printed ones give the same runs. */
static double rounded(double cost)
{
    return (double)(uint64_t)(cost * 100 + 0.5) / 100;
}

bool weir__scale_measure(weir__scale_costs *machine)
{
    pthread_t thread;
    void *paired = NULL;
    find_clock();
    if (pthread_create(&thread, NULL, measure, machine) != 0) {
        return false;
    }
    pthread_join(thread, &paired);
#define ROUND(name, value, about) machine->name = rounded(machine->name);
    WEIR__SCALE_COSTS(ROUND)
#undef ROUND
    return paired != NULL;
}
