/*
 * host/host.h - components from inside: the engine's record of them, and one of them.
 *
 * Who runs what. `init` runs on the thread that adds or starts; every later hook is an *errand*
 * that the component's round on its hosting thread does (host/work.c), and whoever wants it waits,
 * as long as he cares to: so a stop keeps its time although a handler hangs on that thread. A
 * handler runs where its processor does. Where a component has both, its lock keeps the two apart,
 * whatever threads serve its dispatcher.
 *
 * Locks, outer ones first: `life` (a start, a stop, an addition or a removal: one at a time, and
 * held while hooks run), `lock` (the lists), a component's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOST_HOST_H
#define WEIR_HOST_HOST_H

#include "engine/agent.h"
#include "engine/engine.h"
#include "host/copy.h"
#include "sync/mutex.h"
#include "weir/component.h"
#include "weir/plugin.h"

#define WEIR__COMPONENT_NAME_SIZE 64u /* with its zero: what fits into a weir_failure */
#define WEIR__FAILURES_MAX 100u
#define WEIR__FLUSH_DEFAULT 1024u

typedef enum weir__component_phase {
    WEIR__COMPONENT_ADDED,
    WEIR__COMPONENT_INITIALISED,
    WEIR__COMPONENT_STARTED,
    WEIR__COMPONENT_RUNNING, /* past start_complete: do_work is called, events are handled */
    WEIR__COMPONENT_STOPPED, /* past stop */
    WEIR__COMPONENT_FAILED,  /* a hook of its beginning failed */
} weir__component_phase;

/* What its round is asked to do. */
typedef enum weir__errand {
    WEIR__ERRAND_START = 1,
    WEIR__ERRAND_COMPLETE,
    WEIR__ERRAND_FLUSH,
    WEIR__ERRAND_STOP,
    WEIR__ERRAND_COMMIT,
    WEIR__ERRAND_TEAR_DOWN,
} weir__errand;

/* The word of an errand. */
enum {
    WEIR__ERRAND_NONE,
    WEIR__ERRAND_ASKED,
    WEIR__ERRAND_TAKEN,
    WEIR__ERRAND_DONE,
};

/* A source's end of its feed. Feeds live as long as the engine, so this does; a source that comes
 * again under the same name finds it. */
typedef struct weir__port {
    struct weir__port *next;
    char *name;
    weir_feed feed;
    weir__brief lock;
    weir_component *component; /* under lock; NULL: it is gone */
} weir__port;

typedef struct weir__names {
    char **items;
    size_t count;
} weir__names;

struct weir_component {
    struct weir__host *host;
    const weir_component_type *given; /* as its owner knows it ... */
    weir_component_type type;         /* ... and as we do: ours may be longer */
    char *name;
    char *group; /* NULL: it is no one of several instances */
    char *thread_name, *dispatcher;
    weir__names after, feeds;
    weir__config_copy copy;
    weir__port *port;
    weir_processor address;
    weir_thread thread;
    weir__agent *agent;
    struct weir__service_entry *service;
    weir_component *next;     /* in the order in which they were added; under host.lock */
    uint32_t number;          /* in that order; while an order is made */
    uint32_t waits_for;       /* likewise: how many must come before and have not */
    size_t memory_size;       /* of this and the state behind it */
    bool shared;              /* has rounds and a handler: the lock is needed */
    bool lost;                /* an errand was not done in time: its thread may be at it still */
    bool subscribed;          /* control, life held; so the next */
    bool halted;              /* its handler is put aside: its mail waits for a restart */
    bool begins;              /* its thread: not all of what it published before is replayed yet */
    weir_stop_report stopped; /* of its handler; under host.lock */
    weir__mutex lock;         /* held while its code runs, if `shared` */
    weir__atomic_u32 phase;   /* weir__component_phase; changed by its thread, or without one */
    weir__atomic_u32 done;    /* a source: has come to its end */
    weir__atomic_u32 failing; /* its handler's last answer was a failure: should its processor have
                                 ended, then of that */
    bool ends_of_failure;     /* on-failure = stop */

    /* The errand: written by whoever holds host.life, then the word. */
    weir__errand errand;
    weir_error *errand_error;
    weir_status errand_status; /* by the thread, then the word */
    weir__atomic_u32 errand_word;

