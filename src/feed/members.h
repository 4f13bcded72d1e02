/*
 * feed/members.h - who reads which lane of a feed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_MEMBERS_H
#define WEIR_FEED_MEMBERS_H

#include "feed/feed.h"

/* The feed's lock is held, so below. Whether who reads what has to be looked at again. */
static inline bool weir__members_are_due(weir__feed *feed)
{
    weir_engine *engine = feed->engine;
    return weir__load(&engine->placed, relaxed) != feed->placed || feed->unsettled ||
           weir__load(&feed->gone, relaxed) != 0 ||
           (feed->options.broadcast && weir__load(&engine->registry.named, relaxed) != feed->named);
}

/* Takes those off who have ended, moves those whose thread is another one now as soon as they have
 * read all of their old lane, and adds who is to be broadcast to. What cannot be done for want of
 * memory is tried again the next time. */
void weir__members_settle(weir__context *context, weir__feed *feed);

/* False: it was no reader. */
bool weir__members_remove(weir__context *context, weir__feed *feed, weir_processor subscriber);

#endif /* WEIR_FEED_MEMBERS_H */
