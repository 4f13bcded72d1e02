/*
 * engine/parcel.h - an event between the caller's hands and a mailbox: checked, packed (everything
 * that can fail for want of memory), then filled into its envelope or unpacked again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_PARCEL_H
#define WEIR_ENGINE_PARCEL_H

#include <string.h>

#include "base/assert.h"
#include "engine/block.h"
#include "engine/post.h"

/* A checked event, on its way into an envelope. */
typedef struct weir__parcel {
    const weir_event *event;
    weir__envelope *envelope;
    weir_block *block; /* a reference that goes along, or NULL */
    const void *data;  /* where the handler will find it, if in a block */
    uint64_t flow;
    bool wide;
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

/* The same for an event that has a block, or is too big for an envelope, or belongs to a flow. */
weir_status weir__parcel_pack_special(const weir__posting *by, const weir_event *event,
                                      weir__parcel *out);

/* Everything that can fail for want of memory. */
static inline weir_status weir__parcel_pack(const weir__posting *by, const weir_event *event,
                                            weir__parcel *out)
{
    out->event = event;
    if (weir__unlikely(event->block != NULL || event->size > WEIR_EVENT_INLINE_MAX ||
                       (event->flow | by->flow) != 0)) {
        return weir__parcel_pack_special(by, event, out);
    }
    out->block = NULL;
    out->wide = false;
    out->envelope = weir__envelope_get(by->context);
    return weir__likely(out->envelope != NULL) ? WEIR_OK : WEIR_E_NOMEM;
}

static inline void weir__parcel_fill(const weir__posting *by, const weir__parcel *parcel)
{
    weir__envelope *envelope = parcel->envelope;
    const weir_event *event = parcel->event;
    WEIR_ASSERT(envelope != NULL);
    weir__store(&envelope->pooled.link, by->sender, relaxed);
    envelope->type = event->type;
    envelope->size = event->size;
    envelope->flags = (event->flags & 0xffffu) | (parcel->wide ? WEIR__ENVELOPE_WIDE : 0u);
    if (weir__unlikely(parcel->block != NULL)) {
        envelope->flags |= WEIR__ENVELOPE_BLOCK;
        envelope->payload.shared.block = parcel->block;
        envelope->payload.shared.data = parcel->data;
    } else if (event->size == 16) {
        memcpy(envelope->payload.bytes, event->data, 16);
    } else if (event->size > 0) {
        memcpy(envelope->payload.bytes, event->data, event->size);
    }
    if (weir__unlikely(parcel->wide)) {
        weir__envelope_wide *wide = (weir__envelope_wide *)(void *)envelope;
        wide->flow = parcel->flow;
        wide->ask = 0;
        wide->tag = 0;
    }
}

/* What never reached a mailbox is given back. */
static inline void weir__parcel_unpack(const weir__posting *by, const weir__parcel *parcel)
{
    parcel->envelope->flags = parcel->wide ? WEIR__ENVELOPE_WIDE : 0;
    weir__envelope_put(by->context, parcel->envelope);
    if (weir__unlikely(parcel->block != NULL)) {
        weir__block_release(by->context, parcel->block);
    }
}

#endif /* WEIR_ENGINE_PARCEL_H */