    /* Its rounds: the hosting thread's. */
    weir__cell rounds, work;
    weir_ns idle_until, idle_for; /* do_work failed: not before; how long that was */
    uint64_t committed;           /* as the hook was told last ... */
    bool commit_told;             /* ... if it was */
    weir__atomic_u32 commit_due;

    /* A sink's: under its lock. */
    weir_origin **origins; /* of what is written and not flushed */
    size_t origin_count, origin_room;
    uint32_t unflushed;
    weir_ns flush_at, flush_delay; /* again then; 0: nothing is due */

    weir__atomic_u64 failures;
    weir__log_gate gate;
    _Alignas(64) unsigned char state[];
};

/* Of a state that hooks and handlers are given. */
static inline weir_component *weir__component_of(void *state)
{
    return (weir_component *)(void *)((char *)state - offsetof(weir_component, state));
}

static inline weir__component_phase weir__component_phase_of(const weir_component *component)
{
    /* [CO1] pairs with [CO2]: what the hook before it wrote. */
    return (weir__component_phase)weir__load(&((weir_component *)(uintptr_t)component)->phase,
                                             acquire);
}

static inline void weir__component_phase_set(weir_component *component, weir__component_phase phase)
{
    weir__store(&component->phase, (uint32_t)phase, release); /* [CO2] */
}

/* Whether its thread has anything to do for it but errands. */
static inline bool weir__component_has_rounds(const weir_component *component)
{
    const weir_component_type *type = &component->type;
    return type->do_work != NULL || type->flush != NULL || type->commit != NULL;
}

typedef struct weir__type_entry {
    struct weir__type_entry *next;
    const weir_component_type *type;
    const weir_plugin *from;
} weir__type_entry;

/* A service that is there, or was: looked up without a lock, so it stays. */
typedef struct weir__service_entry {
    WEIR__ATOMIC(struct weir__service_entry *) next;
    weir__atomic_u64 address; /* 0: gone */
    char *type, *name;
} weir__service_entry;

typedef struct weir__service_watch {
    struct weir__service_watch *next;
    char *type; /* NULL: all */
    weir_processor who;
} weir__service_watch;

typedef struct weir__host {
    weir_engine *engine;
    weir__mutex life;
    weir__mutex lock;
    weir_component *components; /* under lock; in the order of adding */
    weir_component **order;     /* under lock: of starting; `count` of them */
    size_t count, order_room;
    weir__type_entry *types;      /* under lock */
    weir__port *ports;            /* under lock */
    weir__service_watch *watches; /* under lock */
    WEIR__ATOMIC(weir__service_entry *) services;
    bool running;                   /* under life: components are started */
    bool alone;                     /* the engine is being destroyed, and its threads are gone */
    bool ended;                     /* under life: a stop has been, or begun */
    weir__atomic_u32 stop_asked;    /* a wait word: somebody wants the end */
    weir__atomic_u64 stop_deadline; /* the earliest that somebody asked for */

    void (*on_done)(void *context); /* written before the start */
    void *on_done_context;

    weir__brief failure_lock;
    uint64_t failure_count; /* so far */
    weir_failure failures[WEIR__FAILURES_MAX];
} weir__host;

/* ---- host.c ---- */

/* The engine's, made by the first call. NULL: no memory. */
weir__host *weir__host_need(weir_engine *engine);
/* NULL: it has none. */
weir__host *weir__host_of(weir_engine *engine);
/* lock held. The component of that name; NULL: none. */
weir_component *weir__host_find(weir__host *host, const char *name);
/* Whether `name` means it: its own name, or that of its instances. */
bool weir__component_is_called(const weir_component *component, const char *name);
/* " Did you mean x?", or "". lock held. */
void weir__host_nearest(weir__host *host, const char *name, char *out, size_t size);
void weir__component_free(weir_component *component);

/* ---- failure.c ---- */

__attribute__((format(printf, 3, 4))) void
weir__component_fail(weir_component *component, weir_status status, const char *format, ...);

/* ---- order.c ---- */

