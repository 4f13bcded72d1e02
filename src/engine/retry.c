/*
 * engine/retry.c - an event that waits for its next try.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/retry.h"

#include "engine/block.h"
#include "engine/engine.h"
#include "engine/ready.h"
#include "engine/timer.h"
#include "weir/timer.h"

static void is_the_last(weir__supervision *s)
{
    s->tries = s->retry_max;
}

/* A timer's hook: on its scheduler's thread. The processor is this thread's until it is pushed. */
static void again(void *context, weir_timer timer, weir_timer_outcome outcome)
{
    weir__processor *processor = context;
    weir_engine *engine = weir__processor_dispatcher(processor)->engine;
    weir__context *own = weir__context_find(engine);
    (void)timer;
    if (outcome == WEIR_TIMER_CANCELLED) {
        is_the_last(weir__supervision_of(processor)); /* the engine stops */
    }
    if (own != NULL) {
        weir__ready_elsewhere(own, processor);
        return;
    }
    weir__mutex_lock(&engine->registry.lock);
    weir__dispatcher_push(weir__processor_dispatcher(processor), processor);
    weir__mutex_unlock(&engine->registry.lock);
}

static weir_ns delay_of(const weir__supervision *s)
{
    const uint32_t doublings = s->tries - 1 < 40 ? s->tries - 1 : 40;
    return s->retry_delay < s->retry_delay_max >> doublings ? s->retry_delay << doublings
                                                            : s->retry_delay_max;
}

void weir__retry_hold(weir_turn *turn, weir__envelope *envelope)
{
    weir__supervision *s = weir__supervision_of(turn->processor);
    weir__lone *held = &s->held;
    if (envelope != &held->envelope) {
        const uint32_t state = weir__load(&envelope->state, relaxed);
        if ((state & WEIR__ENVELOPE_ALONE) != 0) {
            *held = *weir__lone_of(envelope);
        } else {
            held->envelope = *envelope;
        }
        /* A signal's envelope goes back to it at once; this is a copy. Its time was measured. */
        weir__init(&held->envelope.state,
                   state & ~(uint32_t)(WEIR__ENVELOPE_SIGNAL | WEIR__ENVELOPE_STAMPS));
        s->tries = 0;
        weir__or(&turn->processor->control, WEIR__CONTROL_RETRY, relaxed);
    }
    s->tries++;
    turn->aside = WEIR__ASIDE_RETRY;
}

weir__envelope *weir__supervise_held(weir__processor *processor)
{
    return &weir__supervision_of(processor)->held.envelope;
}

void weir__supervise_held_done(weir__processor *processor)
{
    weir__and(&processor->control, ~(uint32_t)WEIR__CONTROL_RETRY, relaxed);
}

void weir__retry_release(weir__context *context, const weir__supervision *s)
{
    weir__envelope *envelope = (weir__envelope *)(uintptr_t)&s->held.envelope;
    weir__envelope_end(context, envelope, weir__load(&envelope->state, relaxed));
}

bool weir__retry_aside(weir_turn *turn)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    weir__supervision *s = weir__supervision_of(processor);
    const weir_ns delay = delay_of(s);
    weir__cell_add(&s->retries, 1);
    weir__cell_add(&turn->context->tally.retries, 1);
    /* First for no time at all, so that a freeze finds it before it can fire. From here on, should
     * the engine stop, the processor may be anybody's all the same. */
    weir_timer timer;
    const weir_ns due = weir__clock_now() + delay;
    const weir_status status =
        weir_timer_add(engine, (weir_processor){ 0 }, NULL,
                       WEIR_TIMER(.at = WEIR_FOREVER, .hook = again, .context = processor), &timer);
    if (status != WEIR_OK) { /* it comes again in its next turn */
        if (status == WEIR_STOPPING) {
            is_the_last(s);
        }
        return false;
    }
    weir__mutex_lock(&engine->registry.lock);
    const bool there = weir__registry_find(&engine->registry, turn->self) == processor;
    if (there) {
        s->timer = timer;
    }
    const bool frozen = there && weir__processor_is_frozen(processor);
    weir__mutex_unlock(&engine->registry.lock);
    if (frozen && weir_timer_cancel(engine, timer) == WEIR_OK) {
        return false;
    }
    weir__timer_bring_forward(engine, timer, due);
    return true;
}

void weir__retry_hurry(weir_engine *engine, weir__processor *processor)
{
    const weir__supervision *s = weir__supervision_of(processor);
    if (s->timer.id != 0 && weir_timer_cancel(engine, s->timer) == WEIR_OK) {
        weir__dispatcher_push(weir__processor_dispatcher(processor), processor);
    }
}
