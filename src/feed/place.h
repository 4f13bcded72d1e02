/*
 * feed/place.h - where subscribers run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_PLACE_H
#define WEIR_FEED_PLACE_H

#include "feed/feed.h"

/* The thread that alone runs it, zero: there is none. UNKNOWN: it is gone; STOPPING: it takes
 * nothing any more. Takes registry.lock. */
weir_status weir__place_of(weir_engine *engine, weir_processor processor, weir_thread *out);

/* A processor with a name, not one of weir's own, from slot *index on, which becomes its slot.
 * False: there is none. Takes registry.lock. */
bool weir__place_named(weir_engine *engine, uint32_t *index, weir_processor *out);

/* Whether the calling thread is one of those that run it, or pump its lane. */
bool weir__place_is_mine(weir__context *context, const weir__lane *lane, weir_processor subscriber);

#endif /* WEIR_FEED_PLACE_H */
