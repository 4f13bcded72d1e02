/*
 * engine/freeze.h - exact numbers at a moment when a handler may be running.
 *
 * A stop that runs out of time must say how many events are left, while a handler that does not
 * return may be in the middle of one of them. The counting side runs for every event, so it pays
 * nothing:
 *
 *     owner, after each event:  count it in the processor's cell; light barrier; look at attention
 * freezer, once:            set attention and FREEZE; heavy barrier; read the cells; say "frozen"
 *
 * Either the freezer reads the count, or the owner sees the attention; then it waits for the few
 * instructions until the numbers are fixed and, if its event is not among them, calls it left. An
 * event whose handler has not returned is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_FREEZE_H
#define WEIR_ENGINE_FREEZE_H

#include "engine/engine.h"
#include "engine/processor.h"

/* The slow half: attention is set. True: go on with the turn. */
bool weir__freeze_look(weir__context *context, weir__processor *processor, bool handled);

/* The slow whole: attention was set before the event was done. Processor and context count in one
 * piece, as far as a freeze of the engine can tell. */
bool weir__freeze_count_locked(weir__context *context, weir__processor *processor, bool handled);

/* Owner: one event is done. True: the turn may go on. */
static WEIR__ALWAYS bool weir__freeze_count(weir__context *context, weir__processor *processor,
                                            bool handled)
{
    if (weir__unlikely(weir__load(&context->engine->attention, relaxed) != 0)) {
        return weir__freeze_count_locked(context, processor, handled);
    }
    weir__cell_add(handled ? &processor->handled : &processor->dead, 1);
    weir__barrier_light();
    if (weir__unlikely(weir__load(&context->engine->attention, relaxed) != 0)) {
        return weir__freeze_look(context, processor, handled);
    }
    /* [Q1] pairs with [Q2]: who sees this event done sees that it was attempted. */
    weir__cell_add_release(handled ? &context->tally.handled : &context->tally.dead, 1);
    /* If that took long, a stop may be over by now: no handler begins after it. */
    return weir__likely(weir__load(&context->engine->attention, relaxed) == 0);
}

/* Owner, about to count an event: true, it is frozen, and this one will be left. */
bool weir__freeze_leaves(const weir__processor *processor);

/* Owner: one event is thrown away unhandled; it is left if the processor is frozen, else dead. */
void weir__freeze_discard(weir__context *context, weir__processor *processor);

/* registry.lock held, the processor is registered, closed, and has a cold part. Fixes its numbers;
 * from now on no handler of it begins. Returns how many events are left. */
uint32_t weir__freeze_processor(weir_engine *engine, weir__processor *processor);
/* registry.lock held: the frozen processor is gone. */
void weir__freeze_over(weir_engine *engine);

/* Fixes the numbers of the whole engine, which is ABANDONED. */
void weir__freeze_engine(weir_engine *engine);

#endif /* WEIR_ENGINE_FREEZE_H */
