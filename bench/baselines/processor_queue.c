/*
 * baselines/processor_queue.c - put and take, as Michael and Scott wrote them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "baselines/processor_queue.h"

#include <stdlib.h>

#include "baselines/design.h"

#define NOBODY UINT32_MAX

static uint64_t link_to(uint32_t node, uint64_t old)
{
    return ((old >> 32) + 1) << 32 | node;
}

static uint32_t node_of(uint64_t link)
{
    return (uint32_t)link;
}

bool baseline_queue_open(baseline_queue *queue, uint32_t processors_max)
{
    queue->nodes = baseline_allocate(((size_t)processors_max + 1) * sizeof(*queue->nodes));
    if (queue->nodes == NULL) {
        return false;
    }
    weir__init(&queue->nodes[0].next, NOBODY);
    weir__init(&queue->head, 0);
    weir__init(&queue->tail, 0);
    return true;
}

void baseline_queue_close(baseline_queue *queue)
{
    free(queue->nodes);
}

void baseline_queue_put(baseline_queue *queue, uint32_t node, uint32_t value)
{
    baseline_node *own = &queue->nodes[node];
    weir__store(&own->value, value, relaxed);
    weir__store(&own->next, link_to(NOBODY, weir__load(&own->next, relaxed)), relaxed);
    for (;;) { /* ends: an exchange fails because another thread's put went on */
        uint64_t tail = weir__load(&queue->tail, acquire);
        baseline_node *last = &queue->nodes[node_of(tail)];
        uint64_t next = weir__load(&last->next, acquire);
        if (tail != weir__load(&queue->tail, acquire)) {
            continue;
        }
        if (node_of(next) != NOBODY) { /* it lags behind: help */
            (void)weir__cas(&queue->tail, &tail, link_to(node_of(next), tail), release, relaxed);
        } else if (weir__cas(&last->next, &next, link_to(node, next), release, relaxed)) {
            (void)weir__cas(&queue->tail, &tail, link_to(node, tail), release, relaxed);
            return;
        }
    }
}

bool baseline_queue_take(baseline_queue *queue, uint32_t *node, uint32_t *value)
{
    for (;;) { /* ends: an exchange fails because another thread's take went on */
        uint64_t head = weir__load(&queue->head, acquire);
        uint64_t tail = weir__load(&queue->tail, acquire);
        const uint64_t next = weir__load(&queue->nodes[node_of(head)].next, acquire);
        if (head != weir__load(&queue->head, acquire)) {
            continue;
        }
        if (node_of(next) == NOBODY) {
            return false;
        }
        if (node_of(head) == node_of(tail)) {
            (void)weir__cas(&queue->tail, &tail, link_to(node_of(next), tail), release, relaxed);
            continue;
        }
        /* Before the exchange: after it the next taker may use the node again. */
        *value = weir__load(&queue->nodes[node_of(next)].value, relaxed);
        if (weir__cas(&queue->head, &head, link_to(node_of(next), head), acq_rel, relaxed)) {
            *node = node_of(head);
            return true;
        }
    }
}
