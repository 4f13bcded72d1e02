/*
 * engine/thread.h - a thread: the dispatchers it serves, its duty cycle, how it idles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_THREAD_H
#define WEIR_ENGINE_THREAD_H

#include "engine/busy.h"
#include "engine/context.h"
#include "engine/dispatcher.h"
#include "engine/idle.h"
#include "engine/kept.h"
#include "engine/latency.h"
#include "engine/pace.h"
#include "engine/watched.h"
#include "sync/poller.h"
#include "sync/thread.h"
#include "weir/counters.h"
#include "weir/turn.h"

#define WEIR__THREAD_DISPATCHERS_MAX 64u

/* A handle is | engine 24 | generation 29 | index + 1, 11 |. */
#define WEIR__THREAD_INDEX_BITS 11
#define WEIR__THREAD_INDEX_MASK ((1u << WEIR__THREAD_INDEX_BITS) - 1)
#define WEIR__THREAD_GENERATION_MAX ((1u << 29) - 1)
#define WEIR__THREAD_SERIAL_SHIFT 40

/* One is for the thread itself. */
#define WEIR__SHARE_AT_LEAST 2u

/* What a thread knows of one dispatcher it serves, or has served. Cells: written by the thread. */
typedef struct weir__serving {
    _Alignas(64) weir__kept kept; /* ready processors that the thread keeps for itself */
    weir__dispatcher *dispatcher;
    struct weir__thread *thread;
    struct weir__serving *next;    /* of the dispatcher's list, which only grows */
    struct weir__serving *sibling; /* of the seat's list, which only grows, too */
    bool listed;                   /* in the dispatcher's; under registry.lock */
    weir__atomic_u64 wait_number;  /* fair: since when it waits here; 0: it does not. Under the
                                     dispatcher's lock, except that its thread clears it */
    weir__cell handled, turns, try_locks, try_locks_failed, backoffs, backoff_ns, rounds, wakeups,
        wakeups_found;
    weir__cell handled_before; /* `handled`, when the present thread began. Under registry.lock */
    weir__latency latency;     /* of what this thread handled for the dispatcher */
} weir__serving;

/* Of a dispatcher: what its threads know of it, those that have left included. */
static inline weir__serving *weir__servings_first(weir__dispatcher *dispatcher)
{
    return weir__load(&dispatcher->servings, acquire); /* [V7] pairs with [V6] */
}

/* What a handler is given: one for each thread, which runs one turn at a time. */
struct weir_turn {
    weir__context *context;
    weir__trail *trail;
    weir__processor *processor;
    weir_processor self;
    uint64_t flow;                 /* of the event at hand */
    uint32_t state;                /* of its envelope */
    weir__envelope *place;         /* of the event at hand, if it lies in a page; else NULL ... */
    weir__envelope *place_end;     /* ... and behind the last one that may be there */
    const weir__page *page;        /* where stamps may lie; any: it is looked at whose they are */
    weir__serving *serving;        /* for which dispatcher the turn is run */
    weir_handler measured;         /* of a stamped event: who handles it (engine/latency.h) ... */
    weir_ns stamp;                 /* ... and when it was posted */
    struct weir__at_hand *at_hand; /* in a flow's handler: which one (flow/worker.h); else NULL */
    weir_ns now;                   /* 0: not read yet in this turn */
    uint32_t ahead;                /* events of this batch behind the one at hand, or, if it lies
                                      in a page, behind place_end */
    uint32_t dead;                 /* events that this turn took and has not handled */
    uint32_t aside;   /* weir__aside: why the processor is not to be queued at its end */
    uint64_t text_of; /* which step of the trail `text` belongs to */
    char text[128];   /* of weir_turn_fail */
};

/*
 * A thread, or the seat that one has left: records stay in the engine's table, since others may
 * hold pointers to them at any time, and the next thread of the same kind (external or not) takes
 * the seat (engine/seat.c). Index, context, doorbell and `servings_known` belong to the seat.
 */
