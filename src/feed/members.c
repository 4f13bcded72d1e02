/*
 * feed/members.c - who reads which lane, and how that changes.
 *
 * Only under the feed's lock does a lane get a reader or lose one, and only under it is anything
 * written into lanes. So a reader that has read all of its lane can be put into another one there
 * and then: what is published next goes into that, and nothing is overtaken, lost or doubled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/members.h"

#include "base/memory.h"
#include "engine/room.h"
#include "feed/lane.h"
#include "feed/place.h"

#define LANES_FIRST 4u

/* ---- lanes: feed's lock held ---- */

static void swap_lanes(weir__feed *feed, uint32_t a, uint32_t b)
{
    weir__lane *lane = feed->lanes[a];
    feed->lanes[a] = feed->lanes[b];
    feed->lanes[b] = lane;
}

static uint32_t place_of(const weir__feed *feed, const weir__lane *lane)
{
    uint32_t at = 0;
    while (feed->lanes[at] != lane) { /* it is there */
        at++;
    }
    return at;
}

/* It has got its first reader, or lost its last. */
static void sort(weir__feed *feed, weir__lane *lane)
{
    const uint32_t at = place_of(feed, lane);
    const bool read = weir__load(&lane->count, relaxed) > 0;
    if (read && at >= feed->lane_count) {
        swap_lanes(feed, at, feed->lane_count++);
    } else if (!read && at < feed->lane_count) {
        swap_lanes(feed, at, --feed->lane_count);
    }
}

static bool reserve(weir__feed *feed)
{
    const weir_allocator *allocator = &feed->engine->allocator;
    const uint32_t before = feed->lane_capacity;
    if (feed->lane_made < before) {
        return true;
    }
    const uint32_t capacity = before > 0 ? 2 * before : LANES_FIRST;
    weir__lane **lanes = weir__allocate(allocator, capacity * sizeof(weir__lane *));
    if (lanes == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < feed->lane_made; i++) {
        lanes[i] = feed->lanes[i];
    }
    weir__release(allocator, feed->lanes, before * sizeof(weir__lane *));
    feed->lanes = lanes;
    feed->lane_capacity = capacity;
    return true;
}

static weir__lane *make_lane(weir__feed *feed, weir_thread thread)
{
    weir__lane *lane =
        reserve(feed) ? weir__allocate(&feed->engine->allocator, sizeof(*lane)) : NULL;
    if (lane == NULL) {
        return NULL;
    }
    lane->feed = feed;
    lane->thread = thread;
    if (thread.id != 0 && !weir__lane_open(lane)) {
        weir__release(&feed->engine->allocator, lane, sizeof(*lane));
        return NULL;
    }
    feed->lanes[feed->lane_made++] = lane;
    return lane;
}

/* That thread's, or one for a single subscriber. NULL: no memory. */
static weir__lane *lane_for(weir__feed *feed, weir_thread thread)
{
    for (uint32_t i = thread.id != 0 ? 0 : feed->lane_count; i < feed->lane_made; i++) {
        weir__lane *lane = feed->lanes[i];
        if (lane->thread.id == thread.id && !(lane->slow && i >= feed->lane_count)) {
            return lane;
        }
    }
    return make_lane(feed, thread);
}

/* ---- readers: feed's lock held ---- */

static weir__reader *reader_of(weir__feed *feed, weir_processor subscriber, weir__lane **in)
{
    for (uint32_t i = 0; i < feed->lane_count; i++) {
        weir__lane *lane = feed->lanes[i];
        const uint32_t count = weir__load(&lane->count, relaxed);
        for (uint32_t j = 0; j < count; j++) {
            if (lane->readers[j]->subscriber.id == subscriber.id) {
                *in = lane;
                return lane->readers[j]; /* its handle is changed under our lock only */
            }
        }
    }
    return NULL;
}

static weir_status add(weir__feed *feed, weir_processor subscriber, bool subscribed)
{
    weir_thread thread;
    weir_status status = weir__place_of(feed->engine, subscriber, &thread);
    if (status != WEIR_OK) {
        return status;
    }
    weir__lane *lane = lane_for(feed, thread);
    if (lane == NULL || lane->slow) {
        /* No memory; or the event that somebody waits to put there is older than this subscription,
         * and may have come to it by another one. Its mailbox will do for now. */
        lane = lane_for(feed, (weir_thread){ 0 });
        feed->unsettled = true;
    }
    status = lane != NULL ? weir__lane_join(lane, subscriber, subscribed) : WEIR_E_NOMEM;
    if (status == WEIR_OK) {
        sort(feed, lane);
        feed->readers++;
    }
    return status;
}

bool weir__members_remove(weir__context *context, weir__feed *feed, weir_processor subscriber)
{
    weir__lane *lane;
    if (reader_of(feed, subscriber, &lane) == NULL ||
        !weir__lane_leave(context, lane, subscriber)) {
        return false;
    }
    feed->readers--;
    sort(feed, lane);
    return true;
}

