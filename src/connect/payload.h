/*
 * connect/payload.h - an event as bytes: what a processor looks into, what a sink writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_PAYLOAD_H
#define WEIR_CONNECT_PAYLOAD_H

#include "weir/event.h"

enum { WEIR__PAYLOAD_PRINT_MAX = 1024 };

typedef struct weir__payload {
    const char *data;
    size_t size;
    char printed[WEIR__PAYLOAD_PRINT_MAX];
} weir__payload;

/* Of text and bytes, also as a feed has wrapped them: where they are, and how many. NULL: of
 * another type. */
const void *weir__payload_bytes(const weir_event *event, size_t *size);

/* Text and bytes as they are; of another type what its `print` makes of it, cut at PRINT_MAX.
 * False: it has none, so it is not for a sink. */
bool weir__payload_read(weir__payload *out, const weir_event *event);

#endif /* WEIR_CONNECT_PAYLOAD_H */
