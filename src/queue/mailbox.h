/*
 * queue/mailbox.h - the bounded queue in front of every processor: many posters, one owner.
 *
 * One word answers "accepted?", "full?", "closed?", "do I have to make it ready?" and "which place
 * is mine?" in one step:
 *
 *     | ticket 20 | owed 20 | count 20 | FIRST | EPOCH | CLOSED | READY |
 *
 * READY is set from the step that accepts the first event until the step in which the owner finds
 * none: an *epoch*. So exactly one poster sees the edge, and exactly one thread at a time is the
 * owner. `count` is what was claimed and not yet credited back; `owed` are places that were
 * promised for later (a room event); both together are bounded by the limit. `ticket` counts every
 * accepted event, modulo 2^20: it is the event's number in the order of the mailbox, and says where
 * it lies:
 *
 *     the first of an epoch   in an envelope of its own (`first`): most epochs have no second
 *     all others              in the pages under `root` (queue/page.h), by ticket
 *     what was prepared       beside (`beside`): room events and signals, which must not need
 *     beforehand              memory
 *
 *     claim (one exchange on the word)  ->  find the place  ->  fill it  ->  say so (one store)
 *
 * Between claim and fill the owner sees a count without an event (a *gap*): it leaves the turn and
 * comes back. An idle mailbox owns no memory at all. Nobody clears `first` and `root` then: they
 * carry the parity of their epoch, and the next epoch has the other one. An epoch that does not use
 * one of them clears it at its end, so that what it finds is never older than the epoch before.
 *
 * Which calls may overlap on one mailbox: claims, reserve, unreserve, places, close and the looks
 * freely with everything; take, credit, idle and whatever has a cursor only on the owner (whoever
 * set READY hands ownership to the thread that takes the processor from its ready queue).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_QUEUE_MAILBOX_H
#define WEIR_QUEUE_MAILBOX_H

#include "base/assert.h"
#include "queue/fold.h"
#include "queue/page.h"
#include "sync/atomic.h"
#include "sync/mutex.h"

#define WEIR__MAILBOX_MAX 1000000u

/* The owner may hold back this part of the limit: places of events that it has taken. */
#ifdef WEIR_SIMULATED
#define WEIR__MAILBOX_CREDIT_PART 8u /* so that a mailbox with few places does */
#else
#define WEIR__MAILBOX_CREDIT_PART 128u
#endif

#define WEIR__MAILBOX_READY UINT64_C(1)
#define WEIR__MAILBOX_CLOSED UINT64_C(2)
#define WEIR__MAILBOX_EPOCH UINT64_C(4)
#define WEIR__MAILBOX_FIRST UINT64_C(8) /* the first event of this epoch lies in `first` */
#define WEIR__MAILBOX_ONE (UINT64_C(1) << 4)
#define WEIR__MAILBOX_OWED_ONE (UINT64_C(1) << 24)
#define WEIR__MAILBOX_TICKET_ONE (UINT64_C(1) << 44)
#define WEIR__MAILBOX_ACCEPT_ONE (WEIR__MAILBOX_TICKET_ONE + WEIR__MAILBOX_ONE)
#define WEIR__MAILBOX_FIELD UINT64_C(0xfffff)
/* `owed` of a word that a thread leases (queue/lease.h), when none is: more than can be. */
#define WEIR__MAILBOX_LEASED (WEIR__MAILBOX_FIELD * WEIR__MAILBOX_OWED_ONE)
_Static_assert(WEIR__MAILBOX_MAX < WEIR__MAILBOX_FIELD, "a full `owed` is no number of places");

/* What is left of the line that posters write to. */
#define WEIR__MAILBOX_CORNER 24

