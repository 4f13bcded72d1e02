/*
 * engine/kept.h - the ready processors that a thread keeps for itself.
 *
 * What a handler makes ready on the dispatcher that its thread is serving stays on that thread: it
 * is warm there, no lock is needed to fetch it, and nobody has to be woken for it. One list per
 * thread and dispatcher, first in, first out:
 *
 *     keep (owner)  ->  list  ->  next (owner)
 *                        |-->  steal half (a thread of the same dispatcher that has run dry)
 *                        '-->  all of it, to the dispatcher's queue (the monitor, when the owner is
 *                              held up in a handler)
 *
 * The owner does not park, back off or leave with something in it; for a poster that is midway it
 * waits some microseconds at most. So what is kept is run by its owner after the turn at hand; that
 * somebody else comes for it is a matter of sharing the work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_KEPT_H
#define WEIR_ENGINE_KEPT_H

#include "engine/processor.h"
#include "sync/bias.h"

typedef struct weir__kept {
    weir__bias bias;         /* guards what follows; its owner is the thread */
    weir__atomic_u32 length; /* readable by all */
    weir__processor *head, *tail;
} weir__kept;

/* A part of a list, taken out of it. */
typedef struct weir__chain {
    weir__processor *first;
    weir__processor *last;
    uint32_t count;
} weir__chain;

/* How many are kept. Exact for the owner, unless somebody is raiding. */
static inline uint32_t weir__kept_length(const weir__kept *list)
{
    return weir__load((weir__atomic_u32 *)(uintptr_t)&list->length, relaxed);
}

/* Owner. Returns how many there are now; 0: somebody is raiding, put it elsewhere. */
static inline uint32_t weir__kept_append(weir__kept *list, weir__processor *first,
                                         weir__processor *newest, uint32_t count)
{
    if (weir__unlikely(!weir__bias_enter(&list->bias))) {
        return 0;
    }
    const uint32_t length = weir__load(&list->length, relaxed) + count;
    newest->ready_next = NULL;
    if (list->head != NULL) {
        list->tail->ready_next = first;
    } else {
        list->head = first;
    }
    list->tail = newest;
    weir__store(&list->length, length, relaxed);
    weir__bias_leave(&list->bias);
    return length;
}

/* Owner. The oldest; NULL: there is none, or somebody is raiding (then the length says so). */
static inline weir__processor *weir__kept_next(weir__kept *list)
{
    const uint32_t length = weir__load(&list->length, relaxed);
    if (length == 0 || weir__unlikely(!weir__bias_enter(&list->bias))) {
        return NULL;
    }
    weir__processor *first = list->head;
    if (weir__likely(first != NULL)) {
        list->head = first->ready_next;
        weir__store(&list->length, weir__load(&list->length, relaxed) - 1, relaxed);
    }
    weir__bias_leave(&list->bias);
    return first;
}

/* Anybody else. Takes the older half, rounded up; `all`: everything. count is 0 if there was
 * nothing to be had. */
weir__chain weir__kept_raid(weir__kept *list, bool all);
/* Anybody. Takes those that were moved away from the list's dispatcher, in their order, linked by
 * ready_next. False: the owner is inside, or another raider. */
bool weir__kept_raid_moved(weir__kept *list, const weir__dispatcher *dispatcher,
                           weir__processor **moved);

#endif /* WEIR_ENGINE_KEPT_H */
