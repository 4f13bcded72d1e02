/*
 * engine/stop.c - the stop of one processor: begin, wait, answer, expire.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/stop.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/memory.h"
#include "engine/freeze.h"
#include "engine/keeper.h"
#include "engine/life.h"
#include "engine/room.h"
#include "engine/supervise.h"
#include "sync/word.h"

#define TIMEOUT_DEFAULT (30 * WEIR_S)

weir__processor_cold *weir__processor_cold_make(weir_engine *engine, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    if (cold == NULL) {
        cold = weir__allocate(&engine->allocator, sizeof(*cold));
        if (cold != NULL) {
            engine->registry.colds++;
            /* [K1]. */
            weir__store(&processor->cold, cold, release);
        }
    }
    return cold;
}

void weir__processor_needs_final(weir_engine *engine, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    WEIR_ASSERT(cold != NULL); /* whatever makes it necessary is kept there */
    if (!cold->needs_final) {
        cold->needs_final = true;
        engine->registry.needing++;
    }
}

void weir__stop_release(weir_engine *engine, weir__stop *stop)
{
    while (stop != NULL) {
        weir__stop *above = stop->above;
        WEIR_ASSERT(stop->references > 0);
        if (--stop->references > 0) {
            return;
        }
        weir__release(&engine->allocator, stop, sizeof(*stop));
        stop = above;
    }
}

static void add_report(weir_stop_report *to, const weir_stop_report *from)
{
    to->accepted += from->accepted;
    to->handled += from->handled;
    to->dropped += from->dropped;
    to->dead += from->dead;
    to->left += from->left;
}

void weir__stop_answer(weir__stop *stop, weir_status status)
{
    if (weir__load(&stop->done, relaxed) != 0) {
        return;
    }
    weir_stop_report *report = &stop->report;
    stop->status = report->left > 0 ? WEIR_TIMEOUT : status;
    if (stop->above != NULL && weir__load(&stop->above->done, relaxed) == 0) {
        add_report(&stop->above->report, report);
    }
    /* [T1] pairs with [T2]: the answer. */
    weir__store(&stop->done, 1, release);
    if (stop->waiters > 0) { /* mostly nobody: a wake-up costs more than all the rest */
        weir__word_wake(&stop->done, INT32_MAX);
    }
    if (stop->keeper != NULL) {
        weir__keeper_answered(stop);
    }
}

void weir__stop_count(weir_stop_report *report, const weir__processor *processor, uint64_t left)
{
    weir__processor_cold *c = weir__processor_cold_of(processor);
    const bool frozen = c != NULL && weir__load(&c->frozen, acquire) != 0;
    const uint64_t handled =
        frozen ? weir__load(&c->frozen_handled, relaxed) : weir__cell_read(&processor->handled);
    const uint64_t dead =
        frozen ? weir__load(&c->frozen_dead, relaxed) : weir__cell_read(&processor->dead);
    uint64_t dropped = 0;
    if (c != NULL) { /* without, its policy is to refuse */
        const uint64_t newest = weir__or(&c->dropped_newest, WEIR__DROPS_CLOSED, acq_rel);
        dropped = (newest & ~WEIR__DROPS_CLOSED) + weir__load(&c->dropped_oldest, relaxed);
    }
    report->handled += handled;
    report->dead += dead;
    report->dropped += dropped;
    report->left += left;
    report->accepted += handled + dead + dropped + left;
}

void weir__stop_add(weir__stop *stop, const weir__processor *processor, uint64_t left)
{
    if (weir__load(&stop->done, relaxed) == 0) {
        weir__stop_count(&stop->report, processor, left);
    }
}

bool weir__stop_close(weir_engine *engine, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    if (cold == NULL || cold->first_child != NULL) {
        return false;
    }
    const bool restarts = cold->restart_waits; /* in its next turn, for which it waits aside */
    cold->restart_waits = false;
    if (!cold->ending) {
        return restarts;
    }
    if (cold->end_waits) {
        cold->end_waits = false;
        return true; /* closed before, and put aside until now */
    }
    const uint64_t word = weir__load(&processor->mailbox.word, acquire);
    if (cold->stop != NULL && (word & WEIR__MAILBOX_CLOSED) == 0) { /* else it was noted */
        cold->stop->waiting = weir__mailbox_count(word);
    }
    return weir__room_close(engine, processor) || restarts;
}

