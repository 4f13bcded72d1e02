/*
 * feed/figures.c - what feeds did, in numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/memory.h"
#include "feed/feed.h"
#include "feed/position.h"
#include "feed/subscribers.h"

/* Feed's lock held. */
static void add_lanes(weir__feed *feed, weir_feed_counters *sums)
{
    for (uint32_t i = 0; i < feed->lane_made; i++) {
        weir__lane *lane = feed->lanes[i];
        sums->delivered += weir__cell_read(&lane->delivered);
        sums->dropped += weir__cell_read(&lane->dropped);
        if (i < feed->lane_count && lane->ring.places != NULL) {
            const uint32_t length = weir__spsc_length(&lane->ring);
            sums->deepest = length > sums->deepest ? length : sums->deepest;
            sums->queues++;
        }
    }
}

weir_status weir_feed_counters_get(weir_engine *engine, weir_feed handle, weir_feed_counters *out)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__feed *feed = weir__feed_find(engine, handle);
    if (feed == NULL) {
        return WEIR_UNKNOWN;
    }
    weir__mutex_lock(&feed->lock);
    weir_feed_counters sums = feed->sums;
    sums.struct_size = sizeof(sums);
    sums.subscribers = feed->readers;
    add_lanes(feed, &sums);
    weir__mutex_unlock(&feed->lock);
    weir__position_sums(feed, &sums);
    return weir__struct_fill(out, &sums, sizeof(sums));
}

uint32_t weir__feed_subscribers(weir__feed *feed, weir_processor *out, uint32_t room)
{
    uint32_t count = 0;
    if (feed == NULL) {
        return 0;
    }
    weir__mutex_lock(&feed->lock);
    for (uint32_t i = 0; i < feed->lane_count; i++) {
        const weir__lane *lane = feed->lanes[i];
        const uint32_t readers = weir__load((weir__atomic_u32 *)(uintptr_t)&lane->count, relaxed);
        for (uint32_t r = 0; r < readers && count < room; r++) {
            out[count++] = lane->readers[r]->subscriber;
        }
    }
    weir__mutex_unlock(&feed->lock);
    return count;
}
