/*
 * feed/pump.c - records go out of a ring into mailboxes.
 *
 * The pump takes runs of records to one reader after the other, by one claim each, as a batch of
 * posts does (engine/batch.c). What a claim may need of memory is had before; who has none loses
 * the event, counted.
 *
 * A reader whose mailbox is full stays where it is, and is put into a list that whoever makes room
 * looks at (engine/fed.h): list first, then look at the mailbox once more. The same list brings the
 * pump to a thread: a reader that runs there is listed, then made ready.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "feed/pump.h"

#include "engine/parcels.h"
#include "engine/probe.h"
#include "engine/ready.h"
#include "engine/room.h"

#define RUN_MAX 32u

weir__pump weir__pump_begin(weir__context *context)
{
    /* What is in a ring was attempted before: it is taken as a handler's is, until nothing is in
     * flight. */
    return (weir__pump){ .by = { .context = context, .in_handler = true } };
}

void weir__pump_end(const weir__pump *p)
{
    if (p->spent != NULL) {
        weir__blocks_end(p->by.context, p->spent);
    }
    weir__origins_end(p->over);
}

/* `count` copies that were attempted come to nothing. */
void weir__pump_give_up(weir__context *context, weir__lane *lane, uint64_t count,
                        weir_status status)
{
    weir__cell_add(&lane->dropped, count);
    for (uint64_t i = 0; i < count; i++) {
        weir__post_count_refusal(&(weir__posting){ .context = context }, status);
    }
}

/* Lane's lock held: all readers are beyond `head`. */
void weir__pump_free_records(weir__pump *p, weir__lane *lane, uint64_t head)
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
void weir__pump_free(weir__pump *p, weir__lane *lane)
{
    const uint32_t count = weir__load(&lane->count, relaxed);
    uint64_t head = weir__spsc_tail(&lane->ring);
    for (uint32_t i = 0; i < count; i++) {
        head = lane->readers[i]->next < head ? lane->readers[i]->next : head;
    }
    weir__pump_free_records(p, lane, head);
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
static void take_shares(const weir__pump *p, const weir__parcel *parcels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)weir_block_take(parcels[i].block);
    }
    if (p->origin != NULL) {
        weir__origin_hold(p->origin, count);
    }
}

/* The origin of records, in place of that of the event at hand, if there is one. */
static void deliver(weir__pump *p, weir__processor *processor, weir__claim claim, uint64_t before,
                    const weir__parcel *parcels, uint32_t count)
{
    weir__context *context = p->by.context;
    weir_origin *at_hand = context->origin;
    p->by.carries = p->origin != NULL;
    take_shares(p, parcels, count);
    if (p->origin != NULL) {
        weir__origin_enter(context, p->origin);
    }
    const weir_event *list[RUN_MAX];
    const weir__parcels all = { .parcels = parcels,
                                .alike = weir__parcels_alike(parcels, count, list) };
    weir__parcels_deliver(&p->by, &processor->mailbox, claim, before, &all, count);
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
static uint32_t offer_run(weir__pump *p, weir_processor to, weir__parcel *parcels, uint32_t count,
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
    const weir__claim claim =
        processor != NULL
            ? weir__lease_claim(&processor->mailbox, &context->tenant, &count, &before)
            : WEIR__CLAIM_CLOSED;
    *status = weir__claim_status(claim);
    if (*status != WEIR_OK) {
        return 0;
    }
    WEIR__PROBE2(posts, to.id, count);
    deliver(p, processor, claim, before, parcels, count);
    return count;
}

/* What waits for one reader, as far as its mailbox has room. */
static void serve(weir__pump *p, weir__lane *lane, weir__reader *reader, uint64_t tail)
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
            weir__pump_give_up(p->by.context, lane, tail - reader->next, WEIR_UNKNOWN);
            reader->next = tail;
        } else if (status == WEIR_E_NOMEM) {
            weir__pump_give_up(p->by.context, lane, 1, status);
            reader->next++;
            status = WEIR_OK;
        }
    }
    reader->full = status == WEIR_FULL;
}

