/*
 * engine/life.c - init, destroy, unregistration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/life.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/ask.h"
#include "engine/behaviour.h"
#include "engine/engine.h"
#include "engine/event_time.h"
#include "engine/fed.h"
#include "engine/freeze.h"
#include "engine/ready.h"
#include "engine/room.h"
#include "engine/stop.h"
#include "engine/supervise.h"
#include "engine/watchdog.h"

void weir__life_component(const weir__processor *processor, char *out, size_t size)
{
    char name[96];
    weir__processor_text(processor, name, sizeof(name));
    snprintf(out, size, "processor %s", name);
}

void weir__life_warn_unhandled(weir_turn *turn, const weir_event *event)
{
    weir__log *log = &turn->context->engine->log;
    if (!weir__log_on(log, WEIR_LOG_WARNING)) {
        return;
    }
    char component[112];
    weir__life_component(turn->processor, component, sizeof(component));
    const weir_log_field field = { "type", event->type->name };
    weir__log_say(log, &turn->context->engine->unhandled_gate, WEIR_LOG_WARNING, WEIR_UNHANDLED,
                  component, "an event was not handled", &field, 1);
}

static void warn_failed(weir_turn *turn, const weir_event *event, weir_status status)
{
    weir__log *log = &turn->context->engine->log;
    if (!weir__log_on(log, WEIR_LOG_WARNING)) {
        return;
    }
    char component[112];
    weir__life_component(turn->processor, component, sizeof(component));
    const char *text = weir__turn_text(turn);
    const weir_log_field fields[] = { { "type", event->type->name }, { "reason", text } };
    weir__log_say(log, &turn->context->engine->failed_gate, WEIR_LOG_WARNING, status, component,
                  "its handler failed; the event is dead", fields, text[0] != '\0' ? 2 : 1);
}

void weir__life_failed(weir_turn *turn, const weir_event *event, weir_status status)
{
    warn_failed(turn, event, status);
    weir__dead_letter(turn->context, WEIR_DEAD_FAILED, status, event->from.sender, turn->self,
                      event, weir__turn_text(turn));
}

/* A failed init during start is the error of that call; later it is a line in the log. */
static void report_init(weir_turn *turn, weir_status status)
{
    weir_engine *engine = turn->context->engine;
    char component[112];
    weir__life_component(turn->processor, component, sizeof(component));
    const char *reason = weir__turn_text(turn);
    const char *text = reason[0] != '\0' ? reason : weir_status_text(status);
    if (weir__engine_phase(engine) == WEIR__STARTING) {
        weir__mutex_lock(&engine->registry.lock);
        const bool starting = engine->start_error != NULL; /* else it has decided already */
        if (starting) {
            weir__error_at(engine->start_error, status < 0 ? status : WEIR_E_FAILED, component,
                           "its init failed: %s", text);
            weir__store(&engine->start_failed, 1, seq_cst);
        }
        weir__mutex_unlock(&engine->registry.lock);
        if (starting) {
            return;
        }
    }
    const weir_log_field field = { "reason", text };
    weir__log_say(&engine->log, NULL, WEIR_LOG_ERROR, status, component,
                  "its init failed; it is stopped", &field, 1);
}

void weir__life_keep_text(weir_engine *engine, weir__processor_cold *cold, const char *text)
{
    weir__release_text(&engine->allocator, cold->end_text);
    cold->end_text = NULL;
    if (text[0] != '\0') {
        (void)weir__copy_text(&engine->allocator, text, &cold->end_text);
    }
}

/* Runs the hook, and says so if it fails. */
static weir_status run_init(weir_turn *turn)
{
    weir__processor *processor = turn->processor;
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    weir__trail_hook(turn->trail, turn->self.id, WEIR__HOOK_INIT);
    weir_status status = cold->init(processor->state, turn, cold->argument);
    weir__trail_hook_done(turn->trail);
    if (status == WEIR_ALREADY) {
        status = WEIR_OK; /* what it watched or subscribed to before a restart, it still does */
    }
    if (status != WEIR_OK) {
        report_init(turn, status);
        weir__life_keep_text(turn->context->engine, cold, weir__turn_text(turn));
    }
    return status;
}

