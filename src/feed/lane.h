/*
 * feed/lane.h - a ring, and those who read from it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_LANE_H
#define WEIR_FEED_LANE_H

#include "feed/feed.h"

/* Gives readers what waits for them, as far as their mailboxes have room. Any thread, outside its
 * mark, with no lock of a lane or of the registry held. Returns how many copies moved. */
uint32_t weir__lane_pump(weir__context *context, weir__lane *lane);

/* The rest: the feed's lock is held, too. */

/* A record is written to the ring, which has room. True: nobody will come to pump it, unless that
 * is announced, or done. */
WEIR_MUST_CHECK bool weir__lane_push(weir__lane *lane, const weir__parcel *parcel,
                                     weir_origin *origin);
/* Outside the mark. Somebody pumps it soon, on its thread if it has one. */
void weir__lane_announce(weir__context *context, weir__lane *lane);
/* Makes places in the ring, if it has none. False: no memory. */
bool weir__lane_open(weir__lane *lane);
static inline bool weir__lane_is_empty(weir__lane *lane)
{
    /* Nobody else writes to it. What was pumped is in mailboxes: [FD2] pairs with [FD1]. */
    return weir__load(&lane->ring.head, acquire) == weir__spsc_next(&lane->ring);
}

/* E_NOMEM. */
weir_status weir__lane_join(weir__lane *lane, weir_processor subscriber, bool subscribed);
/* What waits for it is given up, and counted as dropped. False: it does not read there. */
bool weir__lane_leave(weir__context *context, weir__lane *lane, weir_processor subscriber);
/* Takes those off who have ended. Returns how many. */
uint32_t weir__lane_sweep(weir__context *context, weir__lane *lane);
/* Whether nothing waits for it there; then it is taken off. */
bool weir__lane_leave_if_through(weir__lane *lane, weir_processor subscriber);

/* Of the readers that keep the ring full, the oldest that waits for each goes. Returns how many. */
uint32_t weir__lane_drop_oldest(weir__context *context, weir__lane *lane, bool late);
/* One of the readers that keep the ring full; zero: none does. `late`: of those who were not waited
 * for in vain before. */
weir_processor weir__lane_slow_reader(weir__lane *lane, bool skip_late);

/* Copies that wait in it. Any thread. */
uint64_t weir__lane_waiting(weir__lane *lane);

/* The mailbox of this processor may have room (engine/fed.h). */
void weir__lanes_room(weir__context *context, uint64_t id);

/* No thread runs any more. */
void weir__lane_free(weir_engine *engine, weir__lane *lane);

#endif /* WEIR_FEED_LANE_H */
