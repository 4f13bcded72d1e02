/*
 * connect/publish.c - frames into a feed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/publish.h"

#define WAIT_TOLD WEIR_S /* a source that waits for longer says for whom */

void weir__publisher_open(weir__publisher *p, weir_component *self, int64_t format)
{
    *p = (weir__publisher){ .self = self, .type = weir__format_type(format) };
    p->engine = weir_component_engine(self);
    p->feed = weir_component_feed(self);
}

static void no_room(weir__publisher *p, weir_ns now)
{
    if (p->full_since == 0) {
        p->full_since = now;
        p->pauses++;
        return;
    }
    if (now - p->full_since < WAIT_TOLD) {
        return;
    }
    weir_feed_counters counters = WEIR_FEED_COUNTERS_INIT;
    const bool known = weir_feed_counters_get(p->engine, p->feed, &counters) == WEIR_OK;
    weir__complain(&p->waiting, p->self, WEIR_FULL, "waits for room since %lld ms%s%s",
                   (long long)((now - p->full_since) / WEIR_MS),
                   known && counters.slowest[0] != '\0' ? ": slow is " : "",
                   known ? counters.slowest : "");
}

weir_status weir__publish(weir__publisher *p, weir__frame_what what, const weir__frame *frame,
                          weir_ns now)
{
    if (frame->why != WEIR__FRAME_GOOD) {
        weir__complain(&p->bad_frames, p->self, WEIR_E_INVALID, "at byte %llu: %s",
                       (unsigned long long)frame->begin, frame->text);
    }
    if (what == WEIR__FRAME_BAD) {
        p->bad++;
        return WEIR_OK;
    }
    const weir_event event = { .type = p->type,
                               .data = frame->data,
                               .size = (uint32_t)frame->size };
    const weir_status status = weir_feed_publish(p->engine, p->feed, &event);
    switch (status) {
    case WEIR_OK:
    case WEIR_DROPPED:
        p->events++;
        p->full_since = 0;
        return WEIR_OK;
    case WEIR_FULL:
        no_room(p, now);
        return WEIR_FULL;
    case WEIR_STOPPING:
        return WEIR_STOPPING;
    default:
        weir__complain(&p->failed, p->self, status, "cannot publish: %s; it is tried again",
                       weir_status_text(status));
        return status < 0 ? status : WEIR_E_FAILED;
    }
}
