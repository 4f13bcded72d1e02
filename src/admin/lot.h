/*
 * admin/lot.h - a parking lot for connections that were refused: they are kept open, unread, and
 * closed later, the oldest first and few at a time.
 *
 * Who is refused and closed comes again at once, and who waits in a full queue of the system calls
 * again and again: to refuse thousands is work that never ends. One that is parked believes to be
 * connected, and what it trickles wakes nobody: all that is asked of the system is to say when it
 * has gone.
 *
 * One thread's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_LOT_H
#define WEIR_ADMIN_LOT_H

#include "admin/counts.h"
#include "sync/thread.h"

#define WEIR__LOT_STAY (10 * WEIR_S)   /* of each, at least, unless the room is wanted */
#define WEIR__LOT_TURN (250 * WEIR_MS) /* between two times that some are closed ... */
#define WEIR__LOT_AT_ONCE 16u          /* ... so many */
#define WEIR__LOT_MAX 16384u
#define WEIR__LOT_RECEIVE_BYTES 8192 /* that the system keeps of what one sends */

typedef struct weir__parked weir__parked;

typedef struct weir__lot {
    weir__admin_counts *counts;
    weir__parked *oldest, *newest;
    uint32_t count, max;
    int descriptor; /* readable: some have gone */
    weir_ns next;   /* when some are closed again */
} weir__lot;

/* How many may be parked where a process may have so many descriptors: the rest is for its work. */
uint32_t weir__lot_room(uint64_t descriptors);

/* Control. False: no descriptor is left. */
bool weir__lot_open(weir__lot *lot, uint32_t max, weir__admin_counts *counts);
/* Closes all of them. */
void weir__lot_close(weir__lot *lot);

/* False: it is full, or the system refuses; the descriptor is still the caller's. */
bool weir__lot_park(weir__lot *lot, int descriptor, weir_ns now);
/* When weir__lot_turn has something to do of itself; WEIR_FOREVER: it has not. */
weir_ns weir__lot_next(const weir__lot *lot);
/* Closes whose time is over, a few; and who has gone, if `gone`: the descriptor is readable. */
void weir__lot_turn(weir__lot *lot, weir_ns now, bool gone);
/* Closes the oldest so many: their descriptors are wanted. */
void weir__lot_release(weir__lot *lot, uint32_t count);

#endif /* WEIR_ADMIN_LOT_H */
