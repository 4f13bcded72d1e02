/*
 * feed/lane.c - records go into a ring, and out of it into mailboxes.
 *
 * The pump takes runs of records to one reader after the other, by one claim each, as a batch of
 * posts does (engine/batch.c). What a claim may need of memory is had before; who has none loses
 * the event, counted.
 *
 * A reader whose mailbox is full stays where it is, and the lane is put into a list that whoever
 * makes room looks at (engine/fed.h): list first, then look at the mailbox once more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/lane.h"

#include "base/memory.h"
#include "engine/ready.h"
#include "engine/room.h"

#define RUN_MAX 32u
#define READERS_FIRST 4u

/* A pump at work: its posting, and what ends when no lock is held. */
typedef struct pump {
    weir__posting by;
    weir_block *spent;
    weir_origin *over;
    weir_origin *origin; /* of the run at hand */
    uint32_t moved;
} pump;

static pump pump_begin(weir__context *context)
{
    /* What is in a ring was attempted before: it is taken as a handler's is, until nothing is in
     * flight. */
    return (pump){ .by = { .context = context, .in_handler = true } };
}

static void pump_end(const pump *p)
{
    if (p->spent != NULL) {
        weir__blocks_end(p->by.context, p->spent);
    }
    weir__origins_end(p->over);
}

/* `count` copies that were attempted come to nothing. */
static void give_up(weir__context *context, weir__lane *lane, uint64_t count, weir_status status)
{
    weir__cell_add(&lane->dropped, count);
    for (uint64_t i = 0; i < count; i++) {
        weir__post_count_refusal(&(weir__posting){ .context = context }, status);
    }
}

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

void weir__lane_push(weir__lane *lane, const weir__parcel *parcel, weir_origin *origin)
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
    /* Push, then look whether the pump had seen everything (seq_cst both): then it may be asleep.
     * It says how far it has looked, then looks at the tail. */
    if (lane->agent != NULL && weir__load(&lane->looked, seq_cst) == position) {
        weir__agent_wake(lane->agent);
    }
}

/* Lane's lock held: all readers are beyond `head`. */
static void free_records(pump *p, weir__lane *lane, uint64_t head)
{
    const uint64_t from = weir__load(&lane->ring.head, relaxed);
    for (uint64_t at = from; at != head; at++) {
        weir__record *record = weir__spsc_at(&lane->ring, at);
        if ((record->flags & WEIR__RECORD_BLOCK) != 0 &&
            weir__block_let_go(record->payload.shared.block)) {
            weir__block_put_aside(record->payload.shared.block, &p->spent);
        }
        if (record->origin != NULL && weir__origin_let_go(record->origin)) {
            weir__origin_put_aside(record->origin, &p->over);
        }
    }
    if (head != from) {
        weir__spsc_free(&lane->ring, head);
    }
}

/* Lane's lock held. What nobody will read any more is free. */
static void free_what_is_read(pump *p, weir__lane *lane)
{
    const uint32_t count = weir__load(&lane->count, relaxed);
    uint64_t head = weir__spsc_tail(&lane->ring);
    for (uint32_t i = 0; i < count; i++) {
        head = lane->readers[i].next < head ? lane->readers[i].next : head;
    }
    free_records(p, lane, head);
}

/* ---- the pump: lane's lock held, inside the mark ---- */

/* The events of records in a row that have one origin, as parcels. Returns how many. */
static uint32_t unpack(weir__lane *lane, uint64_t from, uint64_t end, weir_event *events,
                       weir__parcel *parcels, weir_origin **origin)
{
    uint32_t count = 0;
    *origin = ((weir__record *)weir__spsc_at(&lane->ring, from))->origin;
    while (from != end && count < RUN_MAX) {
        weir__record *record = weir__spsc_at(&lane->ring, from++);
        if (record->origin != *origin) {
            break;
        }
        const bool shared = (record->flags & WEIR__RECORD_BLOCK) != 0;
        events[count] =
            (weir_event){ .type = record->type,
                          .data = shared ? record->payload.shared.data : record->payload.bytes,
                          .size = record->size,
                          .flags = record->flags & 0xffffu };
        parcels[count] = (weir__parcel){ .event = &events[count],
                                         .block = shared ? record->payload.shared.block : NULL,
                                         .data = shared            ? record->payload.shared.data
                                                 : *origin != NULL ? &events[count]
                                                                   : NULL,
                                         .flow = record->flow };
        count++;
    }
    return count;
}

