/*
 * engine/seat.c - making threads and the dispatchers they serve, and using again what they leave.
 *
 * Records of threads (seats) and of dispatchers stay in their tables as long as the engine lives:
 * others may hold pointers to them at any time. So they are not freed but used again. A seat that
 * is vacant is taken by the next thread of its kind; a dispatcher that nobody serves, and that no
 * processor is on, gets the name that is asked for next, and begins at zero. What a seat knows of a
 * dispatcher (weir__serving) stays in both lists, too, for the next time the two meet. So there are
 * never more of each than there were at once, and no more servings than pairs of them.
 *
 * What is left is clean: a thread has taken its bits and its counts back when its function is over;
 * and nobody else can still be at a dispatcher that is free, since who removes its last thread
 * waits for them (engine/placement.c) before the seat is vacated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/agents.h"
#include "engine/crash.h"
#include "engine/engine.h"
#include "engine/placement.h"
#include "engine/thread.h"
#include "engine/watchdog.h"
#include "sync/crash.h"

#define SETTLE_MAX WEIR_MS

/* ---- dispatchers ---- */

static void forget(weir__serving *serving)
{
    weir__store(&serving->handled, 0, relaxed);
    weir__store(&serving->turns, 0, relaxed);
    weir__store(&serving->try_locks, 0, relaxed);
    weir__store(&serving->try_locks_failed, 0, relaxed);
    weir__store(&serving->backoffs, 0, relaxed);
    weir__store(&serving->backoff_ns, 0, relaxed);
    weir__store(&serving->rounds, 0, relaxed);
    weir__store(&serving->wakeups, 0, relaxed);
    weir__store(&serving->wakeups_found, 0, relaxed);
    weir__store(&serving->handled_before, 0, relaxed);
    weir__latency_reset(&serving->latency);
}

/* As new, under this name. False: no memory, and nothing has changed. */
static bool name_dispatcher(weir__dispatcher *dispatcher, const char *name, bool dedicated)
{
    weir_engine *engine = dispatcher->engine;
    const weir_engine_options *options = &engine->options;
    char *copy;
    if (!weir__copy_text(&engine->allocator, name, &copy)) {
        return false;
    }
    WEIR_ASSERT(!weir__dispatcher_has_work(dispatcher)); /* nobody can have pushed there */
    WEIR_ASSERT_SLOW(weir__load(&dispatcher->searching, relaxed) == 0);
    weir__release_text(&engine->allocator, dispatcher->name);
    dispatcher->name = copy;
    dispatcher->dedicated = dedicated;
    dispatcher->fair = false;
    dispatcher->batch_max = 0;
    dispatcher->backoff_own = (weir__backoff_plan){ .base = 0 };
    weir__backoff_write(&dispatcher->backoff,
                        &(weir__backoff_plan){ options->backoff_base, options->backoff_max,
                                               options->backoff_multiplier,
                                               options->backoff_jitter });
    weir__store(&dispatcher->signals, 0, relaxed);
    for (weir__serving *s = weir__servings_first(dispatcher); s != NULL; s = s->next) {
        forget(s);
    }
    return true;
}

static weir__dispatcher *new_dispatcher(weir_engine *engine, const char *name, bool dedicated)
{
    const uint32_t count = weir__load(&engine->dispatcher_count, relaxed);
    weir__dispatcher *dispatcher = count < WEIR__DISPATCHERS_MAX
                                       ? weir__allocate(&engine->allocator, sizeof(*dispatcher))
                                       : NULL;
    if (dispatcher == NULL) {
        return NULL;
    }
    dispatcher->engine = engine;
    dispatcher->index = count;
    if (!name_dispatcher(dispatcher, name, dedicated)) {
        weir__release(&engine->allocator, dispatcher, sizeof(*dispatcher));
        return NULL;
    }
    engine->dispatchers[count] = dispatcher;
    /* [V1] pairs with [V4]: the entry is complete. */
    weir__store(&engine->dispatcher_count, count + 1, release);
    return dispatcher;
}

static bool is_free(const weir__dispatcher *dispatcher)
{
    weir__dispatcher *d = (weir__dispatcher *)(uintptr_t)dispatcher;
    return d->users == 0 && weir__load(&d->processors, relaxed) == 0;
}

