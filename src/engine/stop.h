/*
 * engine/stop.h - stopping one processor and its children.
 *
 * One record per stop, however many callers wait for it; it outlives the processor. A family is
 * stopped from the leaves up: a processor closes its mailbox when its last child has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_STOP_H
#define WEIR_ENGINE_STOP_H

#include "engine/engine.h"
#include "engine/processor.h"

typedef struct weir__stop {
    weir__atomic_u32 done; /* a wait word: 1 when the answer is fixed */
    weir_status status;    /* written before done, under registry.lock; so the report */
    weir_stop_report report;
    weir_ns deadline;
    uint32_t references;      /* under registry.lock, like all that follows */
    uint32_t waiters;         /* threads that sleep until it is answered, or are about to */
    struct weir__stop *above; /* the parent's stop, which sums ours up */
    weir_processor processor;
    struct weir__keeper *keeper; /* watches it, and has a reference; NULL: nobody does */
    struct weir__stop *keeper_next, *keeper_previous; /* of the keeper's list */
    char name[96];    /* of the processor, for the log; empty: it has none */
    uint32_t waiting; /* events that waited when it closed; to be said */
    bool expired;     /* its time ran out; to be said */
} weir__stop;

/* registry.lock held. Fixes the answer of a stop that has not been answered yet, and wakes. */
void weir__stop_answer(weir__stop *stop, weir_status status);
/* registry.lock held. */
void weir__stop_release(weir_engine *engine, weir__stop *stop);
/* registry.lock held. The time is over, or nobody is there to drain: freezes what is left of the
 * family. `status` is the answer if nothing is left; else it is TIMEOUT. */
void weir__stop_expire(weir_engine *engine, weir__stop *stop, weir_status status);

/* Not with the lock held: a log hook runs. Says what there is to say about the stop, once; by the
 * one that began it or let it expire. */
void weir__stop_say(weir_engine *engine, weir__stop *stop);

/* registry.lock held. Adds what became of one processor's events; nothing is dropped by it after
 * that. */
void weir__stop_count(weir_stop_report *report, const weir__processor *processor, uint64_t left);
/* The same to the report of a stop, unless it is answered. */
void weir__stop_add(weir__stop *stop, const weir__processor *processor, uint64_t left);

/* registry.lock held. Closes a processor that is ending and has no children; true: the caller must
 * push it. */
bool weir__stop_close(weir_engine *engine, weir__processor *processor);

/* registry.lock held. Begins to end this processor and all below it, without a record: the engine's
 * own stop. */
void weir__stop_family(weir_engine *engine, weir__processor *root);
/* The same for everything below it. */
void weir__stop_children(weir_engine *engine, weir__processor *parent);

/* registry.lock held. The cold part, made if missing. NULL: no memory. */
weir__processor_cold *weir__processor_cold_make(weir_engine *engine, weir__processor *processor);
/* registry.lock held. From now on it has to be ended in a turn. */
void weir__processor_needs_final(weir_engine *engine, weir__processor *processor);

#endif /* WEIR_ENGINE_STOP_H */
