/*
 * engine/evict.c - the poster plays the consumer for one event.
 *
 * The place of the evicted event becomes the place of the new one, so the count never moves and the
 * processor cannot go idle in between. A gap at the head (a poster between claim and publish) is
 * waited for with yields; should it last, the new event is dropped instead of the oldest. What the
 * engine owes the receiver (a room event) is not evicted: it goes to the tail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/evict.h"
#include "engine/ready.h"

#include "sync/thread.h"

#define TRIES_MAX 1000u

/* An owed event that stood in the way is hung in again, in the envelope `spare`. */
static void hang_in_again(weir__mailbox *mailbox, const weir__envelope_wide *owed,
                          weir__envelope *spare)
{
    weir__envelope_wide copy = *owed;
    weir__envelope_copy((weir__envelope_wide *)(void *)spare, &copy.envelope);
    weir__mailbox_publish(mailbox, spare, spare);
}

/* One try: OK, CLOSED, or FULL to try again. */
static weir__claim attempt(weir__context *context, weir__processor *processor,
                           weir__envelope *envelope, weir__envelope **spare,
                           weir__eviction *evicted)
{
    weir__mailbox *mailbox = &processor->mailbox;
    weir__envelope_wide oldest;
    weir__envelope *spent;
    const weir__pop popped = weir__mailbox_evict(
        mailbox, &weir__processor_cold_of(processor)->dropped_oldest, &oldest, &spent);
    if (spent != NULL) {
        weir__envelope_put(context, spent);
    }
    if (popped == WEIR__POP_EVENT && (oldest.envelope.flags & WEIR__ENVELOPE_OWED) != 0) {
        hang_in_again(mailbox, &oldest, *spare);
        *spare = NULL;
        return WEIR__CLAIM_FULL;
    }
    if (popped == WEIR__POP_EVENT) {
        if ((oldest.envelope.flags & WEIR__ENVELOPE_BLOCK) != 0) {
            evicted->block = oldest.envelope.payload.shared.block;
        }
        /* [Q1]: done, and attempted before. In front of the publish: a stop may see the new one
         * handled at any moment after it. */
        weir__store(&context->tally.dropped_oldest,
                    weir__load(&context->tally.dropped_oldest, relaxed) + 1, release);
        weir__mailbox_publish(mailbox, envelope, envelope);
        return WEIR__CLAIM_OK;
    }
    uint32_t one = 1;
    const weir__claim claim = weir__mailbox_claim(mailbox, &one);
    if (claim == WEIR__CLAIM_OK || claim == WEIR__CLAIM_FIRST) {
        weir__mailbox_publish(mailbox, envelope, envelope);
        if (claim == WEIR__CLAIM_FIRST) {
            weir__ready(context, processor);
        }
        return WEIR__CLAIM_OK;
    }
    return claim;
}

weir__claim weir__evict_and_publish(weir__context *context, weir__processor *processor,
                                    weir__envelope *envelope, weir__eviction *evicted)
{
    weir__envelope *spare = NULL;
    weir__claim result = WEIR__CLAIM_FULL;
    for (uint32_t tries = 0; tries < TRIES_MAX && result == WEIR__CLAIM_FULL; tries++) {
        if (spare == NULL && (spare = weir__envelope_get_wide(context)) == NULL) {
            break; /* no memory to put an owed event back: leave the mailbox alone */
        }
        const uint64_t word = weir__load(&processor->mailbox.word, acquire);
        if (weir__mailbox_count(word) == 0 && weir__mailbox_owed(word) > 0) {
            break; /* every place is promised: there is nothing to evict */
        }
        if (tries > 0) {
            weir__yield();
        }
        result = attempt(context, processor, envelope, &spare, evicted);
    }
    if (spare != NULL) {
        spare->flags = WEIR__ENVELOPE_WIDE;
        weir__envelope_put(context, spare);
    }
    return result;
}
