/*
 * connect/payload.c - an event as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/payload.h"

#include "weir/feed.h"

static bool is_plain(const weir_event *event)
{
    return event->type == &weir_text_type || event->type == &weir_bytes_type ||
           weir_event_as(event, &weir_text_type) != NULL ||
           weir_event_as(event, &weir_bytes_type) != NULL;
}

const void *weir__payload_bytes(const weir_event *event, size_t *size)
{
    const weir_named *named = weir_event_as(event, &weir_named_type);
    const weir_event inner = { .type = named != NULL ? named->type : event->type,
                               .data = named != NULL ? (const void *)(named + 1) : event->data,
                               .size = named != NULL ? named->size : event->size };
    *size = inner.size;
    return is_plain(&inner) ? inner.data : NULL;
}

bool weir__payload_read(weir__payload *out, const weir_event *event)
{
    out->data = weir__payload_bytes(event, &out->size);
    if (out->data != NULL) {
        return true;
    }
    if (event->type->print == NULL) {
        return false;
    }
    const size_t length =
        event->type->print(event->data, event->size, out->printed, sizeof(out->printed));
    out->data = out->printed;
    out->size = length < sizeof(out->printed) ? length : sizeof(out->printed) - 1;
    return true;
}
