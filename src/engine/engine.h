/*
 * engine/engine.h - the engine's own struct: what the rooms' parts have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_ENGINE_H
#define WEIR_ENGINE_ENGINE_H

#include "engine/channel.h"
#include "engine/context.h"
#include "engine/dead_letter.h"
#include "engine/dispatcher.h"
#include "engine/down.h"
#include "engine/helper.h"
#include "engine/registry.h"
#include "engine/reshape.h"
#include "engine/scheduler.h"
#include "engine/thread.h"
#include "engine/waiter.h"
#include "observe/log.h"
#include "observe/recorder.h"
#include "queue/pool.h"
#include "sync/mutex.h"
#include "weir/weir.h"

/*
 * The life of an engine. It only moves down this list (a failed start excepted, which goes back to
 * CREATED). Posts from outside are accepted before STOPPING, posts by handlers before CLOSING;
 * threads leave from ABANDONED on.
 */
typedef enum weir__phase {
    WEIR__CREATED,
    WEIR__STARTING, /* threads run inits, and hold everything else back */
    WEIR__RUNNING,
    WEIR__STOPPING,  /* draining */
    WEIR__CLOSING,   /* nothing is in flight; destroy hooks run */
    WEIR__ABANDONED, /* the stop ran out of time: no handler begins any more */
    WEIR__EXITING,   /* all is done; threads leave */
    WEIR__FORKED,    /* a child's copy of its parent's engine: nothing works */
} weir__phase;

#define WEIR__ROOM_WAITS 64 /* buckets of OS threads that wait for room (overflow = block) */

typedef struct weir__room_wait {
    _Alignas(64) weir__atomic_u32 word; /* changes when room may have appeared */
    weir__atomic_u32 waiters;
} weir__room_wait;

/* Recordings (engine/trace.c). */
typedef struct weir__tracing {
    weir__atomic_u32 on;                     /* a hint: `recorder` is worth a look; which it is */
    WEIR__ATOMIC(weir__recorder *) recorder; /* NULL: nothing is recorded */
    weir__mutex lock;                        /* guards the two above against each other, and: */
    weir__recorder *kept;                    /* the last one, on or over; or NULL */
    uint64_t serial;                         /* recordings so far */
} weir__tracing;

/* All that live of an engine (engine/traceparent.c): what a stop has left does not end, and would
 * keep its carriers. */
typedef struct weir__carriers {
    weir__brief lock;
    struct weir__carrier *first;
} weir__carriers;

/* What the end of an engine asks of the host room. */
typedef struct weir__host_hooks {
    void (*stop)(weir_engine *engine);  /* before the engine does, if nobody has */
    void (*end)(weir_engine *engine);   /* no thread runs any more, all else is there */
    void (*close)(weir_engine *engine); /* only memory is left */
} weir__host_hooks;

struct weir_engine {
    /* Read by everyone on every post, written at transitions. */
    weir__atomic_u32 phase;
    weir__atomic_u32 attention;     /* != 0: a freeze is under way or done; look closer */
    weir__atomic_u32 monitoring;    /* a wait word (engine/monitor.h) */
    weir__atomic_u32 watching;      /* a wait word (engine/watchdog.h) */
    weir__atomic_u32 latency_every; /* one event in so many is stamped (engine/stamp.h) */
    weir__atomic_u32 pressed;       /* feeds that wait for room somewhere (engine/fed.h) */
    uint64_t serial;        /* unique in the process; its lowest 8 bits are in every handle */
    weir__tracing tracing;  /* its first word belongs to these */
    weir__mutex count_lock; /* taken for counting while attention is set */
    weir__registry registry;
    weir__stores stores; /* what mailboxes are made of */
    weir_allocator allocator;
    weir_engine_options options; /* defaults filled in */
    char *name;
    weir__log log;
    weir__log_gate unhandled_gate, failed_gate, restart_gate, escalate_gate; /* one a second each */

    weir__pool blocks[WEIR__BLOCK_CLASSES];
    _Alignas(64) weir__atomic_u64 block_bytes;
    weir__atomic_u64 block_bytes_high;
    weir__atomic_u64 block_refused;
    weir__atomic_u64 blocks_out;
    weir__mutex tracked_lock; /* guards the list of blocks that the end must find */
    weir_block *tracked;

