/*
 * engine/supervise.c - restart, stop, escalate; retry is in engine/retry.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/supervise.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "engine/ask.h"
#include "engine/behaviour.h"
#include "engine/block.h"
#include "engine/dead_letter.h"
#include "engine/engine.h"
#include "engine/freeze.h"
#include "engine/life.h"
#include "engine/own.h"
#include "engine/halt.h"
#include "engine/retry.h"
#include "engine/room.h"
#include "engine/stop.h"

static size_t size_of(uint32_t restart_max)
{
    return sizeof(weir__supervision) + restart_max * sizeof(weir_ns);
}

weir__supervision *weir__supervision_make(weir_engine *engine, const weir_processor_options *o)
{
    weir__supervision *s = weir__allocate(&engine->allocator, size_of(o->restart_max));
    if (s != NULL) {
        s->on_failure = o->on_failure;
        s->retry_then = o->retry_then;
        s->retry_max = o->retry_max;
        s->restart_max = o->restart_max;
        s->retry_delay = o->retry_delay;
        s->retry_delay_max = o->retry_delay_max;
        s->restart_window = o->restart_window;
    }
    return s;
}

void weir__supervision_free(weir_engine *engine, weir__supervision *supervision)
{
    if (supervision != NULL) {
        weir__release(&engine->allocator, supervision, size_of(supervision->restart_max));
    }
}

/* NULL: it resumes. */
static weir__supervision *of(const weir__processor *processor)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold != NULL ? cold->supervision : NULL;
}

void weir__supervise_over(weir__context *context)
{
    weir__cell *done = &context->tally.hooks_done;
    /* [Q1]: whatever it posted was attempted before. */
    weir__store(done, weir__load(done, relaxed) + 1, release);
    weir__engine_progress_if_stopping(context->engine);
}

static void say(const weir_turn *turn, weir_log_level level, weir__log_gate *gate,
                weir_status reason, const char *what)
{
    weir_engine *engine = turn->context->engine;
    if (!weir__log_on(&engine->log, level)) {
        return;
    }
    char component[112];
    weir__life_component(turn->processor, component, sizeof(component));
    const char *text = weir__supervision_of(turn->processor)->text;
    const weir_log_field field = { "reason", text[0] != '\0' ? text : weir_status_text(reason) };
    weir__log_say(&engine->log, gate, level, reason, component, what, &field, 1);
}

/* ---- stop ---- */

/* From here on no event reaches it; its next turn ends it. */
static bool stop(weir_turn *turn, weir_status reason, const char *why)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    cold->end_reason = reason;
    weir__life_keep_text(engine, cold, cold->supervision->text);
    say(turn, WEIR_LOG_ERROR, NULL, reason, why);
    weir__or(&processor->control, WEIR__CONTROL_FAILED, release);
    (void)weir__room_close(engine, processor); /* it is ours: nobody else has to push it */
    return false;
}

/* ---- restart ---- */

static bool may_restart(weir__supervision *s)
{
    const uint64_t count = weir__cell_read(&s->restarts);
    weir_ns *oldest = &s->restarted_at[count % s->restart_max];
    const weir_ns now = weir__clock_now();
    if (count >= s->restart_max && now - *oldest <= s->restart_window) {
        return false;
    }
    *oldest = now;
    return true;
}

/* One that somebody asked for is not among those that become too many. */
static void pass_over(weir__supervision *s)
{
    const uint64_t count = weir__cell_read(&s->restarts);
    s->restarted_at[count % s->restart_max] = weir__clock_now() - s->restart_window - 1;
}

