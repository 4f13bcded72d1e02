/*
 * engine/room.c - want_room, and the waking of blocked threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/room.h"

#include <string.h>

#include "base/assert.h"
#include "engine/fed.h"
#include "engine/post.h"
#include "engine/ready.h"
#include "engine/turn.h"
#include "sync/word.h"

const weir_event_type weir_room_type = {
    sizeof(weir_event_type), "weir.room", (uint32_t)sizeof(weir_room), false, NULL, NULL
};

/* Below half, open, and not full of places that are promised to others: a post would be accepted.
 * */
static bool below_half(const weir__processor *processor, uint64_t word)
{
    const uint32_t count = weir__mailbox_count(word);
    const uint32_t limit = processor->mailbox.limit;
    return (word & WEIR__MAILBOX_CLOSED) == 0 && count < (limit + 1) / 2 &&
           count + weir__mailbox_owed(word) < limit;
}

/* One room event goes to its asker, whose handle is in its link. */
static void send(weir__context *context, weir__lone *lone, bool gone)
{
    weir_engine *engine = context->engine;
    weir__envelope *envelope = &lone->envelope;
    const weir_processor asker = { weir__load(&lone->pooled.link, relaxed) };
    uint64_t before;
    weir_room room;
    memcpy(&room, envelope->payload.bytes, sizeof(room));
    room.gone = gone;
    envelope->sender = room.target.id;
    memcpy(envelope->payload.bytes, &room, sizeof(room));
    weir__cell_add(&context->tally.attempted, 1);
    weir__barrier_light();
    weir__processor *to = weir__registry_find(&engine->registry, asker);
    const bool open = to != NULL && weir__engine_phase(engine) < WEIR__CLOSING;
    const weir__claim claim =
        open ? weir__mailbox_claim_owed(&to->mailbox, &before) : WEIR__CLAIM_CLOSED;
    if (claim == WEIR__CLAIM_CLOSED) {
        /* The asker stops: what it was owed was never accepted. */
        weir__cell *cell = &context->tally.refused_stopping;
        /* [Q1]: done, and attempted before. */
        weir__store(cell, weir__load(cell, relaxed) + 1, release);
        weir__engine_progress_if_stopping(engine);
        weir__letters_owe(context, lone);
        return;
    }
    lone->ticket = weir__mailbox_ticket(before);
    weir__cell_add(&context->tally.rooms, 1);
    weir__mailbox_put_beside(&to->mailbox, lone);
    if (claim == WEIR__CLAIM_FIRST) {
        weir__ready(context, to);
    }
}

/* In the order in which they were asked for: the list is newest first. */
static void send_all(weir__context *context, weir__lone *newest, bool gone)
{
    weir__lone *first = NULL;
    while (newest != NULL) {
        weir__lone *next = (weir__lone *)(void *)weir__load(&newest->pooled.next, relaxed);
        weir__store(&newest->pooled.next, first != NULL ? &first->pooled : NULL, relaxed);
        first = newest;
        newest = next;
    }
    while (first != NULL) {
        weir__lone *next = (weir__lone *)(void *)weir__load(&first->pooled.next, relaxed);
        send(context, first, gone);
        first = next;
    }
}

void weir__room_tell(weir__context *context, weir__processor *processor)
{
    weir__lone *list = weir__load(&processor->rooms, seq_cst);
    do {
        if (list == NULL || list == WEIR__ROOMS_CLOSED) {
            return;
        }
        /* [W1] pairs with [W2]: the events are filled. */
    } while (!weir__cas(&processor->rooms, &list, NULL, seq_cst, seq_cst));
    send_all(context, list, false);
}

void weir__room_gone(weir__context *context, weir__processor *processor)
{
    weir__lone *list = weir__exchange(&processor->rooms, WEIR__ROOMS_CLOSED, seq_cst);
    if (list != WEIR__ROOMS_CLOSED) {
        send_all(context, list, true);
    }
}

void weir__room_unreserve(weir__context *context, weir_processor to)
{
    weir__context_enter(context);
    weir__processor *processor = weir__registry_find(&context->engine->registry, to);
    if (processor != NULL) {
        weir__mailbox_unreserve(&processor->mailbox);
        if (below_half(processor, weir__load(&processor->mailbox.word, seq_cst))) {
            weir__room_tell(context, processor);
        }
        if (weir__processor_blocks(processor)) {
            weir__room_wake_threads(context->engine, weir__processor_room(processor));
        }
    }
    weir__context_leave(context);
    weir__letters_flush(context);
}

