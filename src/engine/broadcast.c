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
 * what was not used is given back in one. A run of events is put into one mailbox after the other,
 * as a whole, by one claim each.
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
#include "engine/parcels.h"
#include "engine/probe.h"
#include "engine/straight.h"
#include "engine/turn.h"

#define AHEAD 4u /* so many members are on their way into the cache */
#define RUN_MAX 64u

const weir_event_type weir_not_delivered_type = { sizeof(weir_event_type),
                                                  "weir.not-delivered",
                                                  (uint32_t)sizeof(weir_not_delivered),
                                                  false,
                                                  NULL,
                                                  NULL };

/* A broadcast under way: of one event, or of a run of them. */
typedef struct flight {
    const weir__posting *by;
    const weir__parcel *parcels;
    uint32_t count;                 /* of parcels */
    const weir_event *const *alike; /* the same, if they are; else NULL */
    uint32_t *taken;                /* of each, by one channel's members */
    bool shared; /* some have a block or an origin, of which each copy takes a reference */
    bool open;   /* as seen inside the mark, since it was last entered */
    weir_delivery sum;
    weir_block *spent;    /* evicted, for the last time: their hooks run when no lock is held ... */
    weir_origin *origins; /* ... and so do theirs */
} flight;

static void enter(flight *f)
{
    weir__context_enter(f->by->context);
    f->open = weir__post_is_open(f->by);
}

/* Inside the mark, and again afterwards. OK: claims of so many in a mailbox of this class can be
 * met. */