/* ---- settling ---- */

static void sweep(weir__context *context, weir__feed *feed)
{
    /* Before the look: who ends during it is found by the next one. */
    weir__store(&feed->gone, 0, relaxed);
    for (uint32_t i = feed->lane_count; i-- > 0;) {
        weir__lane *lane = feed->lanes[i];
        feed->readers -= weir__lane_sweep(context, lane);
        sort(feed, lane);
    }
}

/* Unless it has something to read where it is, or there is no memory. */
static void move(weir__context *context, weir__feed *feed, weir__lane *from,
                 const weir__reader *reader, weir_thread thread)
{
    const weir_processor subscriber = reader->subscriber;
    const bool subscribed = reader->subscribed;
    weir__lane *to = lane_for(feed, thread);
    (void)weir__lane_pump(context, from);
    /* In both for a moment, and nothing is written meanwhile. */
    if (to == NULL || weir__lane_join(to, subscriber, subscribed) != WEIR_OK) {
        return;
    }
    if (!weir__lane_leave_if_through(from, subscriber)) {
        (void)weir__lane_leave_if_through(to, subscriber); /* not yet */
    }
    sort(feed, from);
    sort(feed, to);
}

/* True: all are where they belong. */
static bool place(weir__context *context, weir__feed *feed)
{
    bool settled = true;
    for (uint32_t i = feed->lane_count; i-- > 0;) {
        weir__lane *lane = feed->lanes[i];
        for (uint32_t j = weir__load(&lane->count, relaxed); j-- > 0;) {
            weir_thread thread;
            weir__reader *reader = lane->readers[j];
            if (weir__place_of(feed->engine, reader->subscriber, &thread) == WEIR_OK &&
                thread.id != lane->thread.id) {
                /* The lanes have changed places: the next look finds who was passed over. */
                move(context, feed, lane, reader, thread);
                settled = false;
            }
        }
    }
    return settled;
}

/* Everybody with a name who is not there yet. */
static bool invite(weir__context *context, weir__feed *feed)
{
    weir_engine *engine = feed->engine;
    bool all = true;
    feed->named = weir__load(&engine->registry.named, relaxed);
    (void)context;
    for (uint32_t i = 0;; i++) {
        weir_processor who;
        weir__lane *lane;
        if (!weir__place_named(engine, &i, &who)) {
            return all;
        }
        if (reader_of(feed, who, &lane) == NULL) {
            all = add(feed, who, false) != WEIR_E_NOMEM && all;
        }
    }
}

void weir__members_settle(weir__context *context, weir__feed *feed)
{
    weir_engine *engine = feed->engine;
    const uint64_t placed = weir__load(&engine->placed, relaxed);
    bool settled = true;
    if (weir__load(&feed->gone, relaxed) != 0) {
        sweep(context, feed);
    }
    if (placed != feed->placed || feed->unsettled) {
        settled = place(context, feed);
        feed->placed = placed;
    }
    if (feed->options.broadcast && weir__load(&engine->registry.named, relaxed) != feed->named) {
        settled = invite(context, feed) && settled;
    }
    feed->unsettled = !settled;
}

/* ---- what is called from outside ---- */

weir_status weir_feed_subscribe(weir_engine *engine, weir_feed handle, weir_processor subscriber)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__feed *feed = weir__feed_find(engine, handle);
    if (feed == NULL) {
        return WEIR_UNKNOWN;
    }
    weir__lane *lane;
    weir__mutex_lock(&feed->lock);
    weir__reader *reader = reader_of(feed, subscriber, &lane);
    weir_status status = WEIR_ALREADY;
    if (reader == NULL) {
        status = add(feed, subscriber, true);
    } else if (!reader->subscribed) {
        weir__mutex_lock(&lane->lock);
        reader->subscribed = true;
        weir__mutex_unlock(&lane->lock);
        status = WEIR_OK;
    }
    weir__mutex_unlock(&feed->lock);
    return status;
}

weir_status weir_feed_unsubscribe(weir_engine *engine, weir_feed handle, weir_processor subscriber)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__feed *feed = weir__feed_find(engine, handle);
    weir__context *context = weir__context_find(engine);
    if (feed == NULL || context == NULL) {
        return feed == NULL ? WEIR_UNKNOWN : WEIR_E_NOMEM;
    }
    weir__mutex_lock(&feed->lock);
    const bool removed = weir__members_remove(context, feed, subscriber);
    weir__mutex_unlock(&feed->lock);
    weir__room_wake_publishers(engine); /* one may have waited for it */
    weir_thread thread;
    return removed                                                       ? WEIR_OK
           : weir__place_of(engine, subscriber, &thread) == WEIR_UNKNOWN ? WEIR_UNKNOWN
                                                                         : WEIR_ALREADY;
}
