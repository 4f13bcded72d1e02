/*
 * engine/processor.h - a processor in memory: two cache lines, and a cold part for those that use
 * more than a handler and a mailbox.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_PROCESSOR_H
#define WEIR_ENGINE_PROCESSOR_H

#include "engine/dispatcher.h"
#include "engine/outcome.h"
#include "queue/mailbox.h"
#include "weir/processor.h"

/* Bits of `control`, set by others or at registration, seen by the owner. */
enum {
    WEIR__CONTROL_INIT = 1u << 0,    /* the init hook is due */
    WEIR__CONTROL_FREEZE = 1u << 1,  /* a stop ran out of time: see engine/freeze.h */
    WEIR__CONTROL_BROKEN = 1u << 2,  /* its init failed: no event reaches it, no destroy either */
    WEIR__CONTROL_AWAITED = 1u << 3, /* a start waits for its init */

    /* Supervision (engine/supervise.h). */
    WEIR__CONTROL_RETRY = 1u << 4,     /* an event is held, to be handled again first */
    WEIR__CONTROL_RESTART = 1u << 5,   /* it is restarted when its last child has ended */
    WEIR__CONTROL_FAILED = 1u << 6,    /* no event reaches it any more; destroy does */
    WEIR__CONTROL_ESCALATED = 1u << 7, /* a child's failure waits for its decision */
    WEIR__CONTROL_RESUMED = 1u << 8,   /* ... which its own parent has made: go on */

    WEIR__CONTROL_CHORE = 1u << 9,   /* its chore hook is asked for (engine/chore.h) */
    WEIR__CONTROL_HALTED = 1u << 10, /* somebody outside has it put aside (engine/halt.h) */
};

/* It may be put aside: no turn of it is sure to come soon. */
#define WEIR__CONTROL_ASIDE                                                                        \
    (WEIR__CONTROL_RETRY | WEIR__CONTROL_RESTART | WEIR__CONTROL_ESCALATED | WEIR__CONTROL_HALTED)

/* What waits is thrown away, and the end follows. */
#define WEIR__CONTROL_ENDS (WEIR__CONTROL_FREEZE | WEIR__CONTROL_BROKEN | WEIR__CONTROL_FAILED)

/* Set in dropped_newest when the processor's numbers are given out: nothing is dropped any more. */
#define WEIR__DROPS_CLOSED (UINT64_C(1) << 63)

/* The end of the list of who wants room: nobody may join any more. */
#define WEIR__ROOMS_CLOSED ((weir__lone *)(uintptr_t)1)

/* Posters write to the first line and to no other, so the second stays where the owner runs. */
typedef struct weir__processor {
    _Alignas(64) union {
        weir__mailbox mailbox;
        struct {
            unsigned char mailbox_begins[offsetof(weir__mailbox, corner)];
            /* In its corner. */
            weir__atomic_u64 id; /* its handle; without a tag: nobody. Under registry.lock. Its
                                    lowest bits are always the number of the slot */
            WEIR__ATOMIC(weir__dispatcher *) dispatcher; /* where it runs; under registry.lock */
            struct weir__processor *ready_next; /* of the ready queue, or of a list of free slots */
        };
    };

    /* The owner. */
    weir_handler handler;
    void *state;
    WEIR__ATOMIC(weir__lone *) rooms; /* room events to send; askers push, the owner takes all */
    WEIR__ATOMIC(struct weir__processor_cold *) cold; /* NULL: nothing special about it; set once */
    weir__cell handled;
    weir__cell dead;
    weir__atomic_u32 control;
    uint16_t last_thread; /* owner: who ran the slot last; and for how many turns in a row of those
                             that did not come from the queue (engine/lease.h) */
    WEIR__ATOMIC(uint16_t) batch_max;
} weir__processor;
_Static_assert(sizeof(weir__processor) == 128, "a processor is two lines");
_Static_assert(offsetof(weir__mailbox, beside_taken) == 64, "the owner's begins the second");
_Static_assert(offsetof(weir__processor, ready_next) + sizeof(void *) == 64, "the corner is full");

