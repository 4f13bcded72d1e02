/*
 * baselines/design.h - what a design of baselines/ brings, and what all of them share.
 *
 * Who holds a processor, because it took it from the queue, is its only user: `head` of its
 * mailbox, its state and its spare node are plain memory that the queue hands on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_BASELINES_DESIGN_H
#define WEIR_BENCH_BASELINES_DESIGN_H

#include <stddef.h>

#include "baselines/engine.h"
#include "baselines/mailbox.h"
#include "sync/thread.h"

/* The originals parked for so long where there was nothing to do ("Park for 100 us"). */
#define BASELINE_PARK ((weir_ns)100 * WEIR_US)

struct baseline_processor {
    baseline_handler handler;
    void *state;
    uint32_t index;
    uint32_t node; /* of the queue, while it does not stand in it; see processor_queue.h */
    baseline_mailbox mailbox;
};

typedef struct baseline_worker {
    _Alignas(64) baseline_engine *engine;
    weir__os_thread thread;
    uint32_t empty;       /* processors without mail in a row */
    weir__atomic_u32 nap; /* always 0: a word to sleep on */
    weir__cell handled, rounds, try_locks, try_locks_failed, backoffs;
} baseline_worker;

struct baseline_design {
    const char *name;
    size_t dispatcher_size;
    /* False: out of memory. `dispatcher` is zeroed, and aligned to a cache line. */
    bool (*open)(void *dispatcher, uint32_t processors_max);
    void (*close)(void *dispatcher);
    /* A processor that is not in the queue: a new one. */
    void (*put)(void *dispatcher, baseline_processor *processor);
    /* The life of a thread, until weir__load(&engine->stopping). */
    void (*serve)(baseline_engine *engine, baseline_worker *worker);
    /* Threads that sleep without a limit look at `stopping`. NULL: there are none. */
    void (*rouse)(void *dispatcher);
};

struct baseline_engine {
    const baseline_design *design;
    void *dispatcher;
    baseline_processor *processors;
    baseline_worker *workers;
    uint32_t threads, started, count, processors_max, mailbox_max;
    _Alignas(64) weir__atomic_u32 stopping;
};

static inline bool baseline_is_stopping(const baseline_engine *engine)
{
    return weir__load((weir__atomic_u32 *)(uintptr_t)&engine->stopping, relaxed) != 0;
}

/* Handles one message of a processor that the caller holds, if there is one.
 *
 * "Poll that processor's message queue for work (processor.poll(timeout))": the time grows with the
 * number of polls that found nothing. Here it is zero until as many polls in a row as there are
 * processors found nothing, and then as long as the originals parked; a post to this processor ends
 * it. To wait at the first empty mailbox, as the originals did, is many times slower where others
 * have mail. */
static inline void baseline_turn(baseline_engine *engine, baseline_worker *worker,
                                 baseline_processor *processor)
{
    baseline_message message;
    const weir_ns patience = worker->empty >= engine->count ? BASELINE_PARK : 0;
    if (!baseline_mailbox_poll(&processor->mailbox, &message, patience)) {
        worker->empty++;
        return;
    }
    worker->empty = 0;
    processor->handler(processor->state, &message);
    weir__cell_add(&worker->handled, 1);
}

/* Memory for structs that are aligned to cache lines; zeroed. Ended by free. */
void *baseline_allocate(size_t size);

#endif /* WEIR_BENCH_BASELINES_DESIGN_H */