static void set_broken(const weir_turn *turn, weir_status status)
{
    weir__processor_cold_of(turn->processor)->end_reason = status;
    weir__or(&turn->processor->control, WEIR__CONTROL_BROKEN, release);
}

bool weir__life_init_again(weir_turn *turn)
{
    const weir__processor_cold *cold = weir__processor_cold_of(turn->processor);
    const weir_status status = cold->init != NULL ? run_init(turn) : WEIR_OK;
    if (status != WEIR_OK) {
        set_broken(turn, status);
    }
    return status == WEIR_OK;
}

void weir__life_begin(weir_turn *turn)
{
    weir__processor *processor = turn->processor;
    /* Both bits at once: whoever says that nobody waits for it (below) comes before or after. */
    const uint32_t control = weir__and(
        &processor->control, ~(uint32_t)(WEIR__CONTROL_INIT | WEIR__CONTROL_AWAITED), seq_cst);
    /* A stop that ran out of time before it began: it never begins. */
    weir_status status = WEIR_STOPPING;
    if ((weir__load(&processor->control, acquire) & WEIR__CONTROL_FREEZE) == 0) {
        status = run_init(turn);
    }
    if (status != WEIR_OK) {
        set_broken(turn, status);
    }
    weir__tally *tally = &turn->context->tally;
    /* [Q1]: the hook, and all that it posted, was attempted before. */
    weir__store(&tally->hooks_done, weir__load(&tally->hooks_done, relaxed) + 1, release);
    weir_engine *engine = turn->context->engine;
    if ((control & WEIR__CONTROL_AWAITED) != 0 &&
        weir__sub(&engine->inits_awaited, 1, seq_cst) == 1) {
        weir__engine_progress(engine);
    } else {
        weir__engine_progress_if_stopping(engine);
    }
}

void weir__life_unawait(weir_engine *engine, weir__processor *processor)
{
    const uint32_t control =
        weir__and(&processor->control, ~(uint32_t)WEIR__CONTROL_AWAITED, seq_cst);
    if ((control & WEIR__CONTROL_AWAITED) != 0 &&
        weir__sub(&engine->inits_awaited, 1, seq_cst) == 1) {
        weir__engine_progress(engine);
    }
}

void weir__life_free_state(weir_engine *engine, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    if (cold != NULL && cold->state_size > 0) {
        weir__release(&engine->allocator, processor->state, cold->state_size);
        cold->state_size = 0;
    }
}

void weir__life_free(weir_engine *engine, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    if (cold == NULL) {
        return;
    }
    weir__life_free_state(engine, processor);
    if (cold->agenda != NULL) {
        weir__agenda_free(engine, cold->agenda);
    }
    weir__behaviours_free(engine, cold->behaviours);
    weir__supervision_free(engine, cold->supervision);
    weir__release_text(&engine->allocator, cold->end_text);
    weir__subscriptions_free(engine, cold->subscriptions);
    weir__asks_free(engine, weir__load(&cold->asks, relaxed));
    weir__latency_end(engine, cold);
    weir__release_text(&engine->allocator, cold->name);
    weir__release(&engine->allocator, cold, sizeof(*cold));
    weir__store(&processor->cold, NULL, relaxed);
    engine->registry.colds--;
}

void weir__life_leave_family(weir__processor_cold *cold)
{
    if (cold->parent == NULL) {
        return;
    }
    weir__processor_cold *parent = weir__processor_cold_of(cold->parent);
    if (cold->previous_sibling != NULL) {
        weir__processor_cold_of(cold->previous_sibling)->next_sibling = cold->next_sibling;
    } else {
        parent->first_child = cold->next_sibling;
    }
    if (cold->next_sibling != NULL) {
        weir__processor_cold_of(cold->next_sibling)->previous_sibling = cold->previous_sibling;
    }
}

