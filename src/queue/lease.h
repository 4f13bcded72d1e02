/*
 * queue/lease.h - the word of a mailbox, changed without locked instructions by the one thread that
 * posts to it and runs it.
 *
 * Most processors of a program are posted to by the thread that runs them, and for them a locked
 * exchange, which the word costs twice an event, is most of what an event costs. So a thread that
 * has run a processor for a while *leases* its mailbox: from then on nobody else changes the word,
 * and the tenant does so by a plain store. Whoever else wants to ends the lease first, once, and
 * pays for both with a heavy barrier:
 *
 *     tenant:   inside = 1; light barrier; is my name still there? then the store; inside = 0
 *     ender:    takes the name away; heavy barrier; waits until inside is 0; unmarks the word
 *
 * At least one sees the other. That a word is leased is said by `owed`, which is full then: so a
 * leased mailbox looks full to whoever does not know better, and knowing better costs nothing on
 * the way of those that are not leased. Whose lease it is stands in `beside`, where nothing else
 * lies meanwhile.
 *
 *     word: owed = LEASED     beside: NULL            somebody begins it, or ends it: wait
 *     word: owed = LEASED     beside: tenant + 1      leased
 *     word: else              beside: never a name
 *
 * So a name is signed after the word is marked, and whoever has taken a name, nobody else, unmarks
 * that word. The tenant may also change it by locked steps, which need nothing of the above. The
 * owner that is not the tenant (it has stolen the processor, say) ends the lease before its turn.
 *
 * Begun only by the owner: in the step in which it finds nothing left, or after a turn that leaves
 * more. Then something may be on its way to `beside`, claimed before: it is no lease if that is
 * there before the name, and ends the lease if it comes after. Not for evicting mailboxes, nor
 * while places are promised, nor where a signal handler posts (engine/signal.c): it could have
 * interrupted what it would have to wait for.
 *
 * Who ends a lease waits for a thread that is in the middle of a few instructions, as at a lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_QUEUE_LEASE_H
#define WEIR_QUEUE_LEASE_H

#include "queue/mailbox.h"
#include "sync/barrier.h"

typedef struct weir__tenant {
    weir__atomic_u64 inside;      /* its thread, while it takes a step on a word that it leases */
    WEIR__ATOMIC(uintptr_t) name; /* its address; 0: it leases nothing, or not any more */
    weir__atomic_u32 thread;      /* the system's number of its thread, while it has a name */
    weir__atomic_u32 retired;     /* it is in no step, and takes no more */
    weir__cell begun;             /* leases. Its thread, which ... */
    weir__atomic_u64 ended;       /* ... has so many of them no longer. Enders, by exchange */
} weir__tenant;

/* May be a tenant from now on. Its thread. Not where a lease would buy nothing. */
void weir__tenant_admit(weir__tenant *tenant);
/* No lease of it counts any more, and it begins no other: what is left of them ends without a
 * barrier each. Anybody; a heavy barrier between the two is the caller's, and does for many. */
void weir__tenant_retire(weir__tenant *tenant);
void weir__tenant_retired(weir__tenant *tenant);

static inline bool weir__lease_is_of(const weir__mailbox *mailbox, const weir__tenant *tenant)
{
    const uintptr_t name = weir__load(&((weir__tenant *)(uintptr_t)tenant)->name, relaxed);
    return (uintptr_t)weir__load(&((weir__mailbox *)(uintptr_t)mailbox)->beside, relaxed) ==
           name + 1; /* NULL, or an address, is nobody's */
}

/* The tenant's thread, having seen a leased word that it knows to be the newest if the lease is its
 * own: nobody else changes it. False: it is not; nothing has happened. */
static WEIR__ALWAYS bool weir__lease_step(weir__mailbox *mailbox, weir__tenant *tenant, uint64_t to)
{
    /* Plain stores, not one more and one less: events that have nothing to do with each other would
     * wait for each other's counts. */
    weir__store(&tenant->inside, 1, relaxed);
    /* Pairs with the heavy barrier of who ends it. */
    weir__barrier_light();
    const bool ours = weir__lease_is_of(mailbox, tenant);
    if (weir__likely(ours)) {
        /* [LS1] pairs with [A] and [F], as the locked steps do. */
        weir__store(&mailbox->word, to, release);
    }
    /* [LS2] pairs with [LS3]: the step is over, and so is what it was for. */
    weir__store(&tenant->inside, 0, release);
    return ours;
}

/* The tenant's thread, and any other: as weir__mailbox_claim, by a step of the lease if it is
 * his. */
static WEIR__ALWAYS weir__claim weir__lease_claim(weir__mailbox *mailbox, weir__tenant *tenant,
                                                  uint32_t *count, uint64_t *before)
{
    const uint64_t word = weir__load(&mailbox->word, relaxed);
    const uint32_t room = mailbox->limit - weir__mailbox_count(word);
    if (weir__unlikely(weir__mailbox_is_leased(word)) && room > 0) {
        const uint32_t got = *count < room ? *count : room;
        const bool ready = (word & WEIR__MAILBOX_READY) != 0;
        const uint64_t edge = ready ? 0 : WEIR__MAILBOX_READY | WEIR__MAILBOX_FIRST;
        if (weir__lease_step(mailbox, tenant, (word + got * WEIR__MAILBOX_ACCEPT_ONE) | edge)) {
            *count = got;
            *before = word;
            return ready ? WEIR__CLAIM_OK : WEIR__CLAIM_FIRST;
        }
    }
    return weir__mailbox_claim(mailbox, count, before);
}

/* Owner. As weir__mailbox_idle_lone, of a leased one. Should it have posted to itself since it saw
 * `word`, the root of that event is there. */
static WEIR__ALWAYS bool weir__lease_idle_lone(weir__mailbox *mailbox, weir__tenant *tenant,
                                               uint64_t word)
{
    return weir__likely(weir__load(&mailbox->root, relaxed) == 0) &&
           weir__lease_step(mailbox, tenant, weir__mailbox_idle_word(word, 1));
}

/* Owner, of one that stays ready. True: marked, and weir__lease_sign has to follow at once. */
bool weir__mailbox_mark(weir__mailbox *mailbox);

/* By who has just marked it: from now on it is `tenant`'s. NULL, or if something lies beside: it is
 * no lease after all. Others wait for that. */
void weir__lease_sign(weir__mailbox *mailbox, weir__tenant *tenant);

#endif /* WEIR_QUEUE_LEASE_H */
