/*
 * queue/lease.c - how a lease begins and ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "queue/lease.h"

#include "sync/thread.h"
#include "sync/word.h"

#define PAUSES 64u
#define YIELDS 64u
#define NAP (20 * WEIR_US)

/* One more look at what takes a few instructions of another thread, which may wait for this core:
 * so that is given away, and if that does not help, because it is of a lower priority, for a
 * while. */
static void wait_a_little(uint32_t looks)
{
    if (looks < PAUSES) {
        weir__pause();
    } else if (looks < PAUSES + YIELDS) {
        weir__yield();
    } else {
        weir__atomic_u32 nobody;
        weir__init(&nobody, 0);
        weir__word_wait(&nobody, 0, NAP);
    }
}

/* ---- tenants ---- */

void weir__tenant_admit(weir__tenant *tenant)
{
    if (!weir__barrier_is_light() || weir__load(&tenant->retired, relaxed) != 0) {
        return;
    }
    weir__store(&tenant->begun, 0, relaxed);
    weir__store(&tenant->ended, 0, relaxed);
    weir__store(&tenant->thread, (uint32_t)weir__os_thread_id(), relaxed);
    weir__store(&tenant->name, (uintptr_t)tenant, relaxed);
    /* What one has leased who had this seat before is ours now: nobody takes us for him. */
    weir__barrier_heavy();
}

void weir__tenant_retire(weir__tenant *tenant)
{
    weir__store(&tenant->name, 0, seq_cst);
}

static void wait_until_outside(weir__tenant *tenant)
{
    /* Ends: its thread is inside for a few instructions. [LS3] pairs with [LS2]. */
    for (uint32_t looks = 0; weir__load(&tenant->inside, acquire) != 0; looks++) {
        wait_a_little(looks);
    }
}

void weir__tenant_retired(weir__tenant *tenant)
{
    wait_until_outside(tenant);
    /* [LS6] pairs with [LS7]: all its steps. */
    weir__store(&tenant->retired, 1, release);
}

/* ---- names ---- */

static weir__lone *name_of(const weir__tenant *tenant)
{
    return (weir__lone *)((uintptr_t)tenant + 1);
}

/* Whose it is; NULL: nobody's. */
static weir__tenant *tenant_of(const weir__lone *beside)
{
    return ((uintptr_t)beside & 1) != 0 ? (weir__tenant *)((uintptr_t)beside - 1) : NULL;
}

/* Of a word that nobody else may unmark. */
static void unmark(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    /* Again only because of locked steps of the tenant's. [A] and [F], as claims. */
    do {
        WEIR_ASSERT(weir__mailbox_is_leased(word));
    } while (!weir__cas(&mailbox->word, &word, word & ~WEIR__MAILBOX_LEASED, acq_rel, relaxed));
}

void weir__lease_sign(weir__mailbox *mailbox, weir__tenant *tenant)
{
    weir__lone *nothing = NULL;
    /* [LS4] pairs with [LS5]: that the word is marked. */
    if (tenant != NULL &&
        weir__cas(&mailbox->beside, &nothing, name_of(tenant), release, relaxed)) {
        weir__cell_add(&tenant->begun, 1);
    } else {
        unmark(mailbox);
    }
}

bool weir__mailbox_mark(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    do {
        if (weir__mailbox_is_closed(word) || weir__mailbox_is_leased(word) ||
            weir__mailbox_owed(word) > 0) {
            return false;
        }
        /* [A] and [F], as claims: it is in the middle of its epoch. */
    } while (!weir__cas(&mailbox->word, &word, word | WEIR__MAILBOX_LEASED, acq_rel, relaxed));
    return true;
}

/* The name is taken away, by us: makes sure that its tenant is not in the middle of a step. */
static void wait_for(weir__tenant *tenant)
{
    if (weir__load(&tenant->thread, relaxed) == (uint32_t)weir__os_thread_id()) {
        weir__cell_add(&tenant->begun, UINT64_MAX); /* our own, and we are here: nobody was wrong */
        return;
    }
    weir__add(&tenant->ended, 1, relaxed);
    /* [LS7] pairs with [LS6]. */
    if (weir__load(&tenant->retired, acquire) == 0) {
        weir__barrier_heavy();
        wait_until_outside(tenant);
    }
}

WEIR__SELDOM void weir__lease_end(weir__mailbox *mailbox)
{
    /* Ends: somebody is about to sign, or to unmark, and waits for nobody but a step's end. */
    for (uint32_t looks = 0; weir__mailbox_is_leased(weir__load(&mailbox->word, acquire));
         looks++) {
        weir__lone *name = weir__load(&mailbox->beside, acquire);
        weir__tenant *tenant = tenant_of(name);
        /* [LS5] pairs with [LS4]. */
        if (tenant != NULL && weir__cas(&mailbox->beside, &name, NULL, acq_rel, relaxed)) {
            wait_for(tenant);
            unmark(mailbox);
            return;
        }
        wait_a_little(looks);
    }
}