/* So many copies more of what they share. */
static void take_shares(const pump *p, const weir__parcel *parcels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)weir_block_take(parcels[i].block);
    }
    if (p->origin != NULL) {
        weir__origin_hold(p->origin, count);
    }
}

/* The origin of records, in place of that of the event at hand, if there is one. */
static void deliver(pump *p, weir__processor *processor, weir__claim claim, uint64_t before,
                    const weir__parcel *parcels, uint32_t count)
{
    weir__context *context = p->by.context;
    weir_origin *at_hand = context->origin;
    p->by.carries = p->origin != NULL;
    take_shares(p, parcels, count);
    if (p->origin != NULL) {
        weir__origin_enter(context, p->origin);
    }
    weir__parcel_deliver(&p->by, &processor->mailbox, claim, before, parcels, count);
    if (at_hand != NULL) {
        weir__origin_enter(context, at_hand);
    } else if (p->origin != NULL) {
        weir__origin_leave(context);
    }
    if (claim == WEIR__CLAIM_FIRST) {
        weir__ready(context, processor);
    }
}

/* One claim; returns how many it got, and *status says why no more. */
static uint32_t offer_run(pump *p, weir_processor to, weir__parcel *parcels, uint32_t count,
                          weir_status *status)
{
    weir__context *context = p->by.context;
    weir__registry *registry = &context->engine->registry;
    weir__processor *processor = weir__registry_find(registry, to);
    uint64_t before;
    if (processor != NULL &&
        !weir__stock_suffices_for(&context->stock, processor->mailbox.page_class, count)) {
        const uint32_t page_class = processor->mailbox.page_class;
        weir__context_leave(context);
        const bool filled = weir__stock_fill(&context->stock, page_class, count);
        weir__context_enter(context);
        if (!filled) {
            *status = WEIR_E_NOMEM;
            return 0;
        }
        processor = weir__registry_find(registry, to); /* we were outside the mark */
    }
    const weir__claim claim = processor != NULL
                                  ? weir__mailbox_claim(&processor->mailbox, &count, &before)
                                  : WEIR__CLAIM_CLOSED;
    *status = weir__claim_status(claim);
    if (*status != WEIR_OK) {
        return 0;
    }
    deliver(p, processor, claim, before, parcels, count);
    return count;
}

/* What waits for one reader, as far as its mailbox has room. */
static void serve(pump *p, weir__lane *lane, weir__reader *reader, uint64_t tail)
{
    weir_event events[RUN_MAX];
    weir__parcel parcels[RUN_MAX];
    weir_status status = WEIR_OK;
    reader->full = false;
    while (reader->next != tail && status == WEIR_OK) {
        const uint32_t count = unpack(lane, reader->next, tail, events, parcels, &p->origin);
        const uint32_t got =
            reader->gone ? 0 : offer_run(p, reader->subscriber, parcels, count, &status);
        reader->next += got;
        reader->late = reader->late && got == 0;
        p->moved += got;
        weir__cell_add(&lane->delivered, got);
        if (reader->gone || status == WEIR_STOPPING) {
            weir__add(&lane->feed->gone, reader->gone ? 0 : 1, relaxed);
            reader->gone = true;
            give_up(p->by.context, lane, tail - reader->next, WEIR_UNKNOWN);
            reader->next = tail;
        } else if (status == WEIR_E_NOMEM) {
            give_up(p->by.context, lane, 1, status);
            reader->next++;
            status = WEIR_OK;
        }
    }
    reader->full = status == WEIR_FULL;
}

static weir__reader *first_full(weir__lane *lane)
{
    const uint32_t count = weir__load(&lane->count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        if (lane->readers[i].full) {
            return &lane->readers[i];
        }
    }
    return NULL;
}

