/*
 * weir/thread.h - threads, the dispatchers they serve, and loops that are not weir's.
 *
 * A dispatcher is a name: it exists while a thread serves it. The default one is "". A thread
 * serves its dispatchers round-robin; several threads may serve one. An assignment is never
 * crossed.
 *
 *     weir_thread_add(engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("api", "rt")), &error);
 *
 * or the whole assignment in one call, a row a thread:
 *
 *     weir_assign(engine, WEIR_ROWS(WEIR_NAMES(""), WEIR_NAMES("api", "rt"), WEIR_NAMES("api")),
 *                 &error);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_THREAD_H
#define WEIR_THREAD_H

#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread does when it finds no work. docs/guide/threads.md has what each costs and how fast
 * it wakes. */
typedef enum weir_idle {
    WEIR_IDLE_DEFAULT = 0, /* backoff */
    WEIR_IDLE_BACKOFF,     /* "backoff": spin, yield, park; the spin adapts to the arrivals */
    WEIR_IDLE_PARK,        /* "park": sleep until woken */
    WEIR_IDLE_SLEEP,       /* "sleep": look again after idle_sleep */
    WEIR_IDLE_YIELD,       /* "yield": give the core away and look again */
    WEIR_IDLE_BUSY_SPIN,   /* "busy-spin": look again after a pause instruction */
    WEIR_IDLE_NOOP         /* "noop": look again at once */
} weir_idle;

/* Any. "backoff" <-> WEIR_IDLE_BACKOFF. Unknown names are WEIR_IDLE_DEFAULT, unknown numbers
 * NULL. */
WEIR_API weir_idle weir_idle_find(const char *name);
WEIR_API const char *weir_idle_name(weir_idle idle);

typedef enum weir_priority {
    WEIR_PRIORITY_DEFAULT = 0, /* as the thread that starts it */
    WEIR_PRIORITY_NICE,
    WEIR_PRIORITY_FIFO,
    WEIR_PRIORITY_ROUND_ROBIN
} weir_priority;

typedef struct weir_thread_options {
    size_t struct_size;
    const char *name;               /* unique; shown by the system too (15 bytes of it); default
                                       "weir-N" */
    const char *const *dispatchers; /* ends with NULL; default { "" }; at most 64; none: it is for
                                       services alone */
    weir_idle idle;
    weir_ns idle_spin_max; /* backoff: upper bound of its spin; default 20 us, WEIR_NOW: 0 */
    weir_ns idle_sleep;    /* sleep: default 1 ms */
    const int32_t *cores;  /* allowed cores; default: wherever the system likes. An external thread
                              is the application's own to pin */
    uint32_t core_count;
    bool core_required;     /* a core that cannot be had is an error, not a warning */
    weir_priority priority; /* refusal by the system is a warning */
    int32_t priority_value; /* for fifo and round-robin 1..99, for nice -20..19 */
    bool external;          /* the application turns it: weir_thread_run_once */
    weir_ns max_park;       /* one with a service that names no time to be called at does not sleep
                               for longer; default 1 ms */
} weir_thread_options;

#define WEIR_THREAD_OPTIONS_INIT WEIR_SIZED(weir_thread_options)
#define WEIR_THREAD(...) WEIR_OPTIONS(weir_thread_options, __VA_ARGS__)

/* Threads of weir's own that serve no dispatcher: those of timers ("weir-timer"), and those that
 * watch for stuck handlers, give away what held-up threads keep, and see to asynchronous stops
 * ("weir-watchdog", "weir-monitor", "weir-keeper"). As in weir_thread_options. */
typedef struct weir_helper_options {
    size_t struct_size;
    const char *name;     /* in place of "weir" in theirs; the system shows 15 bytes */
    const int32_t *cores; /* a core that cannot be had is a warning when the thread starts ... */
    uint32_t core_count;
    bool core_required;     /* ... or an error of weir_engine_create */
    weir_priority priority; /* refusal by the system is a warning */
    int32_t priority_value;
} weir_helper_options;

#define WEIR_HELPER_OPTIONS_INIT WEIR_SIZED(weir_helper_options)
#define WEIR_HELPER(...) WEIR_OPTIONS(weir_helper_options, __VA_ARGS__)

/* Control, also while the engine runs. Zero on error. At most 1,024 threads. */
WEIR_API weir_thread weir_thread_add(weir_engine *engine, const weir_thread_options *options,
                                     weir_error *error);

/*
 * Blocking, also while the engine runs. The thread finishes the turn it is in (this waits for it,
 * however long that takes) and hands on what it held; the other threads of its dispatchers go on. A
 * dispatcher is gone with its last thread: its name is unknown until a thread serves it again, and
 * then it begins afresh. OK: it is gone, and its handle UNKNOWN for ever after. ALREADY: another
 * call is removing it. UNKNOWN: no such thread. E_INVALID: a dispatcher that has processors would
 * be left without a thread (the error names it, and how many they are: move them first); it belongs
 * to a dedicated processor; the engine is stopping. Of an external one, a run_once under way
 * returns first, and those that come later answer E_INVALID; its descriptor is not to be polled any
 * more.
 */
