/*
 * engine/origin.h - the token that an event may carry: who wants to know when all that came of it
 * is over.
 *
 * An envelope with WEIR__ENVELOPE_ORIGIN holds one reference, from the pack of its parcel until its
 * event has ended, however it ends. While a handler runs, context->origin is that of its event, and
 * what is posted by that context takes a reference along. An event without one meets none of this:
 * the tests that see it are those for blocks (engine/unpack.h) and for size (engine/parcel.h).
 *
 * hold, release: any thread that has a reference, or whose caller has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_ORIGIN_H
#define WEIR_ENGINE_ORIGIN_H

#include "engine/context.h"
#include "weir/feed.h"

struct weir_origin {
    weir__atomic_u64 references;
    /* The last reference has gone: on the thread that had it, outside its mark, no lock held. */
    void (*done)(weir_origin *origin);
    weir_origin *next; /* of those whose end was put aside */
};

static inline void weir__origin_open(weir_origin *origin, void (*done)(weir_origin *origin))
{
    weir__init(&origin->references, 1);
    origin->done = done;
    origin->next = NULL;
}

/* So many references more; and those that were not used back, by who has one besides. */
void weir__origin_hold(weir_origin *origin, uint64_t count);
void weir__origin_give(weir_origin *origin, uint64_t count);

/* One less. Not inside a mark, and with no lock held: `done` may run. */
void weir__origin_release(weir_origin *origin);

/* The same in two, for who is. let_go: true if that was the last; then the caller puts it aside,
 * and ends all of the list later. */
bool weir__origin_let_go(weir_origin *origin);
void weir__origin_put_aside(weir_origin *origin, weir_origin **list);
void weir__origins_end(weir_origin *list);

/* ---- at hand ---- */

/* By the context's thread: what it posts from now on carries this one (not NULL), of which the
 * caller has a reference; and that is over. So where an event is handled that has one; and where a
 * feed publishes, unless there is one at hand already. */
static inline void weir__origin_enter(weir__context *context, weir_origin *origin)
{
    context->origin = origin;
    context->plain_below = 0;
}

static inline void weir__origin_leave(weir__context *context)
{
    context->origin = NULL;
    context->plain_below = WEIR__PLAIN_BELOW;
}

#endif /* WEIR_ENGINE_ORIGIN_H */
