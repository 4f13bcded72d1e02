/*
 * engine/parcel.h - an event between the caller's hands and a mailbox: checked, packed (what may
 * have to be copied, and may fail for want of memory), then put into an envelope or unpacked again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_PARCEL_H
#define WEIR_ENGINE_PARCEL_H

#include <string.h>

#include "base/assert.h"
#include "engine/block.h"
#include "engine/post.h"
#include "engine/stamp.h"

/* A checked event, on its way into an envelope. */
typedef struct weir__parcel {
    const weir_event *event;
    weir_block *block; /* a reference that goes along, or NULL */
    const void *data;  /* where the handler will find it, if in a block; not NULL, too, if there is
                          no block but a reference to an origin goes along */
    uint64_t flow;
} weir__parcel;

static inline weir_status weir__parcel_check(const weir_event *event)
{
    if (weir__unlikely(event == NULL || event->type == NULL)) {
        return WEIR_E_INVALID;
    }
    const weir_event_type *type = event->type;
    if (weir__unlikely(event->size != type->size && !type->sized_by_event)) {
        return WEIR_E_TYPE;
    }
    if (weir__unlikely(event->size > 0 && event->data == NULL)) {
        return WEIR_E_INVALID;
    }
    if (weir__unlikely(event->block != NULL)) {
        return weir__block_contains(event->block, event->data, event->size) ? WEIR_OK
                                                                            : WEIR_E_INVALID;
    }
    return weir__likely(type->drop == NULL) ? WEIR_OK : WEIR_E_TYPE;
}

/* Of an event that has a block, or is too big for an envelope, or has an origin. */
weir_status weir__parcel_pack_special(const weir__posting *by, const weir_event *event,
                                      weir__parcel *out);

static inline uint64_t weir__parcel_flow(const weir__posting *by, const weir_event *event)
{
    return event->flow != 0 || weir__unlikely((event->flags & WEIR_EVENT_NO_FLOW) != 0)
               ? event->flow
               : by->flow;
}

/* What an envelope has room for, if no origin goes along. */
static inline uint32_t weir__parcel_inline_max(const weir__posting *by)
{
    return weir__likely(by->ask == 0) ? WEIR_EVENT_INLINE_MAX : WEIR__QUESTION_INLINE_MAX;
}

static inline weir_status weir__parcel_pack(const weir__posting *by, const weir_event *event,
                                            weir__parcel *out)
{
    out->event = event;
    out->block = NULL;
    out->data = NULL;
    out->flow = weir__parcel_flow(by, event);
    return weir__unlikely(event->block != NULL || event->size >= by->context->plain_below ||
                          event->size > weir__parcel_inline_max(by))
               ? weir__parcel_pack_special(by, event, out)
               : WEIR_OK;
}

