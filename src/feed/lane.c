/*
 * feed/lane.c - records go into a ring; who reads it, and who is slow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/lane.h"

#include "base/memory.h"
#include "feed/pump.h"

#define READERS_FIRST 4u

/* ---- the ring ---- */

bool weir__lane_open(weir__lane *lane)
{
    weir__feed *feed = lane->feed;
    if (lane->ring.places != NULL) {
        return true;
    }
    weir__mutex_lock(&lane->lock); /* whoever pumps it looks at the places */
    const bool made = weir__spsc_open(&lane->ring, &feed->engine->allocator,
                                      feed->options.queue_max, (uint32_t)sizeof(weir__record));
    weir__mutex_unlock(&lane->lock);
    return made;
}

bool weir__lane_push(weir__lane *lane, const weir__parcel *parcel, weir_origin *origin)
{
    const uint64_t position = weir__spsc_next(&lane->ring);
    weir__record *record = weir__spsc_at(&lane->ring, position);
    const weir_event *event = parcel->event;
    record->type = event->type;
    record->flow = parcel->flow;
    record->origin = origin;
    if (origin != NULL) {
        weir__origin_hold(origin, 1);
    }
    record->size = event->size;
    record->flags = event->flags & 0xffffu;
    if (parcel->block != NULL) {
        record->payload.shared.block = weir_block_take(parcel->block);
        record->payload.shared.data = parcel->data;
        record->flags |= WEIR__RECORD_BLOCK;
    } else {
        weir__parcel_copy(record->payload.bytes, event->data, event->size);
    }
    weir__spsc_push(&lane->ring);
    /* Push, then look whether the pump had seen everything (seq_cst both): then nobody is about to
     * come. It says how far it has looked, then looks at the tail. */
    return weir__load(&lane->looked, seq_cst) == position;
}

/* ---- readers ---- */

/* Room for one pointer more. */
static bool reserve(weir__lane *lane)
{
    const weir_allocator *allocator = &lane->feed->engine->allocator;
    const uint32_t before = lane->capacity;
    if (lane->made < before) {
        return true;
    }
    const uint32_t capacity = before > 0 ? 2 * before : lane->thread.id != 0 ? READERS_FIRST : 1;
    weir__reader **readers = weir__allocate(allocator, capacity * sizeof(weir__reader *));
    if (readers == NULL) {
        return false;
    }
    weir__reader **old = lane->readers;
    weir__mutex_lock(&lane->lock);
    for (uint32_t i = 0; i < lane->made; i++) {
        readers[i] = old[i];
    }
    lane->readers = readers;
    lane->capacity = capacity;
    weir__mutex_unlock(&lane->lock);
    weir__release(allocator, old, before * sizeof(weir__reader *));
    return true;
}

/* A record at `count` that is nobody's. False: no memory. */
static bool make_reader(weir__lane *lane)
{
    const uint32_t count = weir__load(&lane->count, relaxed);
    for (uint32_t i = count; i < lane->made; i++) {
        weir__reader *spare = lane->readers[i];
        if (weir__load(&spare->listed, seq_cst) == 0) {
            lane->readers[i] = lane->readers[count];
            lane->readers[count] = spare;
            return true;
        }
    }
    weir__reader *reader =
        reserve(lane) ? weir__allocate(&lane->feed->engine->allocator, sizeof(*reader)) : NULL;
    if (reader == NULL) {
        return false;
    }
    reader->lane = lane;
    lane->readers[lane->made] = lane->readers[count];
    lane->readers[count] = reader;
    lane->made++;
    return true;
}

weir_status weir__lane_join(weir__lane *lane, weir_processor subscriber, bool subscribed)
{
    if (!make_reader(lane)) {
        return WEIR_E_NOMEM;
    }
    weir__mutex_lock(&lane->lock);
    const uint32_t count = weir__load(&lane->count, relaxed);
    weir__reader *reader = lane->readers[count];
    reader->subscriber = subscriber;
    reader->next = weir__spsc_next(&lane->ring);
    reader->full = false;
    reader->gone = false;
    reader->late = false;
    reader->subscribed = subscribed;
    weir__store(&lane->count, count + 1, relaxed);
    weir__mutex_unlock(&lane->lock);
    return WEIR_OK;
}

/* Lane's lock held. The last one takes its place; its record stays, for the next. */
static void remove_at(weir__lane *lane, uint32_t at)
{
    const uint32_t last = weir__load(&lane->count, relaxed) - 1;
    weir__reader *reader = lane->readers[at];
    lane->readers[at] = lane->readers[last];
    lane->readers[last] = reader;
    weir__store(&lane->count, last, relaxed);
}

static void take_off(weir__context *context, weir__lane *lane, uint32_t at)
{
    weir__pump_give_up(context, lane, weir__spsc_next(&lane->ring) - lane->readers[at]->next,
                       WEIR_UNKNOWN);
    remove_at(lane, at);
}

