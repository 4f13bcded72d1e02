/*
 * feed/feed.h - what feeds are made of.
 *
 *     publish ─► mapper ─► sequence ─► every lane ─► mailboxes of its subscribers
 *                                      (a ring)      (the pump)
 *
 * A *lane* is a ring, and those who read from it, each at a place of its own: a subscriber whose
 * mailbox is full stays behind, the others go on. The ring is full when the last of them is a
 * whole ring behind. There are two kinds:
 *
 *     of a thread       for all subscribers whose dispatcher that thread alone serves; pumped
 *                       there, at the end of a turn of one of them, which publish brings about
 *     of a subscriber   for one whose dispatcher several threads serve: publish puts events into
 *                       its mailbox, and into the ring only what finds that full; pumped when its
 *                       mailbox has room again, by whoever made it
 *
 * Whoever has the lane's lock may pump it, on any thread: where its readers stand is in the lane.
 * So a publisher that finds a ring full pumps first, and what is full then is full because of a
 * mailbox, whose owner is *slow*.
 *
 * Locks, in the order in which they may be taken: the feeds', a feed's, then registry.lock or a
 * lane's. None of them is held while code of the application runs. Lanes live as long as their
 * engine.
 *
 * To the engine's sums every copy is a post of its own: attempted by the publisher before it goes
 * into a ring, done when it is handled or given up. So a stop waits for what is in rings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_FEED_H
#define WEIR_FEED_FEED_H

#include "engine/fed.h"
#include "engine/parcel.h"
#include "queue/spsc.h"
#include "weir/feed.h"

#define WEIR__FEEDS_MAX 1024u
#define WEIR__FEED_QUEUE_USUAL 1024u
#define WEIR__FEED_REPLAY_MAX 1000000u
#define WEIR__FEED_SLOW_USUAL (10 * WEIR_MS)
#define WEIR__FEED_BUCKETS 64u /* of readers who are listed, by the number of their slot */

struct weir__tracker;

/* An event in a ring: one line. */
#define WEIR__RECORD_BLOCK (1u << 16) /* of flags, beside the event's own */
typedef struct weir__record {
    const weir_event_type *type;
    uint64_t flow;
    weir_origin *origin; /* a reference, or NULL */
    uint32_t size;
    uint32_t flags;
    union {
        unsigned char bytes[WEIR_EVENT_INLINE_MAX];
        uint64_t align;
        struct {
            weir_block *block; /* a reference */
            const void *data;
        } shared;
    } payload;
} weir__record;
_Static_assert(sizeof(weir__record) == 64, "a record is one line");

/* One that reads a lane. Under the lane's lock, if nothing else is said. */
typedef struct weir__reader {
    struct weir__lane *lane;   /* set once: who has left leaves its record to the next */
    weir_processor subscriber; /* written under the feed's lock too, so `subscribed` */
    uint64_t next;             /* position of what it gets next */
    bool full;                 /* its mailbox was, at the last look */
    bool gone;                 /* it has ended: to be taken off */
    bool late;                 /* it was waited for in vain, and has taken nothing since */
    bool subscribed;           /* not only there because of a broadcast */
    weir__atomic_u32 listed;   /* at the end of a turn of the subscriber's the lane is pumped: it is
                                  in the list of those ... */
    struct weir__reader *next_listed; /* ... by this */
} weir__reader;

typedef struct weir__lane {
    weir__spsc ring; /* written under the feed's lock; no places: nothing has met a full mailbox */
    _Alignas(64) weir__mutex lock; /* guards what follows */
    weir__reader **readers; /* the first `count` of `made` read; written under the feed's lock too,
                               so the next three */
    weir__atomic_u32 count;
    uint32_t made, capacity;
    weir__atomic_u64 looked; /* the pump has seen everything below */
    weir__cell delivered, dropped;

    struct weir__feed *feed; /* set once, so the next */
    weir_thread thread;      /* whose lane it is; 0: of a subscriber */

    /* Under the feed's lock. */
    struct weir__lane *next_slow; /* of a publish under way ... */
    uint32_t owed;                /* ... copies of its event that are still to come here */
    bool slow;
} weir__lane;