typedef struct weir__mailbox {
    weir__atomic_u64 word;         /* posters and owner, by exchange */
    WEIR__ATOMIC(uintptr_t) first; /* | parity. The poster at the edge; the owner to 0 */
    WEIR__ATOMIC(uintptr_t) root;  /* | parity. Posters, by exchange; the owner to 0, too */
    WEIR__ATOMIC(weir__lone *)
    beside;                /* newest first. Posters by exchange, the owner takes all.
                                          Odd: a name (queue/lease.h) */
    uint32_t limit;        /* written before the mailbox is reachable, so the next two */
    uint16_t credit_every; /* events that the owner may take before it credits them; 0: an evicting
                              one (drop-oldest) */
    uint8_t page_class;
    uint8_t first_taken; /* owner: parity + 1 of the last epoch in which it was; 0: none */
    unsigned char corner[WEIR__MAILBOX_CORNER]; /* not the mailbox's: whoever has it keeps there
                                                   what posters touch besides */
    /* The next line: posters do not come here. */
    weir__lone *beside_taken; /* owner: what was `beside`, oldest first */
} weir__mailbox;

static inline bool weir__mailbox_evicts(const weir__mailbox *mailbox)
{
    return mailbox->credit_every == 0;
}

/* Events may come folded: nobody but the owner takes them. In the smallest there are too few. */
static inline bool weir__mailbox_unfolds(const weir__mailbox *mailbox)
{
    return mailbox->credit_every > 1;
}

static inline uint32_t weir__mailbox_count(uint64_t word)
{
    return (uint32_t)((word >> 4) & WEIR__MAILBOX_FIELD);
}

static inline bool weir__mailbox_is_leased(uint64_t word)
{
    return (word & WEIR__MAILBOX_LEASED) == WEIR__MAILBOX_LEASED;
}

static inline uint32_t weir__mailbox_owed(uint64_t word)
{
    return weir__mailbox_is_leased(word) ? 0 : (uint32_t)((word >> 24) & WEIR__MAILBOX_FIELD);
}

/* Who is not its tenant ends a lease before any step on the word: afterwards it is not leased, for
 * a moment at least. Any thread, but no signal handler (queue/lease.c). */
void weir__lease_end(weir__mailbox *mailbox);

/* By who has just seen *word, and is about to change it. True: it is leased no more, and *word is
 * new. */
static inline bool weir__mailbox_was_leased(weir__mailbox *mailbox, uint64_t *word)
{
    if (weir__likely(!weir__mailbox_is_leased(*word))) {
        return false;
    }
    weir__lease_end(mailbox);
    *word = weir__load(&mailbox->word, relaxed);
    return true;
}

/* The next event to be accepted has this number. */
static inline uint32_t weir__mailbox_ticket(uint64_t word)
{
    return (uint32_t)(word >> 44);
}

/* 0 or 1, as in the lowest bit of `first` and `root`. */
static inline uintptr_t weir__mailbox_parity(uint64_t word)
{
    return (uintptr_t)(word >> 2) & 1;
}

/* Accepted and not yet done, given how many are done (handled, dead, evicted, left). Exact as long
 * as fewer than 2^20 are outstanding, which the largest bound guarantees. */
static inline uint32_t weir__mailbox_outstanding(uint64_t word, uint64_t done)
{
    return (uint32_t)(((word >> 44) - done) & WEIR__MAILBOX_FIELD);
}

/* Sets the bound; the mailbox must be idle and unreachable. The owner credits in steps of at most
 * 1/128 (CREDIT_PART) of the limit, so that "full" is never wrong by more than that, and small
 * mailboxes are exact. */
void weir__mailbox_open(weir__mailbox *mailbox, uint32_t limit, uint32_t batch, bool evicting);
/* The same of one that is full at `within` to some of its posters: that bound is kept as well. */
void weir__mailbox_open_within(weir__mailbox *mailbox, uint32_t limit, uint32_t within,
                               uint32_t batch, bool evicting);

/* ---- posters ---- */

typedef enum weir__claim {
    WEIR__CLAIM_OK,
    WEIR__CLAIM_FIRST, /* and the caller must make the processor ready after filling */
    WEIR__CLAIM_FULL,
    WEIR__CLAIM_CLOSED
} weir__claim;

