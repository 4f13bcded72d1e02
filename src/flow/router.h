/*
 * flow/router.h - what routers are made of.
 *
 *     submit ─► shard of the key ─► its flow ─► mailbox of the flow's worker ─► handler, state
 *               (brief lock)       (a record)   (a processor)                   (a turn)
 *
 * A key falls into one of some *shards*, each a hash table under a brief lock. A submitter looks
 * its flow up (or makes one, on the least-loaded worker), puts the event into the mailbox of the
 * flow's worker and counts it, all under that lock. The envelope carries the number of the record,
 * and how many finishes came before it, so that the worker needs neither lock nor look-up.
 *
 * Who may do what:
 *
 *     the mapping       made by submitters; taken away only by the flow's worker in its turn, and
 *                       only when nothing of the flow waits. So what comes meanwhile goes to the
 *                       same worker, behind what is there
 *     the state         the flow's worker, in its turn
 *     another worker    a submitter, when nothing of the flow waits or is at hand
 *
 * A flow is *drained* when as many of its events are done as were submitted. The two numbers lie on
 * different lines: `submitted` is written under the shard's lock, `handled` by the worker without
 * any, so that no event moves a line from one core to the other and back.
 *
 * Locks, in the order in which they may be taken: a shard's, then a worker's or that of what is
 * beyond worker_max. None is held while code of the application runs, or memory is got.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_ROUTER_H
#define WEIR_FLOW_ROUTER_H

#include "base/assert.h"
#include "engine/engine.h"
#include "observe/histogram.h"
#include "weir/flow.h"

#define WEIR__ROUTERS_MAX 1024u
#define WEIR__WORKERS_MAX 256u
#define WEIR__FLOW_KEY_MAX 65535u
#define WEIR__FLOW_STATE_MAX (1u << 20)
#ifdef WEIR_SIMULATED
#define WEIR__FLOW_CHUNK 8u /* every run makes one anew */
#define WEIR__SHARDS_MAX 2u
#define WEIR__FLOWS_A_SHARD 64u
#define WEIR__FLOWS_SPARE 2u
#else
#define WEIR__FLOW_CHUNK 256u
#define WEIR__SHARDS_MAX 64u
#define WEIR__FLOWS_A_SHARD 4096u /* one more shard for so many of flows_max */
#define WEIR__FLOWS_SPARE 64u     /* ... above it, and a sixteenth, while none is idle */
#endif

/* A flow. Two lines, and what its state needs beyond the second. */
typedef struct weir__flow {
    /* Submitters: all of this under the shard's lock. */
    _Alignas(64) uint64_t id;   /* the key, or the hash of its bytes. Set once, so the next four */
    const unsigned char *bytes; /* the key, if it is bytes */
    uint16_t size;
    uint16_t shard;
    uint32_t index;     /* its own number */
    uint32_t submitted; /* accepted, the dropped ones included */
    uint32_t dropped;
    uint32_t finishes;     /* of submitted. Each event carries how many came before it */
    uint32_t newer, older; /* in the order of their last submit; newer: of the free ones, too */
    uint32_t lag;          /* since it came to its place in that order; units of 1,024 ns */
    weir_ns touched;       /* the last submit, on the coarse clock */
    uint16_t worker;
    uint8_t why;  /* weir_flow_end that was asked for while nothing waited; 0: none */
    bool chored;  /* on the list of its worker's chores: the record stays */
    bool leaving; /* to be evicted: its worker has not seen it yet */
    bool free;    /* nobody's: in the shard's list of those */
    bool lingers; /* its state has ended, but something waited: who takes that away says so */

    /* The worker. */
    _Alignas(64) weir__atomic_u32 handled; /* done by the worker, whatever came of it */
    weir__atomic_u32 lost; /* 1: a finish was dropped with its event, and perhaps nothing follows.
                              Set under the shard's lock; the worker clears it there */
    uint64_t shown;        /* id, again: event->flow. Set once */
    union {
        uint32_t chore_next; /* under the worker's lock */
        uint32_t ticket;     /* targets: of its last event, in the target's mailbox. Under the
                                shard's lock */
    };
    uint32_t life;           /* finishes before the event at hand */
    bool stateful;           /* init has succeeded */
    unsigned char spare[7];  /* the state begins at a multiple of 16 */
    unsigned char state[32]; /* the rest of it lies behind */
} weir__flow;
_Static_assert(sizeof(weir__flow) == 128, "a flow is two lines");
_Static_assert(offsetof(weir__flow, state) % 16 == 0, "a state of any type may lie there");
#define WEIR__FLOW_STATE offsetof(weir__flow, state)