typedef struct weir__thread {
    weir__context context;

    /* The waker's side. */
    _Alignas(64) weir__atomic_u32 wake; /* a wait word: 0 asleep or about to be, 1 get up */
    weir__atomic_u32 leave;             /* it is removed, or its dedicated processor is gone */
    weir__atomic_i32 doorbell;          /* rung to wake it, if it sleeps in a poller; -1: it does
                                           not. Set once, and for as long as the engine lives */
    bool external;                      /* the application turns it */
    weir__atomic_u32 hosting;           /* agents, and what is asked of them: engine/agents.h */
    WEIR__ATOMIC(struct weir__agents *) agents; /* NULL: it never had any. Set once */

    /* Its own. */
    _Alignas(64) weir_engine *engine;
    uint32_t index;
    uint32_t serving_count;
    uint32_t next_place;     /* round-robin: where the next round begins */
    uint32_t events_left;    /* external: how many more events this run_once may handle */
    bool searching;          /* counted in its dispatchers */
    bool hosts;              /* `hosting` was not 0 when the last round began */
    bool resting;            /* it has set RESTING there (engine/agents.h) */
    bool holds;              /* its agents; theirs is for the others to read */
    bool looked;             /* has looked twice since it last had work: may idle */
    bool holding_lock;       /* of a dispatcher */
    weir__dispatcher *quiet; /* where it pushed without a wake-up since its last turn; or NULL */
    uint32_t kept_in_a_row;  /* taken from its own lists since it last looked at the queues */
    uint32_t looks;          /* while it spins (engine/warm.h) */
    uint32_t again;          /* rounds that met a held lock, but not only held ones */
    uint32_t gaps;           /* turns in a row that found an event claimed and not there */
    bool woken;              /* since the last work: the next work found counts for wakeups_found */
    weir_ns wait_begun;      /* its last sleep, not yet in the figures; 0: none ... */
    weir_ns wait_ended;      /* ... and when it last came to work */
    weir_ns came;            /* when it last found something to take, being idle; 0: since then it
                                was at work */
    weir__idle idle;
    weir__pace pace;
    struct {
        uint64_t handled, rounds_idle; /* its counters then */
        bool waited;
    } all_taken; /* when it last had nothing left to take (engine/duty.c) */
    weir__backoff backoff;
    weir__serving **servings; /* serving_count of them */
    weir__poller poller;      /* external: for the application; else for its agents, or closed */
    weir__cell turns, rounds, rounds_idle, parks, backoffs;
    weir__atomic_u32 share_at;         /* the monitor: keeping so many, it has work for two */
    uint64_t turns_seen, handled_seen; /* the monitor's: at its last look */
    weir__cell first_work, last_work;  /* times */
    weir__cell busy;                   /* engine/busy.h */
    weir__cell began, ended;           /* times; ended is 0 while it runs */
    weir__cell cpu;                    /* of a thread that has ended */
    weir_turn turn;
    weir_event event; /* at hand; blank in between (engine/unpack.h) */
    weir__trail trail;
    weir__watched watched; /* up: it is not parked */

    /* Control. */
    struct {
        weir_ns busy, alive, cpu;
    } told; /* the most that anybody was told. Under registry.lock */
    char *name;
    weir__atomic_u64 id;   /* its handle; 0: not to be reached. Under registry.lock, so all of
                                    these */
    uint32_t generation;   /* threads that had the seat, this one included */
    bool vacant;           /* nobody's */
    bool removing;         /* somebody sees it off */
    bool replaced;         /* another has its name: it will be removed (engine/reshape.c) */
    bool serves;           /* counted in its dispatchers ... */
    bool leaves;           /* ... and in `leaving` of them */
    uint32_t serving_room; /* of `servings` */
    WEIR__ATOMIC(weir__serving *) servings_known; /* all that the seat ever had */
    weir__atomic_i32 core;                        /* the first that it is pinned to; -1: none */
    weir_thread_options options;                  /* its strings and arrays are copies */
    int32_t *cores; /* core_total of them; options.core_count is 0 if they could not be had */
    uint32_t core_total;
    void *crash_stack; /* for a crash report; NULL: there is none */
    weir__os_thread os;
    weir__atomic_u32 system_id;
    weir__atomic_u32 state; /* weir__thread_state */
    weir_error start_error; /* written by the thread before it reports */

    weir__attachment seat;
    weir__thread_figures figures;

    /* External ones. */
    weir__atomic_u32 turning; /* somebody is inside run_once */
} weir__thread;

