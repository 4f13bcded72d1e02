/*
 * engine/subscribe.c - who listens to what: at once, or as an event in order with the mail.
 *
 * Every change is made under channels.lock, and each step of it that a broadcast can see under the
 * lock of that channel. What a change may need of memory it has before its first step; a removal
 * needs none.
 *
 * Against the end of the processor. Who puts one onto a channel looks it up under registry.lock,
 * finds its mailbox open and notes there that it is a subscriber, all of that with channels.lock
 * held until it is done. A processor that ends has closed its mailbox before it looks, under
 * registry.lock, whether it is one; if so, it takes itself off under channels.lock. So either the
 * look comes first, and the subscriber finds a closed mailbox; or it comes second, and what the
 * subscriber did is undone. Those that end without a turn (weir__life_end_idle) are no subscribers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "engine/behaviour.h"
#include "engine/channel.h"
#include "engine/engine.h"
#include "engine/own.h"
#include "engine/post.h"
#include "engine/stop.h"
#include "engine/turn.h"

#ifdef WEIR_SIMULATED
#define MEMBERS_FIRST 1u /* so that few members make it grow */
#define ITEMS_FIRST 1u
#else
#define MEMBERS_FIRST 8u
#define ITEMS_FIRST 8u
#endif

const weir_event_type weir_subscribed_type = {
    sizeof(weir_event_type), "weir.subscribed", 0, true, NULL, NULL
};

/* What is asked for. */
typedef struct change {
    weir_subscription what;
    const weir_channel *channels;
    size_t count;
    weir_channel_set *result; /* or NULL */
    bool make_items;          /* of the result: as many as there are, for the caller to release */
} change;

void weir__subscriptions_free(weir_engine *engine, weir__subscriptions *subscriptions)
{
    if (subscriptions != NULL) {
        weir__release(&engine->allocator, subscriptions->items,
                      subscriptions->capacity * sizeof(*subscriptions->items));
        weir__release(&engine->allocator, subscriptions, sizeof(*subscriptions));
    }
}

/* ---- one processor's side: channels.lock held ---- */

/* Where this channel stands, or would stand. */
static uint32_t place_of(const weir__subscriptions *s, uint32_t channel)
{
    uint32_t first = 0;
    uint32_t end = s->count;
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (s->items[middle].channel < channel) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

static weir__subscription *find(const weir__subscriptions *s, uint32_t channel)
{
    const uint32_t at = place_of(s, channel);
    return at < s->count && s->items[at].channel == channel ? &s->items[at] : NULL;
}

static bool reserve_items(weir_engine *engine, weir__subscriptions *s, size_t more)
{
    if (more <= s->capacity - s->count) {
        return true;
    }
    const size_t needed = s->count + more;
    const size_t doubled = s->capacity > 0 ? 2 * (size_t)s->capacity : ITEMS_FIRST;
    const size_t capacity = needed > doubled ? needed : doubled;
    weir__subscription *items =
        weir__allocate(&engine->allocator, capacity * sizeof(weir__subscription));
    if (items == NULL) {
        return false;
    }
    if (s->count > 0) {
        memcpy(items, s->items, s->count * sizeof(*items));
    }
    weir__release(&engine->allocator, s->items, s->capacity * sizeof(*items));
    s->items = items;
    s->capacity = (uint32_t)capacity;
    return true;
}

/* ---- one channel's side: channels.lock held ---- */

/* The next to join will not lack a place. */
static bool reserve_member(weir_engine *engine, weir__channel *channel)
{
    const uint32_t count = weir__load(&channel->count, relaxed);
    const uint32_t before = channel->capacity;
    if (count < before) {
        return true;
    }
    const uint32_t capacity = before > 0 ? 2 * before : MEMBERS_FIRST;
    weir__member *members = weir__allocate_raw(&engine->allocator, capacity * sizeof(*members));
    if (members == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(members, channel->members, count * sizeof(*members));
    }
    weir__member *old = channel->members;
    weir__mutex_lock(&channel->lock);
    channel->members = members;
    channel->capacity = capacity;
    weir__mutex_unlock(&channel->lock);
    weir__release(&engine->allocator, old, before * sizeof(*old));
    return true;
}

/* Returns its place. */
static uint32_t join(weir__channel *channel, weir__processor *processor)
{
    weir__mutex_lock(&channel->lock);
    const uint32_t place = weir__load(&channel->count, relaxed);
    channel->members[place].processor = processor;
    weir__store(&channel->count, place + 1, relaxed);
    weir__mutex_unlock(&channel->lock);
    return place;
}

/* The last one takes the place of the one that leaves. */
static void leave(weir_engine *engine, const weir__subscription *item)
{
    weir__channel *channel = weir__channel_at(&engine->channels, item->channel);
    weir__mutex_lock(&channel->lock);
    const uint32_t last = weir__load(&channel->count, relaxed) - 1;
    weir__processor *moved = channel->members[last].processor;
    channel->members[item->place].processor = moved;
    weir__store(&channel->count, last, relaxed);
    weir__mutex_unlock(&channel->lock);
    if (item->place != last) {
        weir__subscription *its =
            find(weir__processor_cold_of(moved)->subscriptions, item->channel);
        WEIR_ASSERT(its != NULL && its->place == last);
        its->place = item->place;
    }
}

/* ---- a change: channels.lock held ---- */

static bool adds(const change *c)
{
    return c->what != WEIR_UNSUBSCRIBE && c->count > 0;
}

static bool are_known(weir_engine *engine, const weir_channel *channels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (weir__channel_find(&engine->channels, channels[i]) == NULL) {
            return false;
        }
    }
    return true;
}