/* The dispatcher of that name, for one seat more; made if nobody serves it, for one processor alone
 * in any case. NULL: no memory, or there are too many. */
static weir__dispatcher *take_dispatcher(weir_engine *engine, const char *name, bool dedicated)
{
    const uint32_t count = weir__load(&engine->dispatcher_count, relaxed);
    weir__dispatcher *taken = NULL;
    for (uint32_t i = 0; i < count; i++) {
        weir__dispatcher *dispatcher = engine->dispatchers[i];
        if (is_free(dispatcher)) {
            taken = taken == NULL ? dispatcher : taken;
        } else if (!dedicated && !dispatcher->dedicated && strcmp(dispatcher->name, name) == 0) {
            dispatcher->users++;
            return dispatcher;
        }
    }
    if (taken == NULL) {
        taken = new_dispatcher(engine, name, dedicated);
    } else if (!name_dispatcher(taken, name, dedicated)) {
        taken = NULL;
    }
    if (taken != NULL) {
        taken->users++;
    }
    return taken;
}

void weir__dispatchers_free(weir_engine *engine)
{
    const uint32_t count = weir__load(&engine->dispatcher_count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        weir__release_text(&engine->allocator, engine->dispatchers[i]->name);
        weir__release(&engine->allocator, engine->dispatchers[i], sizeof(weir__dispatcher));
    }
}

/* ---- servings ---- */

/* What the seat knows of the dispatcher. NULL: no memory. */
static weir__serving *serving_of(weir__thread *thread, weir__dispatcher *dispatcher)
{
    for (weir__serving *s = weir__servings_of(thread); s != NULL; s = s->sibling) {
        if (s->dispatcher == dispatcher) {
            return s;
        }
    }
    weir__serving *serving = weir__allocate(&thread->engine->allocator, sizeof(*serving));
    if (serving != NULL) {
        serving->thread = thread;
        serving->dispatcher = dispatcher;
        serving->sibling = weir__load(&thread->servings_known, relaxed);
        /* [V6] pairs with [V7]: the record is complete. */
        weir__store(&thread->servings_known, serving, release);
    }
    return serving;
}

static void list(weir__serving *serving)
{
    weir__dispatcher *dispatcher = serving->dispatcher;
    if (!serving->listed) {
        serving->listed = true;
        serving->next = weir__load(&dispatcher->servings, relaxed);
        /* [V6] pairs with [V7]: the record is complete. */
        weir__store(&dispatcher->servings, serving, release);
    }
}

static void leave_dispatchers(weir__thread *thread)
{
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        thread->servings[i]->dispatcher->users--;
    }
    thread->serving_count = 0;
}

static bool make_room(weir__thread *thread, uint32_t count)
{
    const weir_allocator *allocator = &thread->engine->allocator;
    if (thread->serving_room >= count) {
        return true;
    }
    weir__serving **servings = weir__allocate(allocator, count * sizeof(weir__serving *));
    if (servings == NULL) {
        return false;
    }
    weir__release(allocator, thread->servings, thread->serving_room * sizeof(weir__serving *));
    thread->servings = servings;
    thread->serving_room = count;
    return true;
}

static weir_status find_dispatchers(weir__thread *thread, const char *const *names, bool dedicated,
                                    weir_error *error)
{
    uint32_t count = 0;
    while (names[count] != NULL) {
        count++;
    }
    if (!make_room(thread, count)) {
        return weir__error_memory(error, "weir_thread_add");
    }
    for (uint32_t i = 0; i < count; i++) {
        weir__dispatcher *dispatcher = take_dispatcher(thread->engine, names[i], dedicated);
        weir__serving *serving = dispatcher != NULL ? serving_of(thread, dispatcher) : NULL;
        if (serving == NULL) {
            if (dispatcher != NULL) {
                dispatcher->users--;
            }
            leave_dispatchers(thread);
            return weir__error_memory(error, "weir_thread_add");
        }
        thread->servings[thread->serving_count++] = serving;
    }
    return WEIR_OK;
}

/* ---- seats ---- */

