/*
 * connect/outlet.h - a source's way into its feed: what the feed's answers mean for who goes on or
 * waits, and for whom a source waits that cannot go on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_OUTLET_H
#define WEIR_CONNECT_OUTLET_H

#include "connect/lineage.h"
#include "connect/meter.h"

/* Zeroed memory but for `self` and `lineage`. The hosting thread's. */
typedef struct weir__outlet {
    weir_component *self;
    weir__lineage_in *lineage; /* what its lines say of their trace; NULL: nobody asks */
    weir_ns full_since;        /* 0: the feed has room, as far as is known */
    weir__complaint waiting, failed;
} weir__outlet;

typedef enum weir__outlet_answer {
    WEIR__OUTLET_GONE,  /* every subscriber has it, or the mapper kept it back, and that is that */
    WEIR__OUTLET_LOST,  /* the feed refused it for good: reported; count it */
    WEIR__OUTLET_WAITS, /* no room, no memory, or a stop: keep it, come again in a millisecond */
} weir__outlet_answer;

weir__outlet_answer weir__outlet_publish(weir__outlet *outlet, const weir_event_type *type,
                                         const void *data, size_t size);

#endif /* WEIR_CONNECT_OUTLET_H */