/* The processor. With *s it stays until channels.lock is released, since it must take itself off
 * first; without, it was never on a channel, or has left them all, and may be gone at once. */
static weir_status look_up(weir_engine *engine, weir_processor handle, const change *c,
                           weir__processor **out, weir__subscriptions **s)
{
    weir_status status = WEIR_OK;
    weir__mutex_lock(&engine->registry.lock);
    weir__processor *processor = weir__registry_find(&engine->registry, handle);
    const weir__processor_cold *cold =
        processor != NULL ? weir__processor_cold_of(processor) : NULL;
    const bool closed = processor != NULL &&
                        (weir__load(&processor->mailbox.word, seq_cst) & WEIR__MAILBOX_CLOSED) != 0;
    *out = processor;
    *s = cold != NULL ? cold->subscriptions : NULL;
    if (closed && *s != NULL && (*s)->count == 0) {
        *s = NULL;
    }
    if (processor == NULL) {
        status = WEIR_UNKNOWN;
    } else if (adds(c) && closed) {
        status = WEIR_STOPPING;
    } else if (adds(c) && *s == NULL) {
        weir__processor_cold *own = weir__processor_cold_make(engine, processor);
        if (own != NULL) {
            own->subscriptions = weir__allocate(&engine->allocator, sizeof(**s));
            *s = own->subscriptions;
        }
        status = *s != NULL ? WEIR_OK : WEIR_E_NOMEM;
    }
    weir__mutex_unlock(&engine->registry.lock);
    return status;
}

/* All that it may need of memory; and of those that are there, which are asked for. */
static weir_status prepare(weir_engine *engine, weir__subscriptions *s, const change *c)
{
    size_t more = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        s->items[i].wanted = 0;
    }
    for (size_t i = 0; i < c->count; i++) {
        const uint32_t number = weir__channel_number(c->channels[i]);
        weir__subscription *item = find(s, number);
        if (item != NULL) {
            item->wanted = 1;
        } else if (c->what != WEIR_UNSUBSCRIBE) {
            more++;
            if (!reserve_member(engine, weir__channel_at(&engine->channels, number))) {
                return WEIR_E_NOMEM;
            }
        }
    }
    return reserve_items(engine, s, more) ? WEIR_OK : WEIR_E_NOMEM;
}

/* Those go that are not asked for (of a set), or that are. */
static bool remove_some(weir_engine *engine, weir__subscriptions *s, const change *c)
{
    const uint32_t goes = c->what == WEIR_UNSUBSCRIBE ? 1 : 0;
    const uint32_t before = s->count;
    uint32_t kept = 0;
    if (c->what == WEIR_SUBSCRIBE) {
        return false;
    }
    for (uint32_t i = 0; i < before; i++) {
        if (s->items[i].wanted == goes) {
            leave(engine, &s->items[i]);
        } else {
            s->items[kept++] = s->items[i];
        }
    }
    s->count = kept;
    return kept < before;
}