void weir__thread_free(weir__thread *thread)
{
    const weir_allocator *allocator = &thread->engine->allocator;
    weir__agents_free(thread);
    weir__poller_close(&thread->poller);
    const int32_t doorbell = weir__load(&thread->doorbell, relaxed);
    if (doorbell >= 0) {
        weir__doorbell_close(doorbell);
    }
    weir__serving *serving = weir__load(&thread->servings_known, relaxed);
    while (serving != NULL) {
        weir__serving *next = serving->sibling;
        weir__release(allocator, serving, sizeof(*serving));
        serving = next;
    }
    weir__release(allocator, thread->servings, thread->serving_room * sizeof(weir__serving *));
    weir__release(allocator, thread->cores, thread->core_total * sizeof(int32_t));
    weir__release(allocator, thread->crash_stack, weir__crash_stack_size());
    weir__release_text(allocator, thread->name);
    weir__release(allocator, thread, sizeof(*thread));
}

/* NULL: no memory, or no descriptor. */
static weir__thread *new_seat(weir_engine *engine, bool external, weir_error *error)
{
    const uint32_t index = weir__load(&engine->thread_count, relaxed);
    if (index == WEIR__THREADS_MAX) {
        weir__error_at(error, WEIR_E_LIMIT, "weir_thread_add", "there are %u threads, the limit",
                       WEIR__THREADS_MAX);
        return NULL;
    }
    weir__thread *thread = weir__allocate(&engine->allocator, sizeof(*thread));
    if (thread == NULL) {
        weir__error_memory(error, "weir_thread_add");
        return NULL;
    }
    thread->engine = engine;
    thread->index = index;
    thread->external = external;
    thread->vacant = true;
    weir__init(&thread->doorbell, -1);
    thread->poller = WEIR__POLLER_NONE;
    thread->context.engine = engine;
    thread->context.stock.stores = &engine->stores;
    thread->context.plain_below = WEIR__PLAIN_BELOW;
    thread->context.stamp_in = 1;
    thread->context.thread = thread;
    thread->trail.engine = engine;
    thread->trail.thread = thread;
    thread->watched.trail = &thread->trail;
    thread->turn.context = &thread->context;
    thread->turn.trail = &thread->trail;
    if (external) {
        /* For as long as the engine lives: somebody who was about to ring it may do so at any time,
         * and the number must not be another file's by then. */
        const int failure = weir__thread_need_poller(thread);
        if (failure != 0) {
            weir__error_system(error, failure, "weir_thread_add",
                               "no event descriptor could be had");
            weir__thread_free(thread);
            return NULL;
        }
    }
    return thread;
}

/* An external thread brings its own stacks along. False: no memory. */
static bool add_crash_stack(weir__thread *thread)
{
    const size_t size = weir__crash_stack_size();
    if (thread->external || size == 0 || thread->crash_stack != NULL ||
        !weir__crash_reports(thread->engine)) {
        return true;
    }
    thread->crash_stack = weir__allocate_raw(&thread->engine->allocator, size);
    return thread->crash_stack != NULL;
}

/* All that can fail; if it does, the seat is as vacant as before. */
static weir_status copy_options(weir__thread *thread, const weir_thread_options *options,
                                bool private, weir_error *error)
{
    const weir_allocator *allocator = &thread->engine->allocator;
    char name[32];
    char *copy = NULL;
    int32_t *cores = NULL;
    (void)snprintf(name, sizeof(name), private ? "weir-own-%u" : "weir-%u", thread->index);
    bool well = weir__copy_text(allocator, options->name != NULL ? options->name : name, &copy) &&
                add_crash_stack(thread);
    if (well && options->core_count > 0) {
        cores = weir__allocate(allocator, options->core_count * sizeof(int32_t));
        well = cores != NULL;
    }
    if (!well || find_dispatchers(thread, options->dispatchers, private, error) != WEIR_OK) {
        weir__release(allocator, cores, options->core_count * sizeof(int32_t));
        weir__release_text(allocator, copy);
        return weir__error_memory(error, "weir_thread_add");
    }
    weir__release(allocator, thread->cores, thread->core_total * sizeof(int32_t));
    weir__watchdog_rename(thread->engine, &thread->watched, copy); /* it may be reading the old */
    if (weir__agents_if_any(thread) != NULL) {
        weir__watchdog_rename(thread->engine, &weir__agents_if_any(thread)->watched, copy);
    }
    weir__release_text(allocator, thread->name);
    thread->options = *options;
    thread->name = copy;
    thread->cores = cores;
    thread->core_total = options->core_count;
    if (cores != NULL) {
        memcpy(cores, options->cores, options->core_count * sizeof(int32_t));
    }
    thread->options.cores = cores;
    thread->options.name = copy;
    thread->options.dispatchers = NULL;
    return WEIR_OK;
}

