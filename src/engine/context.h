/*
 * engine/context.h - what one thread brings along when it deals with one engine: its counters, its
 * caches of pools, and the mark that says "I am in the middle of a call".
 *
 * An engine's own threads have theirs built in; any other thread gets one at its first call and
 * gives it back when it ends (another thread then inherits it, counters and all: they are sums).
 *
 * The mark. Between enter and leave a thread may hold pointers to processors that it found by
 * handle. A processor's slot is reused only after every thread that was inside when it was
 * unregistered has left (engine/registry.c). enter and leave are plain stores; the one who wants to
 * reuse pays with a heavy barrier.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_CONTEXT_H
#define WEIR_ENGINE_CONTEXT_H

#include "engine/stretch.h"
#include "queue/lease.h"
#include "queue/page.h"
#include "sync/barrier.h"

#define WEIR__BLOCK_CLASSES 9

/* Of a thread that handles no event with an origin. */
#define WEIR__PLAIN_BELOW (WEIR_EVENT_INLINE_MAX + 1)

struct weir__serving;
struct weir__thread;
struct weir__trail;

/* One row per counter: field, meaning. All are written by the context's thread only. */
#define WEIR__TALLY_BEGUN(X)                                                                       \
    X(attempted) /* posts begun; each ends in exactly one of those below */                        \
    X(hooks_due) /* inits and destroys to run */
#define WEIR__TALLY_DONE(X)                                                                        \
    X(handled)                                                                                     \
    X(refused_full)                                                                                \
    X(refused_stopping)                                                                            \
    X(refused_unknown)                                                                             \
    X(refused_other) /* no memory, invalid */                                                      \
    X(dropped_newest)                                                                              \
    X(dropped_oldest)                                                                              \
    X(dead)                                                                                        \
    X(left) /* discarded after a stop ran out of time */                                           \
    X(hooks_done)
#define WEIR__TALLY_BESIDE(X)                                                                      \
    X(unhandled) /* of handled */                                                                  \
    X(rooms)     /* room events sent */                                                            \
    X(retries)   /* events that were put off, to be handled again */                               \
    X(restarts)                                                                                    \
    X(dead_stopped) /* of dead: never handled */                                                   \
    X(letters_failed)                                                                              \
    X(letters_unknown)                                                                             \
    X(letters_stopped)                                                                             \
    X(letters_refused)                                                                             \
    X(letters_late)                                                                                \
    X(broadcasts)                                                                                  \
    X(unheard) /* of broadcasts */                                                                 \
    X(delivered)                                                                                   \
    X(undelivered)                                                                                 \
    X(untold) /* of undelivered */
#define WEIR__TALLY_MAP(X) WEIR__TALLY_BEGUN(X) WEIR__TALLY_DONE(X) WEIR__TALLY_BESIDE(X)

#define WEIR__TALLY_FIELD(name) weir__cell name;
typedef struct weir__tally {
    WEIR__TALLY_MAP(WEIR__TALLY_FIELD)
} weir__tally;
#undef WEIR__TALLY_FIELD

typedef struct weir__context {
    /* What every post needs is on this line, and at the begin of `stock`. */
    _Alignas(64) weir__cell inside; /* odd between enter and leave */
    weir_engine *engine;
    struct weir__serving *keeping; /* while a turn runs: where its thread keeps what it makes ready;
                                      or NULL */
    struct weir__thread *thread;   /* NULL: not one of the engine's */
    struct weir_origin *origin;    /* of the event at hand (engine/origin.h); mostly NULL */
    uint32_t plain_below; /* smaller events go straight (engine/parcel.h); 0 while there is an
                             origin */
    uint32_t stamp_in;    /* after so many events one is due to be stamped (engine/stamp.h) */
    weir__tally tally;    /* `attempted` first */
    _Alignas(64) weir__tenant tenant;
    weir__stock stock; /* of what mailboxes are made of */
    weir__pool_cache blocks[WEIR__BLOCK_CLASSES];
    struct weir__trace_ring *trace_ring; /* of the recording `trace_serial`, by its thread; NULL:
                                            there was none left */
    uint64_t trace_serial;
    struct weir_origin *carried; /* of `origin`: made by the handler at hand, or by the thread for
                                    all that it posts (engine/traceparent.h); mostly NULL */
    uint32_t scheduler;          /* to which its thread adds timers: 1 + index; 0: not chosen yet */
    weir__lone *refused;   /* owed events that nobody took: see weir__letters_flush; mostly NULL */
    uint32_t stamp_every;  /* what the distance was drawn for */
    uint32_t stamp_rest;   /* events behind stamp_in until the next stamp; 0: it is then */
    uint64_t stamp_random; /* 0: none was drawn yet */
    uint32_t trace_rest;   /* the same as stamp_rest for the next one that a trace shows ... */
    uint32_t trace_pace;   /* ... and its distance; 0: not known yet */
    weir_ns trace_shown;   /* when the last one was */
    weir__stretch stretch;

    /* Written by others, under the engine's locks. */
    _Alignas(64) uint64_t grace_seen; /* `inside` when the grace period under way began */
    weir__atomic_u64 frozen_handled;  /* see engine/freeze.h */
    weir__atomic_u64 frozen_dead;
    weir__atomic_u64 frozen_left;
    weir__atomic_u32 in_use;                   /* some foreign thread has it */
    WEIR__ATOMIC(struct weir__context *) next; /* of the engine's list, which only grows */
} weir__context;

