/*
 * engine/evict.c - the poster plays the consumer for one event.
 *
 * The place of the evicted event becomes the place of the new one, so the count never moves and the
 * processor cannot go idle in between. A gap at the head (a poster between claim and publish) is
 * waited for with yields; should it last, the new event is dropped instead of the oldest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/evict.h"

#include "sync/thread.h"

#define TRIES_MAX 1000u

weir__claim weir__evict_and_publish(weir__context *context, weir__processor *processor,
                                    weir__envelope *envelope, weir__eviction *evicted)
{
    weir__mailbox *mailbox = &processor->mailbox;
    weir__envelope_wide oldest;
    weir__envelope *spent;
    for (uint32_t tries = 0; tries < TRIES_MAX; tries++) {
        if (weir__mailbox_pop(mailbox, &oldest, &spent) == WEIR__POP_EVENT) {
            if (spent != NULL) {
                weir__envelope_put(context, spent);
            }
            if ((oldest.envelope.flags & WEIR__ENVELOPE_BLOCK) != 0) {
                evicted->block = oldest.envelope.payload.shared.block;
            }
            weir__add(&weir__processor_cold_of(processor)->dropped_oldest, 1, acq_rel);
            weir__mailbox_replace(mailbox);
            weir__mailbox_publish(mailbox, envelope, envelope);
            /* [Q1]: done, and attempted before. */
            weir__store(&context->tally.dropped_oldest,
                        weir__load(&context->tally.dropped_oldest, relaxed) + 1, release);
            return WEIR__CLAIM_OK;
        }
        /* Nothing published, or the owner is taking one: then there may be room by now. */
        uint32_t one = 1;
        const weir__claim claim = weir__mailbox_claim(mailbox, &one);
        if (claim == WEIR__CLAIM_CLOSED) {
            return claim;
        }
        if (claim != WEIR__CLAIM_FULL) {
            weir__mailbox_publish(mailbox, envelope, envelope);
            if (claim == WEIR__CLAIM_FIRST) {
                weir__dispatcher_push(processor->dispatcher, processor);
            }
            return WEIR__CLAIM_OK;
        }
        weir__yield();
    }
    return WEIR__CLAIM_FULL;
}