/* Any thread. Up to *count places; *count becomes how many were got, *before is the word that gave
 * them: the first has its ticket. `edge`: FIRST, or 0 for one that goes beside. `limit`: at most
 * the mailbox's own. */
static inline weir__claim weir__mailbox_claim_within(weir__mailbox *mailbox, uint32_t limit,
                                                     uint32_t *count, uint64_t *before,
                                                     uint64_t edge)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    for (;;) {
        if (weir__unlikely((word & WEIR__MAILBOX_CLOSED) != 0)) {
            return WEIR__CLAIM_CLOSED;
        }
        if (weir__mailbox_was_leased(mailbox, &word)) {
            continue;
        }
        const uint32_t used = weir__mailbox_count(word) + weir__mailbox_owed(word);
        if (weir__unlikely(used >= limit)) {
            return WEIR__CLAIM_FULL;
        }
        const uint32_t room = limit - used;
        const uint32_t got = *count < room ? *count : room;
        const bool ready = (word & WEIR__MAILBOX_READY) != 0;
        const uint64_t next =
            (word + got * WEIR__MAILBOX_ACCEPT_ONE) | (ready ? 0 : WEIR__MAILBOX_READY | edge);
        /* [A] pairs with [F]: the last owner's writes, for the one that makes it ready, and what
         * the owner has emptied before it gave places back, for the one that fills them. */
        if (weir__likely(weir__cas(&mailbox->word, &word, next, acq_rel, relaxed))) {
            *count = got;
            *before = word;
            return ready ? WEIR__CLAIM_OK : WEIR__CLAIM_FIRST;
        }
    }
}

static inline bool weir__mailbox_is_closed(uint64_t word)
{
    return (word & WEIR__MAILBOX_CLOSED) != 0;
}

/* Places taken and places promised together leave no room, or it is leased. Most mailboxes have
 * promised none: then the two fields side by side are the number of places taken. */
static inline bool weir__mailbox_looks_full(uint64_t word, uint32_t limit)
{
    const uint64_t owed_and_count = (word << 20) >> 24;
    return weir__unlikely(owed_and_count >= limit) &&
           (weir__mailbox_is_leased(word) ||
            weir__mailbox_count(word) + weir__mailbox_owed(word) >= limit);
}

static inline weir__claim weir__mailbox_claim_as(weir__mailbox *mailbox, uint32_t *count,
                                                 uint64_t *before, uint64_t edge)
{
    return weir__mailbox_claim_within(mailbox, mailbox->limit, count, before, edge);
}

static inline weir__claim weir__mailbox_claim(weir__mailbox *mailbox, uint32_t *count,
                                              uint64_t *before)
{
    return weir__mailbox_claim_as(mailbox, count, before, WEIR__MAILBOX_FIRST);
}

/* One that goes beside. */
static inline weir__claim weir__mailbox_claim_beside(weir__mailbox *mailbox, uint64_t *before)
{
    uint32_t one = 1;
    return weir__mailbox_claim_as(mailbox, &one, before, 0);
}

/* The missing parts of the way to a ticket's place; the stock suffices. */
weir__root *weir__mailbox_make_root(weir__mailbox *mailbox, uintptr_t parity, weir__stock *stock);
weir__envelope *weir__mailbox_make_place(weir__root *root, uint32_t page_class, uint32_t ticket,
                                         weir__stock *stock);

static inline weir__root *weir__mailbox_root(weir__mailbox *mailbox, uintptr_t parity)
{
    /* [B] pairs with [D]: the root is empty, but for what others have entered. */
    const uintptr_t root = weir__load(&mailbox->root, acquire);
    return (root & 1) == parity ? (weir__root *)(root & ~(uintptr_t)1) : NULL;
}

/* The page that a ticket falls into, if it is there. */
static inline weir__page *weir__mailbox_page(weir__root *root, uint32_t page_class, uint32_t ticket)
{
    const uint32_t page = ticket >> weir__page_bits(page_class);
    const uint32_t entry = (page >> WEIR__INDEX_BITS) % (1u << WEIR__ROOT_BITS);
    /* Twice [B]. */
    weir__index *index = weir__load(&root->indexes[entry], acquire);
    return weir__likely(index != NULL)
               ? weir__load(&index->pages[page % (1u << WEIR__INDEX_BITS)], acquire)
               : NULL;
}

