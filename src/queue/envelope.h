/*
 * queue/envelope.h - an event on its way: one cache line, payload inside up to 32 bytes.
 *
 * What few events carry (a flow, a tag, the number of a question) needs the wide form, two lines.
 * The link word of a taken envelope is the sender.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_QUEUE_ENVELOPE_H
#define WEIR_QUEUE_ENVELOPE_H

#include "queue/pool.h"
#include "weir/event.h"

enum {
    WEIR__ENVELOPE_BLOCK = 1u << 16,  /* payload is {block, data} instead of bytes */
    WEIR__ENVELOPE_WIDE = 1u << 17,   /* it is a weir__envelope_wide, from the other pool */
    WEIR__ENVELOPE_SIGNAL = 1u << 18, /* belongs to a weir_signal: goes back there */
    WEIR__ENVELOPE_OWED = 1u << 19,   /* promised to its receiver: never evicted */
};

typedef struct weir__envelope {
    weir__pooled pooled; /* next: the mailbox's chain; link: the sender's handle */
    const weir_event_type *type;
    uint32_t size;
    uint32_t flags; /* the sender's in the lower half, WEIR__ENVELOPE_... in the upper */
    union {
        unsigned char bytes[WEIR_EVENT_INLINE_MAX];
        uint64_t align;
        struct {
            weir_block *block;
            const void *data;
        } shared;
    } payload;
} weir__envelope;
_Static_assert(sizeof(weir__envelope) == 64, "an envelope is one cache line");

typedef struct weir__envelope_wide {
    weir__envelope envelope;
    uint64_t flow;
    uint64_t ask;
    uint64_t tag;
    void *home; /* of a signal's envelope: the signal */
    uint64_t spare[4];
} weir__envelope_wide;
_Static_assert(sizeof(weir__envelope_wide) == 128, "a wide envelope is two lines");

/* Copies what a handler needs. Not `next`: a poster may be writing it at this moment. */
static inline void weir__envelope_copy(weir__envelope_wide *out, weir__envelope *event)
{
    weir__store(&out->envelope.pooled.next, NULL, relaxed);
    weir__store(&out->envelope.pooled.link, weir__load(&event->pooled.link, relaxed), relaxed);
    out->envelope.type = event->type;
    out->envelope.size = event->size;
    out->envelope.flags = event->flags;
    out->envelope.payload = event->payload;
    if ((event->flags & WEIR__ENVELOPE_WIDE) != 0) {
        const weir__envelope_wide *wide = (const weir__envelope_wide *)(const void *)event;
        out->flow = wide->flow;
        out->ask = wide->ask;
        out->tag = wide->tag;
        out->home = wide->home;
    }
}

#endif /* WEIR_QUEUE_ENVELOPE_H */
