/*
 * sync/thread.h - OS threads, cores, the thread-local pointer, fork, the clock, the doorbell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_THREAD_H
#define WEIR_SYNC_THREAD_H

#include "base/assert.h"
#include "sync/atomic.h"
#include "weir/thread.h"

/* ---- threads ---- */

/* Lives until the thread is joined. */
typedef struct weir__os_thread {
    uintptr_t handle; /* the starter's, for join */
    void (*run)(void *);
    void *argument;
} weir__os_thread;

/* 0, or an errno. Signals are blocked in the new thread: they are the application's. Open are those
 * that its own code causes (SIGSEGV and its like, SIGABRT): blocked, they would end the process
 * past every handler. */
int weir__os_thread_start(weir__os_thread *thread, void (*run)(void *), void *argument);
void weir__os_thread_join(weir__os_thread *thread);

/* Of the calling thread. Names are cut at 15 bytes. */
void weir__os_thread_name(const char *name);
int32_t weir__os_thread_id(void);
/* Of a thread of this process, by its id: how long it was on a core; on which one it ran last.
 * -1: not known, or it is gone. */
weir_ns weir__os_thread_cpu(int32_t id);
int32_t weir__os_thread_core(int32_t id);
/* Its sleeps end when they should: others are put together with what is due a little later. */
void weir__os_thread_precise(void);
/* 0, or an errno: EINVAL if a core of the list does not exist or may not be used; *wrong is it. */
int weir__os_thread_pin(const int32_t *cores, uint32_t count, int32_t *wrong);
/* Cores as bits: number n is bit n % 64 of word n / 64. */
#define WEIR__CORES_WORDS 16u
typedef struct weir__cores {
    uint64_t bits[WEIR__CORES_WORDS];
} weir__cores;
/* Those that the calling thread may run on; none: nobody knows. */
void weir__cores_allowed(weir__cores *out);
/* The calling thread runs on those, whatever the thread that started it was bound to. 0 or an
 * errno. */
int weir__os_thread_place(const weir__cores *cores);
int weir__os_thread_priority(weir_priority policy, int32_t value);

void weir__yield(void);
/* The core that the calling thread runs on at this moment; -1: not known. */
int32_t weir__os_core(void);

#ifdef WEIR_SIMULATED
void weir__pause(void);
#else
static inline void weir__pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#else
    weir__compiler_fence();
#endif
}
#endif

/* No signal handler of the application runs on the calling thread between the two. */
typedef struct weir__signals {
    uint64_t before[16];
} weir__signals;
void weir__signals_hold(weir__signals *held);
void weir__signals_release(const weir__signals *held);

/* Cores that this process may use: affinity mask, cut by the cgroup's quota. At least 1. */
uint32_t weir__cores_usable(void);

/* ---- the thread-local pointer ---- */

/* Its address for the calling thread; holds NULL at first. */
#ifdef WEIR_SIMULATED
void **weir__local(void);
#else
/* Initial-exec: one instruction to reach, and eight bytes of the static block are affordable even
 * for a library that is loaded late. */
extern WEIR__HIDDEN _Thread_local void *weir__local_pointer
    __attribute__((tls_model("initial-exec")));
static inline void **weir__local(void)
{
    return &weir__local_pointer;
}
#endif
/* `hook` gets the pointer of every thread that ends with one. Call once per process. 0 or errno. */
int weir__local_at_exit(void (*hook)(void *));
/* Arms the hook for the calling thread. */
void weir__local_arm(void);

/* `hook` runs in the child of every fork, on its one thread. Call once per process. 0 or errno. */
int weir__after_fork(void (*hook)(void));

/* ---- time and chance ---- */

weir_ns weir__clock_now(void);    /* monotonic */
weir_ns weir__clock_coarse(void); /* the same, some ms behind, at a fraction of the price */
weir_ns weir__clock_wall(void);   /* since 1970 */
/* So that the next look at the first one finds its way in the cache. */
static inline void weir__clock_warm(void)
{
#ifndef WEIR_SIMULATED
    (void)weir__clock_now();
#endif
}
uint64_t weir__random_seed(void); /* the system's chance: nobody outside can guess it */

/* ---- the doorbell of an external thread: a descriptor that can be polled ---- */

int weir__doorbell_open(void); /* the descriptor, or -errno */
void weir__doorbell_ring(int descriptor);
void weir__doorbell_clear(int descriptor);
void weir__doorbell_close(int descriptor);

#endif /* WEIR_SYNC_THREAD_H */
