/*
 * flow/api.c - the public face of submitting: keys checked, the caller's thread or turn found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/assert.h"
#include "engine/turn.h"
#include "flow/submit.h"
#include "flow/table.h"
#include "flow/worker.h"
#include "weir/flow.h"

static const weir__flow_key no_key = { .id = 0 };

/* Whether keys of this kind are for that router. An unknown one is found out later. */
static inline bool takes(const weir__router *router, bool bytes)
{
    return weir__unlikely(router == NULL) ||
           (router->options.keys == WEIR_FLOW_KEYS_BYTES) == bytes;
}

static WEIR__ALWAYS weir_status submit_number(weir__posting by, weir_router handle, uint64_t flow,
                                              const weir_event *event)
{
    weir__router *router = weir__router_find(by.context->engine, handle);
    if (weir__unlikely(flow == 0)) {
        return weir__submit(by, router, &no_key, event);
    }
    if (weir__unlikely(!takes(router, false))) {
        return WEIR_E_INVALID;
    }
    const weir__flow_key key = weir__flow_key_number(flow);
    return weir__submit(by, router, &key, event);
}

static weir_status submit_bytes(weir__posting by, weir_router handle, const void *key, size_t size,
                                const weir_event *event)
{
    weir__router *router = weir__router_find(by.context->engine, handle);
    if (size == 0) {
        return weir__submit(by, router, &no_key, event);
    }
    if (key == NULL || size > WEIR__FLOW_KEY_MAX || !takes(router, true)) {
        return WEIR_E_INVALID;
    }
    const weir__flow_key found = weir__flow_key_bytes(key, size);
    return weir__submit(by, router, &found, event);
}

/* ---- from outside ---- */

weir_status weir_router_submit(weir_engine *engine, weir_router router, uint64_t flow,
                               const weir_event *event)
{
    weir__posting by;
    return weir__likely(weir__post_outside(engine, &by)) ? submit_number(by, router, flow, event)
                                                         : weir__post_why_not(engine);
}

weir_status weir_router_submit_bytes(weir_engine *engine, weir_router router, const void *key,
                                     size_t size, const weir_event *event)
{
    weir__posting by;
    return weir__post_outside(engine, &by) ? submit_bytes(by, router, key, size, event)
                                           : weir__post_why_not(engine);
}

static const weir_event finish_event = { .type = &weir_finish_type, .flags = WEIR_EVENT_FINISH };

weir_status weir_router_finish(weir_engine *engine, weir_router router, uint64_t flow)
{
    return flow != 0 ? weir_router_submit(engine, router, flow, &finish_event) : WEIR_E_INVALID;
}

weir_status weir_router_finish_bytes(weir_engine *engine, weir_router router, const void *key,
                                     size_t size)
{
    return size != 0 ? weir_router_submit_bytes(engine, router, key, size, &finish_event)
                     : WEIR_E_INVALID;
}

/* ---- from a turn ---- */

static const weir__flow *flow_at_hand(const weir_turn *turn)
{
    return turn != NULL && turn->at_hand != NULL ? turn->at_hand->flow : NULL;
}

/* The flow that an event would inherit, as a key of that router. */
static weir_status submit_inherited(weir_turn *turn, weir_router router, const weir_event *event)
{
    const weir__posting by = weir__turn_posting(turn);
    const weir__flow *flow = flow_at_hand(turn);
    if (turn->flow == 0 || (event != NULL && (event->flags & WEIR_EVENT_NO_FLOW) != 0)) {
        return weir__submit(by, weir__router_find(by.context->engine, router), &no_key, event);
    }
    if (flow != NULL && flow->bytes != NULL &&
        takes(weir__router_find(by.context->engine, router), true)) {
        return submit_bytes(by, router, flow->bytes, flow->size, event);
    }
    return submit_number(by, router, turn->flow, event);
}

weir_status weir_turn_submit(weir_turn *turn, weir_router router, uint64_t flow,
                             const weir_event *event)
{
    if (turn == NULL) {
        return WEIR_E_INVALID;
    }
    if (flow == 0) {
        return submit_inherited(turn, router, event);
    }
    const weir__posting by = weir__turn_posting(turn);
    return submit_number(by, router, flow, event);
}

weir_status weir_turn_submit_bytes(weir_turn *turn, weir_router router, const void *key,
                                   size_t size, const weir_event *event)
{
    if (turn == NULL) {
        return WEIR_E_INVALID;
    }
    if (size == 0) {
        return submit_inherited(turn, router, event);
    }
    const weir__posting by = weir__turn_posting(turn);
    return submit_bytes(by, router, key, size, event);
}

weir_status weir_turn_finish(weir_turn *turn)
{
    if (flow_at_hand(turn) == NULL) {
        return WEIR_E_INVALID;
    }
    turn->at_hand->finish = true;
    return WEIR_OK;
}

const void *weir_turn_flow_key(const weir_turn *turn, size_t *size)
{
    const weir__flow *flow = flow_at_hand(turn);
    if (size != NULL) {
        *size = flow != NULL && flow->bytes != NULL ? flow->size : 0;
    }
    return flow != NULL ? flow->bytes : NULL;
}