/* registry.lock held. */
static void unregister(weir_engine *engine, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    weir__dispatcher *dispatcher = weir__processor_dispatcher(processor);
    weir__store(&dispatcher->processors, weir__load(&dispatcher->processors, relaxed) - 1, relaxed);
    if (cold != NULL && cold->needs_final) {
        cold->needs_final = false;
        engine->registry.needing--;
    }
    if (cold != NULL) {
        if (cold->name != NULL) {
            weir__namemap_remove(&engine->registry.names, cold->name);
        }
        weir__life_leave_family(cold);
        weir__latency_end(engine, cold);
        if (cold->stop != NULL) {
            weir__stop_add(cold->stop, processor, weir__cell_read(&cold->left));
            weir__stop_answer(cold->stop, WEIR_OK);
            weir__stop_release(engine, cold->stop);
        }
        if (weir__load(&cold->frozen, relaxed) != 0) {
            weir__freeze_over(engine);
        }
        if (cold->dedicated != NULL) {
            weir__store(&cold->dedicated->leave, 1, seq_cst);
        }
    }
}

/* registry.lock held. The parent, if it waited for this child only and must be pushed. */
static weir__processor *close_parent(weir_engine *engine, const weir__processor *processor)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    weir__processor *parent = cold != NULL ? cold->parent : NULL;
    return parent != NULL && weir__stop_close(engine, parent) ? parent : NULL;
}

bool weir__life_waits_for_children(weir__context *context, weir__processor *processor)
{
    weir_engine *engine = context->engine;
    weir__mutex_lock(&engine->registry.lock);
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    const bool waits = cold != NULL && cold->first_child != NULL;
    if (waits) {
        cold->ending = true;
        cold->end_waits = true;
        weir__supervise_fail_children(context, processor);
        weir__stop_children(engine, processor);
    }
    weir__mutex_unlock(&engine->registry.lock);
    return waits;
}

void weir__life_destroy(weir_engine *engine, weir__processor *processor, weir_status reason)
{
    weir__trail *outer = weir__context_trail();
    const bool own = outer != NULL && outer->engine == engine;
    weir__trail brief = { .engine = engine, .thread = own ? outer->thread : NULL };
    /* The engine's own threads have theirs; others, and a handler that ends what nobody else will,
     * get one for as long as it takes. */
    weir__trail *trail = own && !weir__trail_runs(outer) ? outer : &brief;
    weir__watched watched = { .trail = trail };
    (void)weir__context_trail_swap(trail);
    if (trail == &brief) {
        watched.name = brief.thread != NULL ? brief.thread->name : NULL;
        weir__watched_by(&watched, weir__context_system_id());
        weir__watchdog_add(engine, &watched);
        weir__watched_up(engine, &watched);
    }
    weir__trail_hook(trail, weir__load(&processor->id, relaxed), WEIR__HOOK_DESTROY);
    weir__processor_cold_of(processor)->destroy(processor->state, reason);
    weir__trail_hook_done(trail);
    if (trail == &brief) {
        weir__watchdog_remove(engine, &watched);
    }
    (void)weir__context_trail_swap(outer);
}

static weir_status end_reason(const weir__processor *processor, const weir__processor_cold *cold)
{
    weir__processor *p = (weir__processor *)(uintptr_t)processor;
    return (weir__load(&p->control, acquire) & WEIR__CONTROL_FREEZE) != 0 ? WEIR_TIMEOUT
                                                                          : cold->end_reason;
}

static bool ends_quietly(const weir__processor_cold *cold)
{
    return cold == NULL ||
           (cold->destroy == NULL && cold->first_child == NULL && cold->parent == NULL &&
            cold->dedicated == NULL && cold->stop == NULL && cold->agenda == NULL &&
            cold->watchers == NULL && cold->watches == NULL && cold->subscriptions == NULL &&
            weir__load(&((weir__processor_cold *)(uintptr_t)cold)->asks, relaxed) == NULL);
}

