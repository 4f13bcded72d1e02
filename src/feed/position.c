/*
 * feed/position.c - marks, and what is committed of them (feed/tracker.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/position.h"

#include "feed/tracker.h"

static weir__tracker *tracker_of(weir__feed *feed)
{
    return weir__load(&feed->tracker, acquire); /* [FD14] pairs with [FD15]: it is complete */
}

weir_status weir__position_origin(weir__feed *feed, weir_origin **out)
{
    weir__tracker *tracker = tracker_of(feed);
    if (weir__likely(tracker == NULL)) {
        return WEIR_OK; /* what the publisher's own event carries goes on */
    }
    *out = weir__tracker_origin(tracker);
    return *out != NULL ? WEIR_OK : WEIR_E_NOMEM;
}

void weir__position_sums(weir__feed *feed, weir_feed_counters *sums)
{
    weir__tracker *tracker = tracker_of(feed);
    uint64_t position;
    if (tracker != NULL) {
        sums->outstanding = weir__tracker_outstanding(tracker);
        sums->committed = weir__tracker_committed(tracker, &position) ? position : 0;
    }
}

void weir__position_free(weir__feed *feed)
{
    weir__tracker_close(weir__load(&feed->tracker, relaxed));
}

/* The feed whose writer we are. */
static weir_status find(weir_engine *engine, weir_feed handle, weir__feed **out)
{
    weir__context *context = weir__engine_usable(engine) ? weir__context_find(engine) : NULL;
    if (context == NULL) {
        return weir__engine_usable(engine) ? WEIR_E_NOMEM : WEIR_E_INVALID;
    }
    *out = weir__feed_find(engine, handle);
    if (*out == NULL) {
        return WEIR_UNKNOWN;
    }
    return weir__feed_is_writer(*out, context) ? WEIR_OK : WEIR_E_INVALID;
}

weir_status weir_feed_track(weir_engine *engine, weir_feed handle)
{
    weir__feed *feed;
    weir_status status = find(engine, handle, &feed);
    if (status != WEIR_OK) {
        return status;
    }
    if (feed->options.many_writers) {
        return WEIR_E_INVALID; /* a position is that of one reader of one thing */
    }
    if (tracker_of(feed) != NULL) {
        return WEIR_ALREADY;
    }
    weir__tracker *tracker =
        weir__tracker_open(engine, feed->options.committed, feed->options.committed_context);
    if (tracker == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__store(&feed->tracker, tracker, release); /* [FD15] pairs with [FD14] */
    return WEIR_OK;
}

weir_status weir_feed_mark(weir_engine *engine, weir_feed handle, uint64_t position)
{
    weir__feed *feed;
    const weir_status status = find(engine, handle, &feed);
    if (status != WEIR_OK) {
        return status;
    }
    weir__tracker *tracker = tracker_of(feed);
    return tracker != NULL ? weir__tracker_mark(tracker, position) : WEIR_E_INVALID;
}

bool weir_feed_committed(weir_engine *engine, weir_feed handle, uint64_t *position)
{
    weir__feed *feed = weir__engine_usable(engine) ? weir__feed_find(engine, handle) : NULL;
    weir__tracker *tracker = feed != NULL ? tracker_of(feed) : NULL;
    return tracker != NULL && position != NULL && weir__tracker_committed(tracker, position);
}
