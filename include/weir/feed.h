/*
 * weir/feed.h - named streams: a source publishes, processors subscribe.
 *
 *     weir_feed ticks = weir_feed_open(engine, WEIR_FEED(.name = "ticks"), &error);
 *     weir_feed_subscribe(engine, ticks, book);
 *     weir_feed_publish(engine, ticks, WEIR_EVENT(tick, .cents = 1250));
 *
 * One writer by default, and that is checked: the first thread that publishes is it, until it ends;
 * a publish from a second one answers E_INVALID, unless the feed was opened with many_writers.
 * Subscribers whose dispatcher is served by one thread share one bounded queue a (feed, thread);
 * others get what is published into their mailboxes, and have a queue for what finds that full. A
 * subscriber is *slow* when its mailbox is full and its queue, too; that is dealt with by policy
 * and delays the others by no more than its bound.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_H
#define WEIR_FEED_H

#include "weir/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_slow_consumer {
    WEIR_SLOW_DEFAULT = 0, /* backoff */
    WEIR_SLOW_BACKOFF,     /* "backoff": try for slow_max; then what has waited longest for it goes,
                              counted, with a warning that names it, at most once a second. At once
                              from then on, until it has taken something */
    WEIR_SLOW_BLOCK,       /* "block": until it has room, or is gone, or the engine stops */
    WEIR_SLOW_DISCONNECT,  /* "disconnect": try for slow_max, then unsubscribe it, with a warning */
    WEIR_SLOW_DROP_OLDEST  /* "drop-oldest": what has waited longest for it goes, counted */
} weir_slow_consumer;

/* Turns what was published into what is delivered: fill *out (its payload lives until the next
 * call) and answer OK; DROPPED filters it out; anything else is reported and counted. On the
 * writer's thread; of many writers one at a time. Not to publish into the same feed. */
typedef weir_status (*weir_mapper)(void *context, const weir_event *in, weir_event *out);

typedef struct weir_feed_options {
    size_t struct_size;
    const char *name;   /* unique among feeds; required */
    uint32_t queue_max; /* of each (feed, consuming thread); a power of two; default 1,024 */
    bool many_writers;
    bool broadcast;          /* to every processor with a name, not only to subscribers */
    bool named;              /* delivered as weir_named_type: feed, sequence, then the event */
    weir_slow_consumer slow; /* default backoff */
    weir_ns slow_max;        /* default 10 ms */
    uint32_t replay_max;     /* events kept from before weir_feed_begin; default 0: no replay */
    weir_mapper mapper;
    void *mapper_context;
    /* The committed position has grown: weir_feed_committed tells it. Any thread, brief, must not
     * call weir except weir_component_wake. */
    void (*committed)(void *context);
    void *committed_context;
} weir_feed_options;

#define WEIR_FEED_OPTIONS_INIT WEIR_SIZED(weir_feed_options)
#define WEIR_FEED(...) WEIR_OPTIONS(weir_feed_options, __VA_ARGS__)

/* Payload of weir_named_type; the event's own bytes follow it, 8-byte aligned. */
typedef struct weir_named {
    weir_feed feed;
    uint64_t sequence; /* 1, 2, 3 ... of its feed */
    weir_ns time;      /* when it was published; of a replayed one: then */
    const weir_event_type *type;
    uint32_t size; /* of what follows */
    bool replayed;
} weir_named;
WEIR_API extern const weir_event_type weir_named_type;

/* For weir_processor_options.event_time: of a weir_named, its time; of others, 0. So a replayed
 * stream drives the processor's clock. */
WEIR_API weir_ns weir_named_time(void *state, const weir_event *event);

/* Control. Zero on error. At most 1,024 in an engine's life. Any: find one by its name, zero if
 * there is none. */
WEIR_API weir_feed weir_feed_open(weir_engine *engine, const weir_feed_options *options,
                                  weir_error *error);
WEIR_API weir_feed weir_feed_find(weir_engine *engine, const char *name);

/* Control. ALREADY: it was so. What is published after subscribe has returned is delivered; after
 * unsubscribe has returned nothing more is put into its mailbox, and what waited for it in the
 * feed's queue is counted as dropped. Across the two nothing comes twice. UNKNOWN: no such feed, or
 * the processor is gone. STOPPING, E_NOMEM. */