/* Nothing of who had the seat before. */
static void settle(weir__thread *thread)
{
    const weir_thread_options *options = &thread->options;
    thread->vacant = false;
    thread->removing = false;
    thread->replaced = false;
    thread->generation++;
    thread->next_place = 0;
    thread->events_left = 0;
    thread->searching = false;
    thread->looked = false;
    thread->hosts = false;
    thread->resting = false;
    thread->holds = false;
    thread->quiet = NULL;
    thread->kept_in_a_row = 0;
    thread->again = 0;
    thread->gaps = 0;
    thread->woken = false;
    weir__agents_reopen(thread);
    thread->backoff = (weir__backoff){ .random = weir__random_seed() + thread->index };
    /* No two runs of a trail may look alike to the watchdog: it goes on from where it is. */
    thread->trail.before = weir__trail_count(&thread->trail);
    thread->turn.text_of = 0;
    thread->turn.text[0] = '\0';
    weir__idle_open(&thread->idle, options->idle, options->idle_spin_max, options->idle_sleep);
    weir__store(&thread->share_at, WEIR__SHARE_AT_LEAST, relaxed);
    weir__store(&thread->core, options->core_count > 0 && !thread->external ? thread->cores[0] : -1,
                relaxed);
    weir__store(&thread->turns, 0, relaxed);
    weir__store(&thread->rounds, 0, relaxed);
    weir__store(&thread->rounds_idle, 0, relaxed);
    weir__store(&thread->parks, 0, relaxed);
    weir__store(&thread->backoffs, 0, relaxed);
    weir__store(&thread->first_work, 0, relaxed);
    weir__store(&thread->last_work, 0, relaxed);
    weir__store(&thread->busy, 0, relaxed);
    weir__store(&thread->began, 0, relaxed);
    weir__store(&thread->ended, 0, relaxed);
    weir__store(&thread->cpu, 0, relaxed);
    thread->told.busy = thread->told.alive = thread->told.cpu = 0;
    if (thread->generation > 1) {
        weir__thread_figures_reset(&thread->figures);
    }
    weir__store(&thread->leave, 0, relaxed);
    weir__watched_rest(&thread->watched);
    weir__store(&thread->state, WEIR__THREAD_NEW, release);
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__serving *serving = thread->servings[i];
        weir__store(&serving->handled_before, weir__cell_read(&serving->handled), relaxed);
        list(serving);
    }
}

static bool has_left(const weir__thread *thread)
{
    weir__thread *t = (weir__thread *)(uintptr_t)thread;
    return !t->vacant && !t->removing && weir__load(&t->leave, relaxed) != 0 &&
           weir__load(&t->state, acquire) == WEIR__THREAD_LEFT;
}

/* Threads of dedicated processors leave by themselves. Nothing can lie in their queues, but a
 * poster may still be on its way out of one; if that takes long, the seat is collected later. */
static void collect_those_that_left(weir_engine *engine)
{
    const uint32_t count = weir__load(&engine->thread_count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        if (!has_left(thread)) {
            continue;
        }
        if (!weir__engine_settle(engine, weir__deadline(SETTLE_MAX, 0))) {
            return;
        }
        weir__os_thread_join(&thread->os);
        weir__thread_vacate(thread);
    }
}

static weir__thread *find_vacant(weir_engine *engine, bool external)
{
    const uint32_t count = weir__load(&engine->thread_count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        /* Handles must stay unique: a seat whose generations are used up is never taken again. */
        if (thread->vacant && thread->external == external &&
            thread->generation < WEIR__THREAD_GENERATION_MAX) {
            return thread;
        }
    }
    return NULL;
}