WEIR_API weir_status weir_thread_remove(weir_engine *engine, weir_thread thread, weir_error *error);

/* Any. Zero: no such name. */
WEIR_API weir_thread weir_thread_find(weir_engine *engine, const char *name);

/* Control. Calls `visit` with each thread, until it answers false. The string is valid during the
 * call. */
WEIR_API void weir_thread_visit(weir_engine *engine,
                                bool (*visit)(void *context, weir_thread thread, const char *name),
                                void *context);

/*
 * Assignments: `thread-dispatcher-assignment` as it is, and its shorthand. Both only add threads,
 * so they combine with weir_thread_add.
 */
#define WEIR_ROWS(...) ((const char *const *const[]){ __VA_ARGS__, NULL })

/* Control. One thread a row, which serves the names in it; rows end with NULL, names too. All or
 * none. */
WEIR_API weir_status weir_assign(weir_engine *engine, const char *const *const *rows,
                                 weir_error *error);

typedef enum weir_strategy {
    WEIR_STRATEGY_PARTITION = 1, /* no dispatcher has a thread in common with another, as far as
                                    there are threads: thread i serves dispatchers i, i + threads,
                                    ...; spare threads double up, the first names first */
    WEIR_STRATEGY_SHARED, /* every thread serves every dispatcher, each starting at another */
    WEIR_STRATEGY_PER_DISPATCHER /* counts[i] threads for dispatchers[i], and for it alone */
} weir_strategy;

typedef struct weir_assignment_options {
    size_t struct_size;
    weir_strategy strategy;         /* required */
    const char *const *dispatchers; /* ends with NULL; required */
    uint32_t threads;               /* partition, shared: how many; default the usable cores */
    const uint32_t *counts;         /* per-dispatcher: one each; default 1 each */
    weir_idle idle;                 /* of all of them */
} weir_assignment_options;

#define WEIR_ASSIGNMENT_OPTIONS_INIT WEIR_SIZED(weir_assignment_options)
#define WEIR_ASSIGNMENT(...) WEIR_OPTIONS(weir_assignment_options, __VA_ARGS__)

/* Control. Expands to weir_thread_add. All or none. */
WEIR_API weir_status weir_assign_strategy(weir_engine *engine,
                                          const weir_assignment_options *options,
                                          weir_error *error);

typedef struct weir_dispatcher_options {
    size_t struct_size;
    const char *name;
    bool fair;            /* first waiting is first served: equal shares, less throughput */
    uint32_t batch_max;   /* of processors added later; default the engine's */
    weir_ns backoff_base; /* default the engine's, so the two below */
    weir_ns backoff_max;
    double backoff_multiplier;
} weir_dispatcher_options;

#define WEIR_DISPATCHER_OPTIONS_INIT WEIR_SIZED(weir_dispatcher_options)
#define WEIR_DISPATCHER(...) WEIR_OPTIONS(weir_dispatcher_options, __VA_ARGS__)

/* Control, before start. Tunes a dispatcher that some thread serves; E_INVALID, with the valid
 * names, else. */
WEIR_API weir_status weir_dispatcher_tune(weir_engine *engine,
                                          const weir_dispatcher_options *options,
                                          weir_error *error);

/* Control. Calls `visit` with each valid name, in the order of the threads as long as none was
 * removed. The string is valid during the call. Ends early when visit returns false. */
WEIR_API void weir_dispatcher_visit(weir_engine *engine,
                                    bool (*visit)(void *context, const char *name), void *context);

/*
 * External threads: weir inside poll, libuv, GLib, a game loop. The thread that turns it may
 * change, but never two at once (E_INVALID). The descriptor becomes readable when there is work and
 * stays so until a run_once has found the thread idle; it costs nothing while the application is
 * inside run_once.
 */

/* Any. A descriptor that weir owns: add it to a poll set, never read or close it. It is readable,
 * too, when a service on that thread is to be called: one of its own descriptors is ready, or the
 * time that it named has come; so no timeout of the poll needs to know of that. -1: not
 * external. */
WEIR_API int weir_thread_fd(weir_engine *engine, weir_thread thread);

/* The loop's thread. Handles at most `limit` events (0 = 256) and returns how many; 0: idle, go and
 * poll. Negative is a status. Runs handlers: everything said of handlers holds below this call. */
WEIR_API int32_t weir_thread_run_once(weir_engine *engine, weir_thread thread, uint32_t limit);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_THREAD_H */
