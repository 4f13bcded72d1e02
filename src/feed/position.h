/*
 * feed/position.h - a feed's positions, as far as publishing has to do with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_POSITION_H
#define WEIR_FEED_POSITION_H

#include "feed/feed.h"

/* The writer. What is published next carries this; *out NULL: nothing. E_NOMEM. */
weir_status weir__position_origin(weir__feed *feed, weir_origin **out);
void weir__position_sums(weir__feed *feed, weir_feed_counters *sums);
/* No thread runs any more. */
void weir__position_free(weir__feed *feed);

#endif /* WEIR_FEED_POSITION_H */