static bool add_some(weir_engine *engine, weir__processor *processor, weir__subscriptions *s,
                     const change *c)
{
    bool added = false;
    for (size_t i = 0; c->what != WEIR_UNSUBSCRIBE && i < c->count; i++) {
        const uint32_t number = weir__channel_number(c->channels[i]);
        const uint32_t at = place_of(s, number);
        if (at < s->count && s->items[at].channel == number) {
            continue;
        }
        memmove(&s->items[at + 1], &s->items[at], (s->count - at) * sizeof(*s->items));
        const uint32_t place = join(weir__channel_at(&engine->channels, number), processor);
        s->items[at] = (weir__subscription){ .channel = number, .place = place & 0x7fffffffu };
        s->count++;
        added = true;
    }
    return added;
}

/* Room for as many as there can be after it. */
static bool make_items(weir_engine *engine, const weir__subscriptions *s, const change *c)
{
    const size_t most = (s != NULL ? s->count : 0) + (adds(c) ? c->count : 0);
    c->result->items =
        most > 0 ? weir__allocate_raw(&engine->allocator, most * sizeof(weir_channel)) : NULL;
    c->result->capacity = c->result->items != NULL ? most : 0;
    return most == 0 || c->result->items != NULL;
}

static void fill_result(const weir_engine *engine, const weir__subscriptions *s,
                        weir_channel_set *result)
{
    result->count = s != NULL ? s->count : 0;
    for (size_t i = 0; result->items != NULL && i < result->count && i < result->capacity; i++) {
        result->items[i] = weir__channel_handle(&engine->channels, s->items[i].channel);
    }
}

static weir_status carry_out(weir_engine *engine, weir_processor subscriber, const change *c)
{
    weir__processor *processor;
    weir__subscriptions *s;
    if (!are_known(engine, c->channels, c->count)) {
        return WEIR_UNKNOWN;
    }
    weir_status status = look_up(engine, subscriber, c, &processor, &s);
    if (c->make_items && (status == WEIR_OK || status == WEIR_STOPPING) &&
        !make_items(engine, s, c)) {
        return WEIR_E_NOMEM;
    }
    if (status == WEIR_OK && s != NULL) {
        status = prepare(engine, s, c);
    }
    if (status == WEIR_OK) {
        const bool removed = s != NULL && remove_some(engine, s, c);
        const bool added = s != NULL && add_some(engine, processor, s, c);
        status = removed || added ? WEIR_OK : WEIR_ALREADY;
    }
    if (c->result != NULL && status != WEIR_UNKNOWN) {
        fill_result(engine, s, c->result);
    }
    return status;
}

static bool is_sane(weir_subscription what, const weir_channel *channels, size_t count)
{
    return what >= WEIR_SUBSCRIBE && what <= WEIR_UNSUBSCRIBE && (channels != NULL || count == 0) &&
           count <= UINT32_MAX;
}

static weir_status change_at_once(weir_engine *engine, weir_processor subscriber, const change *c)
{
    if (c->result != NULL) {
        c->result->count = 0;
    }
    if (!weir__engine_usable(engine) || !is_sane(c->what, c->channels, c->count)) {
        return WEIR_E_INVALID;
    }
    weir__mutex_lock(&engine->channels.lock);
    const weir_status status = carry_out(engine, subscriber, c);
    weir__mutex_unlock(&engine->channels.lock);
    return status;
}

void weir__channels_leave(weir_engine *engine, weir__processor *processor)
{
    weir__mutex_lock(&engine->channels.lock);
    weir__subscriptions *s = weir__processor_cold_of(processor)->subscriptions;
    for (uint32_t i = 0; i < s->count; i++) {
        leave(engine, &s->items[i]);
    }
    s->count = 0;
    weir__mutex_unlock(&engine->channels.lock);
}

weir_status weir_channel_change(weir_engine *engine, weir_processor subscriber,
                                weir_subscription what, const weir_channel *channels, size_t count,
                                weir_channel_set *result)
{
    return change_at_once(engine, subscriber,
                          &(change){ what, channels, count, result, .make_items = false });
}