/* Which context a thread has for which engine. */
typedef struct weir__attachment {
    struct weir__attachment *next;
    weir_engine *engine;
    uint64_t serial;
    weir__context *context;
    bool own; /* of one of the engine's threads: built in, and not to be handed on */
} weir__attachment;

/* What a thread's local pointer leads to. Its own. */
typedef struct weir__attached {
    weir__attachment *first; /* the last used one in front */
    uint32_t handlers;       /* nesting depth of handlers on this thread */
    uint32_t system_id;      /* of this thread: asking the system for it is slow */
    struct weir__trail *trail;
} weir__attached;

static inline void weir__context_enter(weir__context *context)
{
    /* [R1] too: a context may have been another thread's a moment ago, and who reads this has not
     * read how that one left. */
    weir__cell_add_release(&context->inside, 1);
    /* Pairs with the heavy barrier of a grace period, of a freeze and of a stop. */
    weir__barrier_light();
}

static inline void weir__context_leave(weir__context *context)
{
    /* [R1] pairs with [R2]: what we did with a slot is before its reuse. */
    weir__cell_add_release(&context->inside, 1);
}

/* One that a thread has given back, or a new one: for a thread that serves the engine. NULL: no
 * memory. Given back, somebody else inherits it. */
weir__context *weir__context_borrow(weir_engine *engine);
void weir__context_give_back(weir__context *context);

/* The calling thread's context for this engine, made at the first call. NULL: no memory, or this is
 * a child after fork. */
weir__context *weir__context_find(weir_engine *engine);

/* The system's number of the calling thread; 0: it has had nothing to do with weir yet. */
uint32_t weir__context_system_id(void);

/* True while the calling thread runs a handler or hook, of whatever engine. */
bool weir__context_in_handler(void);
/* Brackets around the calling thread's handlers. They nest. */
void weir__context_handler_begin(void);
void weir__context_handler_end(void);

/* What runs on the calling thread leaves its steps here: the innermost of such trails. NULL: no
 * handler can be running. Async-signal-safe. */
struct weir__trail *weir__context_trail(void);
/* Sets it; returns the one before, to be set again afterwards. */
struct weir__trail *weir__context_trail_swap(struct weir__trail *trail);

/* For an engine's own threads: attaches `context` to the calling thread, in memory of the caller's,
 * and takes it off. False: no memory for a thread that had nothing to do with weir before. */
bool weir__context_attach(weir__context *context, weir__attachment *seat);
void weir__context_detach(weir__context *context);
/* Its thread goes for good: what its caches hold is for others. By that thread, or after it. */
void weir__context_flush(weir__context *context);

/* Waits until every thread that is inside its mark at the call has left it; the caller is not. Who
 * enters after it sees all that the caller wrote before. False: one still was at `deadline`
 * (WEIR_FOREVER: none). */
bool weir__contexts_wait(weir_engine *engine, weir_ns deadline);

/* Process-wide list of living engines, so that a thread that ends after its engine touches nothing.
 * open: 0 or an errno. */
int weir__contexts_open(weir_engine *engine);
void weir__contexts_close(weir_engine *engine);
/* Into the engine's list, which only grows. */
void weir__contexts_enlist(weir_engine *engine, weir__context *context);

/* False in a child after fork. */
bool weir__engine_usable(const weir_engine *engine);

#endif /* WEIR_ENGINE_CONTEXT_H */