WEIR__SELDOM static weir_status restock(flight *f, uint32_t page_class, uint32_t count)
{
    weir__context *context = f->by->context;
    weir__context_leave(context);
    const bool filled = weir__stock_fill(&context->stock, page_class, count);
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
    const weir_processor self = { f->by->sender };
    weir__registry *registry = &context->engine->registry;
    weir__processor *sender = weir__registry_find(registry, self);
    weir_status told = f->open ? WEIR_OK : WEIR_STOPPING;
    weir__post_begin(context);
    if (told == WEIR_OK && sender != NULL &&
        !weir__stock_suffices(&context->stock, sender->mailbox.page_class)) {
        told = restock(f, sender->mailbox.page_class, 1);
        sender = weir__registry_find(registry, self); /* we were outside the mark */
    }
    if (told == WEIR_OK) {
        /* Whatever its policy: nothing is dropped for the sake of this. */
        told = sender != NULL ? weir__claim_status(weir__offer_to(&by, sender, &parcel))
                              : WEIR_UNKNOWN;
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
WEIR__SELDOM static weir_status overflow(flight *f, weir__processor *target,
                                         const weir__parcel *parcel)
{
    weir__eviction evicted = { .happened = false };
    const weir_status status = weir__post_overflow(f->by, target, parcel, &evicted);
    if (evicted.block != NULL && weir__block_let_go(evicted.block)) {
        weir__block_put_aside(evicted.block, &f->spent);
    }
    if (evicted.origin != NULL && weir__origin_let_go(evicted.origin)) {
        weir__origin_put_aside(evicted.origin, &f->origins);
    }
    return status;
}

/* Inside the mark. */
static WEIR__ALWAYS weir_status offer(flight *f, weir__processor *target,
                                      const weir__parcel *parcel)
{
    const uint32_t page_class = target->mailbox.page_class;
    if (weir__unlikely(!weir__stock_suffices(&f->by->context->stock, page_class)) && f->open) {
        const weir_status status = restock(f, page_class, 1);
        if (status != WEIR_OK) {
            return status;
        }
    }
    if (weir__unlikely(!f->open)) {
        return WEIR_STOPPING;
    }
    const weir__claim claim = weir__offer_to(f->by, target, parcel);
    if (weir__likely(claim <= WEIR__CLAIM_FIRST)) {
        WEIR__PROBE2(posts, WEIR__PROBE_ID(target), 1);
        return WEIR_OK;
    }
    return claim == WEIR__CLAIM_FULL ? overflow(f, target, parcel) : WEIR_STOPPING;
}

/* Inside the mark. All in one claim; returns how many of them, *rest is why not the others. */
static uint32_t offer_run(flight *f, weir__processor *target, weir_status *rest)
{
    weir__context *context = f->by->context;
    weir__mailbox *mailbox = &target->mailbox;
    uint32_t got = f->count;
    uint64_t before;
    *rest = f->open ? WEIR_OK : WEIR_STOPPING;
    if (f->open && !weir__stock_suffices_for(&context->stock, mailbox->page_class, got)) {
        *rest = restock(f, mailbox->page_class, got);
    }
    if (*rest != WEIR_OK) {
        return 0;
    }
    const weir__claim claim = weir__lease_claim(mailbox, &context->tenant, &got, &before);
    if (weir__unlikely(claim > WEIR__CLAIM_FIRST)) {
        *rest = weir__claim_status(claim);
        return 0;
    }
    WEIR__PROBE2(posts, WEIR__PROBE_ID(target), got);
    const weir__parcels all = { .parcels = f->parcels, .alike = f->alike };
    weir__parcels_deliver(f->by, mailbox, claim, before, &all, got);
    if (claim == WEIR__CLAIM_FIRST) {
        weir__ready(context, target);
    }
    *rest = WEIR_FULL;
    return got;
}

/* Inside the mark. */
static WEIR__ALWAYS void note(flight *f, weir_channel channel, weir__processor *target,
                              uint32_t which, weir_status status)
{
    if (weir__likely(status == WEIR_OK)) {
        f->taken[which]++;
        f->sum.delivered++;
    } else if (status == WEIR_DROPPED) {
        f->sum.delivered++; /* accepted, counted, and nothing in the mailbox */
    } else {
        refuse(f, channel, target, status);
    }
}

/* Inside the mark. What a full mailbox makes of the rest: each drops, or all are refused. */
WEIR__SELDOM static void end_run(flight *f, weir_channel channel, weir__processor *target,
                                 uint32_t got, weir_status rest)
{
    const weir_overflow policy = weir__processor_overflow(target);
    const bool drops = rest == WEIR_FULL &&
                       (policy == WEIR_OVERFLOW_DROP_NEWEST || policy == WEIR_OVERFLOW_DROP_OLDEST);
    for (uint32_t i = got; i < f->count; i++) {
        note(f, channel, target, i, drops ? offer(f, target, &f->parcels[i]) : rest);
    }
}

/* Inside the mark. By itself: what it needs of registers is not for a single event to pay. */
__attribute__((noinline)) static void give_run(flight *f, weir_channel channel,
                                               weir__processor *target)
{
    weir_status rest;
    const uint32_t got = offer_run(f, target, &rest);
    f->sum.delivered += got;
    for (uint32_t i = 0; f->shared && i < got; i++) {
        f->taken[i]++;
    }
    if (weir__unlikely(got < f->count)) {
        end_run(f, channel, target, got, rest);
    }
}

static inline void prefetch(const weir__processor *processor)
{
    __builtin_prefetch(&processor->mailbox, 1);
    __builtin_prefetch(&processor->handler, 1); /* the line of those that become ready */
}

/* channel->lock held. */
static void deliver(flight *f, weir__channel *channel, weir_channel handle)
{
    const weir__member *const members = channel->members;
    const uint32_t count = weir__load(&channel->count, relaxed);
    weir__cell_add(&f->by->context->tally.attempted, (uint64_t)count * f->count);
    enter(f);
    for (uint32_t i = 0; i < count; i++) {
        if (weir__likely(i + AHEAD < count)) {
            prefetch(members[i + AHEAD].processor);
        }
        weir__processor *target = members[i].processor;
        if (f->count == 1) {
            note(f, handle, target, 0, offer(f, target, f->parcels));
        } else {
            give_run(f, handle, target);
        }
    }
    weir__context_leave(f->by->context);
}

/* References for all members; and what was not taken, back. */
static void take_shares(flight *f, uint32_t count)
{
    weir_origin *origin = weir__posting_origin(f->by);
    for (uint32_t i = 0; i < f->count; i++) {
        f->taken[i] = 0;
        if (f->parcels[i].block != NULL) {
            weir__block_take_many(f->parcels[i].block, count);
        }
        if (origin != NULL) {
            weir__origin_hold(origin, count);
        }
    }
}

static void give_back_shares(const flight *f, uint32_t count)
{
    weir_origin *origin = weir__posting_origin(f->by);
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->parcels[i].block != NULL) {
            weir__block_give_many(f->parcels[i].block, count - f->taken[i]);
        }
        if (origin != NULL) {
            weir__origin_give(origin, count - f->taken[i]);
        }
    }
}

