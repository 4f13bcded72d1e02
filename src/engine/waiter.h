/*
 * engine/waiter.h - ordinary threads that wait for an answer.
 *
 * A thread takes a waiter for the length of its call; its number and a generation travel with the
 * question, in place of an asker's handle. Waiters stay as long as the engine, so an answer that
 * comes too late finds another generation, and nothing else.
 *
 *     FREE -> OPEN -> BUSY -> DONE -> FREE       an answer: BUSY while it is being put down
 *                '--> OVER ---------> FREE       the time is over, or the engine stops
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_WAITER_H
#define WEIR_ENGINE_WAITER_H

#include "sync/atomic.h"
#include "sync/mutex.h"
#include "weir/event.h"

/* Waiters lie in rows, each as long as all before it and a few: rows never move. */
#define WEIR__WAITER_ROW_BITS 3u
#define WEIR__WAITER_ROWS 14u

typedef struct weir__waiter {
    weir__atomic_u64 word; /* | generation 32 | state |; its thread; who answers, and a stop, by
                              exchange from OPEN */
    weir__atomic_u32 bell; /* a wait word: changes when the state has */
    uint32_t next;         /* under the lock: of those that are free: 1 + index */
    weir_event reply;      /* kept; who answers, while it is BUSY */
} weir__waiter;

typedef struct weir__waiters {
    weir__mutex lock;                                     /* guards what follows */
    WEIR__ATOMIC(weir__waiter *) rows[WEIR__WAITER_ROWS]; /* each is set once; read by all */
    weir__atomic_u32 used;                                /* only grows; read by all */
    uint32_t free;                                        /* 1 + index; 0: none of those */
} weir__waiters;

struct weir__posting;

/* A reply to the question of a thread. */
weir_status weir__waiter_answer(const struct weir__posting *by, uint64_t number,
                                const weir_event *event);

/* No handler begins any more: nobody will be answered. */
void weir__waiters_close(weir_engine *engine);
void weir__waiters_free(weir_engine *engine);

#endif /* WEIR_ENGINE_WAITER_H */
