/*
 * feed/subscribers.h - who gets what a feed publishes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_SUBSCRIBERS_H
#define WEIR_FEED_SUBSCRIBERS_H

#include "feed/feed.h"

/* Any thread. Writes at most `room` of them, and returns how many those are; of NULL none. */
uint32_t weir__feed_subscribers(weir__feed *feed, weir_processor *out, uint32_t room);

#endif /* WEIR_FEED_SUBSCRIBERS_H */