weir__thread *weir__thread_create(weir_engine *engine, const weir_thread_options *options,
                                  bool private, weir_error *error)
{
    if (options->name != NULL && weir__thread_by_name(engine, options->name) != NULL) {
        weir__error_at(error, WEIR_E_TAKEN, "weir_thread_options.name",
                       "is \"%.100s\", which is taken", options->name);
        return NULL;
    }
    collect_those_that_left(engine);
    weir__thread *thread = find_vacant(engine, options->external);
    const bool fresh = thread == NULL;
    thread = fresh ? new_seat(engine, options->external, error) : thread;
    if (thread == NULL) {
        return NULL;
    }
    if (copy_options(thread, options, private, error) != WEIR_OK) {
        if (fresh) {
            weir__thread_free(thread);
        }
        return NULL;
    }
    settle(thread);
    if (weir__engine_phase(engine) == WEIR__CREATED || private) {
        weir__thread_serve(thread);
    }
    if (fresh) {
        weir__contexts_enlist(engine, &thread->context);
        weir__watchdog_add(engine, &thread->watched);
        weir__store(&engine->threads[thread->index], thread, relaxed);
        /* [V5] pairs with [V4]: the thread is complete. */
        weir__store(&engine->thread_count, thread->index + 1, release);
    }
    return thread;
}

/* ---- serving ---- */

void weir__thread_serve(weir__thread *thread)
{
    thread->serves = true;
    weir__add(&thread->engine->placed, 1, relaxed);
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__dispatcher *dispatcher = thread->servings[i]->dispatcher;
        weir__add(&dispatcher->threads, 1, seq_cst);
        if (thread->external) {
            weir__add(&dispatcher->threads_external, 1, seq_cst);
        }
    }
    const uint64_t id = thread->engine->serial << WEIR__THREAD_SERIAL_SHIFT |
                        (uint64_t)thread->generation << WEIR__THREAD_INDEX_BITS |
                        (thread->index + 1);
    weir__store(&thread->id, id, relaxed);
}

static void stop_serving(weir__thread *thread)
{
    if (!thread->serves) {
        return;
    }
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__dispatcher *dispatcher = thread->servings[i]->dispatcher;
        dispatcher->leaving -= thread->leaves ? 1 : 0;
        weir__sub(&dispatcher->threads, 1, seq_cst);
        if (thread->external) {
            weir__sub(&dispatcher->threads_external, 1, seq_cst);
        }
    }
    thread->serves = false;
    thread->leaves = false;
    weir__add(&thread->engine->placed, 1, relaxed);
}

void weir__thread_serve_no_longer(weir__thread *thread)
{
    if (weir__load(&thread->state, relaxed) == WEIR__THREAD_NEW) {
        stop_serving(thread); /* it never began */
    } else if (thread->serves && !thread->leaves) {
        thread->leaves = true;
        weir__add(&thread->engine->placed, 1, relaxed);
        for (uint32_t i = 0; i < thread->serving_count; i++) {
            thread->servings[i]->dispatcher->leaving++;
        }
    }
}

void weir__thread_vacate(weir__thread *thread)
{
    weir__store(&thread->id, 0, relaxed);
    stop_serving(thread);
    for (uint32_t i = 0; i < thread->serving_count; i++) {
        weir__serving *serving = thread->servings[i];
        weir__store(&serving->handled_before, weir__cell_read(&serving->handled), relaxed);
    }
    leave_dispatchers(thread);
    weir__store(&thread->state, WEIR__THREAD_JOINED, release);
    thread->removing = false;
    thread->vacant = true;
}

void weir__thread_withdraw(weir__thread *thread)
{
    if (weir__load(&thread->state, acquire) != WEIR__THREAD_NEW && !thread->external) {
        weir__store(&thread->leave, 1, seq_cst);
        weir__thread_wake(thread);
        if (weir__load(&thread->state, acquire) != WEIR__THREAD_JOINED) {
            weir__os_thread_join(&thread->os);
        }
    }
    weir__thread_vacate(thread);
}
