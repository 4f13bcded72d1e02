/*
 * soak/mark.h - what every event of the soak carries: who sent it, to whom, the how-many-th it is
 * from that sender to that receiver, and a sum over all of it.
 *
 * A receiver keeps one *track* per sender. Promise P-2 is that the numbers come in order; P-3 that
 * none comes twice and, where the mailbox drops nothing, that none is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SOAK_MARK_H
#define WEIR_SOAK_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/weir.h>

typedef struct soak_mark {
    uint64_t sequence; /* 1, 2, ... of this sender to this receiver; 0: not numbered */
    uint64_t to;       /* handle of the receiver; 0: anyone, the block is shared */
    uint32_t identity; /* of the sender: grows, so a seat's next holder has a larger one */
    uint16_t seat;     /* of the sender: the index of its track */
    uint16_t size;     /* of the whole payload, this mark included */
    uint64_t sum;
} soak_mark;

enum { SOAK_PAYLOAD_MAX = 4000 };

extern const weir_event_type soak_small_type; /* a mark alone: travels inline */
extern const weir_event_type soak_large_type; /* a mark and bytes behind it: travels in a block */
extern const weir_event_type soak_owned_type; /* as large, and owns something: counted by drop */

/* Fills in the sum, and the bytes behind the mark if `mark->size` says that there are some. */
void soak_mark_seal(soak_mark *mark);

/* NULL: whole. Else what is wrong. */
const char *soak_mark_flaw(const weir_event *event, weir_processor self);

/* What a receiver has seen of the sender in one seat. */
typedef struct soak_track {
    uint64_t sequence;
    uint32_t identity;
} soak_track;

/* NULL: in order. `whole`: this mailbox drops nothing, so no number may be missing. */
const char *soak_track_follow(soak_track *track, const soak_mark *mark, bool whole);

/* Payloads of soak_owned_type made and dropped, adopted memory given and given back. */
void soak_owned_made(void);
void soak_adopted_made(void);
void soak_adopted_done(void *context, void *data);
int64_t soak_owned_out(void); /* both kinds; 0 when all engines are gone */

#endif /* WEIR_SOAK_MARK_H */