/* Into the list of those who are to be told of room. */
static void enlist(weir__lane *lane, weir_processor who)
{
    weir_engine *engine = lane->feed->engine;
    weir__feeds *feeds = weir__load(&engine->feeds, relaxed);
    const uint32_t bucket = WEIR__HANDLE_INDEX(who.id) % WEIR__FEED_BUCKETS;
    if (weir__exchange(&lane->listed, 1, seq_cst) != 0) {
        return; /* whoever is taking it off pumps it afterwards */
    }
    weir__add(&engine->pressed, 1, seq_cst);
    weir__lane *first = weir__load(&feeds->full[bucket], relaxed);
    do {
        lane->next_full = first;
        /* [F10] pairs with [F11]: the link. */
    } while (!weir__cas(&feeds->full[bucket], &first, lane, seq_cst, relaxed));
}

/* To every reader, as much as it takes. */
static void serve_all(pump *p, weir__lane *lane)
{
    uint64_t tail;
    do {
        tail = weir__spsc_tail(&lane->ring);
        weir__store(&lane->looked, tail, seq_cst);
        const uint32_t count = weir__load(&lane->count, relaxed);
        for (uint32_t i = 0; i < count; i++) {
            serve(p, lane, &lane->readers[i], tail);
        }
    } while (tail != weir__spsc_tail(&lane->ring));
}

static void pump_locked(pump *p, weir__lane *lane)
{
    weir__context *context = p->by.context;
    if (lane->ring.places == NULL) {
        return;
    }
    weir__context_enter(context);
    /* What a stop that ran out of time has left stays where it is, and is counted there. */
    if (weir__engine_phase(context->engine) < WEIR__ABANDONED) {
        serve_all(p, lane);
        const weir__reader *full = first_full(lane);
        if (full != NULL) {
            enlist(lane, full->subscriber); /* before the last look */
            serve_all(p, lane);
        }
        free_what_is_read(p, lane);
    }
    weir__context_leave(context);
}

uint32_t weir__lane_pump(weir__context *context, weir__lane *lane)
{
    pump p = pump_begin(context);
    weir__mutex_lock(&lane->lock);
    pump_locked(&p, lane);
    weir__mutex_unlock(&lane->lock);
    pump_end(&p);
    if (p.moved > 0) {
        weir__room_wake_publishers(context->engine);
    }
    return p.moved;
}

void weir__lanes_room(weir__context *context, uint64_t id)
{
    weir_engine *engine = context->engine;
    weir__feeds *feeds = weir__load(&engine->feeds, acquire); /* [F5] */
    const uint32_t bucket = WEIR__HANDLE_INDEX(id) % WEIR__FEED_BUCKETS;
    weir__room_wake_publishers(engine);
    /* [F11] pairs with [F10]. */
    weir__lane *lane = weir__exchange(&feeds->full[bucket], NULL, seq_cst);
    while (lane != NULL) {
        weir__lane *next = lane->next_full;
        weir__sub(&engine->pressed, 1, seq_cst);
        /* Before the pump, which may find a full mailbox and list it again; [F12] pairs with the
         * exchange of who does: the link was read. */
        weir__store(&lane->listed, 0, seq_cst);
        (void)weir__lane_pump(context, lane);
        lane = next;
    }
}

/* ---- readers ---- */

static bool make_room(weir__lane *lane)
{
    const weir_allocator *allocator = &lane->feed->engine->allocator;
    const uint32_t count = weir__load(&lane->count, relaxed);
    const uint32_t before = lane->capacity;
    if (count < before) {
        return true;
    }
    const uint32_t capacity = before > 0 ? 2 * before : lane->thread.id != 0 ? READERS_FIRST : 1;
    weir__reader *readers = weir__allocate(allocator, capacity * sizeof(*readers));
    if (readers == NULL) {
        return false;
    }
    weir__reader *old = lane->readers;
    weir__mutex_lock(&lane->lock);
    for (uint32_t i = 0; i < count; i++) {
        readers[i] = old[i];
    }
    lane->readers = readers;
    lane->capacity = capacity;
    weir__mutex_unlock(&lane->lock);
    weir__release(allocator, old, before * sizeof(*old));
    return true;
}

weir_status weir__lane_join(weir__lane *lane, weir_processor subscriber, bool subscribed)
{
    if (!make_room(lane)) {
        return WEIR_E_NOMEM;
    }
    weir__mutex_lock(&lane->lock);
    const uint32_t count = weir__load(&lane->count, relaxed);
    lane->readers[count] = (weir__reader){ .subscriber = subscriber,
                                           .next = weir__spsc_next(&lane->ring),
                                           .subscribed = subscribed };
    weir__store(&lane->count, count + 1, relaxed);
    weir__mutex_unlock(&lane->lock);
    return WEIR_OK;
}