/* No child is left. */
static bool restart_now(weir_turn *turn)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    weir__supervision *s = cold->supervision;
    say(turn, WEIR_LOG_WARNING, &engine->restart_gate, s->reason, "it is restarted");
    const uint32_t control =
        weir__and(&processor->control, ~(uint32_t)WEIR__CONTROL_RESTART, relaxed);
    if (cold->destroy != NULL) {
        weir__life_destroy(engine, processor, s->reason);
    }
    if (cold->state_size > 0) {
        memset(processor->state, 0, cold->state_size);
    }
    weir__behaviour_reset(processor);
    weir__asks_drop(turn, (control & WEIR__CONTROL_RETRY) != 0 ? &s->held : NULL);
    weir__cell_add(&s->restarts, 1);
    weir__cell_add(&turn->context->tally.restarts, 1);
    if (!weir__life_init_again(turn)) {
        weir__or(&processor->control, WEIR__CONTROL_FAILED, release); /* its end is still due */
        return false;
    }
    weir__supervise_over(turn->context);
    return true;
}

/* registry.lock held. */
static bool has_children(const weir__processor *processor)
{
    return weir__processor_cold_of(processor)->first_child != NULL;
}

static bool begin_restart(weir_turn *turn)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    /* First: whoever adds a child under the lock sees it, or is seen by us. */
    weir__or(&processor->control, WEIR__CONTROL_RESTART, relaxed);
    weir__mutex_lock(&engine->registry.lock);
    const bool waits = has_children(processor);
    weir__mutex_unlock(&engine->registry.lock);
    if (waits) {
        turn->aside = WEIR__ASIDE_CHILDREN;
        return false;
    }
    return restart_now(turn);
}

static bool restart(weir_turn *turn, weir_status reason)
{
    return may_restart(weir__supervision_of(turn->processor))
               ? begin_restart(turn)
               : stop(turn, reason, "it is stopped: it was restarted too often");
}

static bool aside_for_children(weir_turn *turn)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    weir__mutex_lock(&engine->registry.lock);
    const bool waits = has_children(processor);
    if (waits) {
        weir__processor_cold_of(processor)->restart_waits = true;
        weir__supervise_fail_children(turn->context, processor);
        weir__stop_children(engine, processor);
    }
    weir__mutex_unlock(&engine->registry.lock);
    return waits;
}

/* ---- escalate ---- */

/* registry.lock held. False: it decides about its children no longer, or not now. */
static bool decides(const weir__processor *parent)
{
    const weir__processor_cold *cold = weir__processor_cold_of(parent);
    const uint32_t control = weir__load(&((weir__processor *)(uintptr_t)parent)->control, acquire);
    return !cold->ending && !cold->restart_waits && (control & WEIR__CONTROL_ENDS) == 0;
}

/* registry.lock held. The child was put aside, and goes on. */
static void let_go(weir__processor *child)
{
    weir__processor_cold_of(child)->escalation_passed = false;
    weir__dispatcher_push(weir__processor_dispatcher(child), child);
}

static void resume(weir__context *context, weir__processor *child)
{
    if (weir__processor_cold_of(child)->escalations != NULL) {
        weir__or(&child->control, WEIR__CONTROL_RESUMED, release);
    }
    let_go(child);
    weir__supervise_over(context);
}

static void fail_in(weir_engine *engine, weir__processor *child)
{
    weir__processor_cold *cold = weir__processor_cold_of(child);
    cold->end_reason = cold->escalation;
    weir__or(&child->control, WEIR__CONTROL_FAILED, release);
    (void)weir__room_close(engine, child);
    let_go(child);
}

static void fail(weir__context *context, weir__processor *child)
{
    fail_in(context->engine, child);
}

/* registry.lock held. Lets those go that are `passed`, or those that are not. */
static void release_children(weir__context *context, weir__processor *parent, bool passed,
                             void (*how)(weir__context *, weir__processor *))
{
    weir__processor **link = &weir__processor_cold_of(parent)->escalations;
    while (*link != NULL) {
        weir__processor *child = *link;
        weir__processor_cold *cold = weir__processor_cold_of(child);
        if (cold->escalation_passed == passed) {
            *link = cold->escalation_next;
            how(context, child);
        } else {
            link = &cold->escalation_next;
        }
    }
}

