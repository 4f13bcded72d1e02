/*
 * engine/lease.c - which mailboxes a thread leases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/lease.h"

#include "engine/engine.h"
#include "engine/stop.h"

/* Others have ended no more of its leases than a thread may be wrong, and not too many are there to
 * be ended, should all of its work move away. */
static bool may_lease_more(weir__thread *thread)
{
    weir__tenant *tenant = &thread->context.tenant;
    const uint64_t ended = weir__load(&tenant->ended, relaxed);
    const uint64_t turns = weir__cell_read(&thread->turns);
    return weir__load(&tenant->name, relaxed) != 0 &&
           ended <= WEIR__LEASE_ERRORS + turns / WEIR__LEASE_TURNS &&
           (int64_t)(weir__cell_read(&tenant->begun) - ended) < WEIR__LEASES_MAX;
}

/* A signal handler may post to it. */
static bool is_never_leased(const weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold != NULL && weir__load(&cold->never_leased, relaxed) != 0;
}

static bool suits(weir__thread *thread, const weir__processor *processor)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    return may_lease_more(thread) && processor->mailbox.credit_every > 1 &&
           (cold == NULL || (!cold->blocks && !cold->own)); /* those are for others to post to */
}

/* Only now, which is not every turn: what came last is from a thread that runs nothing. */
static bool is_from_outside(const weir__thread *thread)
{
    return thread->event.from.sender.id == 0;
}

/* The word is marked, by us, and the processor stays: nobody but us can unmark it. */
static void sign(weir__thread *thread, weir__processor *processor)
{
    weir__fence(seq_cst); /* weir__lease_never writes, then looks at the word */
    weir__lease_sign(&processor->mailbox,
                     is_never_leased(processor) ? NULL : &thread->context.tenant);
}

WEIR__SELDOM bool weir__lease_begin(weir__thread *thread, weir__processor *processor, uint64_t word,
                                    uint32_t uncredited)
{
    weir__mailbox *mailbox = &processor->mailbox;
    weir__stock *stock = &thread->context.stock;
    weir__signals held;
    weir__run_over(processor); /* before it is anybody's; and the next try is some turns away */
    if (!suits(thread, processor)) {
        return weir__mailbox_idle(mailbox, word, uncredited, stock);
    }
    /* A handler between the mark and the signature would wait for us. */
    weir__signals_hold(&held);
    const uint64_t mark = is_never_leased(processor) ? 0 : WEIR__MAILBOX_LEASED;
    const bool idle = weir__mailbox_idle_as(mailbox, word, uncredited, stock, mark);
    if (idle && mark != 0) {
        sign(thread, processor);
    }
    weir__signals_release(&held);
    return idle;
}

WEIR__SELDOM void weir__lease_begin_busy(weir__thread *thread, weir__processor *processor)
{
    weir__signals held;
    weir__run_over(processor);
    if (!suits(thread, processor) || is_from_outside(thread)) {
        return;
    }
    weir__signals_hold(&held); /* as above */
    if (!is_never_leased(processor) && weir__mailbox_mark(&processor->mailbox)) {
        sign(thread, processor);
    }
    weir__signals_release(&held);
}

bool weir__lease_never(weir_engine *engine, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_make(engine, processor);
    if (cold == NULL) {
        return false;
    }
    weir__store(&cold->never_leased, 1, relaxed);
    weir__fence(seq_cst); /* pairs with the one in begin */
    weir__lease_end(&processor->mailbox);
    return true;
}

void weir__leases_retire(weir_engine *engine)
{
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        weir__tenant_retire(&c->tenant);
    }
    weir__barrier_heavy();
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        weir__tenant_retired(&c->tenant);
    }
}