/* A family in the order in which it ends: children before their parents. */
static weir__processor *deepest(weir__processor *at)
{
    for (;;) {
        const weir__processor_cold *cold = weir__processor_cold_of(at);
        if (cold == NULL || cold->first_child == NULL) {
            return at;
        }
        at = cold->first_child;
    }
}

static weir__processor *next_to_end(weir__processor *at, const weir__processor *root)
{
    if (at == root) {
        return NULL;
    }
    const weir__processor_cold *cold = weir__processor_cold_of(at);
    return cold->next_sibling != NULL ? deepest(cold->next_sibling) : cold->parent;
}

static weir__stop *new_stop(weir_engine *engine, const weir__processor *processor, weir_ns deadline)
{
    weir__stop *stop = weir__allocate(&engine->allocator, sizeof(*stop));
    if (stop != NULL) {
        stop->deadline = deadline;
        stop->processor.id = weir__load(&((weir__processor *)(uintptr_t)processor)->id, relaxed);
        stop->report.struct_size = sizeof(stop->report);
        stop->references = 1; /* the processor's */
        const weir__processor_cold *cold = weir__processor_cold_of(processor);
        if (cold != NULL && cold->name != NULL) {
            snprintf(stop->name, sizeof(stop->name), "%s", cold->name);
        }
    }
    return stop;
}

/* A record for every member that has none; none at all if one cannot be had. */
static weir_status make_records(weir_engine *engine, weir__processor *root, weir_ns deadline)
{
    weir__processor *p = deepest(root);
    for (; p != NULL; p = next_to_end(p, root)) {
        weir__processor_cold *cold = weir__processor_cold_make(engine, p);
        if (cold == NULL) {
            break;
        }
        if (cold->stop == NULL) {
            cold->stop_made = new_stop(engine, p, deadline);
            if (cold->stop_made == NULL) {
                break;
            }
        }
    }
    if (p == NULL) {
        return WEIR_OK;
    }
    for (weir__processor *q = deepest(root); q != p; q = next_to_end(q, root)) {
        weir__processor_cold *cold = weir__processor_cold_of(q);
        weir__release(&engine->allocator, cold->stop_made, sizeof(*cold->stop_made));
        cold->stop_made = NULL;
    }
    return WEIR_E_NOMEM;
}

/* Every member gets a stop; those below add themselves to the one above when they are answered. */
static weir_status prepare_family(weir_engine *engine, weir__processor *root, weir_ns deadline)
{
    if (make_records(engine, root, deadline) != WEIR_OK) {
        return WEIR_E_NOMEM;
    }
    weir__processor_cold *top = weir__processor_cold_of(root);
    top->stop = top->stop_made;
    top->stop_made = NULL;
    weir__processor_needs_final(engine, root);
    for (weir__processor *p = deepest(root); p != root; p = next_to_end(p, root)) {
        weir__processor_cold *cold = weir__processor_cold_of(p);
        if (cold->stop == NULL) {
            cold->stop = cold->stop_made;
            cold->stop_made = NULL;
            weir__processor_needs_final(engine, p);
        }
        if (cold->stop->above == NULL) { /* else its numbers are in the sum of the one above */
            if (weir__load(&cold->stop->done, relaxed) != 0) {
                add_report(&top->stop->report, &cold->stop->report); /* answered before */
            }
            cold->stop->above = top->stop;
            top->stop->references++;
        }
    }
    return WEIR_OK;
}

/* Leaves close at once; the others when their last child has ended. A pushed processor belongs to
 * its thread, but cannot vanish: unregistering needs the lock that we hold. */
void weir__stop_family(weir_engine *engine, weir__processor *root)
{
    for (weir__processor *p = deepest(root); p != NULL; p = next_to_end(p, root)) {
        weir__processor_cold *cold = weir__processor_cold_of(p);
        if (cold != NULL) {
            cold->ending = true;
        }
        const bool push = cold != NULL ? weir__stop_close(engine, p) : weir__room_close(engine, p);
        if (push) {
            weir__dispatcher_push(weir__processor_dispatcher(p), p);
        }
    }
}

void weir__stop_children(weir_engine *engine, weir__processor *parent)
{
    weir__processor *child = weir__processor_cold_of(parent)->first_child;
    while (child != NULL) {
        weir__stop_family(engine, child);
        child = weir__processor_cold_of(child)->next_sibling;
    }
}

