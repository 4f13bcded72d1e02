/*
 * feed/pump.h - records go out of a ring into mailboxes: what the lane's own files share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_PUMP_H
#define WEIR_FEED_PUMP_H

#include "feed/lane.h"

/* A pump at work: its posting, and what ends when no lock is held. */
typedef struct weir__pump {
    weir__posting by;
    weir_block *spent;
    weir_origin *over;
    weir_origin *origin; /* of the run at hand */
    uint32_t moved;
} weir__pump;

weir__pump weir__pump_begin(weir__context *context);
/* With no lock held. */
void weir__pump_end(const weir__pump *p);

/* `count` copies that were attempted come to nothing. */
void weir__pump_give_up(weir__context *context, weir__lane *lane, uint64_t count,
                        weir_status status);

/* Lane's lock held. All readers are beyond `head`. */
void weir__pump_free_records(weir__pump *p, weir__lane *lane, uint64_t head);
/* Lane's lock held. What nobody will read any more is free. */
void weir__pump_free(weir__pump *p, weir__lane *lane);

#endif /* WEIR_FEED_PUMP_H */
