/*
 * baselines/shared_queue.c - the second generation: a lock-free queue that every thread polls.
 *
 * Reproduces "Each dispatcher thread repeatedly: polls the dispatcher queue for a processor; polls
 * that processor's message queue for work; processes the message if one exists; returns the
 * processor to the dispatcher queue", with ConcurrentLinkedQueue, which is the queue of Michael and
 * Scott: "Failed CAS operations require retrying ... queue head/tail pointers ping-pong between CPU
 * caches ... no backoff mechanism: threads spin continuously". One message a turn. A thread that
 * finds no processor at all parks for 100 us.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "baselines/design.h"
#include "baselines/processor_queue.h"

static bool open_queue(void *at, uint32_t processors_max)
{
    return baseline_queue_open(at, processors_max);
}

static void close_queue(void *at)
{
    baseline_queue_close(at);
}

static void put(void *at, baseline_processor *processor)
{
    baseline_queue_put(at, processor->node, processor->index);
}

static void serve(baseline_engine *engine, baseline_worker *worker)
{
    baseline_queue *queue = engine->dispatcher;
    while (!baseline_is_stopping(engine)) {
        uint32_t node, index;
        weir__cell_add(&worker->rounds, 1);
        if (!baseline_queue_take(queue, &node, &index)) {
            (void)weir__word_wait(&worker->nap, 0, BASELINE_PARK);
            continue;
        }
        baseline_processor *processor = &engine->processors[index];
        processor->node = node;
        baseline_turn(engine, worker, processor);
        put(queue, processor);
    }
}

const baseline_design baseline_shared_queue = { .name = "shared-queue",
                                                .dispatcher_size = sizeof(baseline_queue),
                                                .open = open_queue,
                                                .close = close_queue,
                                                .put = put,
                                                .serve = serve };
