/*
 * engine/traceparent.c - carriers of a trace context. engine/traceparent_text.c is its text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/traceparent.h"

#include "base/memory.h"
#include "engine/engine.h"
#include "engine/turn.h"

typedef struct weir__carrier carrier;
struct weir__carrier {
    weir_origin origin; /* first: the one is found by the other */
    weir_engine *engine;
    weir_traceparent traceparent;
    weir_origin *tracking;   /* a reference, or NULL */
    carrier *next, **before; /* of the engine's list, under its lock */
};

/* ---- carriers ---- */

/* Its last reference is gone. */
static void end(weir_origin *origin)
{
    carrier *ended = (carrier *)(void *)origin;
    weir_origin *tracking = ended->tracking;
    weir__carriers *carriers = &ended->engine->carriers;
    weir__brief_lock(&carriers->lock);
    *ended->before = ended->next;
    if (ended->next != NULL) {
        ended->next->before = ended->before;
    }
    weir__brief_unlock(&carriers->lock);
    weir__release(&ended->engine->allocator, ended, sizeof(*ended));
    if (tracking != NULL) {
        weir__origin_release(tracking);
    }
}

static weir_origin *make(weir_engine *engine, const weir_traceparent *traceparent,
                         weir_origin *tracking)
{
    carrier *made = weir__allocate(&engine->allocator, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    weir__origin_open(&made->origin, end);
    made->engine = engine;
    made->traceparent = *traceparent;
    made->tracking = tracking;
    if (tracking != NULL) {
        weir__origin_hold(tracking, 1);
    }
    weir__carriers *carriers = &engine->carriers;
    weir__brief_lock(&carriers->lock);
    made->next = carriers->first;
    made->before = &carriers->first;
    if (made->next != NULL) {
        made->next->before = &made->next;
    }
    carriers->first = made;
    weir__brief_unlock(&carriers->lock);
    return &made->origin;
}

/* What they track has gone by now, or will not be told any more. */
void weir__carriers_close(weir_engine *engine)
{
    carrier *next;
    for (carrier *left = engine->carriers.first; left != NULL; left = next) {
        next = left->next;
        weir__release(&engine->allocator, left, sizeof(*left));
    }
    engine->carriers.first = NULL;
}

static bool is_carrier(const weir_origin *origin)
{
    return origin != NULL && origin->done == end;
}

const weir_traceparent *weir__traceparent_of(const weir_origin *origin)
{
    return is_carrier(origin) ? &((const carrier *)(const void *)origin)->traceparent : NULL;
}

weir_origin *weir__origin_tracking(weir_origin *origin)
{
    return is_carrier(origin) ? ((carrier *)(void *)origin)->tracking : origin;
}

weir_origin *weir__carrier_before(weir_engine *engine, const weir_origin *origin,
                                  weir_origin *tracking)
{
    return make(engine, weir__traceparent_of(origin), tracking);
}

void weir__carried_drop(weir__context *context)
{
    weir_origin *carried = context->carried;
    context->carried = NULL;
    weir__origin_leave(context);
    if (carried != NULL) {
        weir__origin_release(carried);
    }
}

/* From now on this one is at hand, a reference that the context keeps; NULL: what tracks the event,
 * if anybody does. */
static void carry(weir__context *context, weir_origin *made, weir_origin *tracking)
{
    weir_origin *before = context->carried;
    context->carried = made;
    if (made != NULL || tracking != NULL) {
        weir__origin_enter(context, made != NULL ? made : tracking);
    } else {
        weir__origin_leave(context);
    }
    if (before != NULL) {
        weir__origin_release(before);
    }
}

/* ---- the public face ---- */

weir_status weir_turn_traceparent(weir_turn *turn, weir_traceparent *out)
{
    if (turn == NULL || out == NULL) {
        return WEIR_E_INVALID;
    }
    const weir_traceparent *found = weir__traceparent_of(turn->context->origin);
    if (found == NULL) {
        return WEIR_UNKNOWN;
    }
    *out = *found;
    return WEIR_OK;
}

static bool handles_event(const weir_turn *turn)
{
    const uint64_t at = weir__trail_at(turn->trail);
    const weir__hook hook = weir__trail_hook_at(at);
    return weir__trail_runs_at(at) && (hook == WEIR__HOOK_HANDLER || hook == WEIR__HOOK_UNHANDLED);
}

weir_status weir_turn_traceparent_set(weir_turn *turn, const weir_traceparent *traceparent)
{
    if (turn == NULL || !weir__engine_usable(turn->context->engine) || !handles_event(turn)) {
        return WEIR_E_INVALID; /* an init has no event whose end would be that of the carrier */
    }
    weir__context *context = turn->context;
    weir_origin *tracking = weir__origin_tracking(context->origin);
    weir_origin *made = NULL;
    if (traceparent != NULL) {
        made = make(context->engine, traceparent, tracking);
        if (made == NULL) {
            return WEIR_E_NOMEM;
        }
    }
    turn->state |= WEIR__ENVELOPE_CARRIED;
    carry(context, made, tracking);
    return WEIR_OK;
}

/* What is posted there has an event's own, or is nobody's doing. */
static bool is_elsewhere(const weir_engine *engine)
{
    const weir__trail *trail = weir__context_trail();
    if (trail == NULL || trail->engine != engine) {
        return false;
    }
    const uint64_t at = weir__trail_at(trail);
    const weir__hook hook = weir__trail_hook_at(at);
    return weir__trail_runs_at(at) && hook != WEIR__HOOK_DO_WORK && hook != WEIR__HOOK_CALL;
}

weir_status weir_engine_traceparent_set(weir_engine *engine, const weir_traceparent *traceparent)
{
    if (!weir__engine_usable(engine) || is_elsewhere(engine)) {
        return WEIR_E_INVALID;
    }
    weir__context *context = weir__context_find(engine);
    weir_origin *made =
        context != NULL && traceparent != NULL ? make(engine, traceparent, NULL) : NULL;
    if (context == NULL || (traceparent != NULL && made == NULL)) {
        return WEIR_E_NOMEM;
    }
    carry(context, made, NULL);
    return WEIR_OK;
}
