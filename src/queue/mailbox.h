/*
 * queue/mailbox.h - the bounded queue in front of every processor: many posters, one owner.
 *
 * One word answers "accepted?", "full?", "closed?" and "do I have to make it ready?" in one step:
 *
 *     | ticket 20 | owed 20 | count 20 | .. | CLOSED | READY |
 *
 * READY is set from the step that accepts the first event until the step in which the owner finds
 * none: so exactly one poster sees the edge, and exactly one thread at a time is the owner. `count`
 * is what was claimed and not yet credited back; `owed` are places that were promised for later
 * (a room event); both together are bounded by the limit. `ticket` counts every accepted event,
 * modulo 2^20, and costs nothing: it says how many are outstanding, independently of the counters.
 * The events themselves hang in a list:
 *
 *     claim (one exchange on the word)  ->  fill the envelope  ->  publish (one exchange on tail)
 *
 * Between claim and publish the owner sees a count without an event (a *gap*): it leaves the turn
 * and comes back. The last envelope taken stays in the list as its stub until the next one is taken
 * or the mailbox goes idle, so an idle mailbox owns no memory at all.
 *
 * Which calls may overlap on one mailbox: claim, claim_owed, reserve, unreserve, publish, close and
 * the looks freely with everything; take, credit, idle and open/close of a cursor only on the owner
 * (whoever set READY hands ownership to the thread that takes the processor from its ready queue).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_QUEUE_MAILBOX_H
#define WEIR_QUEUE_MAILBOX_H

#include "base/assert.h"
#include "queue/envelope.h"
#include "sync/atomic.h"
#include "sync/mutex.h"

#define WEIR__MAILBOX_MAX 1000000u

#define WEIR__MAILBOX_READY UINT64_C(1)
#define WEIR__MAILBOX_CLOSED UINT64_C(2)
#define WEIR__MAILBOX_ONE (UINT64_C(1) << 4)
#define WEIR__MAILBOX_OWED_ONE (UINT64_C(1) << 24)
#define WEIR__MAILBOX_TICKET_ONE (UINT64_C(1) << 44)
#define WEIR__MAILBOX_ACCEPT_ONE (WEIR__MAILBOX_TICKET_ONE + WEIR__MAILBOX_ONE)
#define WEIR__MAILBOX_FIELD UINT64_C(0xfffff)

typedef struct weir__mailbox {
    weir__atomic_u64 word;               /* posters and owner, by exchange */
    WEIR__ATOMIC(weir__envelope *) tail; /* posters by exchange; owner to NULL at idle */
    WEIR__ATOMIC(uintptr_t) head;        /* owner; the poster that found tail NULL writes it once */
    uint32_t limit;                      /* written before the mailbox is reachable */
    uint16_t credit_every;               /* events that the owner may take before it credits them */
    bool evicting;                       /* drop-oldest: take runs under head_lock */
    weir__trylock head_lock;
} weir__mailbox;

/* The head's lowest bit: this envelope was not taken yet (it is no stub). */
#define WEIR__MAILBOX_FRESH ((uintptr_t)1)

static inline uint32_t weir__mailbox_count(uint64_t word)
{
    return (uint32_t)((word >> 4) & WEIR__MAILBOX_FIELD);
}

static inline uint32_t weir__mailbox_owed(uint64_t word)
{
    return (uint32_t)((word >> 24) & WEIR__MAILBOX_FIELD);
}

/* Accepted and not yet done, given how many are done (handled, dead, evicted, left). Exact as long
 * as fewer than 2^20 are outstanding, which the largest bound guarantees. */
static inline uint32_t weir__mailbox_outstanding(uint64_t word, uint64_t done)
{
    return (uint32_t)(((word >> 44) - done) & WEIR__MAILBOX_FIELD);
}

/* Sets the bound; the mailbox must be idle and unreachable. The owner credits in steps of at most
 * 1/128 of the limit, so that "full" is never wrong by more than that, and small mailboxes are
 * exact. */
