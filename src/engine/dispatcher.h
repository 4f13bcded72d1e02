/*
 * engine/dispatcher.h - a named queue of ready processors, and who sleeps beside it.
 *
 * push (any thread)  ->  intake (lock-free stack)  --taken whole, turned round-->  list  ->  take
 *                                                       (under the try-lock)
 *
 * A poster never waits for the lock: it pushes onto the intake. A thread that wants work *tries*
 * the lock; holding it, it takes the head of the list. When that is used up, the intake becomes the
 * list (a fair one moves it each time); before, its line is left to those who post. The lock covers
 * that and nothing else, never a handler.
 *
 * Sleeping and waking. A thread that runs out of work is first *searching*, then *parked*. Whoever
 * pushes wakes one parked thread, unless somebody is searching: a searcher looks again before it
 * parks, and when it finds work while more is left it wakes the next. So a burst costs one signal,
 * and no push is missed:
 *
 *     poster:  push (seq_cst)            parker:  set own parked bit (seq_cst)
 *              look at parked, searching          look at every intake and list
 *
 * at least one of the two sees the other.
 *
 * Where more threads serve it than there are cores the monitor may bound how many are up
 * (engine/monitor.c). A push that finds so many up wakes nobody: one that is up looks before it
 * parks, and should all of them be held up in handlers, the monitor raises the bound and looks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_DISPATCHER_H
#define WEIR_ENGINE_DISPATCHER_H

#include "engine/backoff.h"
#include "sync/atomic.h"
#include "sync/mutex.h"
#include "weir/base.h"

#define WEIR__THREADS_MAX 1024u
#define WEIR__THREAD_WORDS (WEIR__THREADS_MAX / 64)
#define WEIR__DISPATCHERS_MAX 4096u

struct weir__processor;
struct weir__serving;
struct weir__thread;

typedef struct weir__dispatcher {
    /* Under the lock; length readable by all. */
    _Alignas(64) weir__trylock lock;
    weir__atomic_u32 length;
    struct weir__processor *head, *tail;
    uint64_t waits_begun; /* fair: numbers for those who wait, first come first served */

    /* Posters. */
    _Alignas(64)
        weir__atomic_u64 intake; /* newest first: address / 64 in 42 bits, how many in 22 */

    /* Threads that park, posters that wake. One bit per thread of the engine. */
    _Alignas(64) weir__atomic_i32 searching;
    weir__atomic_u64 signals; /* threads woken for it */
    weir__atomic_u64 parked[WEIR__THREAD_WORDS];
    weir__atomic_u64 parked_external[WEIR__THREAD_WORDS];

    /* Held back while inits run (phase STARTING). */
    _Alignas(64) WEIR__ATOMIC(struct weir__processor *) held;

    /* Read-mostly. */
    _Alignas(64) weir_engine *engine;
    char *name;
    uint32_t index;
    bool fair;
    bool dedicated; /* belongs to one processor */
    weir__backoff_board backoff;
    weir__backoff_plan backoff_own;                /* under registry.lock; 0: the engine's */
    uint32_t batch_max;                            /* the same */
    weir__atomic_u32 awake_max;                    /* the monitor: so many threads of weir's own may
                                                      be up; 0: all (engine/monitor.c) */
    weir__atomic_u32 threads;                      /* that serve it ... */
    weir__atomic_u32 threads_external;             /* ... of them turned by the application */
    weir__atomic_u64 processors;                   /* under registry.lock, so the two below */
    uint32_t leaving;                              /* of `threads`: those that are being removed */
    uint32_t users;                                /* seats that have it in their list; 0, and no
                                                      processors: the record may have a new name */
    WEIR__ATOMIC(struct weir__serving *) servings; /* of its threads: a list that only grows */
} weir__dispatcher;

/* Any thread that may touch the processor (its poster at the ready edge, or its owner). Async-
 * signal-safe. Wakes at most one thread. */
void weir__dispatcher_push(weir__dispatcher *dispatcher, struct weir__processor *processor);

/* The same without a wake-up: the pusher will look itself. */
void weir__dispatcher_push_quiet(weir__dispatcher *dispatcher, struct weir__processor *processor);

typedef enum weir__take {
    WEIR__TAKE_EMPTY,  /* visibly nothing there: the lock was not tried */
    WEIR__TAKE_NONE,   /* the lock was taken, the queue was empty */
    WEIR__TAKE_FAILED, /* the lock is held by another thread */
    WEIR__TAKE_WAIT,   /* fair: somebody who waits longer is first */
    WEIR__TAKE_GOT
} weir__take;

/* A chain of them, linked by ready_next, goes where each belongs now. Whoever has them, and may
 * push there. */
void weir__processors_pass_on(struct weir__processor *first);
/* Any thread that may push there, and where they belong now (engine/processor.h). What lies in the
 * queue and was moved goes on to where it belongs. False: the lock could not be had by `deadline`.
 * */
bool weir__dispatcher_pass_moved(weir__dispatcher *dispatcher, weir_ns deadline);

/* registry.lock held. True: processors may be put there. */
static inline bool weir__dispatcher_is_served(const weir__dispatcher *dispatcher)
{
    weir__dispatcher *d = (weir__dispatcher *)(uintptr_t)dispatcher;
    return weir__load(&d->threads, relaxed) > d->leaving;
}

/* The same. True: a thread of weir's own can run inits before the engine runs. */
static inline bool weir__dispatcher_runs_inits(const weir__dispatcher *dispatcher)
{
    weir__dispatcher *d = (weir__dispatcher *)(uintptr_t)dispatcher;
    return weir__load(&d->threads, relaxed) - weir__load(&d->threads_external, relaxed) >
           d->leaving;
}

/* Processors in the queue, now. */
uint32_t weir__dispatcher_ready(const weir__dispatcher *dispatcher);

/* A thread that serves the dispatcher; `place` is the dispatcher's index in that thread's list. */
weir__take weir__dispatcher_take(weir__dispatcher *dispatcher, struct weir__thread *thread,
                                 uint32_t place, struct weir__processor **out);

static inline bool weir__dispatcher_has_work(const weir__dispatcher *dispatcher)
{
    weir__dispatcher *d = (weir__dispatcher *)(uintptr_t)dispatcher;
    return weir__load(&d->intake, seq_cst) != 0 || weir__load(&d->length, seq_cst) != 0;
}

/* The same, with no look at what posters write to if the list says so already. */
static inline bool weir__dispatcher_has_more(const weir__dispatcher *dispatcher)
{
    weir__dispatcher *d = (weir__dispatcher *)(uintptr_t)dispatcher;
    return weir__load(&d->length, relaxed) != 0 || weir__dispatcher_has_work(d);
}

/* With `more` threads up there would be more than the monitor allows: those that are up get on, and
 * would share their cores with them. */
bool weir__dispatcher_is_crowded(weir__dispatcher *dispatcher, uint32_t more);

/* Wakes one parked thread if there is one, nobody searches, and it is not crowded. The caller has
 * just published work, or stopped searching, by a seq_cst step. Async-signal-safe. */
void weir__dispatcher_wake(weir__dispatcher *dispatcher);
/* The same by one of its threads that is up and about to sleep, or leave: it does not count. */
void weir__dispatcher_wake_instead(weir__dispatcher *dispatcher);
/* Rings for one idle external thread, if there is one. */
void weir__dispatcher_wake_external(weir__dispatcher *dispatcher);

#endif /* WEIR_ENGINE_DISPATCHER_H */