weir_status weir_channel_subscribe(weir_engine *engine, weir_channel channel,
                                   weir_processor subscriber)
{
    return weir_channel_change(engine, subscriber, WEIR_SUBSCRIBE, &channel, 1, NULL);
}

weir_status weir_channel_unsubscribe(weir_engine *engine, weir_channel channel,
                                     weir_processor subscriber)
{
    return weir_channel_change(engine, subscriber, WEIR_UNSUBSCRIBE, &channel, 1, NULL);
}

/* ---- as an event ---- */

typedef struct request {
    uint64_t what;
    weir_channel channels[]; /* as many as the event has room for */
} request;

/* In a turn of the subscriber's: the change, then its own handler with what holds. */
static weir_status serve(void *state, weir_turn *turn, const weir_event *event)
{
    const request *r = event->data;
    weir_engine *engine = turn->context->engine;
    weir_channel_set now = { .items = NULL };
    const change c = { (weir_subscription)r->what, r->channels,
                       (event->size - sizeof(*r)) / sizeof(r->channels[0]), &now,
                       .make_items = true };
    weir_status status = change_at_once(engine, turn->self, &c);
    if (status == WEIR_E_NOMEM) {
        status = weir_turn_fail(turn, status, "there is no memory for its subscriptions");
    } else {
        weir_event told = *event;
        told.type = &weir_subscribed_type;
        told.data = now.items != NULL ? (const void *)now.items : &now;
        told.block = NULL;
        told.size = (uint32_t)(now.count * sizeof(weir_channel));
        status = weir__behaviour_top(turn->processor)(state, turn, &told);
        status = status == WEIR_UNHANDLED ? weir__turn_unhandled(turn, &told) : status;
    }
    weir__release(&engine->allocator, now.items, now.capacity * sizeof(*now.items));
    return status;
}

static const weir__own_type request_type = {
    { sizeof(weir_event_type), "weir.subscribe", 0, true, NULL, NULL },
    serve,
    false,
};

/* What fits into an envelope. */
#define CHANNELS_INLINE ((WEIR_EVENT_INLINE_MAX - sizeof(request)) / sizeof(weir_channel))

static weir_status post_request(const weir__posting *by, weir_processor to, const void *data,
                                size_t size, weir_block *block)
{
    const weir_event event = {
        .type = &request_type.type, .data = data, .block = block, .size = (uint32_t)size
    };
    weir__post_begin(by->context);
    return weir__post_counted(by, to, &event);
}

/* One that is not even posted. */
static weir_status refuse(const weir__posting *by, weir_status status)
{
    weir__post_begin(by->context);
    weir__post_count_refusal(by, status);
    return status;
}

static void write(request *r, weir_subscription what, const weir_channel *channels, size_t count)
{
    r->what = what;
    if (count > 0) {
        memcpy(r->channels, channels, count * sizeof(*channels));
    }
}

weir_status weir_channel_request_change(weir_engine *engine, weir_processor subscriber,
                                        weir_subscription what, const weir_channel *channels,
                                        size_t count)
{
    weir__posting by;
    if (!weir__engine_usable(engine) || !is_sane(what, channels, count)) {
        return WEIR_E_INVALID;
    }
    if (!weir__post_outside(engine, &by)) {
        return weir__post_why_not(engine);
    }
    if (!are_known(engine, channels, count)) { /* now or never: what is open stays so */
        return refuse(&by, WEIR_UNKNOWN);
    }
    by.marks = WEIR__ENVELOPE_OWN;
    by.carries = false;
    const size_t size = sizeof(request) + count * sizeof(*channels);
    if (count <= CHANNELS_INLINE) {
        union {
            request r;
            unsigned char bytes[WEIR_EVENT_INLINE_MAX];
        } small;
        write(&small.r, what, channels, count);
        return post_request(&by, subscriber, &small, size, NULL);
    }
    weir_block *block;
    const weir_status status = weir_block_reserve(engine, size, &block);
    if (status != WEIR_OK) {
        return refuse(&by, status);
    }
    write(weir_block_data(block), what, channels, count);
    const weir_status posted = post_request(&by, subscriber, weir_block_data(block), size, block);
    weir_block_release(block);
    return posted;
}