/* What was published before weir_feed_begin. */
typedef struct weir__kept_event {
    weir_event event; /* kept */
    uint64_t sequence;
    weir_ns time;
} weir__kept_event;

typedef struct weir__feed {
    weir_engine *engine;
    uint64_t id;
    char *name;
    weir_feed_options options;                    /* checked, defaults filled in */
    WEIR__ATOMIC(weir__context *) writer;         /* NULL: nobody has published yet */
    WEIR__ATOMIC(struct weir__tracker *) tracker; /* of its marks; set once, by the writer */
    weir__mutex map_lock; /* many writers: held from the mapper's call until its event is packed */

    _Alignas(64) weir__mutex lock; /* guards what follows; held while an event goes into lanes */
    weir__lane **lanes; /* the first lane_count have readers, those up to lane_made have none */
    uint32_t lane_count, lane_made, lane_capacity;
    uint32_t readers;       /* in all lanes */
    uint64_t sequence;      /* of the last one */
    uint64_t placed;        /* engine->placed, when its lanes were last looked at */
    uint64_t named;         /* registry.named, when it last looked whom to broadcast to */
    weir__atomic_u32 gone;  /* readers that pumps have found ended; written by them too */
    bool unsettled;         /* some reader is not in the lane where it should be */
    bool begun;             /* what is published is delivered, not kept */
    bool busy;              /* a publisher waits, and has the feed, without its lock */
    weir__kept_event *kept; /* a ring of replay_max; or NULL */
    uint32_t kept_first, kept_count;
    weir_feed_counters sums; /* delivered and dropped: of what is in no lane's */
    const char *warning;     /* what is to be said of `slowest` when no lock is held; or NULL */
    weir__log_gate slow_gate, failed_gate;
} weir__feed;

typedef struct weir__feeds {
    weir__mutex lock; /* held while one is opened */
    weir__atomic_u32 count;
    WEIR__ATOMIC(weir__feed *) all[WEIR__FEEDS_MAX];
    WEIR__ATOMIC(weir__reader *)
    listed[WEIR__FEED_BUCKETS]; /* at the end of a turn of theirs something is pumped */
} weir__feeds;

/* A handle is | engine's serial 48 | number + 1, 16 |. */
#define WEIR__FEED_NUMBER_BITS 16
#define WEIR__FEED_NUMBER_MASK ((1u << WEIR__FEED_NUMBER_BITS) - 1)

/* Any thread. NULL: no such feed. It lives as long as its engine. */
static inline weir__feed *weir__feed_find(weir_engine *engine, weir_feed handle)
{
    /* [FD5] pairs with [FD6]: the table is zeroed. */
    weir__feeds *feeds = weir__load(&engine->feeds, acquire);
    const uint32_t place = (uint32_t)(handle.id & WEIR__FEED_NUMBER_MASK);
    /* [FD7] pairs with [FD8]: the feed is complete. */
    if (weir__unlikely(feeds == NULL || place == 0 || place > weir__load(&feeds->count, acquire))) {
        return NULL;
    }
    weir__feed *feed = weir__load(&feeds->all[place - 1], relaxed);
    return weir__likely(feed->id == handle.id) ? feed : NULL;
}

/* Bounds and defaults. */
weir_status weir__options_feed(const weir_feed_options *in, weir_feed_options *out,
                               weir_error *error);

/* The calling thread is the feed's writer, from the first time on. False: another one is. */
bool weir__feed_is_writer(weir__feed *feed, weir__context *context);
/* Control. Whoever publishes next is its writer: for a component that gets another thread. */
void weir__feed_free_writer(weir__feed *feed);

#endif /* WEIR_FEED_FEED_H */