/* Up to WEIR_EVENT_INLINE_MAX bytes, in two pieces that may overlap: a call would cost more. */
static WEIR__ALWAYS void weir__parcel_copy(unsigned char *to, const void *data, uint32_t size)
{
    const unsigned char *from = data;
    if (size >= 16) {
        memcpy(to, from, 16);
        memcpy(to + size - 16, from + size - 16, 16);
    } else if (size >= 8) {
        memcpy(to, from, 8);
        memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
        memcpy(to, from, 4);
        memcpy(to + size - 4, from + size - 4, 4);
    } else if (size > 0) {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
}

/* What goes along with few events. Returns its flags. Inline, or its parameters would have to be in
 * memory for all others, too. */
static WEIR__ALWAYS uint32_t weir__parcel_put_special(const weir__posting *by,
                                                      const weir__parcel *parcel,
                                                      weir__envelope *envelope)
{
    uint32_t flags = WEIR__ENVELOPE_BLOCK;
    if (weir__likely(parcel->block != NULL)) {
        envelope->payload.shared.block = parcel->block;
        envelope->payload.shared.data = parcel->data;
    } else {
        weir__parcel_copy(envelope->payload.bytes, parcel->event->data, parcel->event->size);
        flags = 0;
    }
    if (weir__unlikely(by->context->origin != NULL) && by->carries) {
        envelope->payload.shared.origin = by->context->origin;
        flags |= WEIR__ENVELOPE_ORIGIN;
    }
    return flags;
}

/* Writes everything but the state, which is returned. */
static WEIR__ALWAYS uint32_t weir__parcel_put(const weir__posting *by, const weir__parcel *parcel,
                                              weir__envelope *envelope)
{
    const weir_event *event = parcel->event;
    const uint32_t flags = (event->flags & 0xffffu) | by->marks;
    envelope->size = event->size;
    envelope->type = event->type;
    envelope->sender = by->sender;
    envelope->flow = parcel->flow;
    if (weir__unlikely(by->ask != 0)) {
        envelope->payload.question.ask = by->ask;
    }
    if (weir__unlikely(parcel->data != NULL)) {
        return flags | weir__parcel_put_special(by, parcel, envelope);
    }
    weir__parcel_copy(envelope->payload.bytes, event->data, event->size);
    return flags;
}

/* Most events: a few bytes, nothing to be shared, nothing to be dropped; by somebody who does not
 * handle an event with an origin. Checked and packed with that. */
static inline bool weir__parcel_is_plain(const weir__context *context, const weir_event *event)
{
    return event != NULL && event->type != NULL && event->size == event->type->size &&
           event->size < context->plain_below && (event->data != NULL || event->size == 0) &&
           event->block == NULL && event->type->drop == NULL;
}

static inline weir__parcel weir__parcel_of_plain(const weir__posting *by, const weir_event *event)
{
    return (weir__parcel){ .event = event, .flow = weir__parcel_flow(by, event) };
}

/* The same, into memory, field by field: a struct that is copied there is written in words first
 * and read back in vectors, and each such read waits until the words have left the store buffer. */
static inline void weir__parcel_plain(const weir__posting *by, const weir_event *event,
                                      weir__parcel *out)
{
    out->event = event;
    out->block = NULL;
    out->data = NULL;
    out->flow = weir__parcel_flow(by, event);
}

/* What never reached a mailbox is given back. Outside the mark. */
void weir__parcel_unpack_special(const weir__posting *by, const weir__parcel *parcel);
static inline void weir__parcel_unpack(const weir__posting *by, const weir__parcel *parcel)
{
    if (weir__unlikely(parcel->data != NULL)) {
        weir__parcel_unpack_special(by, parcel);
    }
}

/* Inside the mark: fills the place that was claimed by `before`. The stock suffices. */
static WEIR__ALWAYS void weir__parcel_deliver(const weir__posting *by, weir__mailbox *mailbox,
                                              weir__claim claim, uint64_t before,
                                              const weir__parcel *parcel)
{
    weir__stock *stock = &by->context->stock;
    if (claim == WEIR__CLAIM_FIRST) {
        weir__lone *lone = weir__stock_get_lone(stock);
        uint32_t state = weir__parcel_put(by, parcel, &lone->envelope);
        if (weir__unlikely(weir__stamp_due(by->context))) {
            state |= weir__stamp_lone(by->context, mailbox, lone);
        }
        weir__init(&lone->envelope.state, state | WEIR__ENVELOPE_FILLED);
        weir__mailbox_put_first(mailbox, before, lone);
        return;
    }
    const uint32_t ticket = weir__mailbox_ticket(before);
    weir__envelope *envelope = weir__mailbox_place(mailbox, before, ticket, stock);
    uint32_t state = weir__parcel_put(by, parcel, envelope);
    if (weir__unlikely(weir__stamp_due(by->context))) {
        state |= weir__stamp_placed(by->context, mailbox, envelope, state,
                                    weir__mailbox_offset(mailbox->page_class, ticket));
    }
    weir__envelope_fill(envelope, state);
    /* The next one is likely to be ours, too, and its line is with the last owner. */
    __builtin_prefetch(envelope + 1, 1);
}

#endif /* WEIR_ENGINE_PARCEL_H */
