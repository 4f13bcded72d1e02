/*
 * flow/sweep.h - flows that nobody finishes: those that are idle for too long, and the one that has
 * been so for longest when there are too many.
 *
 * A router's *caretaker* is a processor, the parent of the workers. While there are flows it has
 * one trigger out, for the moment at which the oldest of them is due. What it finds idle it writes
 * onto the list of the flow's worker, who looks again whether it still is. Targets have no worker
 * that could: there the mapping is all there is of a flow, and goes at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_SWEEP_H
#define WEIR_FLOW_SWEEP_H

#include "flow/router.h"

/* The caretaker's handler, and its chore hook. */
weir_status weir__caretaker_handle(void *state, weir_turn *turn, const weir_event *event);
void weir__caretaker_chore(weir_turn *turn);
/* Its destroy hook, of a router with targets: flows there have no worker that ends them. */
void weir__caretaker_destroy(void *state, weir_status reason);

/* Inside the mark, no lock held. There is a flow: the caretaker is to look, in time. */
void weir__sweep_arm(weir__context *context, weir__router *router);
/* The same. Another idle timeout counts from now on. */
void weir__sweep_retime(weir__context *context, weir__router *router, weir_ns timeout);
/* The same. There are too many: the one that has been idle for longest is to go. */
void weir__sweep_evict(weir__context *context, weir__router *router);

#endif /* WEIR_FLOW_SWEEP_H */
