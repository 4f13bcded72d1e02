/*
 * engine/event_time.h - processors whose clock is the time of their events.
 *
 * Such a processor has a handler of weir's in front of its own: it asks for the event's time, first
 * handles the triggers that are due by then, each at its own time, and then the event. All of it is
 * the owner's, in one turn; so it needs no lock, and the result depends on the events alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_EVENT_TIME_H
#define WEIR_ENGINE_EVENT_TIME_H

#include "engine/engine.h"
#include "engine/processor.h"

/* Triggers by time, those of one time in the order in which they were asked for. */
typedef struct weir__agenda {
    weir_ns (*time_of)(void *state, const weir_event *event);
    weir_handler handler; /* the processor's own */
    weir_ns clock;
    struct weir__trigger *triggers; /* a heap, the next one first */
    uint32_t count, capacity;
    uint64_t asked;
    weir__cell handled; /* owner; readable by all */
} weir__agenda;

/* At registration. NULL: no memory. */
weir__agenda *weir__agenda_make(weir_engine *engine,
                                weir_ns (*time_of)(void *state, const weir_event *event),
                                weir_handler handler);
/* The owner, or nobody is left who could be: what was asked for is forgotten. */
void weir__agenda_clear(weir__agenda *agenda);
void weir__agenda_free(weir_engine *engine, weir__agenda *agenda);

/* The handler in front. */
weir_status weir__event_time_handle(void *state, weir_turn *turn, const weir_event *event);

weir_status weir__event_time_trigger(weir_turn *turn, weir_ns delay, const weir_event *event,
                                     uint64_t tag);

/* NULL: its clock is the engine's. */
static inline weir__agenda *weir__agenda_of(const weir__processor *processor)
{
    return processor->handler == weir__event_time_handle
               ? weir__processor_cold_of(processor)->agenda
               : NULL;
}

#endif /* WEIR_ENGINE_EVENT_TIME_H */