/* Into the list of those after whose turn somebody looks at their lane. */
static void enlist(weir__reader *reader)
{
    weir_engine *engine = reader->lane->feed->engine;
    weir__feeds *feeds = weir__load(&engine->feeds, relaxed);
    const uint32_t bucket = WEIR__HANDLE_INDEX(reader->subscriber.id) % WEIR__FEED_BUCKETS;
    /* [FD12] pairs with itself: who took it off has read the link. */
    if (weir__exchange(&reader->listed, 1, seq_cst) != 0) {
        return; /* or is taking it off, and pumps its lane afterwards */
    }
    weir__add(&engine->pressed, 1, seq_cst);
    weir__reader *first = weir__load(&feeds->listed[bucket], relaxed);
    do {
        reader->next_listed = first;
        /* [FD10] pairs with [FD11]: the link. */
    } while (!weir__cas(&feeds->listed[bucket], &first, reader, seq_cst, relaxed));
}

static bool enlist_full(weir__lane *lane)
{
    const uint32_t count = weir__load(&lane->count, relaxed);
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (lane->readers[i]->full) {
            enlist(lane->readers[i]);
            any = true;
        }
    }
    return any;
}

/* To every reader, as much as it takes. */
static void serve_all(weir__pump *p, weir__lane *lane)
{
    uint64_t tail;
    do {
        tail = weir__spsc_tail(&lane->ring);
        weir__store(&lane->looked, tail, seq_cst);
        const uint32_t count = weir__load(&lane->count, relaxed);
        for (uint32_t i = 0; i < count; i++) {
            serve(p, lane, lane->readers[i], tail);
        }
    } while (tail != weir__spsc_tail(&lane->ring));
}

static void pump_locked(weir__pump *p, weir__lane *lane)
{
    weir__context *context = p->by.context;
    if (lane->ring.places == NULL) {
        return;
    }
    weir__context_enter(context);
    /* What a stop that ran out of time has left stays where it is, and is counted there. */
    if (weir__engine_phase(context->engine) < WEIR__ABANDONED) {
        serve_all(p, lane);
        if (enlist_full(lane)) {
            /* List, then look again: who makes room does it the other way round. */
            weir__fence(seq_cst);
            serve_all(p, lane);
        }
        weir__pump_free(p, lane);
    }
    weir__context_leave(context);
}

uint32_t weir__lane_pump(weir__context *context, weir__lane *lane)
{
    weir__pump p = weir__pump_begin(context);
    weir__mutex_lock(&lane->lock);
    pump_locked(&p, lane);
    weir__mutex_unlock(&lane->lock);
    weir__pump_end(&p);
    if (p.moved > 0) {
        weir__room_wake_publishers(context->engine);
    }
    return p.moved;
}

void weir__lanes_room(weir__context *context, uint64_t id)
{
    weir_engine *engine = context->engine;
    weir__feeds *feeds = weir__load(&engine->feeds, acquire); /* [FD5] */
    const uint32_t bucket = WEIR__HANDLE_INDEX(id) % WEIR__FEED_BUCKETS;
    weir__room_wake_publishers(engine);
    if (weir__load(&feeds->listed[bucket], seq_cst) == NULL) {
        return;
    }
    /* [FD11] pairs with [FD10]. */
    weir__reader *reader = weir__exchange(&feeds->listed[bucket], NULL, seq_cst);
    while (reader != NULL) {
        weir__reader *next = reader->next_listed;
        weir__lane *lane = reader->lane;
        weir__sub(&engine->pressed, 1, seq_cst);
        /* [FD12]; before the pump, which may find a full mailbox and list it again. */
        weir__store(&reader->listed, 0, seq_cst);
        (void)weir__lane_pump(context, lane);
        reader = next;
    }
}

/* Inside the mark. Whether a turn of it is sure to end soon, now that it is listed. */
static bool rouse(weir__context *context, weir__reader *reader)
{
    weir__processor *p = weir__registry_find(&context->engine->registry, reader->subscriber);
    if (p == NULL) {
        return false;
    }
    if (weir__mailbox_rouse(&p->mailbox)) {
        weir__ready(context, p);
        return true;
    }
    /* It has a turn to come, or is in one; unless it is put aside. List, then look at this: who
     * puts it aside looks at the list afterwards. */
    weir__fence(seq_cst);
    return (weir__load(&p->control, relaxed) & WEIR__CONTROL_ASIDE) == 0;
}

void weir__lane_announce(weir__context *context, weir__lane *lane)
{
    const uint32_t count = weir__load(&lane->count, relaxed);
    bool roused = false;
    weir__context_enter(context);
    for (uint32_t i = 0; i < count && !roused; i++) {
        enlist(lane->readers[i]);
        roused = rouse(context, lane->readers[i]);
    }
    weir__context_leave(context);
    if (!roused) {
        (void)weir__lane_pump(context, lane);
    }
}
