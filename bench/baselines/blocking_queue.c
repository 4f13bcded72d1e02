/*
 * baselines/blocking_queue.c - the first generation: a blocking queue of processors.
 *
 * Reproduces "Initial implementation used LinkedBlockingQueue which employed OS-level locks.
 * Multiple threads blocking on kernel locks caused thread parking and waking overhead, context
 * switching, kernel-level synchronization", with the loop that all generations have: "poll the
 * dispatcher queue for a processor; poll that processor's message queue; process the message if one
 * exists; return the processor to the dispatcher queue".
 *
 * A ring of processors under a mutex; who finds it empty sleeps on a condition, which every put
 * signals if somebody sleeps. The mutex is the sync room's, which sleeps when it is held, as libc's
 * does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "baselines/design.h"
#include "sync/mutex.h"

typedef struct dispatcher {
    _Alignas(64) weir__mutex lock;
    baseline_processor **ring; /* this and all below: under the lock */
    uint32_t capacity, first, count, sleepers;
    _Alignas(64) weir__atomic_u32 condition; /* grows with every signal */
} dispatcher;

static bool open_queue(void *at, uint32_t processors_max)
{
    dispatcher *self = at;
    self->capacity = processors_max;
    self->ring = baseline_allocate(processors_max * sizeof(baseline_processor *));
    return self->ring != NULL;
}

static void close_queue(void *at)
{
    dispatcher *self = at;
    free(self->ring);
}

static void put(void *at, baseline_processor *processor)
{
    dispatcher *self = at;
    weir__mutex_lock(&self->lock);
    self->ring[(self->first + self->count++) % self->capacity] = processor;
    const bool signal = self->sleepers > 0;
    if (signal) {
        (void)weir__add(&self->condition, 1, relaxed);
    }
    weir__mutex_unlock(&self->lock);
    if (signal) {
        weir__word_wake(&self->condition, 1);
    }
}

/* NULL: the engine stops. */
static baseline_processor *take(dispatcher *self, const baseline_engine *engine)
{
    weir__mutex_lock(&self->lock);
    while (self->count == 0 && !baseline_is_stopping(engine)) { /* ends with a put, or the stop */
        const uint32_t seen = weir__load(&self->condition, relaxed);
        self->sleepers++;
        weir__mutex_unlock(&self->lock);
        (void)weir__word_wait(&self->condition, seen, WEIR_FOREVER);
        weir__mutex_lock(&self->lock);
        self->sleepers--;
    }
    baseline_processor *processor = NULL;
    if (self->count > 0) {
        processor = self->ring[self->first];
        self->first = (self->first + 1) % self->capacity;
        self->count--;
    }
    weir__mutex_unlock(&self->lock);
    return processor;
}

static void serve(baseline_engine *engine, baseline_worker *worker)
{
    dispatcher *self = engine->dispatcher;
    while (!baseline_is_stopping(engine)) {
        baseline_processor *processor = take(self, engine);
        weir__cell_add(&worker->rounds, 1);
        if (processor != NULL) {
            baseline_turn(engine, worker, processor);
            put(self, processor);
        }
    }
}

static void rouse(void *at)
{
    dispatcher *self = at;
    weir__mutex_lock(&self->lock); /* whoever has looked at `stopping` sleeps by now, or never */
    (void)weir__add(&self->condition, 1, relaxed);
    weir__mutex_unlock(&self->lock);
    weir__word_wake(&self->condition, UINT32_MAX);
}

const baseline_design baseline_blocking_queue = { .name = "blocking-queue",
                                                  .dispatcher_size = sizeof(dispatcher),
                                                  .open = open_queue,
                                                  .close = close_queue,
                                                  .put = put,
                                                  .serve = serve,
                                                  .rouse = rouse };
