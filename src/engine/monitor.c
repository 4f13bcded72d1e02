/*
 * engine/monitor.c - a look at every thread's lists, again and again while they are used; and how
 * many threads may be up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/monitor.h"

#include "base/error.h"
#include "base/memory.h"
#include "sync/word.h"

#define TICK (500 * WEIR_US)
#define WORTH_SHARING (20 * WEIR_US) /* a thread that is woken, and its share fetched, costs that */
#define BRIEF (20 * WEIR_US)         /* a turn, on an average */
#define HEAVY 500                    /* ns an event: worth another core in any case */
#define SHARE_AT_MOST 255
#define EMPTY_TICKS_MAX 32u /* a pause between two bursts does not cost a wake-up */

typedef struct weir__monitor {
    weir_engine *engine;
    uint32_t cores;
    weir__os_thread os;
} weir__monitor;

/* What a held-up thread keeps goes to the dispatcher's queue, where the others find it. */
static void give_away(weir__serving *serving)
{
    weir__chain chain = weir__kept_raid(&serving->kept, true);
    for (weir__processor *p = chain.first; chain.count > 0; chain.count--) {
        weir__processor *next = p->ready_next;
        weir__dispatcher_push(serving->dispatcher, p);
        p = next;
    }
}

/* The monitor's own mark, like that of a context: odd while it may have somebody's processors in
 * its hands. */
static void turn_mark(weir_engine *engine)
{
    /* [R1] pairs with [R2]. */
    weir__store(&engine->tending, weir__load(&engine->tending, relaxed) + 1, release);
}

/* Inside the mark. 0: there is none. */
static void set_bound(weir__dispatcher *dispatcher, uint32_t most)
{
    const uint32_t before = weir__load(&dispatcher->awake_max, relaxed);
    if (before == 0 && most == 0) {
        return;
    }
    weir__store(&dispatcher->awake_max, most, seq_cst);
    /* Who kept quiet because of the old one had pushed before: seen here, or woken by them. */
    if (weir__dispatcher_has_work(dispatcher)) {
        weir__dispatcher_wake(dispatcher);
    }
}

/* It is up, and has run few turns or none since the last look: long ones, or it is held up. */
static bool is_slow(const weir__dispatcher *dispatcher, weir__thread *thread, weir_ns passed)
{
    weir__dispatcher *d = (weir__dispatcher *)(uintptr_t)dispatcher;
    const uint64_t parked = weir__load(&d->parked[thread->index / 64], relaxed);
    const uint64_t turns = weir__cell_read(&thread->turns) - thread->turns_seen;
    return (parked >> (thread->index % 64) & 1) == 0 && (int64_t)turns * BRIEF < passed;
}

/* Where a thread for each core is up and has brief turns only, another has nothing to gain: it
 * would share a core with one of them, and take processors away that are warm there. Slow ones do
 * not count: they may be asleep in their handlers. Who chose cores for the threads has chosen how
 * they share them. */
static void bound_awake(weir__dispatcher *dispatcher, uint32_t cores, weir_ns passed)
{
    /* Of one that has threads the record is complete, and stays so as long as our mark is up: who
     * removes the last of them waits for that. */
    const uint32_t threads = weir__load(&dispatcher->threads, acquire);
    uint32_t most = threads > cores && !dispatcher->fair ? cores : threads;
    for (weir__serving *s = weir__servings_first(dispatcher); most < threads && s != NULL;
         s = s->next) {
        if (weir__load(&s->thread->core, relaxed) >= 0) {
            most = threads;
        } else if (!s->thread->external && is_slow(dispatcher, s->thread, passed)) {
            most++;
        }
    }
    set_bound(dispatcher, most < threads ? most : 0);
}

static void bound_all(const weir__monitor *monitor, weir_ns passed)
{
    weir_engine *engine = monitor->engine;
    const uint32_t count = weir__dispatchers_count(engine);
    turn_mark(engine);
    weir__barrier_light(); /* as in tend_all */
    for (uint32_t i = 0; i < count; i++) {
        bound_awake(engine->dispatchers[i], monitor->cores, passed);
    }
    turn_mark(engine);
}

/* Nobody looks any more: all may be up. */
static void lift_bounds(weir_engine *engine)
{
    const uint32_t count = weir__dispatchers_count(engine);
    turn_mark(engine);
    weir__barrier_light(); /* as in tend_all */
    for (uint32_t i = 0; i < count; i++) {
        set_bound(engine->dispatchers[i], 0);
    }
    turn_mark(engine);
}

/* From here on it is counted: what was done while the monitor slept belongs to no tick. */
static void note_all(weir_engine *engine)
{
    const uint32_t count = weir__threads_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        weir__thread *thread = weir__thread_at(engine, i);
        thread->turns_seen = weir__cell_read(&thread->turns);
        thread->handled_seen = weir__cell_read(&thread->context.tally.handled);
    }
}

/* What the thread keeps is worth another thread's while if it takes long enough to run. Turns that
 * are over in no time are better run one after the other where they are warm: handing the lines of
 * a processor over costs more than its turn. */
static void weigh(weir__thread *thread, uint64_t turns, weir_ns passed)
{
    const uint64_t handled = weir__cell_read(&thread->context.tally.handled);
    const int64_t turns_since = (int64_t)(turns - thread->turns_seen);
    const int64_t handled_since = (int64_t)(handled - thread->handled_seen);
    int64_t share_at = WEIR__SHARE_AT_LEAST;
    if (turns_since > 0 && handled_since > passed / HEAVY) {
        share_at = WORTH_SHARING * turns_since / passed;
        share_at = share_at > WEIR__SHARE_AT_LEAST ? share_at : WEIR__SHARE_AT_LEAST;
    }
    weir__store(&thread->share_at, (uint32_t)(share_at < SHARE_AT_MOST ? share_at : SHARE_AT_MOST),
                relaxed);
    thread->turns_seen = turns;
    thread->handled_seen = handled;
}

