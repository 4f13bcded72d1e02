/*
 * engine/behaviour.c - become, unbecome, and both as requests from outside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/behaviour.h"

#include <string.h>

#include "base/memory.h"
#include "engine/event_time.h"
#include "engine/own.h"
#include "engine/post.h"
#include "engine/stop.h"
#include "engine/turn.h"

#define CAPACITY_FIRST 4u

static size_t size_of(uint32_t capacity)
{
    return sizeof(weir__behaviours) + capacity * sizeof(weir__behaviour);
}

void weir__behaviours_free(weir_engine *engine, weir__behaviours *behaviours)
{
    if (behaviours != NULL) {
        weir__release(&engine->allocator, behaviours, size_of(behaviours->capacity));
    }
}

/* ---- the top ---- */

static weir_handler *top_of(weir__processor *processor)
{
    weir__agenda *agenda = weir__agenda_of(processor);
    return agenda != NULL ? &agenda->handler : &processor->handler;
}

weir_handler weir__behaviour_top(weir__processor *processor)
{
    return *top_of(processor);
}

static weir__behaviour get(weir__processor *processor)
{
    return (weir__behaviour){ *top_of(processor), weir__processor_cold_of(processor)->cases };
}

static void set(weir__processor *processor, const weir__behaviour *next)
{
    *top_of(processor) = next->handler;
    weir__processor_cold_of(processor)->cases = next->cases;
}

/* ---- what lies below ---- */

/* Room for one more below the top, and the base is noted. */
static weir_status make_room(weir_engine *engine, weir__processor *processor)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__processor_cold *cold = weir__processor_cold_make(engine, processor);
    weir__mutex_unlock(&engine->registry.lock);
    if (cold == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__behaviours *old = cold->behaviours;
    if (old != NULL && old->depth < old->capacity) {
        return WEIR_OK;
    }
    const uint32_t capacity = old != NULL ? 2 * old->capacity : CAPACITY_FIRST;
    weir__behaviours *new = weir__allocate(&engine->allocator, size_of(capacity));
    if (new == NULL) {
        return WEIR_E_NOMEM;
    }
    if (old != NULL) {
        memcpy(new, old, size_of(old->capacity));
    } else {
        new->registered = get(processor);
    }
    new->capacity = capacity;
    cold->behaviours = new;
    weir__behaviours_free(engine, old);
    return WEIR_OK;
}

static weir_status become(weir_turn *turn, const weir__behaviour *next, bool keep)
{
    weir__processor *processor = turn->processor;
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    const uint32_t depth = cold != NULL && cold->behaviours != NULL ? cold->behaviours->depth : 0;
    if (keep && depth + 1 >= WEIR__BEHAVIOURS_MAX) {
        return WEIR_E_LIMIT;
    }
    const weir_status status = make_room(turn->context->engine, processor);
    if (status != WEIR_OK) {
        return status;
    }
    weir__behaviours *behaviours = weir__processor_cold_of(processor)->behaviours;
    if (keep) {
        behaviours->below[behaviours->depth++] = get(processor);
    }
    set(processor, next);
    return WEIR_OK;
}

static weir_status unbecome(const weir_turn *turn)
{
    const weir__processor_cold *cold = weir__processor_cold_of(turn->processor);
    weir__behaviours *behaviours = cold != NULL ? cold->behaviours : NULL;
    if (behaviours == NULL || behaviours->depth == 0) {
        return WEIR_ALREADY;
    }
    set(turn->processor, &behaviours->below[--behaviours->depth]);
    return WEIR_OK;
}

void weir__behaviour_reset(weir__processor *processor)
{
    weir__behaviours *behaviours = weir__processor_cold_of(processor)->behaviours;
    if (behaviours != NULL) {
        behaviours->depth = 0;
        set(processor, &behaviours->registered);
    }
}

/* ---- from a turn ---- */

static bool is_sane(const weir_cases *cases)
{
    for (size_t i = 0; cases != NULL && cases->rows != NULL && i < cases->count; i++) {
        if (cases->rows[i].type == NULL || cases->rows[i].handler == NULL) {
            return false;
        }
    }
    return cases != NULL && cases->rows != NULL;
}

weir_status weir_turn_become(weir_turn *turn, weir_handler handler, bool keep)
{
    const weir__behaviour next = { .handler = handler };
    return turn != NULL && !weir__turn_is_flows(turn) && handler != NULL ? become(turn, &next, keep)
                                                                         : WEIR_E_INVALID;
}

weir_status weir_turn_become_cases(weir_turn *turn, const weir_cases *cases, bool keep)
{
    if (turn == NULL || weir__turn_is_flows(turn) || !is_sane(cases)) {
        return WEIR_E_INVALID;
    }
    const weir__behaviour next = { weir__turn_by_case, *cases };
    return become(turn, &next, keep);
}

weir_status weir_turn_unbecome(weir_turn *turn)
{
    return turn != NULL && !weir__turn_is_flows(turn) ? unbecome(turn) : WEIR_E_INVALID;
}

/* ---- from outside ---- */

typedef struct request {
    weir__behaviour next; /* without a handler: pop */
    bool keep;
} request;

static weir_status serve(void *state, weir_turn *turn, const weir_event *event)
{
    const request *r = event->data;
    (void)state;
    const weir_status status =
        r->next.handler != NULL ? become(turn, &r->next, r->keep) : unbecome(turn);
    return status == WEIR_E_LIMIT ? weir_turn_fail(turn, status, "1,024 handlers are on its stack")
                                  : status;
}

static const weir__own_type request_type = {
    { sizeof(weir_event_type), "weir.become", (uint32_t)sizeof(request), false, NULL, NULL },
    serve,
    true,
};
_Static_assert(sizeof(request) <= WEIR_EVENT_INLINE_MAX, "it needs no block");

static weir_status ask_for(weir_engine *engine, weir_processor processor, const request *r)
{
    const weir_event event = { .type = &request_type.type,
                               .data = r,
                               .size = (uint32_t)sizeof(*r) };
    weir__posting by;
    if (!weir__post_outside(engine, &by)) {
        return weir__post_why_not(engine);
    }
    by.marks = WEIR__ENVELOPE_OWN;
    by.carries = false;
    weir__post_begin(by.context);
    return weir__post_counted(&by, processor, &event);
}

weir_status weir_processor_request_become(weir_engine *engine, weir_processor processor,
                                          weir_handler handler, bool keep)
{
    const request r = { .next = { .handler = handler }, .keep = keep };
    return handler != NULL ? ask_for(engine, processor, &r) : WEIR_E_INVALID;
}

weir_status weir_processor_request_become_cases(weir_engine *engine, weir_processor processor,
                                                const weir_cases *cases, bool keep)
{
    if (!is_sane(cases)) {
        return WEIR_E_INVALID;
    }
    const request r = { .next = { weir__turn_by_case, *cases }, .keep = keep };
    return ask_for(engine, processor, &r);
}

weir_status weir_processor_request_unbecome(weir_engine *engine, weir_processor processor)
{
    const request r = { .keep = false };
    return ask_for(engine, processor, &r);
}
