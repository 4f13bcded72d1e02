/*
 * connect/publish.h - frames into a component's feed, one at a time: what the feed's answers mean
 * for who reads, and where a source that cannot keep up waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_PUBLISH_H
#define WEIR_CONNECT_PUBLISH_H

#include "connect/frame.h"
#include "connect/meter.h"

typedef struct weir__publisher {
    weir_component *self;
    weir_engine *engine;
    weir_feed feed;
    const weir_event_type *type;
    uint64_t events, bad, pauses;
    weir_ns full_since; /* 0: the feed has room, as far as is known */
    weir__complaint bad_frames, failed, waiting;
} weir__publisher;

/* In `start`: the feed is there. */
void weir__publisher_open(weir__publisher *publisher, weir_component *self, int64_t format);

/* OK: take the frame (it is published, filtered, or bad and reported). FULL: keep it and come again
 * within a millisecond. STOPPING: no more. Below zero: reported; keep it and come again later. */
weir_status weir__publish(weir__publisher *publisher, weir__frame_what what,
                          const weir__frame *frame, weir_ns now);

#endif /* WEIR_CONNECT_PUBLISH_H */
