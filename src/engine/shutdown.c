/*
 * engine/shutdown.c - draining, and knowing when it is done.
 *
 * Nothing is in flight when everything that was attempted is done. Both are sums over cells with
 * one writer each, read while they move: first all that is done (D), then all that was attempted
 * (S). Both only grow, and an event is attempted before it is done, so at any moment t between the
 * two readings  D <= done(t) <= attempted(t) <= S.  If D = S, then nothing was in flight at t; and
 * since only handlers may still post, nothing will be again. [Q2] reads a done cell with acquire,
 * so that the attempts behind it are in S.
 *
 * Posts from outside see the phase inside their mark, after counting themselves: the heavy barrier
 * behind the change of phase makes each of them either counted or refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/shutdown.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "engine/agents.h"
#include "engine/bury.h"
#include "engine/fed.h"
#include "engine/freeze.h"
#include "engine/keeper.h"
#include "engine/lease.h"
#include "engine/processor.h"
#include "engine/room.h"
#include "engine/signal.h"
#include "engine/stop.h"
#include "engine/waiter.h"
#include "sync/word.h"

#define TIMEOUT_DEFAULT (30 * WEIR_S)
#define JOIN_GRACE (100 * WEIR_MS) /* for threads that only have to notice that it is over */

void weir__engine_progress(weir_engine *engine)
{
    weir__add(&engine->progress, 1, seq_cst);
    weir__word_wake(&engine->progress, INT32_MAX);
}

void weir__engine_progress_if_stopping(weir_engine *engine)
{
    const uint32_t phase = weir__load(&engine->phase, seq_cst);
    if (weir__unlikely(phase == WEIR__STOPPING || phase == WEIR__CLOSING)) {
        weir__engine_progress(engine);
    }
}

/* [Q2] pairs with [Q1]. */
#define SUM(name) sums->name += weir__load(&c->tally.name, acquire);

static void sum_done(weir_engine *engine, weir__sums *sums)
{
    const bool frozen = weir__load(&engine->frozen, acquire) == 2;
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        const weir__sums before = *sums;
        WEIR__TALLY_DONE(SUM)
        if (frozen) {
            sums->handled = before.handled + weir__load(&c->frozen_handled, relaxed);
            sums->dead = before.dead + weir__load(&c->frozen_dead, relaxed);
            sums->left = before.left + weir__load(&c->frozen_left, relaxed);
        }
    }
    weir__signals_sum_done(engine, sums);
}

static void sum_begun(weir_engine *engine, weir__sums *sums)
{
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        WEIR__TALLY_BEGUN(SUM)
    }
    weir__signals_sum_begun(engine, sums);
}

void weir__engine_sums(weir_engine *engine, weir__sums *sums)
{
    memset(sums, 0, sizeof(*sums));
    sum_done(engine, sums);
    sum_begun(engine, sums);
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        WEIR__TALLY_BESIDE(SUM)
    }
}
#undef SUM

bool weir__engine_is_quiet(weir_engine *engine)
{
    weir__sums s = { 0 };
    sum_done(engine, &s);
    weir__fence(seq_cst);
    sum_begun(engine, &s);
    uint64_t done = 0;
#define ADD(name) done += s.name;
    WEIR__TALLY_DONE(ADD)
#undef ADD
    return done == s.attempted + s.hooks_due;
}

/* Until `holds` or the deadline; woken by every thread that runs out of work. */
static bool wait_for(weir_engine *engine, bool (*holds)(weir_engine *), weir_ns deadline)
{
    for (;;) {
        const uint32_t seen = weir__load(&engine->progress, seq_cst);
        if (holds(engine)) {
            return true;
        }
        if (!weir__wait_until(&engine->progress, seen, deadline)) {
            return holds(engine);
        }
    }
}

static bool all_ended(weir_engine *engine)
{
    weir__mutex_lock(&engine->registry.lock);
    const bool ended = engine->registry.needing == 0;
    weir__mutex_unlock(&engine->registry.lock);
    return ended;
}

