/*
 * engine/placement.c - moving processors, removing threads and with them dispatchers (S-22).
 *
 * A move changes one pointer, under registry.lock. Events stay in the processor's own mailbox, and
 * it stands in one line at most, or is on one thread: so nothing can be lost, doubled or change its
 * order. What can happen is that it stands in a line of its old dispatcher, or is put there by
 * somebody who read the pointer before, or by a thread whose turn it has just had. Whoever takes it
 * from there looks at the pointer before the turn, and passes it on (engine/turn.c).
 *
 * So a dispatcher whose processors have all gone elsewhere must be served until the last of those
 * has pushed who may still do so. Who pushes is, from before it reads the pointer,
 *
 *     1. inside the mark of its thread (posts, and whoever passes on), or
 *     2. a signal handler, counted in its ring, or
 *     3. the monitor, inside a mark of its own, or
 *     4. holding registry.lock, or
 *     5. a thread of that dispatcher, until its function is over.
 *
 * The remover of a thread takes it out of the counts, so that nobody is put onto its dispatchers
 * because of it; waits until it has left (5); passes on what lies there, so that nothing waits for
 * the next step; waits for 1, 2 and 3; and passes on what they have pushed, under the lock (4).
 * Only then is the seat vacant, and the dispatcher free for another name. Of several removers each
 * does all of that: who comes last finds what the others' threads have left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/placement.h"

#include <stdio.h>

#include "base/error.h"
#include "engine/agents.h"
#include "engine/duty.h"
#include "engine/life.h"
#include "engine/options.h"
#include "engine/signal.h"
#include "engine/watchdog.h"
#include "sync/word.h"

/* A move does not wait for longer; what it leaves is passed on later. */
#ifdef WEIR_SIMULATED
#define FETCH_MAX 200 /* some steps: the simulator is to see what comes after, too */
#else
#define FETCH_MAX WEIR_MS
#endif

bool weir__engine_settle(weir_engine *engine, weir_ns deadline)
{
    bool settled = weir__contexts_wait(engine, deadline) && weir__signals_wait(engine, deadline);
    /* [R2] pairs with [R1]. */
    const uint64_t seen = weir__load(&engine->tending, acquire);
    while (settled && (seen & 1) != 0 && weir__load(&engine->tending, acquire) == seen) {
        settled = deadline == WEIR_FOREVER || weir__clock_now() < deadline;
        weir__yield();
    }
    return settled;
}

/* ---- moving ---- */

/* What threads of the dispatcher keep although it was moved. Inside the mark. */
static void pass_kept(weir__dispatcher *dispatcher, weir_ns deadline)
{
    for (weir__serving *s = weir__servings_first(dispatcher); s != NULL; s = s->next) {
        weir__processor *moved = NULL;
        while (weir__kept_length(&s->kept) != 0 &&
               !weir__kept_raid_moved(&s->kept, dispatcher, &moved) &&
               weir__clock_now() < deadline) {
            weir__yield();
        }
        weir__processors_pass_on(moved);
    }
}

/* If it waits in a line of its old dispatcher it need not wait for a thread there, which may be in
 * a handler for long. Those who may still put it there are waited for; should one of them be held
 * up, its thread there will pass it on. */
static void fetch(weir__context *context, weir_processor handle, weir__dispatcher *from)
{
    weir_engine *engine = context->engine;
    const weir_ns deadline = weir__deadline(FETCH_MAX, 0);
    (void)weir__engine_settle(engine, deadline);
    weir__context_enter(context);
    weir__processor *processor = weir__registry_find(&engine->registry, handle);
    if (processor != NULL &&
        (weir__load(&processor->mailbox.word, acquire) & WEIR__MAILBOX_READY) != 0) {
        (void)weir__dispatcher_pass_moved(from, deadline);
        pass_kept(from, deadline);
    }
    weir__context_leave(context);
}

/* registry.lock held. *from: where it was, if the answer is OK. */
static weir_status move(weir_engine *engine, weir_processor handle, const char *name,
                        weir__dispatcher **from, weir_error *error)
{
    const weir__phase phase = weir__engine_phase(engine);
    weir__processor *processor = weir__registry_find(&engine->registry, handle);
    if (processor == NULL) {
        return WEIR_UNKNOWN;
    }
    if (phase >= WEIR__ABANDONED) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_processor_move",
                              "the engine is stopped: nothing runs anywhere");
    }
    *from = weir__processor_dispatcher(processor);
    if ((*from)->dedicated) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_processor_move.processor",
                              "is dedicated: it has a dispatcher and a thread of its own");
    }
    weir__dispatcher *to =
        weir__dispatcher_wanted(engine, name, "weir_processor_move.dispatcher", error);
    if (to == NULL) {
        return WEIR_E_INVALID;
    }
    if (to == *from) {
        return WEIR_ALREADY;
    }
    weir__store(&(*from)->processors, weir__load(&(*from)->processors, relaxed) - 1, relaxed);
    weir__store(&to->processors, weir__load(&to->processors, relaxed) + 1, relaxed);
    /* [V9] pairs with [V8]; seq_cst: before the look at who is inside its mark. */
    weir__store(&processor->dispatcher, to, seq_cst);
    weir__add(&engine->placed, 1, relaxed);
    if (phase < WEIR__RUNNING && !weir__dispatcher_runs_inits(to)) {
        weir__life_unawait(engine, processor);
    }
    return WEIR_OK;
}

