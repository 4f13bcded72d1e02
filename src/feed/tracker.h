/*
 * feed/tracker.h - the marks of one feed that are not committed yet, in their order.
 *
 *     writer:     weir__tracker_origin  ->  publish with it  ->  weir__tracker_mark(position)
 *     any thread: the last release of a mark's origin  ->  the committed position may grow
 *
 * All events between two marks carry one origin. A position is committed when its origin and those
 * of all marks before it are released. One that is released after the engine's stop ran out of time
 * commits nothing: what was left is not done.
 *
 * Which calls may overlap: origin and mark are the feed's writer's; committed and outstanding any
 * thread's; releases any thread's; open and close overlap with nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_FEED_TRACKER_H
#define WEIR_FEED_TRACKER_H

#include "engine/origin.h"

#ifdef WEIR_SIMULATED
#define WEIR__TRACKER_MARKS_MAX 8u /* so that a few reach it */
#else
#define WEIR__TRACKER_MARKS_MAX 65536u
#endif

typedef struct weir__tracker weir__tracker;

/* NULL: no memory. `committed` (or NULL): the position has grown; by any thread that releases, two
 * at once even, or by the writer in `mark`; outside the mark of engine/context.h, no lock held. */
weir__tracker *weir__tracker_open(weir_engine *engine, void (*committed)(void *context),
                                  void *context);
/* Nobody releases any more: the engine's threads have ended. NULL is a no-op. */
void weir__tracker_close(weir__tracker *tracker);

/* What is published next carries this. Who posts it puts weir__origin_enter and weir__origin_leave
 * around that, and every accepted event takes a reference of its own (weir__posting.carries); a
 * record in a queue does so by weir__origin_hold, and gives it back by weir__origin_release. If the
 * writer handles an event that has an origin (context->origin), that one goes along in place of
 * this. Valid until the next mark without a reference. NULL: no memory. */
weir_origin *weir__tracker_origin(weir__tracker *tracker);

/* FULL: there are WEIR__TRACKER_MARKS_MAX; nothing was marked. E_INVALID: lower than the last.
 * E_NOMEM. */
weir_status weir__tracker_mark(weir__tracker *tracker, uint64_t position);

/* False: none yet. */
bool weir__tracker_committed(weir__tracker *tracker, uint64_t *position);
/* Marks that are not committed. */
uint64_t weir__tracker_outstanding(weir__tracker *tracker);

#endif /* WEIR_FEED_TRACKER_H */
