/*
 * engine/evict.c - the poster plays the consumer for one event.
 *
 * The place of the evicted event becomes the place of the new one, so the count never moves and the
 * processor cannot go idle in between. A gap at the head (a poster between claim and fill) is
 * waited for with yields; should it last, the new event is dropped instead of the oldest. What the
 * engine owes the receiver (a room event) lies beside, and is not evicted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/evict.h"

#include "engine/probe.h"
#include "engine/ready.h"
#include "sync/thread.h"

#define TRIES_MAX 1000u

void weir__eviction_end(weir__context *context, const weir__eviction *evicted)
{
    if (evicted->block != NULL) {
        weir__block_release(context, evicted->block);
    }
    if (evicted->origin != NULL) {
        weir__origin_release(evicted->origin);
    }
}

/* One try: OK, CLOSED, or FULL to try again. */
static weir__claim attempt(const weir__posting *by, weir__processor *processor,
                           const weir__parcel *parcel, weir__eviction *evicted)
{
    weir__context *context = by->context;
    weir__mailbox *mailbox = &processor->mailbox;
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    weir__lone oldest;
    weir__lone *spent;
    uint64_t before;
    const weir__pop popped = weir__mailbox_evict(mailbox, &cold->evictions, &cold->dropped_oldest,
                                                 &context->stock, &before, &oldest, &spent);
    if (spent != NULL) {
        weir__lone_put(context, spent);
    }
    if (popped == WEIR__POP_EVENT) {
        WEIR__PROBE2(drop, (uint64_t)weir__load(&processor->id, relaxed), WEIR__PROBE_DROP_OLDEST);
        evicted->happened = true;
        evicted->state = weir__load(&oldest.envelope.state, relaxed);
        evicted->flow = oldest.envelope.flow;
        evicted->block = (evicted->state & WEIR__ENVELOPE_BLOCK) != 0
                             ? oldest.envelope.payload.shared.block
                             : NULL;
        evicted->origin = (evicted->state & WEIR__ENVELOPE_ORIGIN) != 0
                              ? oldest.envelope.payload.shared.origin
                              : NULL;
        /* [Q1]: done, and attempted before. In front of the fill: a stop may see the new one
         * handled at any moment after it. */
        weir__store(&context->tally.dropped_oldest,
                    weir__load(&context->tally.dropped_oldest, relaxed) + 1, release);
        weir__parcel_deliver(by, mailbox, WEIR__CLAIM_OK, before, parcel);
        return WEIR__CLAIM_OK;
    }
    uint32_t one = 1;
    const weir__claim claim = weir__mailbox_claim(mailbox, &one, &before);
    if (claim <= WEIR__CLAIM_FIRST) {
        weir__parcel_deliver(by, mailbox, claim, before, parcel);
        if (claim == WEIR__CLAIM_FIRST) {
            weir__ready(context, processor);
        }
        return WEIR__CLAIM_OK;
    }
    return claim;
}

weir__claim weir__evict_and_deliver(const weir__posting *by, weir__processor *processor,
                                    const weir__parcel *parcel, weir__eviction *evicted)
{
    weir__claim result = WEIR__CLAIM_FULL;
    for (uint32_t tries = 0; tries < TRIES_MAX && result == WEIR__CLAIM_FULL; tries++) {
        const uint64_t word = weir__load(&processor->mailbox.word, acquire);
        if (weir__mailbox_count(word) == 0 && weir__mailbox_owed(word) > 0) {
            break; /* every place is promised: there is nothing to evict */
        }
        if (tries > 0) {
            weir__yield();
        }
        result = attempt(by, processor, parcel, evicted);
    }
    return result;
}
