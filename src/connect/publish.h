/*
 * connect/publish.h - frames into a component's feed, by its outlet: bad ones are reported, and
 * what the feed refuses for good is lost, as that of every source is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_PUBLISH_H
#define WEIR_CONNECT_PUBLISH_H

#include "connect/frame.h"
#include "connect/outlet.h"

typedef struct weir__publisher {
    weir__outlet outlet;
    weir_engine *engine;
    weir_feed feed;
    const weir_event_type *type;
    uint64_t events, bad, lost, pauses;
    weir__complaint bad_frames;
} weir__publisher;

/* In `start`: the feed is there. */
void weir__publisher_open(weir__publisher *publisher, weir_component *self, int64_t format,
                          weir__lineage_in *lineage);

/* True: take the frame (it is published, filtered, lost, or bad and reported). False: keep it, and
 * come again within a millisecond. */
bool weir__publish(weir__publisher *publisher, weir__frame_what what, const weir__frame *frame);

#endif /* WEIR_CONNECT_PUBLISH_H */
