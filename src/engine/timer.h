/*
 * engine/timer.h - what adding and firing a timer have in common, and triggers of processors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_TIMER_H
#define WEIR_ENGINE_TIMER_H

#include "engine/parcel.h"
#include "weir/turn.h"

/* An event that lies alone, but for its ticket. Nobody else sees it yet. */
static inline void weir__timer_seal(const weir__posting *by, const weir__parcel *parcel,
                                    weir__lone *lone, uint64_t tag)
{
    const uint32_t state = weir__parcel_put(by, parcel, &lone->envelope);
    lone->ask = 0;
    lone->tag = tag;
    weir__envelope_fill(&lone->envelope, state | WEIR__ENVELOPE_ALONE);
}

/* An event of a processor's to itself, by the engine's clock. */
weir_status weir__timer_trigger(weir_turn *turn, weir_ns delay, const weir_event *event,
                                uint64_t tag);

/* The alarm of a processor that asks (engine/ask.h), which rings at no time yet. */
weir_status weir__timer_alarm(weir__context *context, weir_processor asker, weir_timer *out);
/* It rings then at the latest. It may ring already, or be gone: then somebody else has seen to it.
 */
void weir__timer_bring_forward(weir_engine *engine, weir_timer alarm, weir_ns due);

#endif /* WEIR_ENGINE_TIMER_H */
