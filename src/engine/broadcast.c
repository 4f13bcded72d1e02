/*
 * engine/broadcast.c - one event for all members of a channel.
 *
 * The sender itself puts a copy into every mailbox: claim, fill, ready, as in a post, one after the
 * other, holding the channel's lock. So the places that broadcasts get in any two mailboxes are in
 * one order; and when the call returns all of them are taken, so that what the sender does next
 * comes behind. No member is waited for. What a copy needs of memory is got before its claim,
 * outside the mark, with the lock still held: nobody may overtake.
 *
 * The payload is packed once. A block gets as many references as there are members in one step, and
 * what was not used is given back in one.
 *
 * To the sums every copy is a post of its own: attempted before the first claim, then accepted or
 * refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/channel.h"

#include "engine/block.h"
#include "engine/engine.h"
#include "engine/evict.h"
#include "engine/straight.h"
#include "engine/turn.h"

#define AHEAD 4u /* so many members are on their way into the cache */

const weir_event_type weir_not_delivered_type = { sizeof(weir_event_type),
                                                  "weir.not-delivered",
                                                  (uint32_t)sizeof(weir_not_delivered),
                                                  false,
                                                  NULL,
                                                  NULL };

/* A broadcast under way. */
typedef struct flight {
    const weir__posting *by;
    weir__parcel parcel;
    bool open; /* as seen inside the mark, since it was last entered */
    weir_delivery sum;
    weir_block *spent; /* evicted, for the last time: their hooks run when no lock is held */
} flight;

static void enter(flight *f)
{
    weir__context_enter(f->by->context);
    f->open = weir__post_is_open(f->by);
}

/* Inside the mark, and again afterwards. OK: a claim in a mailbox of this class can be met. */
WEIR__SELDOM static weir_status restock(flight *f, uint32_t page_class)
{
    weir__context *context = f->by->context;
    weir__context_leave(context);
    const bool filled = weir__stock_fill(&context->stock, page_class, 1);
    enter(f);
    return !f->open ? WEIR_STOPPING : filled ? WEIR_OK : WEIR_E_NOMEM;
}

/* Inside the mark. The sender of a copy that was refused is told, if there is room for that. */
static void tell_sender(flight *f, weir_channel channel, weir__processor *target,
                        weir_status status)
{
    weir__context *context = f->by->context;
    const weir_not_delivered refused = { { weir__load(&target->id, relaxed) }, channel, status };
    const weir_event event = { .type = &weir_not_delivered_type,
                               .data = &refused,
                               .size = (uint32_t)sizeof(refused) };
    const weir__posting by = { .context = context,
                               .sender = refused.target.id,
                               .in_handler = f->by->in_handler };
    const weir__parcel parcel = weir__parcel_of_plain(&by, &event);
    weir__processor *sender =
        weir__registry_find(&context->engine->registry, (weir_processor){ f->by->sender });
    weir_status told = sender == NULL ? WEIR_UNKNOWN : f->open ? WEIR_OK : WEIR_STOPPING;
    weir__post_begin(context);
    if (told == WEIR_OK && !weir__stock_suffices(&context->stock, sender->mailbox.page_class)) {
        told = restock(f, sender->mailbox.page_class); /* its own turn: it is still there */
    }
    if (told == WEIR_OK) {
        /* Whatever its policy: nothing is dropped for the sake of this. */
        told = weir__claim_status(weir__offer_to(&by, sender, &parcel));
    }
    if (told != WEIR_OK) {
        weir__post_count_refusal(&by, told);
        weir__cell_add(&context->tally.untold, 1);
    }
}

/* Inside the mark. */
WEIR__SELDOM static void refuse(flight *f, weir_channel channel, weir__processor *target,
                                weir_status status)
{
    f->sum.refused++;
    weir__post_count_refusal(f->by, status);
    if (f->by->sender != 0) {
        tell_sender(f, channel, target, status);
    }
}

/* Inside the mark, the mailbox was full. */
WEIR__SELDOM static weir_status overflow(flight *f, weir__processor *target)
{
    weir__eviction evicted = { .block = NULL };
    const weir_status status = weir__post_overflow(f->by, target, &f->parcel, &evicted);
    if (evicted.block != NULL && weir__block_let_go(evicted.block)) {
        weir__block_put_aside(evicted.block, &f->spent);
    }
    return status;
}

/* Inside the mark. */
static WEIR__ALWAYS weir_status offer(flight *f, weir__processor *target)
{
    const uint32_t page_class = target->mailbox.page_class;
    if (weir__unlikely(!weir__stock_suffices(&f->by->context->stock, page_class)) && f->open) {
        const weir_status status = restock(f, page_class);
        if (status != WEIR_OK) {
            return status;
        }
    }
    if (weir__unlikely(!f->open)) {
        return WEIR_STOPPING;
    }
    const weir__claim claim = weir__offer_to(f->by, target, &f->parcel);
    return weir__likely(claim <= WEIR__CLAIM_FIRST) ? WEIR_OK
           : claim == WEIR__CLAIM_FULL              ? overflow(f, target)
                                                    : WEIR_STOPPING;
}

static inline void prefetch(const weir__processor *processor)
{
    __builtin_prefetch(&processor->mailbox, 1);
    __builtin_prefetch(&processor->handler, 1); /* the line of those that become ready */
}