/* Open addressing. A slot is | where its key falls 32 | record 32 |; 0: empty. */
typedef struct weir__flow_table {
    struct weir__flow_table *before; /* the one half its size that it has replaced; or NULL */
    uint32_t mask;                   /* its length is a power of two */
    weir__atomic_u64 slots[];
} weir__flow_table;

typedef struct weir__shard {
    _Alignas(64) weir__brief lock;
    uint32_t count;
    WEIR__ATOMIC(weir__flow_table *)
    table;                           /* NULL: none yet. Written under the lock; who only
                                               guesses (prefetch) reads it without */
    uint32_t oldest, newest;         /* by last submit; 0: none */
    uint32_t free;                   /* records; 0: none */
    weir__atomic_u64 oldest_touched; /* UINT64_MAX: there is none. Anyone reads it */
    weir__cell submitted;            /* of flows, the dropped ones included */
} weir__shard;

/* A processor that runs flows, or one of the targets. */
typedef struct weir__worker {
    _Alignas(64) struct weir__router *router;
    weir__processor *processor; /* while the router is not closed. Not of a target */
    weir_processor handle;
    weir_thread thread; /* its own; or none. Under routers.lock */
    uint32_t index;

    /* Chores (engine/chore.h). */
    _Alignas(64) weir__brief lock;
    uint32_t chores; /* flows that somebody has something to say about; 0: none */
    bool ended;      /* no turn will come */
    /* Of a target: flows that go there. Grows and falls under the shards' locks; of others see
     * below. */
    weir__atomic_u32 flows;

    /* Its own: cells that it writes in its turns. */
    _Alignas(64) weir__cell handled, dead;
    weir__cell made, ended_as[WEIR_FLOW_STOPPED + 1]; /* flows: one record may be many in a row */
    /* Time in handlers: one that is timed stands for latency_every of them. It only grows, as a
     * counter has to; an average times all of them would fall after every quick one. */
    weir__cell busy;
    uint64_t timed; /* so many of those are in it */
    uint32_t until_timed;
    weir__histogram latency;

    /* Under router->look_lock. */
    uint64_t looked_handled;
    weir_ns looked_at;
} weir__worker;

typedef struct weir__router {
    weir_engine *engine;
    uint64_t id;
    char *name;
    weir_router_options options; /* checked, defaults filled in; its strings and arrays not, nor
                                    what may change: see below */
    weir_handler handler;        /* NULL: by cases, or targets */
    bool targeted;
    bool plain; /* neither that nor migrate: the straight way will do */
    uint32_t worker_count;
    uint32_t shard_mask;
    size_t stride;       /* of a record */
    weir_ns slack;       /* how exact the order of flows by their last submit is */
    uint32_t flows_most; /* flows_max, and what may come above it for a while */
    weir__worker *workers;
    weir__shard *shards;
    weir_processor caretaker; /* parent of the workers; sees to what is idle (flow/sweep.c) */
    weir__atomic_u32 closed;  /* 1: nothing is accepted any more */
    weir__atomic_u32 armed;   /* the caretaker will look again */
    weir__brief sweep_lock;   /* of the caretaker's chore */
    uint64_t sweep_round;     /* the caretaker's: triggers of an earlier one do not count */
    weir__atomic_u64 block_max, idle_timeout; /* of the options; may change (flow/tune.c) */

    _Alignas(64) weir__brief beyond_lock; /* held by who takes a place beyond worker_max */
    _Alignas(64) weir__atomic_u32 live;
    weir__atomic_u32 leaving; /* of them, are to be evicted; or somebody looks for one */
    weir__atomic_u64 loose;   /* submitted without a flow */
    weir__atomic_u64 made, moved, dropped_newest, dropped_oldest;
    weir__atomic_u64 refused_full, refused_ingress, refused_flows;
    weir__atomic_u64 dismissed[WEIR_FLOW_STOPPED + 1]; /* targets: flows that ended so */

    weir__mutex records_lock;               /* held while a chunk is made */
    WEIR__ATOMIC(unsigned char *) * chunks; /* chunk_max of them; set once */
    uint32_t chunk_max, chunk_count;        /* under records_lock, so the next */
    uint32_t chunk_given;                   /* of them: that belong to a shard */
    weir__atomic_u64 bytes;                 /* of chunks, tables and keys */
    weir__mutex look_lock;                  /* of looks at rates */
    weir__histogram_sum *latency_since;     /* under look_lock: a worker each, what the last reset
                                               found; NULL: there was none */
    weir__atomic_u32 untimed;               /* 1: handlers are not timed */
    bool freed; /* under routers.lock: its memory is gone, its figures stay */
} weir__router;

