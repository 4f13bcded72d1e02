/*
 * queue/fold.c - from a few full lines to an envelope an event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "queue/fold.h"

#include <string.h>

/* From the last to the first: place n holds payloads of events from n on only (two or more fit
 * into each place but the first), so nothing is written over that is still to be read. */
static WEIR__ALWAYS void undo(weir__envelope *first, uint32_t done, uint32_t state,
                              const uint32_t stride)
{
    const uint32_t count = weir__fold_count(first->size);
    const uint32_t size = weir__fold_size(first->size);
    const uint32_t in_first = weir__fold_in_first(stride);
    const uint32_t in_line = weir__fold_in_line(stride);
    const weir_event_type *type = first->type;
    const uint64_t sender = first->sender;
    const uint64_t flow = first->flow;
    for (uint32_t n = count - 1; n > 0 && n >= done; n--) {
        uint64_t payload[WEIR__FOLD_SIZE_MAX / 8];
        const unsigned char *from =
            n < in_first
                ? first->payload.bytes + (size_t)n * stride
                : (const unsigned char *)(first + 1 + (n - in_first) / in_line) +
                      WEIR__FOLD_BEHIND_STATE + (size_t)((n - in_first) % in_line) * stride;
        weir__envelope *to = &first[n];
        memcpy(payload, from, stride);
        memcpy(to->payload.bytes, payload, stride);
        to->size = size;
        to->type = type;
        to->sender = sender;
        to->flow = flow;
        weir__store(&to->state, state, relaxed);
    }
}

void weir__fold_undo(weir__envelope *first, uint32_t done)
{
    const uint32_t state = weir__load(&first->state, relaxed) & ~(uint32_t)WEIR__ENVELOPE_FOLDED;
    WEIR_ASSERT_SLOW(weir__fold_size(first->size) <= WEIR__FOLD_SIZE_MAX);
    WEIR_ASSERT_SLOW(done < weir__fold_count(first->size));
    switch (weir__fold_stride(weir__fold_size(first->size))) { /* known, each is a few stores */
    case 0:
        undo(first, done, state, 0);
        break;
    case 8:
        undo(first, done, state, 8);
        break;
    case 16:
        undo(first, done, state, 16);
        break;
    default:
        undo(first, done, state, 24);
        break;
    }
    first->size = weir__fold_size(first->size);
    weir__store(&first->state, done == 0 ? state : 0, relaxed);
}
