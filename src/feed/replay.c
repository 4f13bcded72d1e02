/*
 * feed/replay.c - the cache of a feed that has not begun; events with the name of their feed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/replay.h"

#include <string.h>

#include "base/memory.h"

const weir_event_type weir_named_type = {
    sizeof(weir_event_type), "weir.named", 0, true, NULL, NULL
};

bool weir__replay_make(weir__feed *feed)
{
    const uint32_t max = feed->options.replay_max;
    feed->kept =
        max > 0 ? weir__allocate(&feed->engine->allocator, max * sizeof(*feed->kept)) : NULL;
    return max == 0 || feed->kept != NULL;
}

void weir__replay_free(weir__feed *feed)
{
    while (feed->kept_count > 0) {
        weir_event event = weir__replay_take(feed);
        weir_event_release(&event);
    }
    weir__release(&feed->engine->allocator, feed->kept,
                  feed->options.replay_max * sizeof(*feed->kept));
    feed->kept = NULL;
}

weir_status weir__replay_keep(weir__feed *feed, const weir_event *event, uint64_t sequence,
                              weir_event *spent)
{
    const uint32_t max = feed->options.replay_max;
    weir_event kept;
    const weir_status status = weir_event_keep(feed->engine, event, &kept);
    if (status != WEIR_OK) {
        return status;
    }
    if (feed->kept_count == max) {
        *spent = weir__replay_take(feed);
        feed->sums.replay_lost++;
    }
    feed->kept[(feed->kept_first + feed->kept_count) % max] =
        (weir__kept_event){ kept, sequence, weir__clock_now() };
    feed->kept_count++;
    return WEIR_OK;
}

const weir__kept_event *weir__replay_first(const weir__feed *feed)
{
    return feed->kept_count > 0 ? &feed->kept[feed->kept_first] : NULL;
}

weir_event weir__replay_take(weir__feed *feed)
{
    const weir_event event = feed->kept[feed->kept_first].event;
    feed->kept_first = (feed->kept_first + 1) % feed->options.replay_max;
    feed->kept_count--;
    return event;
}

weir_status weir__named_wrap(weir__feed *feed, const weir_event *event, uint64_t sequence,
                             weir_ns time, bool replayed, weir_event *out)
{
    const size_t head = sizeof(weir_named);
    weir_block *block;
    if (event->type->drop != NULL || event->size > UINT32_MAX - head) {
        return WEIR_E_TYPE;
    }
    const weir_status status = weir_block_reserve(feed->engine, head + event->size, &block);
    if (status != WEIR_OK) {
        return status;
    }
    unsigned char *data = weir_block_data(block);
    const weir_named named = { { feed->id }, sequence, time, event->type, event->size, replayed };
    memset(data, 0, head);
    memcpy(data, &named, head);
    if (event->size > 0) {
        memcpy(data + head, event->data, event->size);
    }
    *out = *event;
    out->type = &weir_named_type;
    out->data = data;
    out->block = block;
    out->size = (uint32_t)(head + event->size);
    return WEIR_OK;
}

weir_ns weir_named_time(void *state, const weir_event *event)
{
    const weir_named *named = weir_event_as(event, &weir_named_type);
    (void)state;
    return named != NULL && event->size >= sizeof(*named) ? named->time : 0;
}