void weir__mailbox_open(weir__mailbox *mailbox, uint32_t limit, uint32_t batch, bool evicting);

typedef enum weir__claim {
    WEIR__CLAIM_OK,
    WEIR__CLAIM_FIRST, /* and the caller must make the processor ready after publishing */
    WEIR__CLAIM_FULL,
    WEIR__CLAIM_CLOSED
} weir__claim;

/* Any thread. Up to *count places; *count becomes how many were got. */
static inline weir__claim weir__mailbox_claim(weir__mailbox *mailbox, uint32_t *count)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    for (;;) {
        if (weir__unlikely((word & WEIR__MAILBOX_CLOSED) != 0)) {
            return WEIR__CLAIM_CLOSED;
        }
        const uint32_t used = weir__mailbox_count(word) + weir__mailbox_owed(word);
        if (weir__unlikely(used >= mailbox->limit)) {
            return WEIR__CLAIM_FULL;
        }
        const uint32_t room = mailbox->limit - used;
        const uint32_t got = *count < room ? *count : room;
        const uint64_t next = (word + got * WEIR__MAILBOX_ACCEPT_ONE) | WEIR__MAILBOX_READY;
        /* [A] pairs with [F]: the last owner's writes, for the one that makes it ready. */
        if (weir__likely(weir__cas(&mailbox->word, &word, next, acq_rel, relaxed))) {
            *count = got;
            return (word & WEIR__MAILBOX_READY) != 0 ? WEIR__CLAIM_OK : WEIR__CLAIM_FIRST;
        }
    }
}

/* Any thread. Hangs a chain of claimed events in: first ... last, linked by next. */
static inline void weir__mailbox_publish(weir__mailbox *mailbox, weir__envelope *first,
                                         weir__envelope *last)
{
    weir__store(&last->pooled.next, NULL, relaxed);
    /* [B] acquires the stub's content from the poster before, and [H] at idle. */
    weir__envelope *before = weir__exchange(&mailbox->tail, last, acq_rel);
    if (weir__likely(before != NULL)) {
        /* [C] pairs with [E]: the envelopes are filled. */
        weir__store(&before->pooled.next, &first->pooled, release);
    } else {
        /* [D] pairs with [G]: the same, for the first one after idle. */
        weir__store(&mailbox->head, (uintptr_t)first | WEIR__MAILBOX_FRESH, release);
    }
}

/* Owner. Where it stands, kept in a register during a turn. 0: not known yet. */
typedef struct weir__cursor {
    uintptr_t head;
} weir__cursor;

/* The next event, or NULL in a gap. *spent: an envelope that is free now, or NULL. The event's
 * content stays valid until the next take or idle. */
static inline weir__envelope *weir__mailbox_take(weir__mailbox *mailbox, weir__cursor *cursor,
                                                 weir__envelope **spent)
{
    *spent = NULL;
    if (cursor->head == 0) {
        /* [G] pairs with [D]. */
        cursor->head = weir__load(&mailbox->head, acquire);
        if (cursor->head == 0) {
            return NULL;
        }
    }
    if ((cursor->head & WEIR__MAILBOX_FRESH) != 0) {
        cursor->head &= ~WEIR__MAILBOX_FRESH;
        return (weir__envelope *)cursor->head;
    }
    weir__envelope *stub = (weir__envelope *)cursor->head;
    /* [E] pairs with [C]. */
    weir__envelope *event = (weir__envelope *)(void *)weir__load(&stub->pooled.next, acquire);
    if (event != NULL) {
        cursor->head = (uintptr_t)event;
        *spent = stub;
    }
    return event;
}

static inline weir__cursor weir__mailbox_cursor(weir__mailbox *mailbox)
{
    return (weir__cursor){ weir__load(&mailbox->head, acquire) };
}

