/*
 * baselines/processor_queue.h - the lock-free queue of Michael and Scott, of processors.
 *
 * A list with a head, which is a node that was used up, and a tail, which may lag one behind. Put
 * hangs its node behind the last one; take moves the head on. Threads that meet make each other's
 * exchanges fail, and try again: that is the contention that this queue is known for.
 *
 * Memory: a link is the number of a node and a tag that grows with every change, so a link that
 * comes back is not mistaken for the old one; nodes are never given back, so an old link leads to a
 * node. There is one node more than processors. Take leaves the thread with a node that nobody uses
 * any more; it goes with the processor, and carries it when it is put back: nothing is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_BASELINES_PROCESSOR_QUEUE_H
#define WEIR_BENCH_BASELINES_PROCESSOR_QUEUE_H

#include "sync/atomic.h"

typedef struct baseline_node {
    _Alignas(64) weir__atomic_u64 next; /* a link */
    weir__atomic_u32 value;             /* the index of a processor */
} baseline_node;

typedef struct baseline_queue {
    _Alignas(64) weir__atomic_u64 head; /* links */
    _Alignas(64) weir__atomic_u64 tail;
    _Alignas(64) baseline_node *nodes;
} baseline_queue;

/* False: out of memory. Node `i + 1` is processor i's; node 0 is the first that is used up. */
bool baseline_queue_open(baseline_queue *queue, uint32_t processors_max);
void baseline_queue_close(baseline_queue *queue);

/* `node` carries `value`; it must not be in the queue. */
void baseline_queue_put(baseline_queue *queue, uint32_t node, uint32_t value);
/* False: it is empty. `*node` is the caller's now. */
bool baseline_queue_take(baseline_queue *queue, uint32_t *node, uint32_t *value);

#endif /* WEIR_BENCH_BASELINES_PROCESSOR_QUEUE_H */