    weir__channels channels;
    WEIR__ATOMIC(struct weir__routers *) routers; /* the flow room's, or NULL; set once ... */
    void (*routers_close)(weir_engine *engine);   /* ... with this */
    WEIR__ATOMIC(struct weir__host *) host;       /* the host room's, or NULL; set once ... */
    const weir__host_hooks *host_hooks;           /* ... with these */
    /* In a start, when the threads run and every init has passed: no event is handled before it
     * answers OK. Or NULL. Under registry.lock. */
    weir_status (*host_starting)(weir_engine *engine, weir_error *error);
    WEIR__ATOMIC(struct weir__feeds *) feeds; /* the feed room's, or NULL; set once ... */
    const struct weir__fed_hooks *fed;        /* ... with this (engine/fed.h) */
    weir__atomic_u64 placed;                  /* grows when it changes who runs what, or where */
    WEIR__ATOMIC(struct weir__admin *) admin; /* the host room's, the same */
    void (*admin_close)(weir_engine *engine);
    WEIR__ATOMIC(struct weir__metrics *) metrics; /* the metric room's, the same */
    void (*metrics_close)(weir_engine *engine);
    weir__atomic_u32 metrics_processors_max; /* as its configuration says; 0: the default */
    weir_ns born, born_wall;                 /* when it was created, by both clocks */

    _Alignas(64) WEIR__ATOMIC(weir__context *) contexts; /* a list that only grows */
    WEIR__ATOMIC(struct weir__signal_ring *) signals;    /* a list that only grows, too */

    weir__atomic_u32 room_waiters; /* in all of them: a stop looks at one word, not at 64 */
    weir__room_wait room_waits[WEIR__ROOM_WAITS];
    weir__room_wait feed_wait; /* publishers that wait for a subscriber */

    /* Threads and dispatchers: added under registry.lock, published by their counts. */
    WEIR__ATOMIC(weir__thread *) threads[WEIR__THREADS_MAX];
    weir__atomic_u32 thread_count;
    weir__dispatcher *dispatchers[WEIR__DISPATCHERS_MAX];
    weir__atomic_u32 dispatcher_count;
    bool default_threads_made;      /* under registry.lock, so the next one */
    uint32_t default_threads;       /* of them, so far */
    weir__mutex start_lock;         /* held by a start from begin to end */
    weir__atomic_u32 threads_ready; /* a wait word: threads that have reported at start */
    weir__atomic_u32 threads_out;   /* a wait word: threads that have left */

    /* Stop (engine/shutdown.c). */
    weir__atomic_u32
        progress; /* a wait word: changes when a thread runs out of work or a hook ends */
    weir__atomic_u32 stop_done; /* a wait word: 0, 1 a stop has begun, 2 it has ended */
    weir__atomic_u32 frozen;    /* ABANDONED: 1 nothing is accepted, 2 the numbers are fixed */
    weir__phase stop_from;      /* under registry.lock: the phase that the stop has ended */
    weir_status stop_status;    /* written before stop_done = 2 */
    weir_stop_report stop_report;
    weir__mutex look_lock;   /* of who adds all counters up */
    uint64_t accepted_told;  /* under look_lock: the most that anybody was told */
    weir_error *start_error; /* under registry.lock: where a failed init reports */
    weir__atomic_u32 start_failed;
    weir__atomic_u32 inits_awaited; /* before RUNNING: inits that the start waits for */
    struct weir__keeper *keeper;    /* under registry.lock: asynchronous stops */
    struct weir__monitor *monitor;  /* under registry.lock: looks after what threads keep */
    weir__helper_plan scheduler_plan, helper_plan; /* written at create */
    weir__helper watchdog_helper, monitor_helper, keeper_helper;
    weir__atomic_u64 tending; /* the monitor's mark */

    /* Timers (engine/scheduler.h). Made under registry.lock. */
    WEIR__ATOMIC(struct weir__scheduler *) schedulers[WEIR__SCHEDULERS_MAX];
    weir__atomic_u32 scheduler_turn; /* whose turn it is to be chosen by a thread */
    weir__atomic_u32 timers_left;    /* of timers_max, that no scheduler has taken */
    weir__mutex credit_lock;         /* held while some are taken */

    weir__waiters waiters; /* threads that wait for an answer */

    /* The watchdog (engine/watchdog.c). */
    struct weir__watchdog *watchdog; /* under registry.lock */
    weir__atomic_u32 stacks;         /* threads can be asked for theirs; written by the start */
    weir__mutex watch_lock;
    weir__watched *watched;    /* a list; under watch_lock */
    weir__cell stuck;          /* handlers and hooks that were reported; the watchdog writes it */
    uint64_t agent_ids;        /* given so far; under registry.lock */
    weir__watches watches;     /* under registry.lock (engine/down.h) */
    weir__letters letters;     /* engine/dead_letter.h */
    weir__atomic_u64 stampers; /* contexts that have begun to stamp */
    weir__latency_rules latencies; /* under registry.lock (engine/latency.h) */
    weir__carriers carriers;
    /* What it was made from, if that was a configuration (the settings room's). */
    weir__mutex configure_lock; /* held while another one is applied */
    weir__configured configured;
    struct weir_engine *next_alive;
};

