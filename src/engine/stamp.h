/*
 * engine/stamp.h - the time of its post, which one event in `latency_every` carries along.
 *
 * Who posts counts down, and at nought takes the time and draws the next distance, at random around
 * latency_every: so no rhythm of the load hides from it. All others pay for a decrement, and who
 * handles them for nothing: a stamped envelope is one of the special ones (engine/unpack.h).
 *
 * A stamped event costs three looks at the clock and a few records, which at one in 64 is 7 % of an
 * event that is hardly handled. So while no processor is measured, which needs many, one in eight
 * times as many is stamped: that is enough for dispatchers and edges. Only who asks for more than
 * one in 64 gets what he asks for at any time.
 *
 * A trace wants arrows: every post, where they are rare, and no more than it can afford where they
 * are not. So it has a countdown of its own beside the other, whose distance follows the time
 * between two of them, and its stamps are odd: the figures, which must not prefer some events to
 * others, pass them over.
 *
 * The stamp lies where there is room:
 *
 *     an envelope that lies alone    in its weir__lone
 *     in a page                      in the envelope, behind 24 bytes of payload; or, if that is a
 *                                    larger one or a question, in the line before the page's first
 *                                    envelope: five of them have room there, and one that comes
 *                                    later may take an earlier one's place, which then is not
 *                                    measured
 *
 * It is written before the envelope is filled ([C], [D1]) and read after ([E], [G]).
 *
 * Not stamped: what was prepared beforehand and goes beside (room and down events, signals, answers
 * and their timeouts, timers that hold a place or have a tag).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_STAMP_H
#define WEIR_ENGINE_STAMP_H

#include "base/assert.h"
#include "engine/context.h"
#include "queue/mailbox.h"
#include "queue/page.h"

/* Of latency_every: no event is stamped. */
#define WEIR__STAMP_NEVER UINT32_MAX

/* One event in so many is stamped at present; or NEVER. */
uint32_t weir__stamp_every(const weir_engine *engine);

/* Of a stamp: what it tells belongs into the figures. Else it is for a trace alone, which picks
 * its events by how many it can afford, not at random. */
static inline bool weir__stamp_counts(weir_ns stamp)
{
    return (stamp & 1) == 0;
}

/* By a thread while a trace is on: if that has shown none of its posts for a while, the next. */
void weir__stamp_soon(weir__context *context, weir_ns now);

/* By who posts, once an event: it is to be stamped, perhaps. */
static inline bool weir__stamp_due(weir__context *context)
{
    return --context->stamp_in == 0;
}

/* The same in two steps: is the next event due; and it was not. */
static inline bool weir__stamp_is_next(const weir__context *context)
{
    return context->stamp_in == 1;
}

static inline void weir__stamp_pass(weir__context *context)
{
    context->stamp_in--;
}

/* By who has just posted: what is due next may turn out to be none of the chosen. That is found out
 * here, then, and not by that event. */
void weir__stamp_look_ahead(weir__context *context);

/* When one is due, by who fills its envelope. Flags of its state; 0: it is not stamped. `state`:
 * all others of them. The mailbox is a processor's. */
uint32_t weir__stamp_lone(weir__context *context, weir__mailbox *mailbox, weir__lone *lone);
uint32_t weir__stamp_placed(weir__context *context, weir__mailbox *mailbox,
                            weir__envelope *envelope, uint32_t state, uint32_t offset);

/* By who handles it. `page`: if it lies in one, that one. 0: it is gone. */
weir_ns weir__stamp_read(const weir__page *page, weir__envelope *envelope, uint32_t state);

#endif /* WEIR_ENGINE_STAMP_H */