static inline uint32_t weir__mailbox_offset(uint32_t page_class, uint32_t ticket)
{
    return ticket & ((1u << weir__page_bits(page_class)) - 1);
}

/* The page of a ticket that was claimed and not filled, as far as it is found without a search. */
static WEIR__ALWAYS weir__page *weir__mailbox_page_at_hand(weir__root *root, uint32_t page_class,
                                                           uint32_t ticket)
{
    /* [B] again, with [D] of who has made it. */
    const uint64_t newest = weir__load(&root->newest, acquire);
    const uint32_t wanted = ticket >> weir__page_bits(page_class);
    if (weir__likely(WEIR__ROOT_NUMBER(newest) == WEIR__ROOT_NUMBER(wanted))) {
        return (weir__page *)(uintptr_t)(newest >> WEIR__ROOT_NUMBER_BITS);
    }
    return weir__mailbox_page(root, page_class, ticket);
}

/* As weir__mailbox_place, of the one event that `before` gave. NULL: its page is not there. */
static WEIR__ALWAYS weir__envelope *weir__mailbox_place_if_there(weir__mailbox *mailbox,
                                                                 uint64_t before)
{
    const uint32_t ticket = weir__mailbox_ticket(before);
    const uint32_t page_class = mailbox->page_class;
    weir__root *root = weir__mailbox_root(mailbox, weir__mailbox_parity(before));
    if (weir__unlikely(root == NULL)) {
        return NULL;
    }
    /* Shifts by what the compiler knows are shorter. */
    const bool usual = weir__likely(page_class == WEIR__PAGE_CLASS_USUAL);
    weir__page *page = usual ? weir__mailbox_page_at_hand(root, WEIR__PAGE_CLASS_USUAL, ticket)
                             : weir__mailbox_page_at_hand(root, page_class, ticket);
    const uint32_t offset = usual ? weir__mailbox_offset(WEIR__PAGE_CLASS_USUAL, ticket)
                                  : weir__mailbox_offset(page_class, ticket);
    return weir__likely(page != NULL) ? &page->envelopes[offset] : NULL;
}

/* Any thread that has claimed this ticket, not as the first of its epoch. */
static inline weir__envelope *weir__mailbox_place(weir__mailbox *mailbox, uint64_t before,
                                                  uint32_t ticket, weir__stock *stock)
{
    const uintptr_t parity = weir__mailbox_parity(before);
    weir__root *root = weir__mailbox_root(mailbox, parity);
    if (weir__unlikely(root == NULL)) {
        root = weir__mailbox_make_root(mailbox, parity, stock);
    }
    const uint32_t page_class = mailbox->page_class;
    weir__page *page = weir__mailbox_page(root, page_class, ticket);
    return weir__likely(page != NULL) ? &page->envelopes[weir__mailbox_offset(page_class, ticket)]
                                      : weir__mailbox_make_place(root, page_class, ticket, stock);
}

/* The one that saw the edge: its envelope is filled. */
static inline void weir__mailbox_put_first(weir__mailbox *mailbox, uint64_t before,
                                           weir__lone *lone)
{
    /* [D1] pairs with [G]. */
    weir__store(&mailbox->first, (uintptr_t)lone | weir__mailbox_parity(before), release);
}

/* The one that claimed beside: lone->ticket is set, its envelope is filled. */
void weir__mailbox_put_beside(weir__mailbox *mailbox, weir__lone *lone);

/* ---- the owner ---- */

/* Where the owner stands, kept in registers during a turn. */
typedef struct weir__cursor {
    weir__page *page;     /* of the next one; NULL: not looked up */
    weir__envelope *held; /* taken and not let go; NULL: none */
    uint32_t ticket;      /* of the next one; of the one that is held */
} weir__cursor;

