/*
 * connect/outlet.c - a source's way into its feed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/outlet.h"

#define WAIT_TOLD WEIR_S /* who waits for longer says for whom */

static void no_room(weir__outlet *o, weir_engine *engine, weir_feed feed)
{
    const weir_ns now = weir_time_now(engine);
    if (o->full_since == 0) {
        o->full_since = now;
    }
    if (now - o->full_since < WAIT_TOLD) {
        return;
    }
    weir_feed_counters about = WEIR_FEED_COUNTERS_INIT;
    const bool known = weir_feed_counters_get(engine, feed, &about) == WEIR_OK;
    weir__complain(&o->waiting, o->self, WEIR_FULL, "has waited for room for %lld ms%s%s",
                   (long long)((now - o->full_since) / WEIR_MS),
                   known && about.slowest[0] != '\0' ? "; slow is " : "",
                   known ? about.slowest : "");
}

weir__outlet_answer weir__outlet_publish(weir__outlet *o, const weir_event_type *type,
                                         const void *data, size_t size)
{
    weir_engine *engine = weir_component_engine(o->self);
    const weir_feed feed = weir_component_feed(o->self);
    const weir_event event = { .type = type, .data = data, .size = (uint32_t)size };
    weir_status status = o->lineage != NULL ? weir__lineage_take(o->lineage, data, size) : WEIR_OK;
    if (status == WEIR_OK) {
        status = weir_feed_publish(engine, feed, &event);
    }
    if (o->lineage != NULL) {
        weir__lineage_drop(o->lineage); /* the next one may have none */
    }
    if (status == WEIR_OK || status == WEIR_DROPPED) {
        o->full_since = 0;
        return WEIR__OUTLET_GONE;
    }
    if (status == WEIR_FULL || status == WEIR_E_NOMEM) {
        no_room(o, engine, feed);
        return WEIR__OUTLET_WAITS;
    }
    if (status == WEIR_STOPPING) { /* the stop hook sees what is left */
        return WEIR__OUTLET_WAITS;
    }
    weir__complain(&o->failed, o->self, status, "an event was not published: %s",
                   weir_status_text(status));
    return WEIR__OUTLET_LOST;
}