/* The close and the ready edge in one step: whoever finds it idle owns it from there on, and no
 * event was accepted in between. */
static bool close_if_idle(weir__mailbox *mailbox)
{
    uint64_t word = weir__load(&mailbox->word, relaxed);
    do {
        (void)weir__mailbox_was_leased(mailbox, &word);
        if ((word & WEIR__MAILBOX_READY) != 0) {
            return false; /* it has events, or a hook is due, or it is closed already */
        }
        /* [A] pairs with [F]: what the last turn wrote, its counts and the state included. */
    } while (weir__mailbox_is_leased(word) ||
             !weir__cas(&mailbox->word, &word, word | WEIR__MAILBOX_CLOSED | WEIR__MAILBOX_READY,
                        seq_cst, relaxed));
    return true;
}

bool weir__life_end_idle(weir__context *context, weir__processor *processor,
                         weir_stop_report *report)
{
    weir_engine *engine = context->engine;
    if (!ends_quietly(weir__processor_cold_of(processor)) || !close_if_idle(&processor->mailbox)) {
        return false;
    }
    if (weir__processor_blocks(processor)) {
        weir__room_wake_threads(engine, weir__processor_room(processor));
    }
    weir__stop_count(report, processor, 0);
    weir__room_gone(context, processor); /* no mark: no slot is reused while we have the lock */
    unregister(engine, processor);       /* it has no parent */
    weir__life_free_state(engine, processor);
    weir__registry_retire(engine, processor);
    if (engine->registry.needing == 0) {
        weir__engine_progress_if_stopping(engine);
    }
    return true;
}

/* registry.lock held, the handle is stale. What it returns is for weir__down_free. */
static weir__watch *tell_watchers(weir__context *context, const weir__processor *processor)
{
    /* Again: who came to watch it may have made it. */
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold != NULL ? weir__down_end(context, cold, end_reason(processor, cold)) : NULL;
}

/* registry.lock held. */
static bool is_subscriber(const weir__processor *processor)
{
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    return cold != NULL && cold->subscriptions != NULL;
}

void weir__life_end(weir__context *context, weir__processor *processor)
{
    weir_engine *engine = context->engine;
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    const uint32_t control = weir__load(&processor->control, acquire);
    const uint64_t self = weir__load(&processor->id, relaxed);
    if (cold != NULL && cold->destroy != NULL &&
        (control & (WEIR__CONTROL_INIT | WEIR__CONTROL_BROKEN)) == 0) {
        weir__life_destroy(engine, processor, end_reason(processor, cold));
    }
    if (cold != NULL && cold->agenda != NULL) {
        weir__agenda_clear(cold->agenda);
    }
    weir__asks_end(engine, processor);
    weir__context_enter(context);
    weir__room_gone(context, processor);
    weir__context_leave(context);

    weir__mutex_lock(&engine->registry.lock);
    if (is_subscriber(processor)) {
        /* Who subscribes it after this look finds its mailbox closed. */
        weir__mutex_unlock(&engine->registry.lock);
        weir__channels_leave(engine, processor);
        weir__mutex_lock(&engine->registry.lock);
    }
    unregister(engine, processor);
    /* The cold part stays with the slot: a poster inside its mark may be looking at it. */
    weir__life_free_state(engine, processor);
    weir__registry_retire(engine, processor);
    weir__watch *told = tell_watchers(context, processor);
    weir__processor *parent = close_parent(engine, processor); /* who may have been watching */
    const bool last = engine->registry.needing == 0;
    weir__mutex_unlock(&engine->registry.lock);
    if (parent != NULL) {
        weir__ready_elsewhere(context, parent);
    }
    weir__down_free(context, told);
    weir__letters_flush(context);
    weir__fed_room(context, self); /* what feeds have for it is in vain */
    if ((control & WEIR__CONTROL_FAILED) != 0) {
        weir__supervise_over(context);
    }
    if (last) {
        weir__engine_progress_if_stopping(engine);
    }
}
