/*
 * engine/channel.h - names to broadcast on, and who listens to them.
 *
 * A channel is a lock and an array of its members. Who broadcasts holds the lock while it claims a
 * place in every member's mailbox, so that all of them see one order (engine/broadcast.c); who
 * subscribes holds it for a store or two. The members are pointers to slots: no handle has to be
 * looked up, since a processor is taken off every channel before its slot can be reused.
 *
 * The other direction, which channels a processor is on, is kept with its cold part, in order of
 * their numbers, each with its place in that channel's array: so the last member can be put into
 * the place of one that leaves.
 *
 * Locks: channels.lock, then either registry.lock or the lock of one channel, never both. With the
 * lock of a channel held only a dispatcher's or a pool's is taken. Any of these before the mark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_CHANNEL_H
#define WEIR_ENGINE_CHANNEL_H

#include "base/namemap.h"
#include "sync/atomic.h"
#include "sync/mutex.h"
#include "weir/channel.h"

struct weir__posting;
struct weir__processor;

typedef struct weir__member {
    struct weir__processor *processor;
} weir__member;

typedef struct weir__channel {
    _Alignas(64) weir__mutex lock; /* held over a delivery; guards what follows */
    weir__atomic_u32 count;        /* of members; written under channels.lock too; read by all */
    weir__member *members;
    uint32_t capacity;
    bool reserved; /* for weir's own broadcasts; written before it is reachable, so the name */
    char *name;
} weir__channel;
_Static_assert(sizeof(weir__channel) == 64, "a channel is one line");

#ifdef WEIR_SIMULATED
#define WEIR__CHANNELS_FIRST_BITS 1u /* so that few channels reach the end of a segment */
#else
#define WEIR__CHANNELS_FIRST_BITS 6u
#endif
#define WEIR__CHANNELS_MAX 1000000u
#define WEIR__CHANNEL_SEGMENTS 20u /* each twice as long as the one before */
#define WEIR__CHANNEL_NUMBER_BITS 24

typedef struct weir__channels {
    weir__mutex lock; /* guards the names, and every change of who listens to what */
    weir__namemap names;
    weir__atomic_u32 count; /* of those that are open */
    uint64_t before;        /* the handle of the first, less 1; written before all of it */
    weir__channel *segments[WEIR__CHANNEL_SEGMENTS]; /* each is set once, before the count */
} weir__channels;

/* A channel that a processor is on. */
typedef struct weir__subscription {
    uint32_t channel;    /* its number, from 0 on */
    uint32_t place : 31; /* among its members */
    uint32_t wanted : 1; /* during a change */
} weir__subscription;

/* All of them, in order of their numbers. Under channels.lock. */
typedef struct weir__subscriptions {
    weir__subscription *items;
    uint32_t count;
    uint32_t capacity;
} weir__subscriptions;

static inline weir__channel *weir__channel_at(weir__channels *channels, uint32_t index)
{
    const uint32_t at = index + (1u << WEIR__CHANNELS_FIRST_BITS);
    const uint32_t bits = 31u - (uint32_t)__builtin_clz(at);
    return &channels->segments[bits - WEIR__CHANNELS_FIRST_BITS][at - (1u << bits)];
}

/* Its serial is known. */
void weir__channels_open(weir_engine *engine);
/* No thread runs any more. */
void weir__channels_close(weir_engine *engine);

/* Any thread. NULL: no channel of this engine. */
static inline weir__channel *weir__channel_find(weir__channels *channels, weir_channel handle)
{
    const uint64_t index = handle.id - channels->before - 1; /* of others: enormous */
    /* [Z1] pairs with [Z2]: the channel is complete, and so is the way to it. */
    return weir__likely(index < weir__load(&channels->count, acquire))
               ? weir__channel_at(channels, (uint32_t)index)
               : NULL;
}

static inline weir_channel weir__channel_handle(const weir__channels *channels, uint32_t index)
{
    return (weir_channel){ channels->before + 1 + index };
}

/* The number of one that was found. */
static inline uint32_t weir__channel_number(weir_channel handle)
{
    return (uint32_t)(handle.id & ((1u << WEIR__CHANNEL_NUMBER_BITS) - 1)) - 1;
}

/* Any thread: one load. */
bool weir__channel_has_subscribers(weir_engine *engine, weir_channel handle);

/*
 * Any thread, outside its mark, with no lock held. The event goes to all members of all these
 * channels, reserved ones too. A sender that is a processor (by->sender) is told of who refuses;
 * with 0 there nobody is. `delivery` may be NULL. Every copy is a post of its own to the sums.
 */
weir_status weir__channel_broadcast(const struct weir__posting *by, const weir_channel *channels,
                                    size_t count, const weir_event *event, weir_delivery *delivery);

/* Owner; the mailbox is closed, so that nothing is added any more. Takes it off every channel. With
 * no lock held. */
void weir__channels_leave(weir_engine *engine, struct weir__processor *processor);

/* Nobody uses them any more. */
void weir__subscriptions_free(weir_engine *engine, weir__subscriptions *subscriptions);

#endif /* WEIR_ENGINE_CHANNEL_H */
