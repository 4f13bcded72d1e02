/*
 * feed/replay.h - what was published before weir_feed_begin; events with their feed's name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_REPLAY_H
#define WEIR_FEED_REPLAY_H

#include "feed/feed.h"

/* False: no memory. */
bool weir__replay_make(weir__feed *feed);
void weir__replay_free(weir__feed *feed);

/* Feed's lock held, so the next two. Keeps it; the oldest goes if there is no room: *spent is to be
 * released without the lock. */
weir_status weir__replay_keep(weir__feed *feed, const weir_event *event, uint64_t sequence,
                              weir_event *spent);
/* The oldest, or NULL. */
const weir__kept_event *weir__replay_first(const weir__feed *feed);
/* It is delivered: off with it. */
weir_event weir__replay_take(weir__feed *feed);

/* An event of weir_named_type in a block of its own. E_TYPE: its payload must not be copied. */
weir_status weir__named_wrap(weir__feed *feed, const weir_event *event, uint64_t sequence,
                             weir_ns time, bool replayed, weir_event *out);

#endif /* WEIR_FEED_REPLAY_H */