static void set_phase(weir_engine *engine, weir__phase phase)
{
    weir__store(&engine->phase, phase, seq_cst);
    weir__barrier_heavy();
}

/* Everybody who sleeps somewhere looks at the phase. */
static void wake_everyone(weir_engine *engine)
{
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread_wake(weir__thread_at(engine, i));
    }
    weir__room_wake_all(engine);
}

/* Every processor that has a hook, a family or a stop under way is ended in a turn of its own. */
static void end_processors(weir_engine *engine)
{
    weir__registry *registry = &engine->registry;
    weir__mutex_lock(&registry->lock);
    for (uint32_t i = 0; i < registry->used && registry->needing > 0; i++) {
        weir__processor *processor = weir__registry_slot(registry, i);
        const weir__processor_cold *cold = weir__processor_cold_of(processor);
        if (weir__processor_is_live(processor) && cold != NULL && cold->needs_final &&
            cold->parent == NULL) {
            weir__stop_family(engine, processor);
        }
    }
    weir__mutex_unlock(&registry->lock);
}

/* External threads never leave by themselves: the phase is all they need. */
static bool all_left(weir_engine *engine)
{
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        const uint32_t state = weir__load(&thread->state, acquire);
        if (thread->external ? weir__load(&thread->turning, acquire) != 0
                             : state != WEIR__THREAD_LEFT && state != WEIR__THREAD_JOINED &&
                                   state != WEIR__THREAD_NEW) {
            return false;
        }
    }
    return true;
}

bool weir__shutdown_join(weir_engine *engine, weir_ns deadline)
{
    bool left;
    for (;;) {
        const uint32_t seen = weir__load(&engine->threads_out, seq_cst);
        left = all_left(engine);
        if (left || !weir__wait_until(&engine->threads_out, seen, deadline)) {
            break;
        }
    }
    /* Every join is under the lock, so that each thread is joined once. Those that have left only
     * have to return. */
    weir__mutex_lock(&engine->registry.lock);
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        if (weir__load(&thread->state, acquire) == WEIR__THREAD_LEFT) {
            weir__os_thread_join(&thread->os);
            weir__store(&thread->state, WEIR__THREAD_JOINED, release);
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return left;
}

/* Closes every mailbox for good. registry.lock held. */
static void close_all(weir_engine *engine)
{
    weir__leases_retire(engine); /* at once: each by itself would take a barrier */
    for (uint32_t i = 0; i < engine->registry.used; i++) {
        weir__processor *p = weir__registry_slot(&engine->registry, i);
        if (weir__processor_is_live(p)) {
            weir__mailbox_close(&p->mailbox);
            weir__mailbox_renounce(&p->mailbox);
            weir__processor_settle_evictions(p);
        }
    }
}

/* What waits in mailboxes when no turn begins any more. registry.lock held. *done: what processors
 * have counted as handled, dead or left, those that are gone included. */
static uint64_t count_waiting(weir_engine *engine, uint64_t *done)
{
    uint64_t waiting = 0;
    *done = engine->registry.done_gone;
    for (uint32_t i = 0; i < engine->registry.used; i++) {
        weir__processor *p = weir__registry_slot(&engine->registry, i);
        if (weir__processor_is_live(p)) {
            const uint64_t evicted = weir__processor_evicted(p);
            const uint64_t own = weir__processor_done(p);
            const uint64_t word = weir__load(&p->mailbox.word, acquire);
            waiting += weir__mailbox_outstanding(word, own + evicted);
            *done += own;
        }
    }
    return waiting;
}

/* The same, as threads have counted it, when the numbers were fixed. */
static uint64_t count_frozen(weir_engine *engine)
{
    uint64_t done = 0;
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        done += weir__load(&c->frozen_handled, relaxed) + weir__load(&c->frozen_dead, relaxed) +
                weir__load(&c->frozen_left, relaxed);
    }
    return done;
}

