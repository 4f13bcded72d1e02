/*
 * connect/publish.c - frames into a feed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/publish.h"

void weir__publisher_open(weir__publisher *p, weir_component *self, int64_t format,
                          weir__lineage_in *lineage)
{
    *p = (weir__publisher){ .outlet = { .self = self, .lineage = lineage },
                            .type = weir__format_type(format) };
    p->engine = weir_component_engine(self);
    p->feed = weir_component_feed(self);
}

bool weir__publish(weir__publisher *p, weir__frame_what what, const weir__frame *frame)
{
    if (what != WEIR__FRAME_BAD) {
        const bool waited = p->outlet.full_since != 0;
        const weir__outlet_answer answer =
            weir__outlet_publish(&p->outlet, p->type, frame->data, frame->size);
        if (answer == WEIR__OUTLET_WAITS) {
            p->pauses += !waited && p->outlet.full_since != 0;
            return false;
        }
        p->lost += answer == WEIR__OUTLET_LOST;
        p->events += answer == WEIR__OUTLET_GONE;
    } else {
        p->bad++;
    }
    if (frame->why != WEIR__FRAME_GOOD) { /* bad, or cut: once, when it is done with */
        weir__complain(&p->bad_frames, p->outlet.self, WEIR_E_INVALID, "at byte %llu: %s",
                       (unsigned long long)frame->begin, frame->text);
    }
    return true;
}