/* One of the channels. */
static void send(flight *f, weir_channel handle)
{
    weir__tally *tally = &f->by->context->tally;
    weir__channel *channel = weir__channel_find(&f->by->context->engine->channels, handle);
    weir__cell_add(&tally->broadcasts, f->count);
    /* The look before the lock: who has subscribed before this call is in it. */
    if (channel == NULL || weir__load(&channel->count, relaxed) == 0) {
        weir__cell_add(&tally->unheard, f->count);
        return;
    }
    weir__mutex_lock(&channel->lock);
    const uint32_t count = weir__load(&channel->count, relaxed);
    if (f->shared) {
        take_shares(f, count);
    }
    deliver(f, channel, handle);
    weir__mutex_unlock(&channel->lock);
    if (f->shared) {
        give_back_shares(f, count);
    }
    if (count == 0) {
        weir__cell_add(&tally->unheard, f->count);
    }
    if (weir__unlikely(f->spent != NULL)) {
        weir__blocks_end(f->by->context, f->spent);
        f->spent = NULL;
    }
    if (weir__unlikely(f->origins != NULL)) {
        weir__origins_end(f->origins);
        f->origins = NULL;
    }
}

/* It is over. */
static void count_sums(const flight *f)
{
    weir__tally *tally = &f->by->context->tally;
    weir__cell_add(&tally->delivered, f->sum.delivered);
    weir__cell_add(&tally->undelivered, f->sum.refused);
    if (weir__tell_begin()) {
        weir__tell_end("broadcasts %s: %llu delivered, %llu refused",
                       f->parcels[0].event->type->name, (unsigned long long)f->sum.delivered,
                       (unsigned long long)f->sum.refused);
    }
}

/* Nobody got it: one post that was refused. */
static weir_status refuse_all(const weir__posting *by, weir_status status)
{
    weir__post_begin(by->context);
    weir__post_count_refusal(by, status);
    return status;
}

/* Of one that can be, now. */
static weir_status pack(const weir__posting *by, const weir_event *event, weir__parcel *parcel)
{
    const weir_status status = weir__post_is_open(by) ? weir__parcel_check(event) : WEIR_STOPPING;
    return status == WEIR_OK ? weir__parcel_pack(by, event, parcel) : status;
}

weir_status weir__channel_broadcast(const weir__posting *by, const weir_channel *channels,
                                    size_t count, const weir_event *event, weir_delivery *delivery)
{
    weir__parcel parcel;
    uint32_t taken = 0;
    flight f = { .by = by, .parcels = &parcel, .count = 1, .taken = &taken, .open = true };
    if (delivery != NULL) {
        *delivery = (weir_delivery){ 0 };
    }
    if (!weir__engine_usable(by->context->engine)) {
        return WEIR_E_INVALID;
    }
    const weir_status status = pack(by, event, &parcel);
    if (status != WEIR_OK) {
        return refuse_all(by, status);
    }
    f.shared = parcel.data != NULL;
    for (size_t i = 0; i < count; i++) {
        send(&f, channels[i]);
    }
    weir__parcel_unpack(by, &parcel);
    count_sums(&f);
    if (delivery != NULL) { /* field by field: they were written so a moment ago */
        delivery->delivered = f.sum.delivered;
        delivery->refused = f.sum.refused;
    }
    return f.open || f.sum.delivered > 0 ? WEIR_OK : WEIR_STOPPING;
}