WEIR_API weir_status weir_feed_subscribe(weir_engine *engine, weir_feed feed,
                                         weir_processor subscriber);
WEIR_API weir_status weir_feed_unsubscribe(weir_engine *engine, weir_feed feed,
                                           weir_processor subscriber);

/* With replay_max: until this is called, what is published is kept (the oldest goes first when
 * there is too much, counted); this delivers it once, in order, and from then on publish delivers.
 * Without: nothing. The feed's writer. ALREADY: it has begun. FULL, STOPPING, E_NOMEM, as publish:
 * not all of it yet; call again. */
WEIR_API weir_status weir_feed_begin(weir_engine *engine, weir_feed feed);

/* The feed's writer. Waits as its slow-consumer policy says, but never on an engine thread for a
 * consumer of that same thread: then FULL, before anybody got it, and the source comes again; with
 * many writers the same on an engine thread while another one waits. OK: every subscriber has it,
 * or was counted. DROPPED: the mapper filtered it. E_INVALID: another thread is the writer.
 * STOPPING: not accepted, or given up for some who were waited for. UNKNOWN, E_TYPE, E_NOMEM; what
 * the mapper answered. */
WEIR_API WEIR_MUST_CHECK weir_status weir_feed_publish(weir_engine *engine, weir_feed feed,
                                                       const weir_event *event);

/*
 * Positions: how a source learns that what it read is done with. A mark says: all that this feed
 * published since the last mark ends at `position` in whatever the source reads. Those events carry
 * an origin, which all that their handlers send inherits: posts, batches, broadcasts, submits,
 * replies, questions and what comes back of them. Timers do not, nor does what is kept
 * (weir_event_keep): for that there is weir_turn_origin. Once all of it is handled, flushed by a
 * sink, dropped or dead, and so everything before it, the position is committed. What a stop of the
 * engine leaves when its time is over commits nothing.
 *
 * A feed that is never marked has no origins and pays nothing, so it has to be said in advance
 * (weir_feed_track).
 */

/* The feed's writer. From now on what is published carries an origin. ALREADY: it was so.
 * E_INVALID: it has many writers. E_NOMEM. */
WEIR_API weir_status weir_feed_track(weir_engine *engine, weir_feed feed);
/* The feed's writer. Positions do not fall. FULL: 65,536 marks are not committed yet; nothing was
 * marked, go on later. E_INVALID: not tracked, or a lower position. E_NOMEM. */
WEIR_API WEIR_MUST_CHECK weir_status weir_feed_mark(weir_engine *engine, weir_feed feed,
                                                    uint64_t position);
/* Any. The committed position; false: none yet. */
WEIR_API bool weir_feed_committed(weir_engine *engine, weir_feed feed, uint64_t *position);

/* An origin that is held past the end of its event's handler: what a sink has not flushed yet. */
typedef struct weir_origin weir_origin;

/* Turn. One more reference to the origin of the event at hand; NULL: it has none. */
WEIR_API weir_origin *weir_turn_origin(weir_turn *turn);
/* Any. NULL is a no-op. */
WEIR_API void weir_origin_release(weir_origin *origin);

typedef struct weir_feed_counters {
    size_t struct_size;
    uint64_t published, filtered, failed; /* by the mapper */
    uint64_t delivered, dropped;          /* copies */
    uint64_t replayed, replay_lost;
    uint64_t disconnected;
    uint64_t waits;       /* publishes that had to wait for a subscriber ... */
    uint64_t waited_ns;   /* ... and for how long in all */
    uint64_t outstanding; /* marks that are not committed */
    uint64_t committed;   /* position */
    uint32_t subscribers, queues;
    uint32_t deepest; /* of its queues: how full the fullest is, in events */
    char slowest[64]; /* the subscriber that was waited for last; "" none */
} weir_feed_counters;
#define WEIR_FEED_COUNTERS_INIT WEIR_SIZED(weir_feed_counters)

/* Any. */
WEIR_API weir_status weir_feed_counters_get(weir_engine *engine, weir_feed feed,
                                            weir_feed_counters *out);
/* Control. Calls `visit` with each feed, in the order they were opened, until it answers false. */
WEIR_API void weir_feed_visit(weir_engine *engine,
                              bool (*visit)(void *context, weir_feed feed, const char *name),
                              void *context);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_FEED_H */