/* Keeps the owner's place for its next turn. With no place there is nothing to keep: a poster may
 * be about to write the head. */
static inline void weir__mailbox_keep(weir__mailbox *mailbox, weir__cursor cursor)
{
    if (cursor.head != 0) {
        weir__store(&mailbox->head, cursor.head, relaxed);
    }
}

/* Owner. Gives back `count` places of events that it took. Returns the word after. */
static inline uint64_t weir__mailbox_credit(weir__mailbox *mailbox, uint32_t count)
{
    /* seq_cst: pairs with want_room's push, then look (engine/room.c). */
    return weir__sub(&mailbox->word, count * WEIR__MAILBOX_ONE, seq_cst) -
           count * WEIR__MAILBOX_ONE;
}

/* Owner, when nothing is left to take: gives the stub back, unless an event has come behind it.
 * True: it did, *spent is free. An evicting mailbox does it under its head lock. */
bool weir__mailbox_retire(weir__mailbox *mailbox, weir__cursor *cursor, weir__envelope **spent);

/* Owner, holding `uncredited` taken events and having seen `word` with nothing else in it. True: it
 * is idle, and no longer ours. False: something came; go on. */
static inline bool weir__mailbox_idle(weir__mailbox *mailbox, uint64_t word, uint32_t uncredited)
{
    const uint64_t idle = (word - uncredited * WEIR__MAILBOX_ONE) & ~WEIR__MAILBOX_READY;
    /* [F] pairs with [A]: all that this turn wrote, for the thread of the next. seq_cst for the
     * sake of want_room, like credit. */
    return weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed);
}

/* Any thread. True: the caller must make the processor ready, for its owner to finish it. */
static inline bool weir__mailbox_close(weir__mailbox *mailbox)
{
    const uint64_t word =
        weir__or(&mailbox->word, WEIR__MAILBOX_CLOSED | WEIR__MAILBOX_READY, seq_cst);
    return (word & WEIR__MAILBOX_READY) == 0;
}

/* Any thread. Makes it ready without an event (for a hook). True: the caller must do so. */
static inline bool weir__mailbox_rouse(weir__mailbox *mailbox)
{
    return (weir__or(&mailbox->word, WEIR__MAILBOX_READY, acq_rel) & WEIR__MAILBOX_READY) == 0;
}

/* Any thread. A place for an event that is owed later; and what becomes of it. */
weir__claim weir__mailbox_reserve(weir__mailbox *mailbox);
weir__claim weir__mailbox_claim_owed(weir__mailbox *mailbox);
void weir__mailbox_unreserve(weir__mailbox *mailbox);

/*
 * Evicting mailboxes (drop-oldest) only: owner and posters take under the head lock, and take a
 * copy, so that neither needs the stub's content afterwards. *spent is an envelope that is free
 * now, or NULL. NONE: nothing published; BUSY: the lock is held for a moment, try again.
 */
typedef enum weir__pop { WEIR__POP_EVENT, WEIR__POP_NONE, WEIR__POP_BUSY } weir__pop;
weir__pop weir__mailbox_pop(weir__mailbox *mailbox, weir__envelope_wide *out,
                            weir__envelope **spent);

/*
 * A poster that was refused. If the mailbox is (still) full and open, the oldest event is popped,
 * its place is the poster's, and both the ticket and `evicted` go up, all in one piece as far as a
 * freeze can tell. NONE: it is not full, or nothing is published; claim again. An owed event is
 * handed out too, uncounted: the poster must hang it in again.
 */
weir__pop weir__mailbox_evict(weir__mailbox *mailbox, weir__atomic_u64 *evicted,
                              weir__envelope_wide *out, weir__envelope **spent);

/* After a close: whoever was in the middle of an eviction has finished, and none begins. */
void weir__mailbox_settle_evictions(weir__mailbox *mailbox);

#endif /* WEIR_QUEUE_MAILBOX_H */