/* With `unqueued`, processors that are in no ready queue are handed to the caller, who ends them.
 * */
static void freeze_family(weir_engine *engine, weir__processor *root, weir_status status,
                          weir__processor **unqueued)
{
    for (weir__processor *p = deepest(root); p != NULL; p = next_to_end(p, root)) {
        weir__processor_cold *cold = weir__processor_cold_of(p);
        const bool push = weir__room_close(engine, p); /* first: nothing is accepted any more */
        if (weir__load(&cold->frozen, relaxed) == 0) {
            const uint32_t left = weir__freeze_processor(engine, p);
            weir__stop_add(cold->stop, p, left);
            weir__supervise_hurry(engine, p);
        }
        weir__stop_answer(cold->stop, status);
        if (push) {
            if (unqueued != NULL) {
                p->ready_next = NULL;
                *unqueued = p;
                unqueued = &p->ready_next;
            } else {
                weir__dispatcher_push(weir__processor_dispatcher(p), p);
            }
        }
    }
}

static void expire(weir_engine *engine, weir__stop *stop, weir_status status,
                   weir__processor **unqueued)
{
    weir__processor *root = weir__registry_find(&engine->registry, stop->processor);
    if (weir__load(&stop->done, relaxed) != 0 || root == NULL) {
        return; /* answered, or about to be: unregistering answers */
    }
    stop->expired = true; /* there may be something to say: the keeper must not let it go */
    freeze_family(engine, root, status, unqueued);
    stop->expired = stop->status == WEIR_TIMEOUT;
}

void weir__stop_expire(weir_engine *engine, weir__stop *stop, weir_status status)
{
    expire(engine, stop, status, NULL);
}

void weir__stop_say(weir_engine *engine, weir__stop *stop)
{
    char component[128];
    char number[24];
    char name[24];
    weir__mutex_lock(&engine->registry.lock);
    const uint32_t waiting = stop->waiting;
    const bool expired = stop->expired;
    const unsigned long long left = stop->report.left;
    stop->waiting = 0;
    stop->expired = false;
    weir__mutex_unlock(&engine->registry.lock);
    if (waiting == 0 && !expired) {
        return;
    }
    weir__handle_text(stop->processor, name, sizeof(name));
    snprintf(component, sizeof(component), "processor %s",
             stop->name[0] != '\0' ? stop->name : name);
    if (waiting > 0) {
        snprintf(number, sizeof(number), "%u", waiting);
        const weir_log_field field = { "waiting", number };
        weir__log_say(&engine->log, NULL, WEIR_LOG_WARNING, WEIR_OK, component,
                      "stopping: events wait and are handled first", &field, 1);
    }
    if (expired) {
        snprintf(number, sizeof(number), "%llu", left);
        const weir_log_field field = { "left", number };
        weir__log_say(&engine->log, NULL, WEIR_LOG_ERROR, WEIR_TIMEOUT, component,
                      "its stop ran out of time; what is left is not handled", &field, 1);
    }
}

/* Ends what nobody else will, children first. Not with the lock held. */
static void end_unqueued(weir_engine *engine, weir__processor *first)
{
    if (first == NULL) {
        return;
    }
    weir__context *context = weir__context_find(engine);
    weir__context_handler_begin(); /* hooks run */
    while (first != NULL && context != NULL) {
        weir__processor *next = first->ready_next;
        if (!weir__life_waits_for_children(context, first)) {
            weir__life_end(context, first);
        }
        first = next;
    }
    weir__context_handler_end();
}

/* About who wanted room in one that was ended at once, and is gone itself. */
static void flush_letters(weir__context *context)
{
    if (context != NULL) {
        weir__letters_flush(context);
    }
}

static bool is_served(const weir_engine *engine)
{
    const weir__phase phase = weir__engine_phase(engine);
    return phase != WEIR__CREATED && phase < WEIR__ABANDONED;
}

/* registry.lock held. Most processors stand idle when they are stopped, and have nothing to run at
 * their end: no record, no turn and nobody else is needed. True: it is gone, *report says what
 * became of its events. */
static bool end_at_once(weir_engine *engine, weir__context *context, weir_processor handle,
                        weir_stop_report *report)
{
    weir__processor *processor = weir__registry_find(&engine->registry, handle);
    return processor != NULL && context != NULL && is_served(engine) &&
           weir__life_end_idle(context, processor, report);
}