/* Lane's lock held. The last one takes its place. */
static void take_off(weir__context *context, weir__lane *lane, weir__reader *reader)
{
    const uint32_t last = weir__load(&lane->count, relaxed) - 1;
    give_up(context, lane, weir__spsc_next(&lane->ring) - reader->next, WEIR_UNKNOWN);
    *reader = lane->readers[last];
    weir__store(&lane->count, last, relaxed);
}

static weir__reader *find(weir__lane *lane, weir_processor subscriber)
{
    const uint32_t count = weir__load(&lane->count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        if (lane->readers[i].subscriber.id == subscriber.id) {
            return &lane->readers[i];
        }
    }
    return NULL;
}

bool weir__lane_leave(weir__context *context, weir__lane *lane, weir_processor subscriber)
{
    pump p = pump_begin(context);
    weir__mutex_lock(&lane->lock);
    weir__reader *reader = find(lane, subscriber);
    if (reader != NULL) {
        take_off(context, lane, reader);
        free_what_is_read(&p, lane);
    }
    weir__mutex_unlock(&lane->lock);
    pump_end(&p);
    return reader != NULL;
}

bool weir__lane_leave_if_through(weir__lane *lane, weir_processor subscriber)
{
    bool through = false;
    weir__mutex_lock(&lane->lock);
    weir__reader *reader = find(lane, subscriber);
    if (reader != NULL && reader->next == weir__spsc_next(&lane->ring)) {
        const uint32_t last = weir__load(&lane->count, relaxed) - 1;
        *reader = lane->readers[last];
        weir__store(&lane->count, last, relaxed);
        through = true;
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
    pump p = pump_begin(context);
    uint32_t swept = 0;
    weir__mutex_lock(&lane->lock);
    for (uint32_t i = weir__load(&lane->count, relaxed); i-- > 0;) {
        if (is_over(context, lane->readers[i].subscriber)) {
            take_off(context, lane, &lane->readers[i]);
            swept++;
        }
    }
    free_what_is_read(&p, lane);
    weir__mutex_unlock(&lane->lock);
    pump_end(&p);
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
        const weir__reader *reader = &lane->readers[i];
        if (reader->next == head && !(skip_late && reader->late)) {
            slow = reader->subscriber;
        }
    }
    weir__mutex_unlock(&lane->lock);
    return slow;
}

uint32_t weir__lane_drop_oldest(weir__context *context, weir__lane *lane, bool late)
{
    pump p = pump_begin(context);
    uint32_t dropped = 0;
    weir__mutex_lock(&lane->lock);
    const uint32_t count = weir__load(&lane->count, relaxed);
    const uint64_t head = weir__load(&lane->ring.head, relaxed);
    const bool full = weir__spsc_next(&lane->ring) - head > lane->ring.mask;
    for (uint32_t i = 0; full && i < count; i++) {
        weir__reader *reader = &lane->readers[i];
        if (reader->next == head) {
            reader->next++;
            reader->late = reader->late || late;
            give_up(context, lane, 1, WEIR_FULL);
            dropped++;
        }
    }
    free_what_is_read(&p, lane);
    weir__mutex_unlock(&lane->lock);
    pump_end(&p);
    return dropped;
}

uint64_t weir__lane_waiting(weir__lane *lane)
{
    uint64_t waiting = 0;
    weir__mutex_lock(&lane->lock);
    const uint32_t count = weir__load(&lane->count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        waiting += weir__load(&lane->ring.tail, acquire) - lane->readers[i].next;
    }
    weir__mutex_unlock(&lane->lock);
    return waiting;
}

void weir__lane_free(weir_engine *engine, weir__lane *lane)
{
    weir__context *context = weir__context_find(engine);
    pump p = pump_begin(context);
    if (lane->ring.places != NULL) {
        free_records(&p, lane, weir__spsc_tail(&lane->ring));
    }
    pump_end(&p);
    weir__spsc_close(&lane->ring, &engine->allocator);
    weir__release(&engine->allocator, lane->readers, lane->capacity * sizeof(*lane->readers));
    weir__release(&engine->allocator, lane, sizeof(*lane));
}
