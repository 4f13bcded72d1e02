/*
 * queue/envelope.h - an event on its way: one cache line, payload inside up to 32 bytes.
 *
 * Most envelopes lie in the pages of a mailbox (queue/page.h). One that lies alone has room beside
 * it for what few events carry: which question it answers, a tag, a home to go back to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_QUEUE_ENVELOPE_H
#define WEIR_QUEUE_ENVELOPE_H

#include <stddef.h>

#include "queue/pool.h"
#include "weir/event.h"

/* Of `state`. The lower half are the sender's flags. */
enum {
    WEIR__ENVELOPE_BLOCK = 1u << 16,  /* payload is {block, data} instead of bytes */
    WEIR__ENVELOPE_ALONE = 1u << 17,  /* it is a weir__lone, whose ask and tag count */
    WEIR__ENVELOPE_SIGNAL = 1u << 18, /* belongs to a weir_signal: goes back there */
    WEIR__ENVELOPE_OWN = 1u << 19,    /* of weir's own: its type says who handles it */
    WEIR__ENVELOPE_ASKS = 1u << 20,   /* a question: its number is behind its payload */
    WEIR__ENVELOPE_ASKED = 1u << 21,  /* an answer, or the timeout: it lies alone */
    WEIR__ENVELOPE_ROUTED = 1u << 22, /* came by a router: `flow` is the router's own */
    WEIR__ENVELOPE_ORIGIN = 1u << 23, /* has a reference to an origin, behind 16 bytes of payload */
    WEIR__ENVELOPE_ASKER = 1u << 24,  /* an answer: its lone has a reference to an origin, too */
    /* It carries the time of its post (engine/stamp.h): */
    WEIR__ENVELOPE_STAMPED = 1u << 25,      /* behind 24 bytes of payload */
    WEIR__ENVELOPE_STAMPED_LONE = 1u << 26, /* in its lone */
    WEIR__ENVELOPE_STAMPED_PAGE = 1u << 27, /* in its page, unless another came after it */
    WEIR__ENVELOPE_FOLDED = 1u << 28,  /* the first of several that came in few lines: never after
                                          it was taken (queue/fold.h) */
    WEIR__ENVELOPE_CARRIED = 1u << 29, /* never here: in a turn's copy, if its handler has made a
                                          carrier (engine/traceparent.h) */
    WEIR__ENVELOPE_FILLED = 1u << 30,  /* there is an event in it */
};

#define WEIR__ENVELOPE_STAMPS                                                                      \
    (WEIR__ENVELOPE_STAMPED | WEIR__ENVELOPE_STAMPED_LONE | WEIR__ENVELOPE_STAMPED_PAGE)

/* What its end has to give back. */
#define WEIR__ENVELOPE_ORIGINS (WEIR__ENVELOPE_ORIGIN | WEIR__ENVELOPE_ASKER)
#define WEIR__ENVELOPE_HOLDS                                                                       \
    (WEIR__ENVELOPE_BLOCK | WEIR__ENVELOPE_ORIGINS | WEIR__ENVELOPE_CARRIED)

/* Bytes of a question that travel without a block; and of an event with an origin. */
#define WEIR__QUESTION_INLINE_MAX 24u
#define WEIR__STAMPED_INLINE_MAX 24u
#define WEIR__ORIGIN_INLINE_MAX 16u

typedef struct weir__envelope {
    weir__atomic_u32 state; /* 0: empty. The poster fills, the owner empties */
    uint32_t size;
    const weir_event_type *type;
    uint64_t sender; /* a handle */
    uint64_t flow;
    union {
        unsigned char bytes[WEIR_EVENT_INLINE_MAX];
        uint64_t align;
        struct {
            weir_block *block; /* or, with an origin and no block, bytes */
            const void *data;
            struct weir_origin *origin; /* with ORIGIN */
        } shared;
        struct {
            unsigned char bytes[WEIR__QUESTION_INLINE_MAX]; /* or `shared` */
            uint64_t ask;
        } question;
        struct {
            unsigned char bytes[WEIR__STAMPED_INLINE_MAX]; /* or `shared` */
            uint64_t time;                                 /* with STAMPED */
        } stamped;
    } payload;
} weir__envelope;
_Static_assert(sizeof(weir__envelope) == 64, "an envelope is one cache line");

typedef struct weir__lone {
    weir__pooled pooled; /* next: of whatever list it is in */
    uint64_t ask;        /* of an answer: which of its asker's questions; in the upper half ASKER,
                            if its asker had an origin */
    uint64_t tag;
    union {
        void *home;         /* of a signal's: the signal */
        void (*then)(void); /* of an answer that was opened: who handles it; or NULL */
    };
    uint32_t ticket;            /* its place in the order of its mailbox */
    struct weir_origin *origin; /* with ASKER: that of the event whose handler asked */
    uint64_t stamp;             /* with STAMPED_LONE: when it was posted */
    weir__envelope envelope;
} weir__lone;
_Static_assert(sizeof(weir__lone) == 128, "one that lies alone is two lines");

static inline weir__lone *weir__lone_of(weir__envelope *envelope)
{
    return (weir__lone *)(void *)((char *)envelope - offsetof(weir__lone, envelope));
}

/* By the poster: what it wrote is there. `flags`: ENVELOPE_... and the sender's. */
static inline void weir__envelope_fill(weir__envelope *envelope, uint32_t flags)
{
    /* [C] pairs with [E]: the content. */
    weir__store(&envelope->state, flags | WEIR__ENVELOPE_FILLED, release);
}

#endif /* WEIR_QUEUE_ENVELOPE_H */
