/*
 * engine/dead_letter.h - the book of events that came to nothing: counted by the thread that sees
 * it, and the last of them kept in a ring.
 *
 * One door, for whoever sees an event die; never inside the mark and never under a lock, since the
 * ring is made at the first letter, by the application's allocator. Without memory for it the
 * counts go on. Each letter is also broadcast, if anybody subscribes to that; not those about
 * letters, nor those that a handler of letters brings about: that would never end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_DEAD_LETTER_H
#define WEIR_ENGINE_DEAD_LETTER_H

#include "engine/context.h"
#include "sync/mutex.h"
#include "weir/dead_letter.h"

typedef struct weir__letters {
    weir__brief lock;
    uint64_t count;         /* under the lock: how many there were, the number of the newest */
    uint64_t kept_after;    /* the same: what came up to then was not kept */
    weir_dead_letter *ring; /* the same; NULL: there was no letter yet, or no memory */
    weir__atomic_u64
        channel; /* where they are broadcast, a handle; 0: nobody has opened it. Written
                                 under channels.lock, once */
} weir__letters;

/* `event` is sane (weir__parcel_check); `text` is never NULL. */
void weir__dead_letter(weir__context *context, weir_dead_reason reason, weir_status status,
                       weir_processor from, weir_processor to, const weir_event *event,
                       const char *text);

/* A post of it was answered so. Only some answers make a letter of it. */
void weir__letter_if_refused(weir__context *context, weir_status status, uint64_t from,
                             weir_processor to, const weir_event *event);

/* Events that were owed and that nobody took any more: they are found out where no letter can be
 * written. By the same thread: owe, inside its mark or under a lock, with the receiver's handle in
 * the event's link; flush, as soon as it has left both. */
static inline void weir__letters_owe(weir__context *context, weir__lone *lone)
{
    weir__store(&lone->pooled.next, context->refused != NULL ? &context->refused->pooled : NULL,
                relaxed);
    context->refused = lone;
}

void weir__letters_flush_some(weir__context *context);
static inline void weir__letters_flush(weir__context *context)
{
    if (weir__unlikely(context->refused != NULL)) {
        weir__letters_flush_some(context);
    }
}

/* channels.lock held: a channel of this name is opened. */
void weir__letters_open_channel(weir_engine *engine, const char *name, weir_channel channel);

/* The engine goes. */
void weir__letters_close(weir_engine *engine);

#endif /* WEIR_ENGINE_DEAD_LETTER_H */