/* `uncredited`: taken and still counted. */
static inline weir__cursor weir__mailbox_cursor(uint64_t word, uint32_t uncredited)
{
    return (weir__cursor){ .ticket = (weir__mailbox_ticket(word) - weir__mailbox_count(word) +
                                      uncredited) &
                                     (uint32_t)WEIR__MAILBOX_FIELD };
}

/* The seldom halves of take and let_go. */
weir__envelope *weir__mailbox_take_first(weir__mailbox *mailbox, weir__cursor *cursor,
                                         uintptr_t parity);
weir__envelope *weir__mailbox_take_beside(weir__mailbox *mailbox, weir__cursor *cursor);
void weir__mailbox_leave_page(weir__mailbox *mailbox, weir__cursor *cursor, uintptr_t parity,
                              weir__stock *stock);

/* What `word` becomes when the owner has taken all, and `uncredited` of them are still counted. */
static inline uint64_t weir__mailbox_idle_word(uint64_t word, uint32_t uncredited)
{
    return ((word - uncredited * WEIR__MAILBOX_ONE) &
            ~(WEIR__MAILBOX_READY | WEIR__MAILBOX_FIRST)) ^
           WEIR__MAILBOX_EPOCH;
}

/* Takes the first of the epoch, which is due. NULL: a gap. */
static inline weir__lone *weir__mailbox_first(weir__mailbox *mailbox, uintptr_t parity)
{
    /* [G] pairs with [D1]. */
    const uintptr_t first = weir__load(&mailbox->first, acquire);
    if (weir__unlikely((first & 1) != parity || first <= 1)) {
        return NULL;
    }
    mailbox->first_taken = (uint8_t)(parity + 1);
    return (weir__lone *)(first & ~(uintptr_t)1);
}

/* The first of the epoch lies alone, and is still to be taken. */
static inline bool weir__mailbox_first_due(const weir__mailbox *mailbox, uint64_t word)
{
    return (word & WEIR__MAILBOX_FIRST) != 0 &&
           mailbox->first_taken != weir__mailbox_parity(word) + 1;
}

/* The page that the next event falls into; NULL: nobody has made one. */
static inline weir__page *weir__mailbox_find_page(weir__mailbox *mailbox, weir__cursor *cursor,
                                                  uint64_t word)
{
    if (cursor->page == NULL) {
        weir__root *root = weir__mailbox_root(mailbox, weir__mailbox_parity(word));
        cursor->page =
            root != NULL ? weir__mailbox_page(root, mailbox->page_class, cursor->ticket) : NULL;
    }
    return cursor->page;
}

/* The same, of what has a place. */
static inline weir__envelope *weir__mailbox_take_placed(weir__mailbox *mailbox,
                                                        weir__cursor *cursor, uint64_t word)
{
    const uint32_t page_class = mailbox->page_class;
    if (weir__likely(weir__mailbox_find_page(mailbox, cursor, word) != NULL)) {
        weir__envelope *envelope =
            &cursor->page->envelopes[weir__mailbox_offset(page_class, cursor->ticket)];
        /* [E] pairs with [C]. */
        const uint32_t state = weir__load(&envelope->state, acquire);
        if (weir__likely(state != 0)) {
            if (weir__unlikely((state & WEIR__ENVELOPE_FOLDED) != 0)) {
                weir__fold_undo(envelope, 0);
            }
            cursor->held = envelope;
            return envelope;
        }
    }
    return NULL;
}

/* The next event, or NULL in a gap. Its content stays valid until it is let go. `word`: any of this
 * epoch. */
static inline weir__envelope *weir__mailbox_take(weir__mailbox *mailbox, weir__cursor *cursor,
                                                 uint64_t word)
{
    if (weir__mailbox_first_due(mailbox, word)) {
        return weir__mailbox_take_first(mailbox, cursor, weir__mailbox_parity(word));
    }
    weir__envelope *envelope = weir__mailbox_take_placed(mailbox, cursor, word);
    return weir__likely(envelope != NULL) ? envelope : weir__mailbox_take_beside(mailbox, cursor);
}

