/*
 * engine/timer.h - the event of a timer, on its way into a mailbox.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_TIMER_H
#define WEIR_ENGINE_TIMER_H

#include "engine/post.h"

/* A scheduler's thread. An event with a tag, or whose place is taken: it lies alone, beside the
 * others. */
weir_status weir__timer_post_beside(const weir__posting *by, const weir__timer_load *load);

/* An event of a processor's to itself, by the engine's clock. */
weir_status weir__timer_trigger(weir_turn *turn, weir_ns delay, const weir_event *event,
                                uint64_t tag);

#endif /* WEIR_ENGINE_TIMER_H */
