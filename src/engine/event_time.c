/*
 * engine/event_time.c - a heap of triggers, and the handler that empties it as time goes by.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/event_time.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "engine/life.h"
#include "engine/parcel.h"
#include "engine/supervise.h"
#include "engine/timer.h"
#include "engine/turn.h"

#define CAPACITY_FIRST 8u

typedef struct weir__trigger {
    weir_ns due;
    uint64_t number;  /* in the order asked */
    weir_event event; /* kept */
} trigger;

weir__agenda *weir__agenda_make(weir_engine *engine,
                                weir_ns (*time_of)(void *state, const weir_event *event),
                                weir_handler handler)
{
    weir__agenda *agenda = weir__allocate(&engine->allocator, sizeof(*agenda));
    if (agenda != NULL) {
        agenda->time_of = time_of;
        agenda->handler = handler;
    }
    return agenda;
}

void weir__agenda_clear(weir__agenda *agenda)
{
    while (agenda->count > 0) {
        weir_event_release(&agenda->triggers[--agenda->count].event);
    }
}

void weir__agenda_free(weir_engine *engine, weir__agenda *agenda)
{
    weir__release(&engine->allocator, agenda->triggers, agenda->capacity * sizeof(trigger));
    weir__release(&engine->allocator, agenda, sizeof(*agenda));
}

/* ---- the heap ---- */

static bool is_before(const trigger *a, const trigger *b)
{
    return a->due != b->due ? a->due < b->due : a->number < b->number;
}

static void swap(trigger *a, trigger *b)
{
    const trigger other = *a;
    *a = *b;
    *b = other;
}

static void push(weir__agenda *agenda, const trigger *new)
{
    uint32_t at = agenda->count++;
    agenda->triggers[at] = *new;
    while (at > 0 && is_before(&agenda->triggers[at], &agenda->triggers[(at - 1) / 2])) {
        swap(&agenda->triggers[at], &agenda->triggers[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static trigger pop(weir__agenda *agenda)
{
    const trigger first = agenda->triggers[0];
    trigger *heap = agenda->triggers;
    const uint32_t count = --agenda->count;
    heap[0] = heap[count];
    for (uint32_t at = 0;;) {
        const uint32_t left = 2 * at + 1;
        uint32_t least = at;
        least = left < count && is_before(&heap[left], &heap[least]) ? left : least;
        least = left + 1 < count && is_before(&heap[left + 1], &heap[least]) ? left + 1 : least;
        if (least == at) {
            return first;
        }
        swap(&heap[at], &heap[least]);
        at = least;
    }
}

static bool grow(weir_engine *engine, weir__agenda *agenda)
{
    const uint32_t capacity = agenda->capacity != 0 ? 2 * agenda->capacity : CAPACITY_FIRST;
    trigger *larger = weir__allocate(&engine->allocator, capacity * sizeof(*larger));
    if (larger == NULL) {
        return false;
    }
    if (agenda->count > 0) {
        memcpy(larger, agenda->triggers, agenda->count * sizeof(*larger));
    }
    weir__release(&engine->allocator, agenda->triggers, agenda->capacity * sizeof(*larger));
    agenda->triggers = larger;
    agenda->capacity = capacity;
    return true;
}

weir_status weir__event_time_trigger(weir_turn *turn, weir_ns delay, const weir_event *event,
                                     uint64_t tag)
{
    weir_engine *engine = turn->context->engine;
    weir__agenda *agenda = weir__agenda_of(turn->processor);
    weir_status status = weir__parcel_check(event);
    if (status != WEIR_OK || (delay <= 0 && delay != WEIR_NOW)) {
        return status != WEIR_OK ? status : WEIR_E_INVALID;
    }
    if (agenda->count >= turn->processor->mailbox.limit) {
        return WEIR_FULL;
    }
    if (agenda->count == agenda->capacity && !grow(engine, agenda)) {
        return WEIR_E_NOMEM;
    }
    const weir_ns after = delay == WEIR_NOW ? 0 : delay;
    trigger new = {
        .due = agenda->clock < WEIR_FOREVER - after ? agenda->clock + after : WEIR_FOREVER,
        .number = agenda->asked,
    };
    status = weir_event_keep(engine, event, &new.event);
    if (status != WEIR_OK) {
        return status;
    }
    new.event.tag = tag;
    new.event.from = (weir_ticket){ .sender = turn->self };
    if (event->flow == 0 && (event->flags & WEIR_EVENT_NO_FLOW) == 0) {
        new.event.flow = turn->flow;
    }
    agenda->asked++;
    push(agenda, &new);
    return WEIR_OK;
}

/* ---- the handler in front ---- */

/* Not OK: it failed, and that is not to be passed over. */
static weir_status handle_trigger(weir__agenda *agenda, void *state, weir_turn *turn)
{
    trigger due = pop(agenda);
    agenda->clock = due.due > agenda->clock ? due.due : agenda->clock;
    turn->flow = due.event.flow;
    weir_status status = agenda->handler(state, turn, &due.event);
    if (status != WEIR_OK) {
        status = weir__turn_judge(turn, status, &due.event);
    }
    if (status != WEIR_OK && weir__supervise_resumes(turn->processor)) {
        weir__life_failed(turn, &due.event, status);
        status = WEIR_OK;
    }
    weir__cell_add(&agenda->handled, 1);
    weir_event_release(&due.event);
    return status;
}

weir_status weir__event_time_handle(void *state, weir_turn *turn, const weir_event *event)
{
    weir__agenda *agenda = weir__processor_cold_of(turn->processor)->agenda;
    const weir_ns time = agenda->time_of(state, event);
    while (agenda->count > 0 && agenda->triggers[0].due <= time) {
        const weir_status status = handle_trigger(agenda, state, turn);
        if (status != WEIR_OK) {
            return status;
        }
    }
    agenda->clock = time > agenda->clock ? time : agenda->clock;
    turn->flow = event->flow;
    return agenda->handler(state, turn, event);
}
