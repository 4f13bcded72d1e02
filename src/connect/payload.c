/*
 * connect/payload.c - an event as the bytes that a sink writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "connect/payload.h"

bool weir__payload_read(weir__payload *out, const weir_event *event)
{
    out->data = event->data;
    out->size = event->size;
    if (event->type == &weir_text_type || event->type == &weir_bytes_type ||
        weir_event_as(event, &weir_text_type) != NULL ||
        weir_event_as(event, &weir_bytes_type) != NULL) {
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
