/*
 * queue/mailbox.c - what of the mailbox is not on the hot path: idle, owed places, eviction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "queue/mailbox.h"

#include "sync/thread.h"

void weir__mailbox_open(weir__mailbox *mailbox, uint32_t limit, uint32_t batch, bool evicting)
{
    WEIR_ASSERT(limit >= 1 && limit <= WEIR__MAILBOX_MAX);
    uint32_t every = limit / 128;
    every = every < batch ? every : batch;
    mailbox->limit = limit;
    mailbox->credit_every = (uint16_t)(evicting || every == 0 ? 1 : every);
    mailbox->evicting = evicting;
    weir__store(&mailbox->head, 0, relaxed);
    weir__store(&mailbox->tail, NULL, relaxed);
    weir__store(&mailbox->word, 0, release);
}

/* The stub goes, if nobody has hung an event behind it. The head is cleared first: a poster that
 * then finds tail NULL writes the head after us, never before. */
static bool give_stub_back(weir__mailbox *mailbox, weir__envelope *stub)
{
    weir__envelope *expected = stub;
    weir__store(&mailbox->head, 0, relaxed);
    /* [H] pairs with [B]: our clearing of the head is before that poster's write. */
    if (weir__cas(&mailbox->tail, &expected, NULL, acq_rel, relaxed)) {
        return true;
    }
    weir__store(&mailbox->head, (uintptr_t)stub, relaxed);
    return false;
}

bool weir__mailbox_retire(weir__mailbox *mailbox, weir__cursor *cursor, weir__envelope **spent)
{
    bool gone = false;
    *spent = NULL;
    if (mailbox->evicting) {
        /* Ends: holders only copy one envelope. */
        while (!weir__trylock_take(&mailbox->head_lock)) {
            weir__yield();
        }
        *cursor = weir__mailbox_cursor(mailbox);
    }
    if (cursor->head != 0 && (cursor->head & WEIR__MAILBOX_FRESH) == 0) {
        weir__envelope *stub = (weir__envelope *)cursor->head;
        gone = give_stub_back(mailbox, stub);
        if (gone) {
            *spent = stub;
            cursor->head = 0;
        }
    }
    if (mailbox->evicting) {
        weir__trylock_release(&mailbox->head_lock);
    }
    return gone;
}

weir__claim weir__mailbox_reserve(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    do {
        if ((word & WEIR__MAILBOX_CLOSED) != 0) {
            return WEIR__CLAIM_CLOSED;
        }
        if (weir__mailbox_count(word) + weir__mailbox_owed(word) >= mailbox->limit) {
            return WEIR__CLAIM_FULL;
        }
    } while (!weir__cas(&mailbox->word, &word, word + WEIR__MAILBOX_OWED_ONE, acq_rel, relaxed));
    return WEIR__CLAIM_OK;
}

weir__claim weir__mailbox_claim_owed(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    uint64_t next;
    do {
        WEIR_ASSERT(weir__mailbox_owed(word) > 0);
        if ((word & WEIR__MAILBOX_CLOSED) != 0) {
            return WEIR__CLAIM_CLOSED;
        }
        next = (word - WEIR__MAILBOX_OWED_ONE + WEIR__MAILBOX_ACCEPT_ONE) | WEIR__MAILBOX_READY;
    } while (!weir__cas(&mailbox->word, &word, next, acq_rel, relaxed));
    return (word & WEIR__MAILBOX_READY) != 0 ? WEIR__CLAIM_OK : WEIR__CLAIM_FIRST;
}

void weir__mailbox_unreserve(weir__mailbox *mailbox)
{
    const uint64_t word = weir__sub(&mailbox->word, WEIR__MAILBOX_OWED_ONE, acq_rel);
    WEIR_ASSERT(weir__mailbox_owed(word) > 0);
}

/* Head lock held. */
static weir__pop pop(weir__mailbox *mailbox, weir__envelope_wide *out, weir__envelope **spent)
{
    weir__cursor cursor = weir__mailbox_cursor(mailbox);
    weir__envelope *event = weir__mailbox_take(mailbox, &cursor, spent);
    if (event == NULL) {
        return WEIR__POP_NONE;
    }
    weir__envelope_copy(out, event);
    weir__mailbox_keep(mailbox, cursor);
    return WEIR__POP_EVENT;
}

weir__pop weir__mailbox_pop(weir__mailbox *mailbox, weir__envelope_wide *out,
                            weir__envelope **spent)
{
    WEIR_ASSERT(mailbox->evicting);
    *spent = NULL;
    if (!weir__trylock_take(&mailbox->head_lock)) {
        return WEIR__POP_BUSY;
    }
    const weir__pop result = pop(mailbox, out, spent);
    weir__trylock_release(&mailbox->head_lock);
    return result;
}

weir__pop weir__mailbox_evict(weir__mailbox *mailbox, weir__atomic_u64 *evicted,
                              weir__envelope_wide *out, weir__envelope **spent)
{
    WEIR_ASSERT(mailbox->evicting);
    *spent = NULL;
    if (!weir__trylock_take(&mailbox->head_lock)) {
        return WEIR__POP_BUSY;
    }
    const uint64_t word = weir__load(&mailbox->word, acquire);
    const bool full = weir__mailbox_count(word) + weir__mailbox_owed(word) >= mailbox->limit;
    weir__pop result = WEIR__POP_NONE;
    if (full && (word & WEIR__MAILBOX_CLOSED) == 0 && weir__mailbox_count(word) > 0) {
        result = pop(mailbox, out, spent);
    }
    if (result == WEIR__POP_EVENT && (out->envelope.flags & WEIR__ENVELOPE_OWED) == 0) {
        weir__add(evicted, 1, acq_rel);
        weir__add(&mailbox->word, WEIR__MAILBOX_TICKET_ONE, acq_rel);
    }
    weir__trylock_release(&mailbox->head_lock);
    return result;
}

void weir__mailbox_settle_evictions(weir__mailbox *mailbox)
{
    if (mailbox->evicting) {
        /* Ends: holders only copy one envelope. */
        while (!weir__trylock_take(&mailbox->head_lock)) {
            weir__yield();
        }
        weir__trylock_release(&mailbox->head_lock);
    }
}