/* Whether a handler has returned since the numbers were fixed. */
static bool moved(weir_engine *engine)
{
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        if (weir__cell_read(&c->tally.handled) != weir__load(&c->frozen_handled, relaxed) ||
            weir__cell_read(&c->tally.dead) != weir__load(&c->frozen_dead, relaxed) ||
            weir__cell_read(&c->tally.left) != weir__load(&c->frozen_left, relaxed)) {
            return true;
        }
    }
    return false;
}

/* An abandoned engine: what is done is frozen, what is left is in the mailboxes; a handler that
 * returns between the two readings makes them disagree, so they are taken again. */
static uint64_t freeze_and_count(weir_engine *engine)
{
    uint64_t waiting;
    uint64_t done;
    uint32_t tries = 0;
    weir__mutex_lock(&engine->registry.lock);
    close_all(engine);
    /* Posters that found a mailbox open or full before it was closed have counted what they did,
     * once they have left their mark. One that is stopped in the middle is not waited for beyond
     * the grace. */
    (void)weir__contexts_wait(engine, weir__deadline(JOIN_GRACE, 0));
    weir__mutex_lock(&engine->count_lock); /* a handler that returns now counts before or after */
    do {
        weir__freeze_engine(engine);
        waiting = count_waiting(engine, &done);
        /* A thread may be stuck between counting for its processor and counting for itself: that
         * event is in no mailbox and in no sum. It is left. */
        const uint64_t frozen = count_frozen(engine);
        waiting += done > frozen ? done - frozen : 0;
    } while (moved(engine) && ++tries < 1000);
    weir__mutex_unlock(&engine->count_lock);
    weir__mutex_unlock(&engine->registry.lock);
    /* Nobody takes from feeds any more. Without the locks: who publishes holds its feed's, and may
     * be about to ask the registry where a subscriber is. */
    if (weir__load(&engine->feeds, acquire) != NULL) {
        waiting += engine->fed->waiting(engine);
    }
    return waiting;
}

/* Accepted is what became of it: posts that are refused at this moment are in no sum. */
static void write_report(weir_engine *engine, uint64_t waiting)
{
    weir__sums s;
    weir__engine_sums(engine, &s);
    weir_stop_report *report = &engine->stop_report;
    report->struct_size = sizeof(*report);
    report->handled = s.handled;
    report->dropped = s.dropped_newest + s.dropped_oldest;
    report->dead = s.dead;
    report->left = s.left + waiting;
    report->accepted = report->handled + report->dropped + report->dead + report->left;
    if (waiting > 0) {
        char left[24];
        snprintf(left, sizeof(left), "%llu", (unsigned long long)waiting);
        const weir_log_field field = { "left", left };
        weir__log_say(&engine->log, NULL, WEIR_LOG_ERROR, WEIR_TIMEOUT, "engine",
                      "its stop left events unhandled", &field, 1);
    }
}

/* Stops of single processors that nobody is left to finish. One that begins after this sees the
 * phase and answers itself. */
static void answer_stops(weir_engine *engine)
{
    weir__registry *registry = &engine->registry;
    weir__mutex_lock(&registry->lock);
    for (uint32_t i = 0; i < registry->used && registry->needing > 0; i++) {
        weir__processor *processor = weir__registry_slot(registry, i);
        const weir__processor_cold *cold = weir__processor_cold_of(processor);
        if (weir__processor_is_live(processor) && cold != NULL && cold->stop != NULL) {
            weir__stop_expire(engine, cold->stop, WEIR_OK);
        }
    }
    weir__mutex_unlock(&registry->lock);
}

/* Of threads that never ran, and of external ones. */
static void close_agents(weir_engine *engine)
{
    weir__mutex_lock(&engine->registry.lock);
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir__agents_close(weir__thread_at(engine, i));
    }
    weir__mutex_unlock(&engine->registry.lock);
}

bool weir__shutdown_claim(weir_engine *engine)
{
    uint32_t none = 0;
    return weir__cas(&engine->stop_done, &none, 1, seq_cst, relaxed);
}

