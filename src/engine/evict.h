/*
 * engine/evict.h - drop-oldest: a full mailbox gives up its oldest event for a new one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_EVICT_H
#define WEIR_ENGINE_EVICT_H

#include "engine/parcel.h"
#include "engine/processor.h"

/* What was evicted: its block and its origin, to be released once the caller is outside its mark
 * (hooks may run then), and what a router must know of it. */
typedef struct weir__eviction {
    bool happened;  /* set by the caller to false; if not, there is nothing else */
    uint32_t state; /* of its envelope */
    uint64_t flow;
    weir_block *block;   /* or NULL */
    weir_origin *origin; /* or NULL */
} weir__eviction;

void weir__eviction_end(weir__context *context, const weir__eviction *evicted);

/* Inside the mark; the stock suffices. OK: the parcel is in the mailbox, the oldest event is out
 * and counted, or room had appeared. CLOSED: refused. FULL: the oldest could not be got at; nothing
 * was changed. */
weir__claim weir__evict_and_deliver(const weir__posting *by, weir__processor *processor,
                                    const weir__parcel *parcel, weir__eviction *evicted);

/* Inside the mark; the stock suffices, the mailbox was full: what its policy makes of that. OK,
 * DROPPED, FULL, STOPPING. */
weir_status weir__post_overflow(const weir__posting *by, weir__processor *processor,
                                const weir__parcel *parcel, weir__eviction *evicted);

#endif /* WEIR_ENGINE_EVICT_H */