typedef struct weir__routers {
    weir__mutex lock; /* held while one is added or freed */
    weir__atomic_u32 count;
    WEIR__ATOMIC(weir__router *) all[WEIR__ROUTERS_MAX];
} weir__routers;

/* A key, as it is looked up. */
typedef struct weir__flow_key {
    uint64_t id; /* 0: no flow */
    uint64_t hash;
    const void *bytes; /* NULL: it is a number */
    uint32_t size;
} weir__flow_key;

/* A handle is | engine's serial 48 | number + 1, 16 |. */
#define WEIR__ROUTER_NUMBER_BITS 16
#define WEIR__ROUTER_NUMBER_MASK ((1u << WEIR__ROUTER_NUMBER_BITS) - 1)

/* Any thread. NULL: no such router. It lives as long as its engine. */
static inline weir__router *weir__router_find(weir_engine *engine, weir_router handle)
{
    /* [Y9] pairs with [Y10]: the table, and what is in it. */
    weir__routers *routers = weir__load(&engine->routers, acquire);
    const uint32_t place = (uint32_t)(handle.id & WEIR__ROUTER_NUMBER_MASK);
    if (weir__unlikely(routers == NULL || place == 0 ||
                       place > weir__load(&routers->count, acquire))) {
        return NULL;
    }
    weir__router *router = weir__load(&routers->all[place - 1], relaxed);
    return weir__likely(router->id == handle.id) ? router : NULL;
}

static inline bool weir__router_is_closed(weir__router *router)
{
    /* [Y1] pairs with [Y2] of its stop: nothing but the word. */
    return weir__load(&router->closed, acquire) != 0;
}

static inline weir_ns weir__router_block_max(weir__router *router)
{
    return (weir_ns)weir__load(&router->block_max, relaxed);
}

static inline weir__flow *weir__flow_at(weir__router *router, uint32_t index)
{
    /* [Y3] pairs with [Y4]: the chunk is zeroed. Whoever has an index has had it from somebody who
     * saw the chunk, too. */
    unsigned char *chunk = weir__load(&router->chunks[index / WEIR__FLOW_CHUNK], acquire);
    return (weir__flow *)(void *)(chunk + (index % WEIR__FLOW_CHUNK) * router->stride);
}

static inline weir__shard *weir__shard_of(weir__router *router, const weir__flow *flow)
{
    return &router->shards[flow->shard];
}

/* Handled or dropped, all that was submitted. Shard's lock held. */
static inline bool weir__flow_is_drained(weir__flow *flow)
{
    /* [Y5] pairs with [Y6]: what the worker did to its state. */
    return weir__load(&flow->handled, acquire) == flow->submitted - flow->dropped;
}

/* The same, of any flow: a target has handled all of it, too. Inside the mark, shard's lock
 * held. */
bool weir__flow_is_quiet(weir__router *router, weir__flow *flow);

/* Events of that worker that wait or are at hand. Inside the mark; a worker that has ended has
 * most. */
uint32_t weir__worker_depth(weir_engine *engine, const weir__worker *worker);
/* The one with fewest; of several, the first. Inside the mark. */
uint32_t weir__router_least_loaded(weir__router *router);

#endif /* WEIR_FLOW_ROUTER_H */
