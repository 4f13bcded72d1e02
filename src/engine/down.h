/*
 * engine/down.h - who is told that a processor has ended (weir_turn_watch).
 *
 * A watch is a record on three lists, all under registry.lock: the target's watchers, the watcher's
 * watches, and a table by both handles, so that none of them is ever walked to find one. Place,
 * envelope and payload of the event are taken when it is asked for. It goes into the watcher's
 * mailbox in the same step in which the target's handle becomes stale, as far as anybody can tell
 * who needs the lock; so a watch is undone, or its event is in the mailbox: nothing is in between.
 *
 * All watchers of one target share one block: they are told the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_DOWN_H
#define WEIR_ENGINE_DOWN_H

#include "queue/envelope.h"
#include "weir/supervise.h"

struct weir__context;
struct weir__processor_cold;

/* Under registry.lock once it is on its lists. */
typedef struct weir__watch {
    struct weir__watch *watcher_next, *watcher_previous; /* of the target's watchers */
    struct weir__watch *watch_next, *watch_previous;     /* of the watcher's watches */
    struct weir__watch *chain; /* of its bucket; then of those that are to be freed */
    weir__lone *lone;          /* the event, with a reference to the block; NULL: it was sent */
    weir_processor watcher, target;
} weir__watch;

/* Zeroed memory is an empty one. */
typedef struct weir__watches {
    weir__watch **buckets; /* a power of two of them; grows, and stays until the engine goes */
    uint32_t bucket_count, count;
} weir__watches;

/* registry.lock held, its handle is stale. Tells its watchers, and takes its own watches off the
 * lists of others. What it returns is for weir__down_free. */
weir__watch *weir__down_end(struct weir__context *context, struct weir__processor_cold *cold,
                            weir_status reason);
/* Not with the lock held. */
void weir__down_free(struct weir__context *context, weir__watch *list);

/* The engine goes, and nobody else is there. */
void weir__downs_close(weir_engine *engine);

#endif /* WEIR_ENGINE_DOWN_H */