typedef struct weir__processor_cold {
    char *name;
    union {
        weir_cases cases;
        void (*chore)(weir_turn *turn); /* of one of weir's own, which have none of those */
    };
    weir_handler unhandled;
    void *argument;
    size_t state_size;
    weir_status (*init)(void *state, weir_turn *turn, void *argument);
    void (*destroy)(void *state, weir_status reason);
    weir__atomic_u32 overflow; /* weir_overflow; of one without a cold part: fail. May change */
    bool blocks;               /* posters may wait for room: it was block from the beginning */
    bool own;                  /* one of weir's own: not broadcast to by feeds */
    bool own_overflow;         /* it was given this; under registry.lock, so the next two */
    bool own_block_max, own_batch_max;
    weir__atomic_u32 never_leased; /* a signal handler may post to it. Set once, under
                                      registry.lock */
    weir__trylock evictions;       /* drop-oldest: guards the owner's side of the mailbox */
    uint32_t room_of; /* set once: posters wait where those of this index - 1 do; 0: its own */
    weir__atomic_u64 block_max;      /* may change */
    weir__atomic_u64 dropped_newest; /* posters, by exchange; with WEIR__DROPS_CLOSED at the end */
    weir__atomic_u64 dropped_oldest; /* posters, under the mailbox's head lock */
    weir__cell left;                 /* owner: discarded after a freeze */
    weir__cell dead_stopped;         /* owner: of `dead`, discarded at its end */

    /* Under registry.lock. */
    struct weir__processor *parent;
    struct weir__processor *first_child, *next_sibling, *previous_sibling;
    struct weir__stop *stop;      /* a stop is under way */
    struct weir__stop *stop_made; /* one that is about to be */
    bool needs_final;             /* must be finished in a turn (hook, family, stop) */
    bool ending;                  /* closes when its last child has ended */
    bool end_waits;               /* closed and drained, put aside until its last child has ended */
    bool restart_waits;           /* put aside until its last child has ended, then restarted */
    bool halted;                  /* put aside until its asker lets it go (engine/halt.h) */
    bool escalation_passed;       /* its failure is with its parent's parent now */
    weir_status escalation;       /* its failure, which waits for the parent's decision */
    struct weir__processor *escalations;     /* children that wait for a decision ... */
    struct weir__processor *escalation_next; /* ... by this */
    struct weir__thread *dedicated;          /* its own thread */
    struct weir__agenda *agenda;             /* of one with an event_time; set once */
    struct weir__behaviours *behaviours;     /* owner: the handlers below the one on top; or NULL */
    struct weir__watch *watchers;            /* are told when it ends (engine/down.h) */
    struct weir__watch *watches;             /* what it is told of */
    struct weir__subscriptions *subscriptions; /* NULL: it was never on a channel; set once, under
                                                  channels.lock too */
    WEIR__ATOMIC(struct weir__asks *) asks; /* owner, once: its questions (engine/ask.h); or NULL */

    /* A freeze (engine/freeze.h). */
    weir__atomic_u32 frozen; /* the two numbers are fixed */
    weir__atomic_u64 frozen_handled, frozen_dead;
    weir_status end_reason;                /* owner, so the next two */
    char *end_text;                        /* of weir_turn_fail, if that is why it ends; or NULL */
    struct weir__supervision *supervision; /* set once, later under registry.lock; NULL: it
                                              resumes */
    struct weir__halt *halt;               /* owner: to be put aside for it at the turn's end */
    WEIR__ATOMIC(struct weir__latency *)
    latency; /* under registry.lock; the owner reads it inside
                                                     its mark. NULL: it is not measured */
} weir__processor_cold;

/* Where it runs. A move may make that stale at once, which is harmless: who takes it from there
 * passes it on. But a push there needs one of three things, or the last thread of that dispatcher
 * may be gone by then (engine/placement.c): the mark of the thread, set before this was read;
 * registry.lock; or to be a thread of that dispatcher oneself. */
static inline weir__dispatcher *weir__processor_dispatcher(const weir__processor *processor)
{
    /* [V8] pairs with [V9]: the dispatcher's record is complete. */
    return weir__load(&((weir__processor *)(uintptr_t)processor)->dispatcher, acquire);
}