weir_status weir_processor_move(weir_engine *engine, weir_processor processor,
                                const char *dispatcher, weir_error *error)
{
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_processor_move.engine",
                              "is no usable engine");
    }
    if (dispatcher == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_processor_move.dispatcher",
                              "is NULL, must be a name (\"\" is one)");
    }
    weir__context *context = weir__context_find(engine);
    if (context == NULL) {
        return weir__error_memory(error, "weir_processor_move");
    }
    weir__dispatcher *from = NULL;
    weir__mutex_lock(&engine->registry.lock);
    const weir_status status = move(engine, processor, dispatcher, &from, error);
    weir__mutex_unlock(&engine->registry.lock);
    if (status == WEIR_OK) {
        fetch(context, processor, from);
    }
    return status;
}

weir_status weir_processor_dispatcher(weir_engine *engine, weir_processor processor, char *out,
                                      size_t size)
{
    weir_status status = WEIR_UNKNOWN;
    if (size > 0 && out != NULL) {
        out[0] = '\0';
    }
    if (!weir__engine_usable(engine) || (out == NULL && size > 0)) {
        return WEIR_E_INVALID;
    }
    weir__mutex_lock(&engine->registry.lock);
    const weir__processor *p = weir__registry_find(&engine->registry, processor);
    if (p != NULL) {
        const weir__dispatcher *dispatcher = weir__processor_dispatcher(p);
        status = dispatcher->dedicated ? WEIR_E_INVALID : WEIR_OK;
        if (status == WEIR_OK) {
            (void)snprintf(out, size, "%s", dispatcher->name);
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return status;
}

/* ---- removing ---- */

/* registry.lock held. */
static weir_status may_go(weir_engine *engine, const weir__thread *thread, weir_error *error)
{
    static const char *const path = "weir_thread_remove.thread";
    if (thread == NULL) {
        return WEIR_UNKNOWN;
    }
    if (thread->removing) {
        return WEIR_ALREADY;
    }
    if (weir__engine_phase(engine) >= WEIR__STOPPING) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_thread_remove",
                              "the engine is stopping or stopped: its threads leave by themselves");
    }
    char agent[64];
    if (weir__agents_any((weir__thread *)(uintptr_t)thread, agent, sizeof(agent))) {
        return weir__error_at(error, WEIR_E_INVALID, path,
                              "is \"%.100s\", which \"%s\" is on: remove that first, or put it "
                              "elsewhere",
                              thread->name, agent);
    }
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__dispatcher *d = thread->servings[i]->dispatcher;
        const unsigned long long processors = weir__load(&d->processors, relaxed);
        if (d->dedicated) {
            return weir__error_at(error, WEIR_E_INVALID, path,
                                  "belongs to a dedicated processor, and ends with it");
        }
        if (processors > 0 && weir__load(&d->threads, relaxed) == d->leaving + 1) {
            return weir__error_at(error, WEIR_E_INVALID, path,
                                  "is the only one that serves \"%.60s\", which has %llu "
                                  "processor%s: move or stop %s first, or add a thread there",
                                  d->name, processors, processors == 1 ? "" : "s",
                                  processors == 1 ? "it" : "them");
        }
    }
    return WEIR_OK;
}

/* registry.lock held, before the engine runs: a start does not wait for inits that nobody can run
 * until then. */
static void unawait_inits(weir_engine *engine, const weir__thread *thread)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__dispatcher *dispatcher = thread->servings[i]->dispatcher;
        const bool runs = weir__dispatcher_runs_inits(dispatcher);
        for (uint32_t k = 0; !runs && k < engine->registry.used; k++) {
            weir__processor *processor = weir__registry_slot(&engine->registry, k);
            if (weir__processor_is_live(processor) &&
                weir__processor_dispatcher(processor) == dispatcher) {
                weir__life_unawait(engine, processor);
            }
        }
    }
}

/* registry.lock held. From here on the caller has to see it off. */
static void begin_to_go(weir__thread *thread)
{
    weir_engine *engine = thread->engine;
    thread->removing = true;
    weir__thread_serve_no_longer(thread);
    if (weir__load(&thread->state, acquire) == WEIR__THREAD_NEW) {
        weir__store(&thread->state, WEIR__THREAD_JOINED, release); /* a start passes it over */
    }
    if (weir__engine_phase(engine) < WEIR__RUNNING && !thread->external) {
        unawait_inits(engine, thread);
    }
}

static bool has_left(weir__thread *thread)
{
    uint32_t nobody = 0;
    if (thread->external) {
        return weir__cas(&thread->turning, &nobody, 1, seq_cst, relaxed);
    }
    return weir__load(&thread->state, acquire) >= WEIR__THREAD_LEFT;
}

