/*
 * engine/traceparent.h - the trace context of the W3C, on its way with events.
 *
 * It travels as an origin does (engine/origin.h), since it has the same way: a carrier is an origin
 * of its own, with the context in it, and a reference to the origin that it stands in front of (a
 * tracked feed's), if there is one. So what holds the one holds both; an event without either meets
 * neither. A carrier is told by its `done`.
 *
 * A carrier that a handler makes is at hand for the rest of that handler; its context holds it
 * (`carried`) until the event is over, which the turn learns from WEIR__ENVELOPE_CARRIED in its
 * copy of the state. One that a thread makes is at hand until that thread makes another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_TRACEPARENT_H
#define WEIR_ENGINE_TRACEPARENT_H

#include "engine/origin.h"
#include "weir/trace.h"

/* Of an origin that somebody holds, or NULL: what it carries; NULL: nothing. */
const weir_traceparent *weir__traceparent_of(const weir_origin *origin);

/* The same: who wants to know of the end of its events, behind a carrier or not; NULL: nobody. */
weir_origin *weir__origin_tracking(weir_origin *origin);

/* A new one, with one reference for the caller: what `origin` carries, in front of `tracking`.
 * NULL: no memory. */
weir_origin *weir__carrier_before(weir_engine *engine, const weir_origin *origin,
                                  weir_origin *tracking);

/* The context's thread, outside its mark: what it carries, if anything, is no longer at hand, nor
 * is any other origin. */
void weir__carried_drop(weir__context *context);

/* The engine is gone: those that what a stop has left still held. */
void weir__carriers_close(weir_engine *engine);

#endif /* WEIR_ENGINE_TRACEPARENT_H */
