/*
 * engine/unpack.h - from an envelope to the event that a handler sees, and to who that handler is.
 *
 * Most events are a few bytes for the processor's own handler; the rest is in the seldom halves.
 * Only engine/turn.c uses this.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_UNPACK_H
#define WEIR_ENGINE_UNPACK_H

#include "base/assert.h"
#include "engine/ask.h"
#include "engine/block.h"
#include "engine/latency.h"
#include "engine/own.h"
#include "engine/stamp.h"

#define WEIR__ENVELOPE_SPECIAL                                                                     \
    (WEIR__ENVELOPE_HOLDS | WEIR__ENVELOPE_ALONE | WEIR__ENVELOPE_OWN | WEIR__ENVELOPE_ASKS |      \
     WEIR__ENVELOPE_STAMPS)

/* What few events have. */
static inline void weir__event_read_special(weir__envelope *envelope, uint32_t state,
                                            weir_event *event)
{
    if ((state & WEIR__ENVELOPE_BLOCK) != 0) {
        event->block = envelope->payload.shared.block;
        event->data = envelope->payload.shared.data;
    }
    if ((state & WEIR__ENVELOPE_ASKS) != 0) {
        event->from.ask = envelope->payload.question.ask;
    }
    if ((state & WEIR__ENVELOPE_ALONE) != 0) {
        event->tag = weir__lone_of(envelope)->tag;
    }
}

/* What few events have, a thread's event has only while it is such a one. */
static inline void weir__event_blank(weir_event *event)
{
    event->block = NULL;
    event->from.ask = 0;
    event->tag = 0;
}

/* Into one that is blank. */
static inline void weir__event_read(weir__envelope *envelope, uint32_t state, weir_event *event)
{
    event->type = envelope->type;
    event->data = envelope->payload.bytes;
    event->size = envelope->size;
    event->flags = state & 0xffffu;
    event->flow = envelope->flow;
    event->from.sender.id = envelope->sender;
}

/* Returns who handles it, which is mostly who handles the others. */
static inline weir_handler weir__event_handler(weir__processor *processor, weir__envelope *envelope,
                                               uint32_t state)
{
    if ((state & WEIR__ENVELOPE_ASKED) != 0) {
        return weir__ask_close(processor, weir__lone_of(envelope));
    }
    return (state & WEIR__ENVELOPE_OWN) != 0 ? weir__own_handler(envelope->type)
                                             : processor->handler;
}

WEIR__SELDOM static weir_handler weir__event_open_special(weir_turn *turn, weir__envelope *envelope,
                                                          uint32_t state, weir_event *event)
{
    if (weir__unlikely((state & WEIR__ENVELOPE_ORIGINS) != 0)) {
        weir__origin_enter(turn->context, weir__envelope_origin(envelope, state));
    }
    weir__event_read_special(envelope, state, event);
    const weir_handler handler = weir__event_handler(turn->processor, envelope, state);
    if ((state & WEIR__ENVELOPE_STAMPS) != 0) {
        turn->stamp = weir__stamp_read(turn->page, envelope, state);
        turn->measured = handler;
        return turn->stamp != 0 ? weir__latency_handle : handler;
    }
    return handler;
}

/* Returns who handles it. */
static inline weir_handler weir__event_open(weir_turn *turn, const weir__processor *processor,
                                            weir__envelope *envelope, uint32_t state,
                                            weir_event *event)
{
    weir__event_read(envelope, state, event);
    return weir__likely((state & WEIR__ENVELOPE_SPECIAL) == 0)
               ? processor->handler
               : weir__event_open_special(turn, envelope, state, event);
}

/* It is over: its own references. */
static inline void weir__event_release(weir__context *context, weir__envelope *envelope,
                                       uint32_t state)
{
    if (weir__unlikely((state & (WEIR__ENVELOPE_ORIGINS | WEIR__ENVELOPE_CARRIED)) != 0)) {
        weir__envelope_end(context, envelope, state);
    } else if ((state & WEIR__ENVELOPE_BLOCK) != 0) {
        weir__block_release(context, envelope->payload.shared.block);
    }
}

/* The same, and what it had in `event`, which is the thread's. */
static inline void weir__event_close(weir__context *context, weir__envelope *envelope,
                                     uint32_t state, weir_event *event)
{
    if (weir__unlikely((state & WEIR__ENVELOPE_SPECIAL) != 0)) {
        weir__event_release(context, envelope, state);
        weir__event_blank(event);
    }
}

#endif /* WEIR_ENGINE_UNPACK_H */