/* What a thread of weir's own does at its end. Nobody turns it any more. */
static void leave_for(weir__thread *thread)
{
    weir__duty_unpark(thread);
    thread->searching = false;
    weir__watched_rest(&thread->watched);
    weir__duty_hand_over(thread);
    weir__doorbell_clear(
        weir__load(&thread->doorbell, relaxed)); /* should somebody poll it still */
    weir__context_flush(&thread->context);
}

/* registry.lock held. What is held back there until the start is over, the starter lets go. */
static void pass_on_all(weir__thread *thread)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        (void)weir__dispatcher_pass_moved(thread->servings[i]->dispatcher, WEIR_FOREVER);
    }
}

static void see_off(weir__thread *thread)
{
    weir_engine *engine = thread->engine;
    weir__store(&thread->leave, 1, seq_cst);
    weir__thread_wake(thread);
    for (;;) {
        const uint32_t seen = weir__load(&engine->threads_out, seq_cst);
        if (has_left(thread)) {
            break;
        }
        weir__word_wait(&engine->threads_out, seen, WEIR_FOREVER);
    }
    if (thread->external) {
        leave_for(thread);
    }
    weir__mutex_lock(&engine->registry.lock);
    if (weir__load(&thread->state, acquire) == WEIR__THREAD_LEFT) {
        weir__os_thread_join(&thread->os);
        weir__store(&thread->state, WEIR__THREAD_JOINED, release);
    }
    pass_on_all(thread); /* should somebody below take his time */
    weir__mutex_unlock(&engine->registry.lock);
    (void)weir__engine_settle(engine, WEIR_FOREVER);
    weir__mutex_lock(&engine->registry.lock);
    pass_on_all(thread);
    weir__thread_vacate(thread);
    if (thread->external) {
        weir__thread_turned(thread); /* before somebody has the seat */
    }
    weir__mutex_unlock(&engine->registry.lock);
}

void weir__thread_retire(weir__thread *thread)
{
    weir__mutex_lock(&thread->engine->registry.lock);
    begin_to_go(thread);
    weir__mutex_unlock(&thread->engine->registry.lock);
    see_off(thread);
}

weir_status weir__thread_dismiss(weir_engine *engine, weir_thread handle, weir_error *error)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__thread *thread = weir__thread_of(engine, handle);
    const weir_status status = may_go(engine, thread, error);
    if (status == WEIR_OK) {
        begin_to_go(thread);
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (status == WEIR_OK) {
        see_off(thread);
    }
    return status;
}

/* How many of them serve it. */
static uint32_t serving_among(weir_engine *engine, const weir_thread *threads, size_t count,
                              const weir__dispatcher *dispatcher)
{
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const weir__thread *thread = weir__thread_of(engine, threads[i]);
        for (uint32_t k = 0; k < thread->serving_count; k++) {
            found += thread->servings[k]->dispatcher == dispatcher;
        }
    }
    return found;
}

static weir_status may_go_together(weir_engine *engine, const weir_thread *threads, size_t count,
                                   weir_error *error)
{
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < count && status == WEIR_OK; i++) {
        const weir__thread *thread = weir__thread_of(engine, threads[i]);
        status = may_go(engine, thread, error);
        for (uint32_t k = 0; k < thread->serving_count && status == WEIR_OK; k++) {
            weir__dispatcher *d = thread->servings[k]->dispatcher;
            const unsigned long long processors = weir__load(&d->processors, relaxed);
            if (processors > 0 && weir__load(&d->threads, relaxed) - d->leaving ==
                                      serving_among(engine, threads, count, d)) {
                status = weir__error_at(error, WEIR_E_INVALID, "weir_thread_remove",
                                        "nobody would serve \"%.60s\", which has %llu "
                                        "processor%s: move or stop %s first",
                                        d->name, processors, processors == 1 ? "" : "s",
                                        processors == 1 ? "it" : "them");
            }
        }
    }
    return status;
}

weir_status weir__threads_begin_to_go(weir_engine *engine, weir_thread *threads, size_t *count,
                                      weir_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        const weir__thread *thread = weir__thread_of(engine, threads[i]);
        if (thread != NULL && !thread->removing) {
            threads[kept++] = threads[i];
        }
    }
    *count = kept;
    const weir_status status = may_go_together(engine, threads, kept, error);
    for (size_t i = 0; status == WEIR_OK && i < kept; i++) {
        begin_to_go(weir__thread_of(engine, threads[i]));
    }
    return status;
}

void weir__thread_see_off(weir_engine *engine, weir_thread thread)
{
    see_off(weir__thread_known(engine, thread));
}

weir_status weir_thread_remove(weir_engine *engine, weir_thread thread, weir_error *error)
{
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_thread_remove.engine",
                              "is no usable engine");
    }
    if (weir__context_in_handler()) {
        return weir__error_at(error, WEIR_E_BLOCKING, "weir_thread_remove",
                              "would wait for a turn inside a handler; call it from another "
                              "thread");
    }
    return weir__thread_dismiss(engine, thread, error);
}
