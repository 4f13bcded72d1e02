/*
 * weir/dead_letter.h - events that came to nothing, for people to read: the last 1,000, by value.
 *
 * A letter is no event: nothing is kept alive by it, and nothing waits for its reader. FULL is no
 * dead letter (the sender has the event and its status), nor is what a policy drops, nor what a
 * stop that ran out of time has left. Counted by reason (weir/counters.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_DEAD_LETTER_H
#define WEIR_DEAD_LETTER_H

#include "weir/event.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_dead_reason {
    WEIR_DEAD_FAILED = 1, /* its handler failed */
    WEIR_DEAD_UNKNOWN,    /* posted to something that is gone: never accepted */
    WEIR_DEAD_STOPPED,    /* waited in a mailbox that was ended */
    WEIR_DEAD_REFUSED,    /* refused at a stop: never accepted */
    WEIR_DEAD_LATE        /* an answer after its timeout */
} weir_dead_reason;

/* One of them. */
typedef struct weir_dead_letter {
    size_t struct_size;
    uint64_t number;   /* counts from 1 without gaps: a gap in what you read is what you missed */
    weir_ns wall_time; /* since 1970 */
    weir_dead_reason reason;
    weir_status status; /* FAILED: what the handler answered; STOPPED: why the receiver ended; else
                           what the sender was told */
    weir_processor from, to;     /* zero: no processor */
    const weir_event_type *type; /* its name: type->name */
    uint32_t size;               /* of the payload; at most 32 bytes of it are here */
    uint8_t head[32];            /* the rest is zero */
    char text[128];              /* of weir_turn_fail; "" if there was none */
} weir_dead_letter;
#define WEIR_DEAD_LETTER_INIT WEIR_SIZED(weir_dead_letter)

/* Any. Copies letters with a number above `after` (0: all that are kept), oldest first, and returns
 * how many; to go on, name the last number. letters[0].struct_size says how large each is. 0 too if
 * something is invalid. A letter that is written meanwhile may push out one that was not read. */
WEIR_API size_t weir_dead_letter_read(weir_engine *engine, uint64_t after,
                                      weir_dead_letter *letters, size_t capacity);

/* What the channel WEIR_CHANNEL_DEAD_LETTERS (weir/channel.h) gets of each letter, with a
 * weir_dead_letter as its payload and no sender. Nobody waits for a subscriber: one that is full
 * misses it. Letters about letters are counted only; those that a handler of a letter brings about
 * are kept, and not broadcast. */
WEIR_API extern const weir_event_type weir_dead_letter_type;

#ifdef __cplusplus
}
#endif

#endif /* WEIR_DEAD_LETTER_H */