/* `passed`: since the last time; 0: this is only a look. True: something is kept there that others
 * could run. */
static bool tend(weir__thread *thread, weir_ns passed)
{
    const uint64_t turns = weir__cell_read(&thread->turns);
    const bool held_up = passed > 0 && turns == thread->turns_seen;
    bool kept = false;
    if (passed > 0) {
        weigh(thread, turns, passed);
    }
    for (weir__serving *serving = weir__servings_of(thread); serving != NULL;
         serving = serving->sibling) {
        const uint32_t length = weir__load(&serving->kept.length, seq_cst);
        if (length == 0 || weir__load(&serving->dispatcher->threads, relaxed) < 2) {
            continue;
        }
        kept = true;
        if (held_up) {
            give_away(serving);
        } else if (passed > 0 && length >= weir__load(&thread->share_at, relaxed)) {
            weir__dispatcher_wake(serving->dispatcher); /* should it have been missed */
        }
    }
    return kept;
}

static bool tend_all(weir_engine *engine, weir_ns passed)
{
    const uint32_t count = weir__threads_count(engine);
    bool kept = false;
    turn_mark(engine);
    /* Pairs with the heavy barrier of who removes a thread: we find nothing there any more, or are
     * waited for until it is in the queue. */
    weir__barrier_light();
    for (uint32_t i = 0; i < count; i++) {
        kept |= tend(weir__thread_at(engine, i), passed);
    }
    turn_mark(engine);
    return kept;
}

/* False: it is to quit. */
static bool sleep_until_needed(weir_engine *engine)
{
    uint32_t state = WEIR__MONITOR_AWAKE;
    if (!weir__cas(&engine->monitoring, &state, WEIR__MONITOR_ASLEEP, seq_cst, seq_cst)) {
        return false;
    }
    weir__barrier_heavy();
    if (tend_all(engine, 0)) {
        weir__monitor_wake(engine);
    }
    /* Ends with a wake-up; the word says whether it was one. */
    while ((state = weir__load(&engine->monitoring, acquire)) == WEIR__MONITOR_ASLEEP) {
        weir__word_wait(&engine->monitoring, WEIR__MONITOR_ASLEEP, WEIR_FOREVER);
    }
    return state != WEIR__MONITOR_QUIT;
}

/* Ticks until nothing has been kept for a while. False: it is to quit. */
static bool tick(const weir__monitor *monitor)
{
    weir_engine *engine = monitor->engine;
    weir_ns last = weir__clock_now();
    note_all(engine);
    for (uint32_t empty = 0; empty <= EMPTY_TICKS_MAX;) {
        weir__word_wait(&engine->monitoring, WEIR__MONITOR_AWAKE, TICK);
        if (weir__load(&engine->monitoring, acquire) == WEIR__MONITOR_QUIT) {
            return false;
        }
        const weir_ns now = weir__clock_now();
        if (now > last) {
            bound_all(monitor, now - last);
        }
        empty = now > last && tend_all(engine, now - last) ? 0 : empty + 1;
        last = now;
    }
    return true;
}

static void watch(void *argument)
{
    const weir__monitor *monitor = argument;
    bool goes_on = true;
    weir_engine *engine = monitor->engine;
    weir__helper_begin(engine, &engine->monitor_helper, &engine->helper_plan, "monitor");
    while (goes_on && sleep_until_needed(monitor->engine)) {
        goes_on = tick(monitor);
        lift_bounds(monitor->engine);
    }
    weir__helper_end(&engine->monitor_helper);
}

void weir__monitor_wake(weir_engine *engine)
{
    uint32_t asleep = WEIR__MONITOR_ASLEEP;
    if (weir__cas(&engine->monitoring, &asleep, WEIR__MONITOR_AWAKE, seq_cst, relaxed)) {
        weir__word_wake(&engine->monitoring, 1);
    }
}

static bool is_shared(weir_engine *engine)
{
    const uint32_t count = weir__dispatchers_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        if (weir__load(&engine->dispatchers[i]->threads, relaxed) > 1) {
            return true;
        }
    }
    return false;
}

weir_status weir__monitor_start(weir_engine *engine, weir_error *error)
{
    if (engine->monitor != NULL) {
        return WEIR_OK;
    }
    weir__monitor *monitor = weir__allocate(&engine->allocator, sizeof(*monitor));
    if (monitor == NULL) {
        return weir__error_memory(error, "monitor");
    }
    monitor->engine = engine;
    monitor->cores = weir__cores_usable();
    const int failure = weir__os_thread_start(&monitor->os, watch, monitor);
    if (failure != 0) {
        weir__release(&engine->allocator, monitor, sizeof(*monitor));
        return weir__error_system(error, failure, "monitor", "its thread could not be started");
    }
    engine->monitor = monitor;
    return WEIR_OK;
}

weir_status weir__monitor_need(weir_engine *engine, weir_error *error)
{
    return is_shared(engine) ? weir__monitor_start(engine, error) : WEIR_OK;
}

void weir__monitor_close(weir_engine *engine)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__monitor *monitor = engine->monitor;
    engine->monitor = NULL;
    weir__mutex_unlock(&engine->registry.lock);
    if (monitor == NULL) {
        return;
    }
    weir__store(&engine->monitoring, WEIR__MONITOR_QUIT, seq_cst);
    weir__word_wake(&engine->monitoring, 1);
    weir__os_thread_join(&monitor->os);
    weir__release(&engine->allocator, monitor, sizeof(*monitor));
}