/* registry.lock held. */
static void close_to_outsiders(weir_engine *engine, weir__phase phase)
{
    engine->stop_from = phase;
    set_phase(engine, WEIR__STOPPING);
}

void weir__shutdown_announce(weir_engine *engine)
{
    const weir__phase phase = weir__engine_phase(engine);
    if (phase == WEIR__CREATED || phase == WEIR__RUNNING) {
        close_to_outsiders(engine, phase);
    }
}

/* False: the start that was under way has failed, and has stopped everything. */
static bool begin_stopping(weir_engine *engine, bool *started)
{
    weir__mutex_lock(&engine->start_lock);    /* a start that is under way ends first */
    weir__mutex_lock(&engine->registry.lock); /* nothing is added any more */
    const weir__phase phase = weir__engine_phase(engine);
    if (phase < WEIR__STOPPING) {
        close_to_outsiders(engine, phase);
    }
    *started = engine->stop_from != WEIR__CREATED;
    weir__mutex_unlock(&engine->registry.lock);
    weir__mutex_unlock(&engine->start_lock);
    return phase <= WEIR__STOPPING; /* STOPPING: this stop was announced */
}

/* Until nothing is in flight, every hook has run and every thread can go. */
static bool drain(weir_engine *engine, weir_ns deadline)
{
    /* Alarms that are taken out of their wheels have questions to time out, and have not counted
     * that yet. */
    if (!wait_for(engine, weir__schedulers_left, deadline) ||
        !wait_for(engine, weir__engine_is_quiet, deadline)) {
        return false;
    }
    set_phase(engine, WEIR__CLOSING);
    weir__waiters_close(engine);
    /* Once more: a destroy hook may have posted in between. What it sent counted itself before it
     * looked at the phase. */
    if (!wait_for(engine, weir__engine_is_quiet, deadline)) {
        return false;
    }
    end_processors(engine);
    return wait_for(engine, all_ended, deadline);
}

static void end_stop(weir_engine *engine)
{
    /* [T3] pairs with [T4]: the report. */
    weir__store(&engine->stop_done, 2, seq_cst);
    weir__word_wake(&engine->stop_done, INT32_MAX);
}

void weir__shutdown(weir_engine *engine, weir_ns timeout)
{
    const weir_ns deadline = weir__deadline(timeout, TIMEOUT_DEFAULT);
    uint64_t waiting = 0;
    bool started;
    if (!begin_stopping(engine, &started)) {
        return;
    }
    weir__schedulers_close(engine);
    weir__room_wake_all(engine);
    if (started && drain(engine, deadline)) {
        set_phase(engine, WEIR__EXITING);
        wake_everyone(engine);
        weir__shutdown_join(engine, WEIR_FOREVER);
    } else {
        weir__add(&engine->attention, 1, seq_cst); /* turns end after the event at hand */
        set_phase(engine, WEIR__ABANDONED);
        weir__waiters_close(engine);
        wake_everyone(engine);
        weir__shutdown_join(engine, weir__deadline(JOIN_GRACE, 0));
        waiting = freeze_and_count(engine);
        engine->stop_status = started || waiting > 0 ? WEIR_TIMEOUT : WEIR_OK;
    }
    close_agents(engine);
    answer_stops(engine);
    write_report(engine, waiting);
    end_stop(engine);
}

void weir__shutdown_failed_start(weir_engine *engine)
{
    weir__shutdown_claim(engine);
    set_phase(engine, WEIR__EXITING);
    weir__schedulers_close(engine);
    weir__waiters_close(engine);
    wake_everyone(engine);
    weir__shutdown_join(engine, WEIR_FOREVER);
    close_agents(engine);
    weir__mutex_lock(&engine->registry.lock);
    close_all(engine);
    (void)weir__contexts_wait(engine, weir__deadline(JOIN_GRACE, 0));
    uint64_t done;
    const uint64_t waiting = count_waiting(engine, &done);
    weir__mutex_unlock(&engine->registry.lock);
    weir__bury_all(engine);
    write_report(engine, waiting);
    end_stop(engine);
}