/* lock held. Fills in the targets' handles, checks every reference, and makes host->order. */
weir_status weir__host_resolve(weir__host *host, weir_error *error);
/* lock held. One component that comes while the others run. */
weir_status weir__component_resolve(weir_component *component, weir_error *error);
/* lock held. Who refers to it; NULL: nobody. */
const weir_component *weir__component_referrer(const weir_component *component);
/* A router that is not stopped has it among its targets; its name, cut. */
bool weir__component_is_routed_to(const weir_component *component, char *name, size_t size);

/* ---- work.c ---- */

/* Its agent's. */
int32_t weir__component_round(void *context, weir_ns *next);
/* Told to a handler's processor when it has had everything: `finish` is due. */
extern const weir_event_type weir__finish_turn_type;
weir_status weir__component_handle(void *state, weir_turn *turn, const weir_event *event);
/* Without its thread: at the end, or where that is gone. */
weir_status weir__component_errand_here(weir_component *component, weir__errand errand,
                                        weir_error *error);

/* In a turn, the last one before a restart: `finish`. Not OK: not now. */
weir_status weir__component_last_turn(void *component, weir_turn *turn);

/* ---- errand.c ---- */

/* No thread of the engine runs, so that hooks may be run by whoever is here. */
bool weir__host_is_alone(weir__host *host);

/* life held, so the next two. Its thread has it among its agents: errands can be done. */
weir_status weir__component_join(weir_component *component, weir_error *error);
/* It has begun: an agent that has nothing to do in its rounds leaves, until there is an errand. */
void weir__component_settle(weir_component *component);
/* Has it done on its thread. TIMEOUT: not by then (and never if nobody had begun it);
 * STOPPING: its thread is gone, and it was not done; else what the hook answered. */
weir_status weir__component_errand(weir_component *component, weir__errand errand,
                                   weir_error *error, weir_ns deadline);

/* ---- begin.c, end.c: life held ---- */

/* registry.lock held. The first thread that serves that dispatcher; if none does, or NULL was
 * given, the first of all. NULL: there is none. */
weir__thread *weir__host_first_thread(weir_engine *engine, const char *dispatcher);
/* On the calling thread: phase INITIALISED, and an agent that runs errands. */
weir_status weir__component_begin(weir_component *component, weir_error *error);
/* Feeds and services know of it. */
weir_status weir__component_announce(weir_component *component, weir_error *error);
/* Takes back whatever of its beginning has been: stop, tear_down. */
void weir__component_undo(weir_component *component, weir_ns deadline);
/* Its mail is handled, all is flushed, and stop has run. */
weir_status weir__component_end(weir_component *component, weir_ns deadline);
void weir__component_tear_down(weir_component *component, weir_ns deadline);
/* lock held. Takes it out of the lists. */
void weir__host_remove(weir__host *host, const weir_component *component);
void weir__component_attach(weir_component *component, bool attached);
/* Takes one that does not run out of everything, and frees it. */
void weir__component_discard(weir_component *component);
/* On its thread if that is there, else here if nobody is; else at the end of the engine. */
weir_status weir__component_run(weir_component *component, weir__errand errand, weir_ns deadline);
/* All that it has written. A flush that is not done yet has all the time there is; one that fails
 * some tries. */
weir_status weir__component_flush(weir_component *component, weir_ns deadline);
/* Until nothing is on its way, for half of the time at most. */
void weir__host_come_to_rest(weir__host *host, weir_ns deadline);
/* How long it is until then, a stop considered; WEIR_NOW: it is over. */
weir_ns weir__host_left(weir__host *host, weir_ns deadline);
/* A pause; a stop that wants to be quicker ends it. */
void weir__host_rest(weir__host *host, weir_ns span);
/* The earlier of that and what a stop asks for. */
weir_ns weir__host_deadline(weir__host *host, weir_ns deadline);

/* ---- restart.c ---- */

/* life held. Its mail waits no longer, if it did. */
void weir__component_resume(weir_component *component);

/* ---- service.c ---- */

weir_status weir__service_arrive(weir_component *component, weir_error *error);
void weir__service_leave(weir_component *component);
void weir__services_free(weir__host *host);

#endif /* WEIR_HOST_HOST_H */
