/*
 * engine/freeze.c - the slow halves of counting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/freeze.h"

#include "base/assert.h"
#include "sync/thread.h"

static void count_in(weir__cell *cell)
{
    /* [Q1] as in the header. */
    weir__store(cell, weir__load(cell, relaxed) + 1, release);
}

bool weir__freeze_leaves(const weir__processor *processor)
{
    if (!weir__processor_is_frozen(processor)) {
        return false;
    }
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    while (weir__load(&cold->frozen, acquire) == 0) { /* ends, as below */
        weir__yield();
    }
    return true;
}

bool weir__freeze_look(weir__context *context, weir__processor *processor, bool handled)
{
    const uint32_t control = weir__load(&processor->control, acquire);
    const bool abandoned = weir__engine_phase(context->engine) >= WEIR__ABANDONED;
    if ((control & WEIR__CONTROL_FREEZE) != 0) {
        weir__processor_cold *cold = weir__processor_cold_of(processor);
        /* Ends: the freezer is between two instructions of weir__freeze_processor. */
        while (weir__load(&cold->frozen, acquire) == 0) {
            weir__yield();
        }
        weir__cell *cell = handled ? &processor->handled : &processor->dead;
        const uint64_t fixed =
            weir__load(handled ? &cold->frozen_handled : &cold->frozen_dead, relaxed);
        if (weir__cell_read(cell) > fixed) {
            weir__store(cell, fixed, relaxed);
            weir__cell_add(&cold->left, 1);
            count_in(&context->tally.left);
            return false;
        }
    }
    count_in(handled ? &context->tally.handled : &context->tally.dead);
    return (control & WEIR__CONTROL_FREEZE) == 0 && !abandoned;
}

bool weir__freeze_count_locked(weir__context *context, weir__processor *processor, bool handled)
{
    weir_engine *engine = context->engine;
    weir__mutex_lock(&engine->count_lock);
    weir__cell_add(handled ? &processor->handled : &processor->dead, 1);
    weir__barrier_light();
    const bool goes_on = weir__freeze_look(context, processor, handled);
    weir__mutex_unlock(&engine->count_lock);
    return goes_on;
}

void weir__freeze_discard(weir__context *context, weir__processor *processor)
{
    if ((weir__load(&processor->control, acquire) & WEIR__CONTROL_FREEZE) != 0) {
        weir__cell_add(&weir__processor_cold_of(processor)->left, 1);
        count_in(&context->tally.left);
        return;
    }
    const uint64_t before = weir__cell_read(&processor->dead);
    (void)weir__freeze_count(context, processor, false);
    if (weir__cell_read(&processor->dead) != before) { /* else a freeze was faster */
        weir__cell_add(&weir__processor_cold_of(processor)->dead_stopped, 1);
        weir__cell_add(&context->tally.dead_stopped, 1);
    }
}

uint32_t weir__freeze_processor(weir_engine *engine, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    WEIR_ASSERT(cold != NULL);
    weir__add(&engine->attention, 1, seq_cst);
    weir__or(&processor->control, WEIR__CONTROL_FREEZE, seq_cst);
    weir__processor_settle_evictions(processor);
    weir__mailbox_renounce(&processor->mailbox); /* answers would still be accepted */
    weir__barrier_heavy();
    weir__store(&cold->frozen_handled, weir__cell_read(&processor->handled), relaxed);
    weir__store(&cold->frozen_dead, weir__cell_read(&processor->dead), relaxed);
    weir__store(&cold->frozen, 1, release);
    /* What the owner may have thrown away since it saw FREEZE is left, too. */
    const uint64_t done = weir__load(&cold->frozen_handled, relaxed) +
                          weir__load(&cold->frozen_dead, relaxed) +
                          weir__load(&cold->dropped_oldest, relaxed);
    return weir__mailbox_outstanding(weir__load(&processor->mailbox.word, acquire), done);
}

void weir__freeze_over(weir_engine *engine)
{
    weir__sub(&engine->attention, 1, seq_cst);
}

void weir__freeze_engine(weir_engine *engine)
{
    weir__store(&engine->frozen, 1, seq_cst); /* handlers' posts are refused from here on */
    weir__barrier_heavy();
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        weir__store(&c->frozen_handled, weir__cell_read(&c->tally.handled), relaxed);
        weir__store(&c->frozen_dead, weir__cell_read(&c->tally.dead), relaxed);
        weir__store(&c->frozen_left, weir__cell_read(&c->tally.left), relaxed);
    }
    weir__store(&engine->frozen, 2, release);
}
