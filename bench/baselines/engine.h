/*
 * baselines/engine.h - the three older designs that weir is compared with, behind one face.
 *
 * What they have in common: processors, each with a handler, a state and a bounded mailbox; one
 * dispatcher, that is one queue in which all its processors stand, with mail or without; threads
 * that each take a processor from the queue, handle one message of it if there is one, and put it
 * back. How the queue is shared is what the designs differ in: blocking_queue.c, shared_queue.c
 * and held_lock.c.
 *
 * They are opponents that should be hard to beat: mailboxes are lock-free here, no message is
 * allocated, nothing is logged. All of it is built on the sync room, so that the same sources run
 * on real threads and in the scale model (baselines/scale.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_BASELINES_ENGINE_H
#define WEIR_BENCH_BASELINES_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct baseline_message {
    uint64_t sender;
    uint64_t number;
} baseline_message;

/* Never on two threads at once for one processor. May post. */
typedef void (*baseline_handler)(void *state, const baseline_message *message);

typedef struct baseline_design baseline_design;
extern const baseline_design baseline_blocking_queue;
extern const baseline_design baseline_shared_queue;
extern const baseline_design baseline_held_lock;

typedef struct baseline_engine baseline_engine;
typedef struct baseline_processor baseline_processor;

typedef struct baseline_options {
    uint32_t threads;
    uint32_t processors_max;
    uint32_t mailbox_max; /* messages a processor; rounded up to a power of two */
} baseline_options;

/* NULL: out of memory. */
baseline_engine *baseline_create(const baseline_design *design, const baseline_options *options);
/* Before the start. NULL: there are as many as there may be. */
baseline_processor *baseline_add(baseline_engine *engine, baseline_handler handler, void *state);
/* False: the system gives no thread; then it is to be destroyed. */
bool baseline_start(baseline_engine *engine);
/* Any thread, any time between the start and the stop. False: the mailbox is full. */
bool baseline_post(baseline_processor *processor, const baseline_message *message);
/* The same, and waits for room. Not for a handler: nobody may be left to make room. */
void baseline_post_all(baseline_processor *processor, const baseline_message *message);
/* Ends the threads; what is still in mailboxes stays there. */
void baseline_stop(baseline_engine *engine);
/* After the stop, or instead of a start. NULL does nothing. */
void baseline_destroy(baseline_engine *engine);

/* Since the start, of all threads; at any time. */
typedef struct baseline_counters {
    uint64_t handled;
    uint64_t rounds; /* looks for a processor */
    uint64_t try_locks, try_locks_failed, backoffs;
} baseline_counters;
void baseline_count(const baseline_engine *engine, baseline_counters *counters);

/* A latch: it opens when it was counted down to zero. */
typedef struct baseline_latch baseline_latch;
baseline_latch *baseline_latch_create(void);
void baseline_latch_destroy(baseline_latch *latch);
/* Shut again: nobody waits, and nobody counts. */
void baseline_latch_set(baseline_latch *latch, uint32_t count);
void baseline_latch_down(baseline_latch *latch);
/* When it opened, which is before the waiting thread was awake again. -1: so many seconds went
 * by. */
int64_t baseline_latch_wait(baseline_latch *latch, uint32_t seconds);

#endif /* WEIR_BENCH_BASELINES_ENGINE_H */