/* Its place, or `count`. */
static uint32_t find(weir__lane *lane, weir_processor subscriber)
{
    const uint32_t count = weir__load(&lane->count, relaxed);
    uint32_t at = 0;
    while (at < count && lane->readers[at]->subscriber.id != subscriber.id) {
        at++;
    }
    return at;
}

bool weir__lane_leave(weir__context *context, weir__lane *lane, weir_processor subscriber)
{
    weir__pump p = weir__pump_begin(context);
    weir__mutex_lock(&lane->lock);
    const uint32_t at = find(lane, subscriber);
    const bool found = at < weir__load(&lane->count, relaxed);
    if (found) {
        take_off(context, lane, at);
        weir__pump_free(&p, lane);
    }
    weir__mutex_unlock(&lane->lock);
    weir__pump_end(&p);
    return found;
}

bool weir__lane_leave_if_through(weir__lane *lane, weir_processor subscriber)
{
    weir__mutex_lock(&lane->lock);
    const uint32_t at = find(lane, subscriber);
    const bool through = at < weir__load(&lane->count, relaxed) &&
                         lane->readers[at]->next == weir__spsc_next(&lane->ring);
    if (through) {
        remove_at(lane, at);
    }
    weir__mutex_unlock(&lane->lock);
    return through;
}

/* It takes nothing any more. */
static bool is_over(weir__context *context, weir_processor subscriber)
{
    weir__context_enter(context);
    weir__processor *p = weir__registry_find(&context->engine->registry, subscriber);
    const bool over =
        p == NULL || (weir__load(&p->mailbox.word, relaxed) & WEIR__MAILBOX_CLOSED) != 0;
    weir__context_leave(context);
    return over;
}

uint32_t weir__lane_sweep(weir__context *context, weir__lane *lane)
{
    weir__pump p = weir__pump_begin(context);
    uint32_t swept = 0;
    weir__mutex_lock(&lane->lock);
    for (uint32_t i = weir__load(&lane->count, relaxed); i-- > 0;) {
        if (is_over(context, lane->readers[i]->subscriber)) {
            take_off(context, lane, i);
            swept++;
        }
    }
    weir__pump_free(&p, lane);
    weir__mutex_unlock(&lane->lock);
    weir__pump_end(&p);
    return swept;
}

/* ---- slow ones ---- */

weir_processor weir__lane_slow_reader(weir__lane *lane, bool skip_late)
{
    weir_processor slow = { 0 };
    weir__mutex_lock(&lane->lock);
    const uint32_t count = weir__load(&lane->count, relaxed);
    const uint64_t head = weir__load(&lane->ring.head, relaxed);
    for (uint32_t i = 0; i < count && slow.id == 0; i++) {
        const weir__reader *reader = lane->readers[i];
        if (reader->next == head && !(skip_late && reader->late)) {
            slow = reader->subscriber;
        }
    }
    weir__mutex_unlock(&lane->lock);
    return slow;
}

uint32_t weir__lane_drop_oldest(weir__context *context, weir__lane *lane, bool late)
{
    weir__pump p = weir__pump_begin(context);
    uint32_t dropped = 0;
    weir__mutex_lock(&lane->lock);
    const uint32_t count = weir__load(&lane->count, relaxed);
    const uint64_t head = weir__load(&lane->ring.head, relaxed);
    const bool full = weir__spsc_next(&lane->ring) - head > lane->ring.mask;
    for (uint32_t i = 0; full && i < count; i++) {
        weir__reader *reader = lane->readers[i];
        if (reader->next == head) {
            reader->next++;
            reader->late = reader->late || late;
            weir__pump_give_up(context, lane, 1, WEIR_FULL);
            dropped++;
        }
    }
    weir__pump_free(&p, lane);
    weir__mutex_unlock(&lane->lock);
    weir__pump_end(&p);
    return dropped;
}

uint64_t weir__lane_waiting(weir__lane *lane)
{
    uint64_t waiting = 0;
    weir__mutex_lock(&lane->lock);
    const uint32_t count = weir__load(&lane->count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        waiting += weir__load(&lane->ring.tail, acquire) - lane->readers[i]->next;
    }
    weir__mutex_unlock(&lane->lock);
    return waiting;
}

void weir__lane_free(weir_engine *engine, weir__lane *lane)
{
    weir__context *context = weir__context_find(engine);
    weir__pump p = weir__pump_begin(context);
    if (lane->ring.places != NULL) {
        weir__pump_free_records(&p, lane, weir__spsc_tail(&lane->ring));
    }
    weir__pump_end(&p);
    weir__spsc_close(&lane->ring, &engine->allocator);
    for (uint32_t i = 0; i < lane->made; i++) {
        weir__release(&engine->allocator, lane->readers[i], sizeof(*lane->readers[i]));
    }
    weir__release(&engine->allocator, lane->readers, lane->capacity * sizeof(weir__reader *));
    weir__release(&engine->allocator, lane, sizeof(*lane));
}