typedef enum weir__thread_state {
    WEIR__THREAD_NEW,
    WEIR__THREAD_STARTED, /* the OS thread exists (external: may be turned) */
    WEIR__THREAD_READY,   /* it has reported: pinned, named */
    WEIR__THREAD_FAILED,  /* it has reported: core_required could not be met */
    WEIR__THREAD_LEFT,    /* its function is over; to be joined */
    WEIR__THREAD_JOINED,
} weir__thread_state;

/* Its own. It has one dispatcher to serve, and nobody but that waits for it. */
static inline bool weir__thread_has_one_task(const weir__thread *thread)
{
    return thread->serving_count == 1 && !thread->hosts && !thread->external;
}

/* The same, and nothing waits there, as far as it knows without asking for what others write. */
static inline bool weir__thread_has_taken_all(const weir__thread *thread,
                                              const weir__serving *serving)
{
    return weir__thread_has_one_task(thread) && weir__kept_length(&serving->kept) == 0 &&
           weir__load(&serving->dispatcher->length, relaxed) == 0;
}

/* All that a seat ever had to do with, the present ones included. */
static inline weir__serving *weir__servings_of(weir__thread *thread)
{
    return weir__load(&thread->servings_known, acquire); /* [V7] pairs with [V6] */
}

/* registry.lock held, so up to `vacate`. Makes and publishes it; does not start it. NULL: error
 * set. A private one is for one processor, with a dispatcher that has no name. Before the start, or
 * if it is private, its dispatchers are valid at once, and so is its handle; else from serve on. */
weir__thread *weir__thread_create(weir_engine *engine, const weir_thread_options *options,
                                  bool private, weir_error *error);
void weir__thread_serve(weir__thread *thread);
/* No processor is put onto its dispatchers because of it any more; others still share with it. */
void weir__thread_serve_no_longer(weir__thread *thread);
/* Its function is over, or nobody turns it: it is gone, the seat is free, and its dispatchers are
 * gone where it was the last. */
void weir__thread_vacate(weir__thread *thread);
/* Takes back a thread that no processor can be on. */
void weir__thread_withdraw(weir__thread *thread);

void weir__thread_free(weir__thread *thread);
/* run_once is over, or somebody is done with a thread that nobody may turn meanwhile. */
void weir__thread_turned(weir__thread *thread);

/* Starts the OS thread (external: nothing). */
weir_status weir__thread_start(weir__thread *thread, weir_error *error);

/* The thread. Sleeps while the wait word is 0. False: the time is over, or a descriptor is
 * ready. */
bool weir__thread_sleep(weir__thread *thread, weir_ns timeout);
/* The thread, or nobody is. From now on it sleeps in its poller. 0, or an errno. */
int weir__thread_need_poller(weir__thread *thread);

/* Gets it up, whatever it sleeps in. Async-signal-safe. */
void weir__thread_wake(weir__thread *thread);

weir__thread *weir__thread_of(weir_engine *engine, weir_thread handle);
/* The same, also if it has ended with the engine. */
weir__thread *weir__thread_known(weir_engine *engine, weir_thread handle);

#endif /* WEIR_ENGINE_THREAD_H */