/* registry.lock held. *out is referenced for the caller; *unqueued is to be ended by it. */
static weir_status begin(weir_engine *engine, weir_processor handle, weir_ns timeout,
                         weir__stop **out, weir__processor **unqueued)
{
    *unqueued = NULL;
    weir__processor *processor = weir__registry_find(&engine->registry, handle);
    if (processor == NULL) {
        return WEIR_UNKNOWN;
    }
    const weir__processor_cold *cold = weir__processor_cold_of(processor);
    const bool begun = cold != NULL && cold->stop != NULL;
    const bool served = is_served(engine);
    if (!begun) {
        const weir_status status =
            prepare_family(engine, processor, weir__deadline(timeout, TIMEOUT_DEFAULT));
        if (status != WEIR_OK) {
            return status;
        }
        if (served) {
            weir__stop_family(engine, processor);
        }
    }
    *out = weir__processor_cold_of(processor)->stop;
    (*out)->references++;
    if (!served) {
        expire(engine, *out, WEIR_OK, unqueued); /* nobody is there to drain it */
    }
    return begun ? WEIR_ALREADY : WEIR_OK;
}

weir_status weir_processor_stop(weir_engine *engine, weir_processor processor, weir_ns timeout,
                                weir_stop_report *report)
{
    weir_stop_report ended = WEIR_STOP_REPORT_INIT;
    weir__stop *stop = NULL;
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir__processor *unqueued = NULL;
    weir_status status = WEIR_OK;
    weir__context *context = weir__context_find(engine);
    weir__mutex_lock(&engine->registry.lock);
    if (!end_at_once(engine, context, processor, &ended)) {
        status = begin(engine, processor, timeout, &stop, &unqueued);
    }
    if (stop != NULL) {
        stop->waiters++;
    }
    weir__mutex_unlock(&engine->registry.lock);
    flush_letters(context);
    end_unqueued(engine, unqueued);
    if (stop == NULL) {
        if (status == WEIR_OK && report != NULL) {
            weir__struct_fill(report, &ended, sizeof(ended));
        }
        return status;
    }
    if (status == WEIR_OK) { /* the one that began it */
        weir__stop_say(engine, stop);
    }
    /* [T2] pairs with [T1]. Ends at the deadline at the latest: expiring answers. */
    while (weir__load(&stop->done, acquire) == 0) {
        if (!weir__wait_until(&stop->done, 0, stop->deadline)) {
            weir__mutex_lock(&engine->registry.lock);
            const bool mine = weir__load(&stop->done, relaxed) == 0;
            weir__stop_expire(engine, stop, WEIR_TIMEOUT);
            weir__mutex_unlock(&engine->registry.lock);
            if (mine) {
                weir__stop_say(engine, stop);
            }
        }
    }
    weir__mutex_lock(&engine->registry.lock);
    status = stop->status;
    if (report != NULL) {
        weir__struct_fill(report, &stop->report, sizeof(stop->report));
    }
    weir__stop_release(engine, stop);
    weir__mutex_unlock(&engine->registry.lock);
    return status;
}

weir_status weir_processor_stop_async(weir_engine *engine, weir_processor processor,
                                      weir_ns timeout)
{
    weir_stop_report ended = WEIR_STOP_REPORT_INIT;
    weir__stop *stop = NULL;
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir__processor *unqueued = NULL;
    weir_status status = WEIR_OK;
    weir__context *context = weir__context_find(engine);
    weir__mutex_lock(&engine->registry.lock);
    if (weir__registry_find(&engine->registry, processor) == NULL) {
        status = WEIR_UNKNOWN; /* no reason to start the keeper */
    } else if (!end_at_once(engine, context, processor, &ended)) {
        status = weir__keeper_need(engine);
        if (status == WEIR_OK) {
            status = begin(engine, processor, timeout, &stop, &unqueued);
        }
    }
    if (stop != NULL && status == WEIR_OK) {
        weir__keeper_watch(engine, stop);
    } else if (stop != NULL) {
        weir__stop_release(engine, stop);
    }
    weir__mutex_unlock(&engine->registry.lock);
    flush_letters(context);
    end_unqueued(engine, unqueued);
    return status;
}
