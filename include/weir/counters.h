/*
 * weir/counters.h - what happened, in numbers. Reading disturbs nobody: cells with one writer
 * each.
 *
 * A snapshot is taken cell by cell. On a running engine its sums may be a few events apart, by
 * posts that were under way and then were refused; what is told to be accepted never falls, nor do
 * the times of a thread, as a counter must not. On a stopped one  accepted = handled + dropped +
 * dead + left  holds exactly, for the engine and for each processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_COUNTERS_H
#define WEIR_COUNTERS_H

#include "weir/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Set struct_size (INIT does); the library fills as much as both sides know. */
typedef struct weir_counters {
    size_t struct_size;
    uint64_t accepted, handled, dropped, dead, left;
    uint64_t refused_full, refused_stopping, refused_unknown, refused_other; /* never accepted;
                                                                                engine only */
    uint64_t dropped_newest, dropped_oldest;                                 /* of `dropped` */
    uint64_t unhandled;                                                      /* of `handled` */
    uint64_t depth; /* events accepted and not yet done, now */
    uint64_t rooms; /* places promised to room events, down events, answers and timers, now
                       (processor); room events that were sent (engine) */
    uint64_t processors, dispatchers, threads;             /* now; engine only, so all below */
    uint64_t block_bytes, block_bytes_high, block_refused; /* now, most ever, not given */
    uint64_t pool_bytes;                                   /* memory for envelopes, so far */
    uint64_t triggers; /* handled by event time (weir_processor_options); processor only */
    uint64_t stuck;    /* handlers and hooks that ran longer than stuck_after, so far */
    uint64_t retries;  /* times that an event was put off, to be handled again */
    uint64_t restarts;
    uint64_t broadcasts;   /* events, times the channels that each was for ... */
    uint64_t unheard;      /* ... of them: nobody listened there, or no such channel */
    uint64_t delivered;    /* copies of `accepted` that a broadcast made */
    uint64_t undelivered;  /* copies that were refused ... */
    uint64_t untold;       /* ... of them: the sender had no room to be told */
    uint64_t dead_failed;  /* of `dead`: its handler failed ... */
    uint64_t dead_stopped; /* ... or it waited in a mailbox that was ended; of a processor, too */
    uint64_t letters;      /* dead letters, whatever the reason (weir/dead_letter.h) ... */
    uint64_t letters_unknown; /* ... of refused_unknown, ... */
    uint64_t letters_refused; /* ... of refused_stopping, ... */
    uint64_t letters_late;    /* ... and answers after their timeout */
    uint64_t depth_high;      /* the most that `depth` was seen to be; processor only */
    uint64_t mailbox_max;     /* its bound; processor only */
    uint64_t failures;        /* answers of handlers that were failures; retried ones count again */
} weir_counters;
#define WEIR_COUNTERS_INIT WEIR_SIZED(weir_counters)

/* Any. Of the whole engine, also after its stop; of one processor. */
WEIR_API weir_status weir_engine_counters(weir_engine *engine, weir_counters *out);
WEIR_API weir_status weir_processor_counters(weir_engine *engine, weir_processor processor,
                                             weir_counters *out);

typedef struct weir_dispatcher_counters {
    size_t struct_size;
    uint64_t processors;       /* that belong to it, now */
    uint64_t threads;          /* that serve it, now */
    uint64_t ready;            /* processors in its queue, now */
    uint64_t handled;          /* events */
    uint64_t turns;            /* turns given to processors */
    uint64_t try_locks;        /* attempts at its lock */
    uint64_t try_locks_failed; /* contention = failed / attempts */
    uint64_t backoffs;         /* sleeps after a full round of failures ... */
    uint64_t backoff_ns;       /* ... and how long they were asked to last */
    uint64_t rounds;           /* looks at it: back-off rate = backoffs / rounds */
    uint64_t signals;          /* threads that were woken for it */
    uint64_t wakeups;          /* wake-ups of its threads, whatever for ... */
    uint64_t wakeups_found;    /* ... that found work here */
    uint64_t depth;            /* events that wait for its processors, now */
} weir_dispatcher_counters;
#define WEIR_DISPATCHER_COUNTERS_INIT WEIR_SIZED(weir_dispatcher_counters)

/* Control. UNKNOWN: no such dispatcher. */
WEIR_API weir_status weir_dispatcher_counters_get(weir_engine *engine, const char *dispatcher,
                                                  weir_dispatcher_counters *out);

typedef struct weir_thread_counters {
    size_t struct_size;
    uint64_t handled, turns;
    uint64_t rounds;      /* duty cycles ... */
    uint64_t rounds_idle; /* ... that found nothing */
    uint64_t parks;       /* times it slept until woken */
    uint64_t backoffs;    /* times it slept after contention */
    weir_ns first_work;   /* when its first turn began, 0 if none did ... */
    weir_ns last_work;    /* ... and when it last ran out of work, on the engine's clock */
    int32_t core;         /* the first one it is pinned to, -1: none */
    int32_t system_id;    /* of the OS thread, 0: not running */
    weir_ns alive;        /* since it began; and of that: */
    weir_ns busy;         /* with work, to a few rounds: utilisation = busy / alive */
    weir_ns cpu;          /* on a core, as the system counts it */
    int32_t core_now;     /* where it ran last, -1: not known */
} weir_thread_counters;
#define WEIR_THREAD_COUNTERS_INIT WEIR_SIZED(weir_thread_counters)

/* Any, also after the engine's stop. UNKNOWN: no such thread, or it was removed. */
WEIR_API weir_status weir_thread_counters_get(weir_engine *engine, weir_thread thread,
                                              weir_thread_counters *out);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_COUNTERS_H */
