/*
 * queue/fold.h - events in a row that travel in fewer lines than they are.
 *
 * An envelope is a line, and from core to core each line takes its time, whatever lies in it. Of a
 * batch most of it is the same in all: type, sender, flow. So what differs in nothing but the
 * payload is folded: the first envelope is whole and says how many there are, and the payloads of
 * the others follow its own, there and in the places of the next ones, one close to the other.
 *
 *     place 0   | FOLDED | size, count | type | sender | flow | payload 0 | payload 1 |
 *     place 1   | 0      | payload 2 | payload 3 | payload 4                          |
 *     place 2   | 0      | payload 5 | ...                                            |
 *     ...       | 0      | not touched                                                |
 *
 * One store says that all of them are there: the state of the first, which is also the first that
 * the owner comes to. It reads them where they lie (a turn that handles one after the other), or
 * unfolds them: then they are envelopes like all others. The states of the other places stay 0
 * until then.
 *
 * Not in a mailbox that evicts: there others than the owner take events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_QUEUE_FOLD_H
#define WEIR_QUEUE_FOLD_H

#include "base/assert.h"
#include "queue/envelope.h"

/* Larger ones would not save a line. */
#define WEIR__FOLD_SIZE_MAX 24u
/* Fewer are not worth it. */
#ifdef WEIR_SIMULATED
#define WEIR__FOLD_LEAST 2u /* so that few events are enough */
#else
#define WEIR__FOLD_LEAST 4u
#endif

/* Of an envelope's `size` while it is folded: | count | size 8 |. */
#define WEIR__FOLD_COUNT_SHIFT 8

/* How far one payload lies behind the other, so that each may be copied in words. */
static inline uint32_t weir__fold_stride(uint32_t size)
{
    return (size + 7) & ~7u;
}

/* How many payloads fit into the first place, behind what an envelope begins with, and into each of
 * the others, behind its state. Of events without a payload any number does. */
#define WEIR__FOLD_BEHIND_STATE 8u
#define WEIR__FOLD_COUNT_MAX UINT8_MAX

static inline uint32_t weir__fold_in_first(uint32_t stride)
{
    static const uint8_t fit[] = { UINT8_MAX, WEIR_EVENT_INLINE_MAX / 8, WEIR_EVENT_INLINE_MAX / 16,
                                   WEIR_EVENT_INLINE_MAX / 24 };
    return fit[stride / 8];
}

static inline uint32_t weir__fold_in_line(uint32_t stride)
{
    static const uint8_t fit[] = { UINT8_MAX, 56 / 8, 56 / 16, 56 / 24 };
    return fit[stride / 8];
}

/* How many there are, and how large, of the first one's `size`. */
static inline uint32_t weir__fold_count(uint32_t size)
{
    return size >> WEIR__FOLD_COUNT_SHIFT;
}

static inline uint32_t weir__fold_size(uint32_t size)
{
    return size & ((1u << WEIR__FOLD_COUNT_SHIFT) - 1);
}

/* How many places they lie in. */
static inline uint32_t weir__fold_lines(uint32_t size)
{
    const uint32_t stride = weir__fold_stride(weir__fold_size(size));
    const uint32_t first = weir__fold_in_first(stride);
    const uint32_t count = weir__fold_count(size);
    return count <= first
               ? 1
               : 1 + (count - first + weir__fold_in_line(stride) - 1) / weir__fold_in_line(stride);
}

/* Where the poster is, or the owner. */
typedef struct weir__fold {
    unsigned char *at; /* a payload's place */
    uint32_t room;     /* so many fit into this line, this one included */
    uint32_t stride;
    weir__envelope *line;
} weir__fold;

static WEIR__ALWAYS weir__fold weir__fold_begin(weir__envelope *first, uint32_t size)
{
    const uint32_t stride = weir__fold_stride(size);
    return (weir__fold){ .at = first->payload.bytes,
                         .room = weir__fold_in_first(stride),
                         .stride = stride,
                         .line = first };
}

/* The next one's. */
static WEIR__ALWAYS void weir__fold_next(weir__fold *fold)
{
    fold->at += fold->stride;
    if (--fold->room == 0) {
        fold->line++;
        fold->at = (unsigned char *)fold->line + WEIR__FOLD_BEHIND_STATE;
        fold->room = weir__fold_in_line(fold->stride);
    }
}

/* The owner, having seen FOLDED ([E]) and done with `done` of them, but not with all: from now on
 * each of the others lies in its own place. */
void weir__fold_undo(weir__envelope *first, uint32_t done);

#endif /* WEIR_QUEUE_FOLD_H */
