/*
 * feed/publish.h - an event goes into every lane of a feed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_PUBLISH_H
#define WEIR_FEED_PUBLISH_H

#include "feed/feed.h"

/* One event on its way. */
typedef struct weir__issue {
    weir__feed *feed;
    weir__posting by;
    weir__parcel parcel; /* of `event`, or of the one that carries it with the feed's name */
    weir_event event;
    weir_origin *origin; /* goes along; or NULL */
    weir__lane *slow;    /* lanes that had no room for it */
    bool cut;            /* some did not get it, since the engine stops */
} weir__issue;

/* Feed's lock held, which is given up while it waits. OK: all have it, or were counted. FULL:
 * nobody has it. STOPPING: not all. */
weir_status weir__issue_deliver(weir__issue *issue);

/* feed/slow.c. Feed's lock held. Sees to issue->slow, as the feed's policy says. */
void weir__issue_wait(weir__issue *issue);
/* One try to get it into a lane. True: it is in there. */
bool weir__issue_try(weir__issue *issue, weir__lane *lane);
/* Whether it would have to wait for somebody who cannot move until it returns. */
bool weir__issue_waits_for_itself(weir__issue *issue);

#endif /* WEIR_FEED_PUBLISH_H */
