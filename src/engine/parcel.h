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

/* Everything that can fail for want of memory. */
static inline weir_status weir__parcel_pack(const weir__posting *by, const weir_event *event,
                                            weir__parcel *out)
{
    *out = (weir__parcel){ .event = event,
                           .data = event->data,
                           .flow = event->flow != 0 ? event->flow : by->flow };
    if (weir__unlikely((event->flags & WEIR_EVENT_NO_FLOW) != 0)) {
        out->flow = event->flow;
    }
    if (weir__unlikely(event->block != NULL) &&
        weir__block_is_of(event->block, by->context->engine)) {
        weir__block_note_drop(event->block, event->type, event->data);
        out->block = weir_block_take(event->block);
    } else if (weir__unlikely(event->type->drop != NULL)) {
        return WEIR_E_TYPE; /* in a block of another engine: it cannot be shared, nor copied */
    } else if (weir__unlikely(event->size > WEIR_EVENT_INLINE_MAX)) {
        const weir_status status = weir__block_copy(by->context, event, &out->block);
        if (status != WEIR_OK) {
            return status;
        }
        out->data = weir_block_data(out->block);
    }
    out->wide = out->flow != 0;
    out->envelope =
        out->wide ? weir__envelope_get_wide(by->context) : weir__envelope_get(by->context);
    if (weir__unlikely(out->envelope == NULL)) {
        if (out->block != NULL) {
            weir__block_release(by->context, out->block);
        }
        return WEIR_E_NOMEM;
    }
    return WEIR_OK;
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
