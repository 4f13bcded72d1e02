/*
 * flow/worker.h - a worker: the processor whose turns run flows. What it does with a flow nobody
 * else does: make its state, handle its events, destroy its state, take its mapping away.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_WORKER_H
#define WEIR_FLOW_WORKER_H

#include "flow/router.h"

/* turn->at_hand, while a flow's handler or init runs. */
typedef struct weir__at_hand {
    weir__flow *flow; /* NULL: an event without a flow */
    bool finish;      /* weir_turn_finish */
} weir__at_hand;

/* `flow` of a routed envelope: | finishes before it 32 | record 32 |; 0: no flow. */
static inline uint64_t weir__routed(const weir__flow *flow)
{
    return (uint64_t)flow->finishes << 32 | flow->index;
}

/* The worker's processor: handler, chore hook, destroy hook. */
weir_status weir__worker_handle(void *state, weir_turn *turn, const weir_event *event);
void weir__worker_chore(weir_turn *turn);
void weir__worker_destroy(void *state, weir_status reason);

/* Inside the mark, under the shard's lock: the flow's worker is to look at it (flow->why says what
 * for, or it lingers, or has lost its finish). Returns whom to make ready when the lock is
 * released, or NULL. */
weir__processor *weir__worker_ask(weir__context *context, weir__router *router, weir__flow *flow);

#endif /* WEIR_FLOW_WORKER_H */