/* Up to RUN_MAX events; the first that is bad ends it. Returns how many were broadcast, and why no
 * more. */
static uint32_t send_run(const weir__posting *by, weir_channel channel,
                         const weir_event *const *events, uint32_t most, weir_delivery *sum,
                         weir_status *why)
{
    weir__parcel parcels[RUN_MAX];
    const weir_event *list[RUN_MAX];
    uint32_t taken[RUN_MAX];
    flight f = { .by = by, .parcels = parcels, .taken = taken, .open = true };
    *why = WEIR_OK;
    while (f.count < most && (*why = pack(by, events[f.count], &parcels[f.count])) == WEIR_OK) {
        f.shared = f.shared || parcels[f.count].data != NULL;
        taken[f.count] = 0;
        f.count++;
    }
    if (*why != WEIR_OK) {
        (void)refuse_all(by, *why);
    }
    if (f.count == 0) {
        return 0;
    }
    f.alike = weir__parcels_alike(parcels, f.count, list);
    send(&f, channel);
    for (uint32_t i = 0; i < f.count; i++) {
        weir__parcel_unpack(by, &parcels[i]);
    }
    count_sums(&f);
    sum->delivered += f.sum.delivered;
    sum->refused += f.sum.refused;
    if (!f.open && f.sum.delivered == 0) {
        *why = WEIR_STOPPING;
        return 0;
    }
    return f.count;
}

static size_t broadcast_batch(const weir__posting *by, weir_channel channel,
                              const weir_event *const *events, size_t count,
                              weir_delivery *delivery, weir_status *status)
{
    weir_delivery sum = { 0, 0 };
    size_t sent = 0;
    *status = WEIR_OK;
    while (sent < count && *status == WEIR_OK) {
        const uint32_t most = count - sent < RUN_MAX ? (uint32_t)(count - sent) : RUN_MAX;
        sent += send_run(by, channel, events + sent, most, &sum, status);
    }
    if (delivery != NULL) {
        *delivery = sum;
    }
    return sent;
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
    const weir__posting by = weir__turn_posting(turn);
    return broadcast(&by, channels, count, event, delivery);
}

weir_status weir_turn_broadcast(weir_turn *turn, weir_channel channel, const weir_event *event)
{
    return weir_turn_broadcast_many(turn, &channel, 1, event, NULL);
}

static size_t batch(const weir__posting *by, weir_channel channel, const weir_event *const *events,
                    size_t count, weir_delivery *delivery, weir_status *status)
{
    weir_status own = WEIR_OK;
    status = status != NULL ? status : &own;
    if (delivery != NULL) {
        *delivery = (weir_delivery){ 0 };
    }
    if (!weir__engine_usable(by->context->engine)) {
        *status = WEIR_E_INVALID;
        return 0;
    }
    if ((events == NULL && count > 0) || !is_allowed(by->context->engine, &channel, 1)) {
        *status = refuse_all(by, WEIR_E_INVALID);
        return 0;
    }
    return broadcast_batch(by, channel, events, count, delivery, status);
}

size_t weir_engine_broadcast_batch(weir_engine *engine, weir_channel channel,
                                   const weir_event *const *events, size_t count,
                                   weir_delivery *delivery, weir_status *status)
{
    weir__posting by;
    if (weir__post_outside(engine, &by)) {
        return batch(&by, channel, events, count, delivery, status);
    }
    if (delivery != NULL) {
        *delivery = (weir_delivery){ 0 };
    }
    if (status != NULL) {
        *status = weir__post_why_not(engine);
    }
    return 0;
}

size_t weir_turn_broadcast_batch(weir_turn *turn, weir_channel channel,
                                 const weir_event *const *events, size_t count,
                                 weir_delivery *delivery, weir_status *status)
{
    if (turn != NULL) {
        const weir__posting by = weir__turn_posting(turn);
        return batch(&by, channel, events, count, delivery, status);
    }
    if (delivery != NULL) {
        *delivery = (weir_delivery){ 0 };
    }
    if (status != NULL) {
        *status = WEIR_E_INVALID;
    }
    return 0;
}