/* So many events are done with, the last of them at most the last of its page. `page_class` is the
 * mailbox's: who has read it before need not ask for its line, which the posters write to, now. */
static inline void weir__mailbox_advance(weir__mailbox *mailbox, weir__cursor *cursor,
                                         uint32_t page_class, uint32_t count, uint64_t word,
                                         weir__stock *stock)
{
    cursor->ticket = (cursor->ticket + count) & (uint32_t)WEIR__MAILBOX_FIELD;
    if (weir__unlikely(weir__mailbox_offset(page_class, cursor->ticket) == 0)) {
        weir__mailbox_leave_page(mailbox, cursor, weir__mailbox_parity(word), stock);
    }
}

/* The event that was taken is done with. Returns what it lay in if that was a lone one: the caller
 * frees it. */
static inline weir__lone *weir__mailbox_let_go(weir__mailbox *mailbox, weir__cursor *cursor,
                                               uint64_t word, weir__stock *stock)
{
    weir__envelope *envelope = cursor->held;
    const uint32_t page_class = mailbox->page_class;
    weir__lone *lone = NULL;
    cursor->held = NULL;
    if (weir__likely(cursor->page != NULL) &&
        weir__likely(envelope ==
                     &cursor->page->envelopes[weir__mailbox_offset(page_class, cursor->ticket)])) {
        weir__store(&envelope->state, 0, relaxed);
    } else {
        lone = weir__lone_of(envelope);
    }
    weir__mailbox_advance(mailbox, cursor, page_class, 1, word, stock);
    return lone;
}

/* The straight way of an epoch that has one event, which lies alone. `word` is how it began, but
 * for the mark of a lease; NULL: it is another one, or there is a gap. Neither root nor page is
 * needed: no other event of this epoch lies before this one. */
static inline weir__lone *weir__mailbox_take_lone(weir__mailbox *mailbox, uint64_t word)
{
    const uint64_t told = word & (WEIR__MAILBOX_TICKET_ONE - 1) & ~WEIR__MAILBOX_EPOCH;
    /* An evicting one is not even looked at: that needs its lock. */
    if (told != (WEIR__MAILBOX_ONE | WEIR__MAILBOX_FIRST | WEIR__MAILBOX_READY) ||
        weir__unlikely(mailbox->credit_every <= 1) || !weir__mailbox_first_due(mailbox, word)) {
        return NULL;
    }
    return weir__mailbox_first(mailbox, weir__mailbox_parity(word));
}

/* Its end: the event is done with, and still counted. As weir__mailbox_idle. */
static inline bool weir__mailbox_idle_lone(weir__mailbox *mailbox, uint64_t word)
{
    const uint64_t idle = weir__mailbox_idle_word(word, 1);
    /* [F] pairs with [A]. seq_cst for the sake of want_room, like credit. */
    return weir__likely(weir__load(&mailbox->root, relaxed) == 0) &&
           weir__cas(&mailbox->word, &word, idle, seq_cst, relaxed);
}

/* Gives back `count` places of events that it took and let go. Returns the word after. */
static inline uint64_t weir__mailbox_credit(weir__mailbox *mailbox, uint32_t count)
{
    /* seq_cst: pairs with want_room's push, then look (engine/room.c). [F] too: a place that is
     * claimed anew is empty. */
    return weir__sub(&mailbox->word, count * WEIR__MAILBOX_ONE, seq_cst) -
           count * WEIR__MAILBOX_ONE;
}

/* Holding `uncredited` taken events, none of them held, and having seen `word` with nothing else in
 * it. True: it is idle, and no longer ours. False: something came; go on. `mark`: 0; or LEASED, and
 * then weir__lease_sign has to follow at once. */
bool weir__mailbox_idle_as(weir__mailbox *mailbox, uint64_t word, uint32_t uncredited,
                           weir__stock *stock, uint64_t mark);
