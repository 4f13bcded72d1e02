/*
 * baselines/held_lock.c - the third generation: a try-lock that is held while the handler runs.
 *
 * Reproduces the "lock-based round-robin processing" of the originals: "Thread attempts tryLock()
 * on current dispatcher (non-blocking). Success: process work, reset backoff. All dispatchers
 * locked: apply exponential backoff sleep", 10 us, times 1.5, up to 10 ms, without jitter. The
 * work is processed between lock and unlock: one processor, one message of it. "Keep
 * ConcurrentLinkedQueue with lock protection": the queue of shared_queue.c stands behind the lock.
 * With one dispatcher a full round of all dispatchers is one failed try.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "baselines/design.h"
#include "baselines/processor_queue.h"
#include "sync/mutex.h"

#define BACKOFF_BASE ((weir_ns)10 * WEIR_US)
#define BACKOFF_MAX ((weir_ns)10 * WEIR_MS)

typedef struct dispatcher {
    _Alignas(64) weir__trylock lock;
    baseline_queue queue;
} dispatcher;

static bool open_queue(void *at, uint32_t processors_max)
{
    dispatcher *self = at;
    return baseline_queue_open(&self->queue, processors_max);
}

static void close_queue(void *at)
{
    dispatcher *self = at;
    baseline_queue_close(&self->queue);
}

static void put(void *at, baseline_processor *processor)
{
    dispatcher *self = at;
    baseline_queue_put(&self->queue, processor->node, processor->index);
}

/* Under the lock. */
static void process(dispatcher *self, baseline_engine *engine, baseline_worker *worker)
{
    uint32_t node, index;
    if (baseline_queue_take(&self->queue, &node, &index)) {
        baseline_processor *processor = &engine->processors[index];
        processor->node = node;
        baseline_turn(engine, worker, processor);
        put(self, processor);
    }
}

static void serve(baseline_engine *engine, baseline_worker *worker)
{
    dispatcher *self = engine->dispatcher;
    weir_ns delay = BACKOFF_BASE;
    while (!baseline_is_stopping(engine)) {
        weir__cell_add(&worker->rounds, 1);
        weir__cell_add(&worker->try_locks, 1);
        if (weir__trylock_take(&self->lock)) {
            process(self, engine, worker);
            weir__trylock_release(&self->lock);
            if (worker->empty == 0) {
                delay = BACKOFF_BASE;
            }
        } else {
            weir__cell_add(&worker->try_locks_failed, 1);
            weir__cell_add(&worker->backoffs, 1);
            (void)weir__word_wait(&worker->nap, 0, delay);
            delay = delay + delay / 2 < BACKOFF_MAX ? delay + delay / 2 : BACKOFF_MAX;
        }
    }
}

const baseline_design baseline_held_lock = { .name = "held-lock",
                                             .dispatcher_size = sizeof(dispatcher),
                                             .open = open_queue,
                                             .close = close_queue,
                                             .put = put,
                                             .serve = serve };