void weir__room_appeared(weir__context *context, weir__processor *processor, uint64_t word)
{
    if (weir__unlikely(weir__load(&processor->rooms, seq_cst) != NULL) &&
        below_half(processor, word)) {
        weir__context_enter(context);
        weir__room_tell(context, processor);
        weir__context_leave(context);
        weir__letters_flush(context);
    }
    if (weir__unlikely(weir__processor_blocks(processor))) {
        weir__room_wake_threads(context->engine, weir__processor_room(processor));
    }
    weir__fed_room(context, weir__load(&processor->id, relaxed));
}

static void wake_bucket(weir__room_wait *wait)
{
    if (weir__load(&wait->waiters, seq_cst) != 0) {
        weir__add(&wait->word, 1, seq_cst);
        weir__word_wake(&wait->word, INT32_MAX);
    }
}

void weir__room_wake_threads(weir_engine *engine, uint32_t index)
{
    wake_bucket(weir__room_wait_of(engine, index));
}

bool weir__room_close(weir_engine *engine, weir__processor *processor)
{
    /* After the close the processor may be anybody's: what is needed of it is read before. */
    const bool blocking = weir__processor_blocks(processor);
    const uint32_t index = weir__processor_room(processor);
    const bool ready = weir__mailbox_close(&processor->mailbox);
    if (blocking) {
        weir__room_wake_threads(engine, index);
    }
    return ready;
}

void weir__room_wake_all(weir_engine *engine)
{
    if (weir__load(&engine->room_waiters, seq_cst) == 0) {
        return; /* whoever comes now sees what we have come to tell */
    }
    for (uint32_t i = 0; i < WEIR__ROOM_WAITS; i++) {
        wake_bucket(&engine->room_waits[i]);
    }
    wake_bucket(&engine->feed_wait);
}

void weir__room_wake_publishers(weir_engine *engine)
{
    wake_bucket(&engine->feed_wait);
}

void weir__fed_tell(weir__context *context, uint64_t id)
{
    /* Who has set engine->pressed has set this before: [FD9] pairs with [FD6]. */
    weir__fence(acquire);
    context->engine->fed->room(context, id);
}

static void fill(weir__lone *lone, weir_processor asker, weir_processor target, uint64_t tag)
{
    weir__envelope *envelope = &lone->envelope;
    const weir_room room = { target, false };
    weir__store(&lone->pooled.link, asker.id, relaxed);
    lone->ask = 0;
    lone->tag = tag;
    envelope->type = &weir_room_type;
    envelope->size = (uint32_t)sizeof(room);
    envelope->flow = 0;
    memset(envelope->payload.bytes, 0, sizeof(envelope->payload.bytes));
    memcpy(envelope->payload.bytes, &room, sizeof(room));
    weir__envelope_fill(envelope, WEIR__ENVELOPE_ALONE);
}

/* Inside the mark. Hangs the event onto the target's list; if there is room already, sends. */
static weir_status join_list(weir__context *context, weir__processor *target, weir__lone *lone)
{
    weir__lone *first = weir__load(&target->rooms, relaxed);
    do {
        if (first == WEIR__ROOMS_CLOSED) {
            return WEIR_UNKNOWN;
        }
        weir__store(&lone->pooled.next, first != NULL ? &first->pooled : NULL, relaxed);
        /* [W2] pairs with [W1]; seq_cst: before the look at the word. */
    } while (!weir__cas(&target->rooms, &first, lone, seq_cst, relaxed));
    if (below_half(target, weir__load(&target->mailbox.word, seq_cst))) {
        weir__room_tell(context, target);
    }
    return WEIR_OK;
}

weir_status weir_turn_want_room(weir_turn *turn, weir_processor target, uint64_t tag)
{
    if (turn == NULL || !weir__engine_usable(turn->context->engine) || weir__turn_is_flows(turn)) {
        return WEIR_E_INVALID;
    }
    weir__context *context = turn->context;
    weir__mailbox *own = &turn->processor->mailbox;
    const weir__claim place = weir__mailbox_reserve(own);
    if (place != WEIR__CLAIM_OK) {
        return weir__claim_status(place);
    }
    weir__lone *lone = weir__stock_get_lone(&context->stock);
    if (lone == NULL) {
        weir__room_unreserve(context, turn->self);
        return WEIR_E_NOMEM;
    }
    fill(lone, turn->self, target, tag);
    weir__context_enter(context);
    weir__processor *processor = weir__registry_find(&context->engine->registry, target);
    const weir_status status =
        processor != NULL ? join_list(context, processor, lone) : WEIR_UNKNOWN;
    weir__context_leave(context);
    weir__letters_flush(context);
    if (status != WEIR_OK) {
        weir__room_unreserve(context, turn->self);
        weir__lone_put(context, lone);
    }
    return status;
}