static inline weir__processor_cold *weir__processor_cold_of(const weir__processor *processor)
{
    /* [K1] pairs with the release of whoever gave it one: it is zeroed. */
    return weir__load(&((weir__processor *)(uintptr_t)processor)->cold, acquire);
}

/* Its stop has run out of time: no handler of it begins any more. */
static inline bool weir__processor_is_frozen(const weir__processor *processor)
{
    weir__processor *p = (weir__processor *)(uintptr_t)processor;
    return (weir__load(&p->control, acquire) & WEIR__CONTROL_FREEZE) != 0;
}

static inline weir_overflow weir__processor_overflow(const weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold != NULL ? (weir_overflow)weir__load(&cold->overflow, relaxed) : WEIR_OVERFLOW_FAIL;
}

/* Whether OS threads may be waiting for room there. That never changes: a policy that became
 * another one still has those to wake that came before. */
static inline bool weir__processor_blocks(const weir__processor *processor)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold != NULL && cold->blocks;
}

/* After its mailbox was closed. */
static inline void weir__processor_settle_evictions(weir__processor *processor)
{
    if (weir__mailbox_evicts(&processor->mailbox)) {
        weir__mailbox_settle_evictions(&weir__processor_cold_of(processor)->evictions);
    }
}

static inline uint64_t weir__processor_dropped_newest(weir__processor_cold *cold)
{
    return weir__load(&cold->dropped_newest, acquire) & ~WEIR__DROPS_CLOSED;
}

#define WEIR__HANDLE_INDEX_BITS 24
#define WEIR__HANDLE_TAG (UINT64_C(0xff) << WEIR__HANDLE_INDEX_BITS)
#define WEIR__HANDLE_INDEX(id) ((uint32_t)((id) & ((UINT64_C(1) << WEIR__HANDLE_INDEX_BITS) - 1)))

/* The number of its slot. */
static inline uint32_t weir__processor_index(const weir__processor *processor)
{
    return WEIR__HANDLE_INDEX(weir__load(&((weir__processor *)(uintptr_t)processor)->id, relaxed));
}

/* Where OS threads wait for room there (weir__room_wait_of). Of processors that do one thing
 * together it is the same: who waits for any of them waits for all. */
static inline uint32_t weir__processor_room(const weir__processor *processor)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold != NULL && cold->room_of != 0 ? cold->room_of - 1
                                              : weir__processor_index(processor);
}

/* registry.lock held, or no thread runs. */
static inline bool weir__processor_is_live(const weir__processor *processor)
{
    weir__processor *p = (weir__processor *)(uintptr_t)processor;
    return (weir__load(&p->id, relaxed) & WEIR__HANDLE_TAG) != 0;
}

/* What only processors of weir's own ask for. */
typedef struct weir__processor_more {
    uint32_t within;                /* full to some posters, below mailbox_max; 0: to none */
    void (*chore)(weir_turn *turn); /* engine/chore.h; or NULL */
    bool shares_room;               /* who waits for room waits for the whole family */
} weir__processor_more;
typedef struct weir__processor_draft {
    weir_processor_options options;
    weir__processor_more more;
} weir__processor_draft;
/* All or none: the first, and the others as its children. */
weir_status weir__processor_add_family(weir_engine *engine, const weir__processor_draft *drafts,
                                       size_t count, weir_processor *out, weir_error *error);

/* "#index.generation", for what has no name. */
size_t weir__handle_text(weir_processor handle, char *out, size_t size);
/* The processor's name, or "#index.generation". registry.lock held, or by the owner. */
size_t weir__processor_text(const weir__processor *processor, char *out, size_t size);

/* What became of events over its life: handled, dead or left; dropped as the oldest. The rest of
 * what was accepted is outstanding. */
uint64_t weir__processor_done(const weir__processor *processor);
uint64_t weir__processor_evicted(const weir__processor *processor);
/* registry.lock held (engine/counters.c). One has ended: adds what it had. */
void weir__counters_gone(weir__outcome *gone, const weir__processor *processor);

#endif /* WEIR_ENGINE_PROCESSOR_H */
