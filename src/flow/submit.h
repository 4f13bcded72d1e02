/*
 * flow/submit.h - from a key and an event to the mailbox of a worker.
 *
 * Most submits are a few bytes for a flow that is there, on a worker that has room: those go
 * straight. Whatever stands in the way is found out before anything has happened, and then
 * flow/submit.c does all of it again and sees to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FLOW_SUBMIT_H
#define WEIR_FLOW_SUBMIT_H

#include "engine/probe.h"
#include "engine/straight.h"
#include "flow/table.h"
#include "flow/worker.h"
#include "sync/tell.h"

static inline uint32_t weir__event_finishes(const weir_event *event)
{
    return event->flags & WEIR_EVENT_FINISH;
}

/* Inside the mark, of a router that is not closed. How many places of this worker are beyond
 * worker_max; and a claim of one more, out of ingress_max. FULL: that is used up. */
uint32_t weir__worker_beyond(const weir__router *router, const weir__worker *worker);
weir__claim weir__claim_beyond(weir__router *router, weir__processor *processor, uint64_t *before);

/* Inside the mark. The flow is there and stays where it is, its worker has room. */
static WEIR__ALWAYS bool weir__offer_straight(const weir__posting *by, weir__router *router,
                                              weir__shard *shard, const weir__flow_key *key,
                                              weir__parcel *parcel, weir__processor **ready)
{
    weir__context *context = by->context;
    weir__flow *flow = weir__table_find(router, shard, key);
    if (weir__unlikely(flow == NULL)) {
        return false;
    }
    /* It has not ended, or the router would be closed: its slot is its own while we are inside. */
    weir__processor *processor = router->workers[flow->worker].processor;
    if (weir__unlikely(!weir__stock_suffices(&context->stock, processor->mailbox.page_class))) {
        return false;
    }
    uint32_t one = 1;
    uint64_t before;
    weir__claim claim = weir__mailbox_claim_within(&processor->mailbox, router->options.worker_max,
                                                   &one, &before, WEIR__MAILBOX_FIRST);
    if (weir__unlikely(claim == WEIR__CLAIM_FULL) &&
        router->options.overflow == WEIR_OVERFLOW_BLOCK) {
        claim = weir__claim_beyond(router, processor, &before);
    }
    if (weir__unlikely(claim > WEIR__CLAIM_FIRST)) {
        return false;
    }
    parcel->flow = weir__routed(flow);
    WEIR__PROBE2(posts, WEIR__PROBE_ID(processor), 1);
    weir__parcel_deliver(by, &processor->mailbox, claim, before, parcel);
    *ready = claim == WEIR__CLAIM_FIRST ? processor : NULL;
    flow->submitted++;
    flow->finishes += weir__event_finishes(parcel->event);
    flow->why = 0;
    flow->lingers = false;
    weir__cell_add(&shard->submitted, 1);
    weir__table_touch(router, shard, flow, weir__clock_coarse());
    return true;
}

/* As weir__post_straight. False: nothing has happened. */
static WEIR__ALWAYS bool weir__submit_straight(const weir__posting *by, weir__router *router,
                                               const weir__flow_key *key, const weir_event *event)
{
    weir__context *context = by->context;
    weir__processor *ready = NULL;
    bool accepted = false;
    if (weir__unlikely(!weir__parcel_is_plain(context, event)) || weir__unlikely(!router->plain) ||
        weir__unlikely(key->id == 0)) {
        return false;
    }
    weir__parcel parcel = { .event = event };
    weir__shard *shard = weir__shard_for(router, key);
    weir__context_enter(context);
    if (weir__likely(weir__load(&context->engine->phase, relaxed) < WEIR__STOPPING) &&
        weir__likely(!weir__router_is_closed(router))) {
        weir__brief_lock(&shard->lock);
        accepted = weir__offer_straight(by, router, shard, key, &parcel, &ready);
        weir__brief_unlock(&shard->lock);
        if (ready != NULL) {
            weir__ready(context, ready);
        }
    }
    weir__context_leave(context);
    return accepted;
}

/* The same, whatever it takes; it was begun (weir__post_begin). `router` NULL: there is none. */
weir_status weir__submit_slowly(const weir__posting *by, weir__router *router,
                                const weir__flow_key *key, const weir_event *event);

/* All of it, counted. key->id 0: without a flow. `by` is a copy: what nobody else can reach stays
 * in registers. */
static WEIR__ALWAYS weir_status weir__submit(weir__posting by, weir__router *router,
                                             const weir__flow_key *key, const weir_event *event)
{
    weir__post_begin(by.context);
    if (weir__likely(router != NULL)) {
        by.marks = router->targeted ? 0 : WEIR__ENVELOPE_ROUTED;
        if (weir__likely(weir__submit_straight(&by, router, key, event))) {
            if (weir__tell_begin()) {
                weir__tell_end("submits %s", event->type->name);
            }
            return WEIR_OK;
        }
    }
    /* Field by field, as in engine/turn_api.c. */
    const weir__posting again = { .context = by.context,
                                  .sender = by.sender,
                                  .flow = by.flow,
                                  .in_handler = by.in_handler,
                                  .marks = by.marks,
                                  .ask = by.ask,
                                  .carries = true };
    const weir__flow_key again_key = {
        .id = key->id, .hash = key->hash, .bytes = key->bytes, .size = key->size
    };
    return weir__submit_slowly(&again, router, &again_key, event);
}

#endif /* WEIR_FLOW_SUBMIT_H */