/* channel->lock held. Returns how many have a copy. */
static uint32_t deliver(flight *f, weir__channel *channel, weir_channel handle)
{
    weir__processor **const members = channel->members;
    const uint32_t count = weir__load(&channel->count, relaxed);
    uint32_t taken = 0;
    weir__cell_add(&f->by->context->tally.attempted, count);
    enter(f);
    for (uint32_t i = 0; i < count; i++) {
        if (weir__likely(i + AHEAD < count)) {
            prefetch(members[i + AHEAD]);
        }
        const weir_status status = offer(f, members[i]);
        if (weir__likely(status == WEIR_OK)) {
            taken++;
        } else if (status == WEIR_DROPPED) {
            f->sum.delivered++; /* accepted, counted, and nothing in the mailbox */
        } else {
            refuse(f, handle, members[i], status);
        }
    }
    weir__context_leave(f->by->context);
    f->sum.delivered += taken;
    return taken;
}

/* One of the channels. */
static void send(flight *f, weir_channel handle)
{
    weir__tally *tally = &f->by->context->tally;
    weir__channel *channel = weir__channel_find(&f->by->context->engine->channels, handle);
    weir__cell_add(&tally->broadcasts, 1);
    /* The look before the lock: who has subscribed before this call is in it. */
    if (channel == NULL || weir__load(&channel->count, relaxed) == 0) {
        weir__cell_add(&tally->unheard, 1);
        return;
    }
    weir__mutex_lock(&channel->lock);
    const uint32_t count = weir__load(&channel->count, relaxed);
    if (f->parcel.block != NULL) {
        weir__block_take_many(f->parcel.block, count);
    }
    const uint32_t taken = deliver(f, channel, handle);
    weir__mutex_unlock(&channel->lock);
    if (f->parcel.block != NULL) {
        weir__block_give_many(f->parcel.block, count - taken);
    }
    if (count == 0) {
        weir__cell_add(&tally->unheard, 1);
    }
    if (weir__unlikely(f->spent != NULL)) {
        weir__blocks_end(f->by->context, f->spent);
        f->spent = NULL;
    }
}

/* Nobody got it: one post that was refused. */
static weir_status refuse_all(const weir__posting *by, weir_status status)
{
    weir__post_begin(by->context);
    weir__post_count_refusal(by, status);
    return status;
}

weir_status weir__channel_broadcast(const weir__posting *by, const weir_channel *channels,
                                    size_t count, const weir_event *event, weir_delivery *delivery)
{
    flight f = { .by = by, .open = true };
    if (delivery != NULL) {
        *delivery = f.sum;
    }
    if (!weir__engine_usable(by->context->engine)) {
        return WEIR_E_INVALID;
    }
    weir_status status = weir__post_is_open(by) ? weir__parcel_check(event) : WEIR_STOPPING;
    if (status == WEIR_OK) {
        status = weir__parcel_pack(by, event, &f.parcel);
    }
    if (status != WEIR_OK) {
        return refuse_all(by, status);
    }
    for (size_t i = 0; i < count; i++) {
        send(&f, channels[i]);
    }
    weir__parcel_unpack(by, &f.parcel);
    weir__cell_add(&by->context->tally.delivered, f.sum.delivered);
    weir__cell_add(&by->context->tally.undelivered, f.sum.refused);
    if (delivery != NULL) {
        *delivery = f.sum;
    }
    if (weir__tell_begin()) {
        weir__tell_end("broadcasts %s: %llu delivered, %llu refused", event->type->name,
                       (unsigned long long)f.sum.delivered, (unsigned long long)f.sum.refused);
    }
    return f.open || f.sum.delivered > 0 ? WEIR_OK : WEIR_STOPPING;
}

/* ---- what handlers and outsiders call ---- */

static bool is_allowed(weir_engine *engine, const weir_channel *channels, size_t count)
{
    for (size_t i = 0; channels != NULL && i < count; i++) {
        const weir__channel *channel = weir__channel_find(&engine->channels, channels[i]);
        if (channel != NULL && channel->reserved) {
            return false;
        }
    }
    return channels != NULL || count == 0;
}

static weir_status broadcast(const weir__posting *by, const weir_channel *channels, size_t count,
                             const weir_event *event, weir_delivery *delivery)
{
    if (weir__unlikely(!is_allowed(by->context->engine, channels, count))) {
        if (delivery != NULL) {
            *delivery = (weir_delivery){ 0 };
        }
        return weir__engine_usable(by->context->engine) ? refuse_all(by, WEIR_E_INVALID)
                                                        : WEIR_E_INVALID;
    }
    return weir__channel_broadcast(by, channels, count, event, delivery);
}

weir_status weir_engine_broadcast_many(weir_engine *engine, const weir_channel *channels,
                                       size_t count, const weir_event *event,
                                       weir_delivery *delivery)
{
    weir__posting by;
    if (!weir__post_outside(engine, &by)) {
        if (delivery != NULL) {
            *delivery = (weir_delivery){ 0 };
        }
        return weir__post_why_not(engine);
    }
    return broadcast(&by, channels, count, event, delivery);
}

weir_status weir_engine_broadcast(weir_engine *engine, weir_channel channel,
                                  const weir_event *event, weir_delivery *delivery)
{
    return weir_engine_broadcast_many(engine, &channel, 1, event, delivery);
}

weir_status weir_turn_broadcast_many(weir_turn *turn, const weir_channel *channels, size_t count,
                                     const weir_event *event, weir_delivery *delivery)
{
    if (turn == NULL) {
        if (delivery != NULL) {
            *delivery = (weir_delivery){ 0 };
        }
        return WEIR_E_INVALID;
    }
    const weir__posting by = {
        .context = turn->context, .sender = turn->self.id, .flow = turn->flow, .in_handler = true
    };
    return broadcast(&by, channels, count, event, delivery);
}

weir_status weir_turn_broadcast(weir_turn *turn, weir_channel channel, const weir_event *event)
{
    return weir_turn_broadcast_many(turn, &channel, 1, event, NULL);
}
