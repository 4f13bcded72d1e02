/*
 * weir/channel.h - publish and subscribe. A channel is a name; opening it twice gives one handle.
 *
 *     weir_channel prices = weir_channel_open(engine, "prices", &error);
 *     weir_channel_subscribe(engine, prices, book);
 *     weir_turn_broadcast(turn, prices, WEIR_EVENT(price, .cents = 1250));
 *
 * Order. All subscribers of a channel see its events in one and the same order, which agrees with
 * each sender's own order, and with what that sender posts to them directly. Between two channels
 * there is no such order, but for the one of a sender that uses both.
 *
 * A broadcast gives every subscriber a copy of its own, which takes a place in its mailbox and is
 * counted like any other event; a payload over 32 bytes is stored once for all of them. A
 * subscriber of k of the channels gets k copies. A sender that subscribes gets its own events. No
 * dispatcher or thread is needed for it.
 *
 * A broadcast never waits for a subscriber: one that is full refuses, drops the newest or the
 * oldest, as its policy says, and `block` counts as `fail` here. Senders on one channel wait for
 * each other, for as long as it takes to fill in the copies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CHANNEL_H
#define WEIR_CHANNEL_H

#include "weir/turn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Control. Names have 1 to 255 bytes. Channels live as long as the engine: so many as
 * weir_engine_options.channels_max. Zero on error. A name that begins with "weir." is reserved:
 * everybody may subscribe to it, and only weir broadcasts there. */
WEIR_API weir_channel weir_channel_open(weir_engine *engine, const char *name, weir_error *error);

#define WEIR_CHANNEL_DEAD_LETTERS "weir.dead-letters"

/* ---- broadcasting ---- */

typedef struct weir_delivery {
    uint64_t delivered; /* copies that mailboxes accepted, those included that a policy dropped */
    uint64_t refused;   /* copies that were not: full, stopping, no memory for a place */
} weir_delivery;

/*
 * Any. OK although nobody listens, although the channel is unknown, and although some refused:
 * `delivery` (may be NULL) says how many. STOPPING: the engine is, and nobody got it. E_NOMEM (a
 * payload over 32 bytes), E_TYPE, E_INVALID (a reserved channel, too): nobody got it.
 */
WEIR_API WEIR_MUST_CHECK weir_status weir_engine_broadcast(weir_engine *engine,
                                                           weir_channel channel,
                                                           const weir_event *event,
                                                           weir_delivery *delivery);

/* Turn. For each subscriber that refused this processor gets one weir_not_delivered_type event, if
 * there is room for it in its mailbox; what there was no room for is counted as `untold`. */
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_broadcast(weir_turn *turn, weir_channel channel,
                                                         const weir_event *event);

/* As the two above, to several channels, one after the other. A channel that stands there twice is
 * served twice. */
WEIR_API WEIR_MUST_CHECK weir_status weir_engine_broadcast_many(weir_engine *engine,
                                                                const weir_channel *channels,
                                                                size_t count,
                                                                const weir_event *event,
                                                                weir_delivery *delivery);
WEIR_API WEIR_MUST_CHECK weir_status weir_turn_broadcast_many(weir_turn *turn,
                                                              const weir_channel *channels,
                                                              size_t count, const weir_event *event,
                                                              weir_delivery *delivery);

/*
 * As many calls in a row, for less: in runs of 64, which no other broadcast on this channel comes
 * in between, with one claim in each mailbox. Returns how many of the events were broadcast, and in
 * `status` (may be NULL) why no more; a bad one ends it. `delivery` (may be NULL) has the sums. A
 * subscriber that refuses one of a run (fail, block) refuses what follows of that run.
 */
WEIR_API size_t weir_engine_broadcast_batch(weir_engine *engine, weir_channel channel,
                                            const weir_event *const *events, size_t count,
                                            weir_delivery *delivery, weir_status *status);
WEIR_API size_t weir_turn_broadcast_batch(weir_turn *turn, weir_channel channel,
                                          const weir_event *const *events, size_t count,
                                          weir_delivery *delivery, weir_status *status);

typedef struct weir_not_delivered {
    weir_processor target;
    weir_channel channel;
    weir_status status; /* FULL, STOPPING, E_NOMEM */
} weir_not_delivered;
WEIR_API extern const weir_event_type weir_not_delivered_type;

/* ---- subscribing ---- */

/*
 * Control; for itself a handler names weir_turn_self. Each broadcast on a channel comes as a whole
 * before or after each change of its subscribers: one that begins after subscribe has returned is
 * delivered; after unsubscribe has returned nothing more is put into the mailbox, but what was put
 * there before is handled. ALREADY: it was so. UNKNOWN: no such channel, or the processor is gone.
 * STOPPING: the processor is (it can still be taken off). E_NOMEM: of subscribe only. A processor
 * that ends is taken off all channels.
 */
WEIR_API weir_status weir_channel_subscribe(weir_engine *engine, weir_channel channel,
                                            weir_processor subscriber);
WEIR_API weir_status weir_channel_unsubscribe(weir_engine *engine, weir_channel channel,
                                              weir_processor subscriber);

typedef enum weir_subscription {
    WEIR_SUBSCRIBE = 1, /* add these */
    WEIR_SUBSCRIBE_SET, /* exactly these; count 0: none at all */
    WEIR_UNSUBSCRIBE    /* without these */
} weir_subscription;

typedef struct weir_channel_set {
    weir_channel *items; /* the caller's array of `capacity`; may be NULL */
    size_t capacity;
    size_t count; /* weir fills it: how many there are, which may be more */
} weir_channel_set;

/*
 * Control. Many in one step: all or, if the status is neither OK nor ALREADY, none of them. No
 * other change of this processor's comes in between; a broadcast to several of the channels may.
 * `result` (may be NULL) gets the subscriptions that hold right after it, in the order in which the
 * channels were opened; with WEIR_SUBSCRIBE and count 0 that is all it does. Statuses as above.
 */
WEIR_API weir_status weir_channel_change(weir_engine *engine, weir_processor subscriber,
                                         weir_subscription what, const weir_channel *channels,
                                         size_t count, weir_channel_set *result);

/*
 * Any. The same as an event, in order with the subscriber's mail, with a post's statuses; UNKNOWN
 * if one of the channels is. When it comes to its turn the change is made, and the subscriber's
 * handler gets a weir_subscribed_type event: an array of weir_channel, event->size /
 * sizeof(weir_channel) of them, which are those that hold right after it. Both are one event to all
 * counters. One for which there is no memory then is dead. A subscriber that is draining by then is
 * not put onto any channel and is told what still holds.
 */
WEIR_API WEIR_MUST_CHECK weir_status weir_channel_request_change(weir_engine *engine,
                                                                 weir_processor subscriber,
                                                                 weir_subscription what,
                                                                 const weir_channel *channels,
                                                                 size_t count);
WEIR_API extern const weir_event_type weir_subscribed_type;

#ifdef __cplusplus
}
#endif

#endif /* WEIR_CHANNEL_H */
