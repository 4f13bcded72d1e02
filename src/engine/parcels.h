/*
 * engine/parcels.h - many parcels towards one mailbox, in places that one claim has given.
 *
 * Most batches are alike: the same type, a few bytes each. Those go folded (queue/fold.h), as far
 * as the mailbox takes such.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_PARCELS_H
#define WEIR_ENGINE_PARCELS_H

#include "engine/parcel.h"

/* What is to be delivered: parcels, or plain events; or both, if they are the same. */
typedef struct weir__parcels {
    const weir__parcel *parcels;    /* NULL: there are only events */
    const weir_event *const *alike; /* NULL: they are not alike */
} weir__parcels;

/* Of a plain event, the first of some: may others be folded with it? */
static inline bool weir__event_folds(const weir_event *event)
{
    return event->size <= WEIR__FOLD_SIZE_MAX;
}

/* Of a plain event: does this one differ from it in nothing but its payload? Then it is plain,
 * too. */
static inline bool weir__event_is_like(const weir_event *event, const weir_event *other)
{
    return other != NULL && other->type == event->type && other->size == event->size &&
           other->flags == event->flags && other->flow == event->flow && other->block == NULL &&
           (other->data != NULL || other->size == 0);
}

/* Collects them, if so many parcels are alike. `events` has room. */
static inline const weir_event *const *
weir__parcels_alike(const weir__parcel *parcels, uint32_t count, const weir_event **events)
{
    if (count < WEIR__FOLD_LEAST || !weir__event_folds(parcels[0].event)) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (parcels[i].data != NULL || parcels[i].flow != parcels[0].flow ||
            !weir__event_is_like(parcels[0].event, parcels[i].event)) {
            return NULL;
        }
        events[i] = parcels[i].event;
    }
    return events;
}

/* So many of the next `most` go folded: those before the next one that is to be stamped. 0: too few
 * for that. */
static inline uint32_t weir__parcels_to_fold(const weir__context *context, uint32_t most)
{
    const uint32_t plain = context->stamp_in - 1;
    const uint32_t count = plain < most ? plain : most;
    return count >= WEIR__FOLD_LEAST ? count : 0;
}

/* Payloads of one size, behind that of the first. */
static WEIR__ALWAYS void weir__fold_payloads(weir__envelope *first, const weir_event *const *events,
                                             uint32_t count, uint32_t size)
{
    weir__fold fold = weir__fold_begin(first, size);
    for (uint32_t i = 1; i < count; i++) {
        weir__fold_next(&fold);
        weir__parcel_copy(fold.at, events[i]->data, size);
    }
}

/* They fit into the page behind `first`. */
static inline void weir__parcels_fold(const weir__posting *by, const weir__parcel *parcel,
                                      const weir_event *const *events, weir__envelope *first,
                                      uint32_t count)
{
    const uint32_t size = events[0]->size;
    const uint32_t state = weir__parcel_put(by, parcel, first);
    if (size == 8) { /* known to the compiler, each is a move */
        weir__fold_payloads(first, events, count, 8);
    } else if (size == 16) {
        weir__fold_payloads(first, events, count, 16);
    } else {
        weir__fold_payloads(first, events, count, size);
    }
    first->size = size | count << WEIR__FOLD_COUNT_SHIFT;
    by->context->stamp_in -= count;
    weir__envelope_fill(first, state | WEIR__ENVELOPE_FOLDED); /* [C]: of all of them */
}

static inline weir__parcel weir__parcels_at(const weir__posting *by, const weir__parcels *all,
                                            uint32_t at)
{
    return all->parcels != NULL ? all->parcels[at] : weir__parcel_of_plain(by, all->alike[at]);
}

/* Inside the mark: puts `count` of them into places that were claimed by `before`; the first of an
 * epoch lies alone. The stock suffices. */
static inline void weir__parcels_deliver(const weir__posting *by, weir__mailbox *mailbox,
                                         weir__claim claim, uint64_t before,
                                         const weir__parcels *all, uint32_t count)
{
    weir__stock *stock = &by->context->stock;
    const uint32_t ticket = weir__mailbox_ticket(before);
    const uint32_t length = weir__page_length(mailbox->page_class);
    const bool folds = all->alike != NULL && weir__mailbox_unfolds(mailbox);
    uint32_t at = 0;
    if (claim == WEIR__CLAIM_FIRST) {
        const weir__parcel parcel = weir__parcels_at(by, all, at++);
        weir__parcel_deliver(by, mailbox, claim, before, &parcel);
    }
    while (at < count) {
        const uint32_t next = (ticket + at) & (uint32_t)WEIR__MAILBOX_FIELD;
        weir__envelope *envelope = weir__mailbox_place(mailbox, before, next, stock);
        uint32_t offset = weir__mailbox_offset(mailbox->page_class, next);
        /* The page stays while one of its places is ours and not filled. */
        while (at < count && offset < length) {
            const uint32_t most = count - at < length - offset ? count - at : length - offset;
            const weir__parcel parcel = weir__parcels_at(by, all, at);
            uint32_t done = folds ? weir__parcels_to_fold(by->context, most) : 0;
            if (done > 0) {
                weir__parcels_fold(by, &parcel, &all->alike[at], envelope, done);
            } else {
                uint32_t state = weir__parcel_put(by, &parcel, envelope);
                if (weir__unlikely(weir__stamp_due(by->context))) {
                    state |= weir__stamp_placed(by->context, mailbox, envelope, state, offset);
                }
                weir__envelope_fill(envelope, state);
                done = 1;
            }
            at += done;
            offset += done;
            envelope += done;
        }
        /* The next one is likely to be ours, too, and its line is with the last owner. */
        __builtin_prefetch(envelope, 1);
    }
}

#endif /* WEIR_ENGINE_PARCELS_H */