static inline weir__phase weir__engine_phase(const weir_engine *engine)
{
    return (weir__phase)weir__load((weir__atomic_u32 *)(uintptr_t)&engine->phase, acquire);
}

/* Contexts, threads and dispatchers only grow in number. Whoever reads the number, or the head of
 * the list, with these finds all that it speaks of complete: [V4] pairs with [V1] and [V5], [X4]
 * with [X3]. What stands behind a head was there before it. */
static inline weir__context *weir__contexts_first(weir_engine *engine)
{
    return weir__load(&engine->contexts, acquire); /* [X4] */
}

static inline weir__context *weir__contexts_next(weir__context *context)
{
    return weir__load(&context->next, relaxed);
}

static inline uint32_t weir__threads_count(weir_engine *engine)
{
    return weir__load(&engine->thread_count, acquire); /* [V4] */
}

static inline weir__thread *weir__thread_at(weir_engine *engine, uint32_t index)
{
    return weir__load(&engine->threads[index], relaxed);
}

static inline uint32_t weir__dispatchers_count(weir_engine *engine)
{
    return weir__load(&engine->dispatcher_count, acquire); /* [V4] */
}

/* Frees what an event lay in, if it lay alone: to the context's stock, or home. */
void weir__lone_put(weir__context *context, weir__lone *lone);

/* Sums over all contexts. What is done is everything that a post or a hook can end in: read before
 * what was begun, equality proves that nothing was in flight at a moment between. */
typedef struct weir__sums {
#define WEIR__SUMS_FIELD(name) uint64_t name;
    WEIR__TALLY_MAP(WEIR__SUMS_FIELD)
#undef WEIR__SUMS_FIELD
} weir__sums;
/* What is done first. */
void weir__engine_sums(weir_engine *engine, weir__sums *sums);

/* Threads, dispatchers. Called with registry.lock held. */
weir__dispatcher *weir__dispatcher_find(weir_engine *engine, const char *name);
/* The same for somebody who is to be put there, the default one made if it is due. NULL: no such
 * name, or not for others; the error at `path` has the valid ones. */
weir__dispatcher *weir__dispatcher_wanted(weir_engine *engine, const char *name, const char *path,
                                          weir_error *error);
/* Writes the valid names, quoted, with commas, cut at `size`. */
void weir__dispatcher_names(weir_engine *engine, char *out, size_t size);

weir__thread *weir__thread_by_name(weir_engine *engine, const char *name);
/* The threads that options.threads asks for; wanted unless they exist or others were added. */
bool weir__engine_wants_default_threads(const weir_engine *engine);
weir_status weir__engine_default_threads(weir_engine *engine, weir_error *error);
/* A thread and a dispatcher for one processor; and its start, if the engine runs. */
weir__thread *weir__engine_dedicated_thread(weir_engine *engine, const char *name,
                                            weir_error *error);
weir_status weir__engine_start_dedicated(weir_engine *engine, weir__thread *thread,
                                         weir_error *error);
void weir__dispatchers_free(weir_engine *engine);
/* Waits until a started thread has reported, which it does without the lock. */
weir_status weir__thread_await(weir__thread *thread, weir_error *error);

/* All but external ones look at the phase. */
void weir__engine_wake_threads(weir_engine *engine);

/* Says that something ended for which a stop or start may be waiting. Any thread. */
void weir__engine_progress(weir_engine *engine);
/* The same, only while a stop is under way: one load otherwise. */
void weir__engine_progress_if_stopping(weir_engine *engine);

/* Waits on one of the engine's wait words until `deadline` (monotonic; WEIR_FOREVER: none). */
bool weir__wait_until(weir__atomic_u32 *word, uint32_t seen, weir_ns deadline);
weir_ns weir__deadline(weir_ns timeout, weir_ns when_zero);

/* The calling thread's context for this engine, if it is the one that it used last; else NULL: find
 * it. */
static inline weir__context *weir__context_at_hand(const weir_engine *engine)
{
    const weir__attached *attached = *weir__local();
    const weir__attachment *last = weir__likely(attached != NULL) ? attached->first : NULL;
    return weir__likely(last != NULL && last->engine == engine && last->serial == engine->serial)
               ? last->context
               : NULL;
}

#endif /* WEIR_ENGINE_ENGINE_H */