static inline bool weir__mailbox_idle(weir__mailbox *mailbox, uint64_t word, uint32_t uncredited,
                                      weir__stock *stock)
{
    return weir__mailbox_idle_as(mailbox, word, uncredited, stock, 0);
}

/* Closed and empty: gives its memory back. Nobody will come any more. */
void weir__mailbox_retire(weir__mailbox *mailbox, uint64_t word, weir__stock *stock);

/* ---- all ---- */

/* Any thread. True: the caller must make the processor ready, for its owner to finish it. */
static inline bool weir__mailbox_close(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    while (weir__mailbox_was_leased(mailbox, &word) ||
           !weir__cas(&mailbox->word, &word, word | WEIR__MAILBOX_CLOSED | WEIR__MAILBOX_READY,
                      seq_cst, relaxed)) {
    }
    return (word & WEIR__MAILBOX_READY) == 0;
}

/* Any thread. Makes it ready without an event (for a hook). True: the caller must do so. */
static inline bool weir__mailbox_rouse(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    while (weir__mailbox_was_leased(mailbox, &word) ||
           !weir__cas(&mailbox->word, &word, word | WEIR__MAILBOX_READY, acq_rel, relaxed)) {
    }
    return (word & WEIR__MAILBOX_READY) == 0;
}

/* Any thread. The same while its owner may be at work, for something that is not an event: the
 * place that it takes (and the owner gives back, by unreserve) keeps the owner from going idle over
 * it unseen. */
static inline bool weir__mailbox_nudge(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    /* [A] and [F], as in rouse. */
    while (weir__mailbox_was_leased(mailbox, &word) ||
           !weir__cas(&mailbox->word, &word, (word + WEIR__MAILBOX_OWED_ONE) | WEIR__MAILBOX_READY,
                      acq_rel, relaxed)) {
    }
    return (word & WEIR__MAILBOX_READY) == 0;
}

/* Any thread. A place for an event that is owed later; and what becomes of it: it goes beside. */
weir__claim weir__mailbox_reserve(weir__mailbox *mailbox);
weir__claim weir__mailbox_claim_owed(weir__mailbox *mailbox, uint64_t *before);
void weir__mailbox_unreserve(weir__mailbox *mailbox);

/* The same for an answer, which is owed as long as its asker has not ended: a mailbox that is
 * closed takes it, too, unless it has renounced. FIRST, and not evicting: it lies in `first`. */
weir__claim weir__mailbox_claim_answer(weir__mailbox *mailbox, uint64_t *before);
/* Any thread, of a closed one: all that is owed to it is refused from now on. */
void weir__mailbox_renounce(weir__mailbox *mailbox);

/*
 * Evicting mailboxes (drop-oldest) only: owner and posters take under `lock`, and take a copy,
 * which is credited or replaced before the lock is released. NONE: nothing is there; BUSY: the lock
 * is held for a moment, try again. *spent: what it lay in, to be freed by the caller; or NULL.
 */
typedef enum weir__pop { WEIR__POP_EVENT, WEIR__POP_NONE, WEIR__POP_BUSY } weir__pop;

/* The owner: the oldest one, and its place is free. */
weir__pop weir__mailbox_pop(weir__mailbox *mailbox, weir__trylock *lock, weir__stock *stock,
                            weir__lone *out, weir__lone **spent);

/* A poster that was refused. If the mailbox is (still) full and open, the oldest event is popped,
 * its place is the poster's, *before says which one, and both the ticket and `evicted` go up, all
 * in one piece as far as a freeze can tell. NONE: it is not full, or nothing can be got at; claim
 * again. What lies beside is owed to the receiver, and is not evicted. */
weir__pop weir__mailbox_evict(weir__mailbox *mailbox, weir__trylock *lock,
                              weir__atomic_u64 *evicted, weir__stock *stock, uint64_t *before,
                              weir__lone *out, weir__lone **spent);

/* After a close: whoever was in the middle of an eviction has finished, and none begins. */
void weir__mailbox_settle_evictions(weir__trylock *lock);

#endif /* WEIR_QUEUE_MAILBOX_H */