void weir__supervise_fail_children(weir__context *context, weir__processor *parent)
{
    release_children(context, parent, true, fail);
    release_children(context, parent, false, fail);
}

static bool escalate(weir_turn *turn, weir_status reason)
{
    weir__processor_cold *cold = weir__processor_cold_of(turn->processor);
    if (cold->parent == NULL) {
        return stop(turn, reason, "it is stopped: it has no parent to escalate to");
    }
    say(turn, WEIR_LOG_WARNING, &turn->context->engine->escalate_gate, reason,
        "its failure goes to its parent");
    /* It may be why it ends. */
    weir__life_keep_text(turn->context->engine, cold, cold->supervision->text);
    turn->aside = WEIR__ASIDE_PARENT;
    return false;
}

static bool aside_for_parent(weir_turn *turn)
{
    weir__processor *processor = turn->processor;
    weir_engine *engine = turn->context->engine;
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    const weir_status reason = cold->supervision->reason;
    weir__mutex_lock(&engine->registry.lock);
    weir__processor *parent = cold->parent;
    const bool frozen = weir__processor_is_frozen(processor);
    const bool waits = !frozen && decides(parent);
    if (waits) {
        weir__processor_cold *above = weir__processor_cold_of(parent);
        cold->escalation = reason;
        cold->escalation_passed = false;
        cold->escalation_next = above->escalations;
        above->escalations = processor;
        const uint32_t control = weir__or(&parent->control, WEIR__CONTROL_ESCALATED, release);
        if ((control & WEIR__CONTROL_ESCALATED) == 0 && weir__mailbox_nudge(&parent->mailbox)) {
            weir__dispatcher_push(weir__processor_dispatcher(parent), parent);
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (frozen) {
        weir__supervise_over(turn->context); /* its end has come anyway */
    } else if (!waits) {
        (void)stop(turn, reason, "it is stopped: its parent ends");
    }
    return waits;
}

/* ---- all of them ---- */

static weir_directive directive_for(const weir__processor *processor,
                                    const weir__envelope *envelope)
{
    const weir__supervision *s = of(processor);
    const uint32_t state = weir__load(&((weir__envelope *)(uintptr_t)envelope)->state, relaxed);
    if (s == NULL ||
        ((state & WEIR__ENVELOPE_OWN) != 0 && weir__own_is_blameless(envelope->type))) {
        return WEIR_RESUME;
    }
    if (s->on_failure != WEIR_RETRY) {
        return s->on_failure;
    }
    const uint32_t tries = envelope == &s->held.envelope ? s->tries : 0;
    return tries < s->retry_max ? WEIR_RETRY : s->retry_then;
}

static bool apply(weir_turn *turn, weir_directive directive, weir_status reason)
{
    switch (directive) {
    case WEIR_RESTART:
        return restart(turn, reason);
    case WEIR_STOP:
        return stop(turn, reason, "it is stopped: its handler failed");
    case WEIR_ESCALATE:
        return escalate(turn, reason);
    case WEIR_RESUME:
    case WEIR_RETRY:
    default:
        return true;
    }
}

/* The event is dead; what follows for its processor. */
static bool end_event(weir_turn *turn, weir__envelope *envelope, const weir_event *event,
                      weir_directive directive, weir_status reason)
{
    weir__context *context = turn->context;
    weir__processor *processor = turn->processor;
    const bool resumes = directive == WEIR_RESUME;
    if (weir__freeze_leaves(processor)) {
        /* No letter: of what is left the stop has spoken. */
    } else if (reason == WEIR__FORGOTTEN) {
        weir__dead_letter(context, WEIR_DEAD_FAILED, WEIR_UNKNOWN, event->from.sender, turn->self,
                          event, "its asker was restarted meanwhile");
    } else {
        weir__life_failed(turn, event, reason);
    }
    weir__envelope_end(context, envelope, weir__load(&envelope->state, relaxed));
    if (!resumes) {
        weir__cell_add(&context->tally.hooks_due, 1); /* before the event is done with */
    }
    const bool goes_on = weir__freeze_count(context, processor, false);
    if (resumes) {
        return goes_on;
    }
    if ((weir__load(&processor->control, acquire) & WEIR__CONTROL_FREEZE) != 0 ||
        weir__engine_phase(context->engine) >= WEIR__ABANDONED) {
        weir__supervise_over(context); /* its end has come anyway, and no hook may begin */
        return false;
    }
    return apply(turn, directive, reason) && goes_on;
}

/* A request from outside, which is handled by this. */
static bool carry_out(weir_turn *turn, weir__envelope *envelope, weir_status what)
{
    weir__context *context = turn->context;
    weir__processor *processor = turn->processor;
    const bool restarts = what == WEIR__RESTARTS;
    weir__envelope_end(context, envelope, weir__load(&envelope->state, relaxed));
    if (restarts) {
        weir__cell_add(&context->tally.hooks_due, 1); /* before the request is done with */
    }
    const bool goes_on = weir__freeze_count(context, processor, true);
    if ((weir__load(&processor->control, acquire) & WEIR__CONTROL_FREEZE) != 0 ||
        weir__engine_phase(context->engine) >= WEIR__ABANDONED) {
        if (restarts) {
            weir__supervise_over(context); /* its end has come anyway, and no hook may begin */
        } else {
            weir__halt_lost(turn);
        }
        return false;
    }
    if (!restarts) {
        turn->aside = WEIR__ASIDE_HALT;
        return false;
    }
    weir__supervision *s = weir__supervision_of(processor);
    s->reason = WEIR_OK;
    snprintf(s->text, sizeof(s->text), "it was asked for");
    pass_over(s);
    return begin_restart(turn) && goes_on;
}

bool weir__supervise(weir_turn *turn, weir__envelope *envelope, const weir_event *event,
                     weir_status reason)
{
    if (reason == WEIR__RESTARTS || reason == WEIR__HALTS) {
        return carry_out(turn, envelope, reason);
    }
    const bool blameless = reason == WEIR__FORGOTTEN;
    const weir_directive directive =
        blameless ? WEIR_RESUME : directive_for(turn->processor, envelope);
    weir__supervision *s = of(turn->processor);
    turn->dead++;
    if (s != NULL && !blameless) {
        s->reason = reason;
        snprintf(s->text, sizeof(s->text), "%s", weir__turn_text(turn));
    }
    if (directive == WEIR_RETRY) {
        weir__retry_hold(turn, envelope);
        return false;
    }
    return end_event(turn, envelope, event, directive, reason);
}

/* registry.lock held. False: it does not wait for its parent. */
static bool leave_list(weir__processor *child)
{
    const weir__processor_cold *cold = weir__processor_cold_of(child);
    weir__processor **link =
        cold->parent != NULL ? &weir__processor_cold_of(cold->parent)->escalations : NULL;
    while (link != NULL && *link != NULL && *link != child) {
        link = &weir__processor_cold_of(*link)->escalation_next;
    }
    if (link == NULL || *link == NULL) {
        return false;
    }
    *link = cold->escalation_next;
    return true;
}

void weir__supervise_hurry(weir_engine *engine, weir__processor *processor)
{
    if (weir__halt_end(processor) || of(processor) == NULL) {
        return;
    }
    if (leave_list(processor)) {
        fail_in(engine, processor);
    } else {
        weir__retry_hurry(engine, processor);
    }
}

bool weir__supervise_aside(weir_turn *turn)
{
    const weir__aside why = (weir__aside)turn->aside;
    turn->aside = WEIR__ASIDE_NOT;
    switch (why) {
    case WEIR__ASIDE_RETRY:
        return weir__retry_aside(turn);
    case WEIR__ASIDE_CHILDREN:
        return aside_for_children(turn);
    case WEIR__ASIDE_PARENT:
        return aside_for_parent(turn);
    case WEIR__ASIDE_HALT:
        return weir__halt_aside(turn);
    case WEIR__ASIDE_NOT:
    default:
        return false;
    }
}

/* registry.lock held. About a child's failure: what is to be done with oneself. */
static weir_directive decide(const weir_turn *turn, weir_status *reason)
{
    const weir__processor *processor = turn->processor;
    const weir__supervision *s = of(processor);
    const weir__processor *child = weir__processor_cold_of(processor)->escalations;
    while (child != NULL && weir__processor_cold_of(child)->escalation_passed) {
        child = weir__processor_cold_of(child)->escalation_next;
    }
    if (child == NULL || s == NULL) {
        return WEIR_RESUME;
    }
    *reason = weir__processor_cold_of(child)->escalation;
    return s->on_failure == WEIR_RETRY ? s->retry_then : s->on_failure;
}

/* registry.lock held. */
static void pass_children(weir__processor *parent)
{
    for (weir__processor *child = weir__processor_cold_of(parent)->escalations; child != NULL;
         child = weir__processor_cold_of(child)->escalation_next) {
        weir__processor_cold_of(child)->escalation_passed = true;
    }
}

bool weir__supervise_begin(weir_turn *turn)
{
    weir__context *context = turn->context;
    weir__processor *processor = turn->processor;
    weir_engine *engine = context->engine;
    weir_directive directive = WEIR_RESUME;
    weir_status reason = WEIR_OK;
    weir__mutex_lock(&engine->registry.lock);
    const uint32_t control = weir__and(
        &processor->control, ~(uint32_t)(WEIR__CONTROL_ESCALATED | WEIR__CONTROL_RESUMED), acq_rel);
    const bool nudged = (control & WEIR__CONTROL_ESCALATED) != 0;
    if (nudged) {
        weir__mailbox_unreserve(&processor->mailbox);
    }
    if (!decides(processor)) {
        weir__supervise_fail_children(context, processor);
    } else {
        if ((control & WEIR__CONTROL_RESUMED) != 0) {
            release_children(context, processor, true, resume);
        }
        directive = decide(turn, &reason);
        if (directive == WEIR_RESUME) {
            release_children(context, processor, false, resume);
        } else if (directive == WEIR_ESCALATE) {
            pass_children(processor);
        } /* else they end with it, or before it */
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (nudged) {
        weir__room_appeared(context, processor, weir__load(&processor->mailbox.word, seq_cst));
    }
    if ((control & WEIR__CONTROL_ENDS) != 0) {
        return true;
    }
    if ((control & WEIR__CONTROL_RESTART) != 0 && !restart_now(turn)) {
        return false;
    }
    if (directive == WEIR_RESUME) {
        return true;
    }
    weir__supervision_of(processor)->reason = reason;
    weir__supervision_of(processor)->text[0] = '\0';
    weir__cell_add(&context->tally.hooks_due, 1);
    return apply(turn, directive, reason);
}

/* ---- the end ---- */

void weir__supervise_end(weir_turn *turn)
{
    weir__processor *processor = turn->processor;
    const uint32_t control = weir__and(
        &processor->control, ~(uint32_t)(WEIR__CONTROL_RETRY | WEIR__CONTROL_RESTART), acq_rel);
    if ((control & WEIR__CONTROL_RETRY) != 0) {
        weir__retry_release(turn->context, weir__supervision_of(processor));
        weir__freeze_discard(turn->context, processor);
    }
    /* Its failure does not go up any more: a freeze was faster. */
    if ((control & WEIR__CONTROL_RESTART) != 0 || turn->aside == WEIR__ASIDE_PARENT) {
        weir__supervise_over(turn->context);
    }
    turn->aside = WEIR__ASIDE_NOT; /* the thread's next turn is another's */
}

void weir__supervise_bury(weir__context *context, weir__processor *processor)
{
    if ((weir__load(&processor->control, acquire) & WEIR__CONTROL_RETRY) != 0) {
        weir__retry_release(context, weir__supervision_of(processor));
    }
}
