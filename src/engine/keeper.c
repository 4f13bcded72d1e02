/*
 * engine/keeper.c - the keeper's loop: end what is due, sleep until the next deadline.
 *
 * Stops come and go by the million, and hardly any of them runs out of time: so nobody wakes the
 * keeper for one, unless it is due before the keeper would get up, and whoever answers a stop takes
 * it out of the keeper's list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/keeper.h"

#include "base/assert.h"
#include "base/memory.h"
#include "engine/shutdown.h"
#include "sync/word.h"
#include "sync/thread.h"

typedef struct weir__keeper {
    weir_engine *engine;
    weir__os_thread os;
    weir__atomic_u32 word; /* a wait word: changes when there is something new */
    bool quit;             /* under registry.lock, so what follows */
    bool stops_engine;
    weir_ns stop_timeout;
    weir__os_thread stopper;
    weir__stop *first, *last;         /* unanswered ones, the next deadline first */
    weir__stop *to_say, *to_say_last; /* answered ones that there may be something to say about */
    weir_ns sleeps_until;             /* 0: it is about to look */
} weir__keeper;

static void nudge(weir__keeper *keeper)
{
    weir__add(&keeper->word, 1, release);
    weir__word_wake(&keeper->word, 1);
}

/* From the last: most stops have the default timeout, so the latest to begin is the latest due. */
static void insert(weir__keeper *keeper, weir__stop *stop)
{
    weir__stop *before = keeper->last;
    while (before != NULL && before->deadline > stop->deadline) {
        before = before->keeper_previous;
    }
    weir__stop *after = before != NULL ? before->keeper_next : keeper->first;
    stop->keeper = keeper;
    stop->keeper_previous = before;
    stop->keeper_next = after;
    *(before != NULL ? &before->keeper_next : &keeper->first) = stop;
    *(after != NULL ? &after->keeper_previous : &keeper->last) = stop;
}

static void take_out(weir__keeper *keeper, weir__stop *stop)
{
    weir__stop *before = stop->keeper_previous;
    weir__stop *after = stop->keeper_next;
    *(before != NULL ? &before->keeper_next : &keeper->first) = after;
    *(after != NULL ? &after->keeper_previous : &keeper->last) = before;
    stop->keeper = NULL;
}

static void will_say(weir__keeper *keeper, weir__stop *stop)
{
    stop->keeper_next = NULL;
    *(keeper->to_say != NULL ? &keeper->to_say_last->keeper_next : &keeper->to_say) = stop;
    keeper->to_say_last = stop;
}

static bool is_worth_a_word(const weir__keeper *keeper, const weir__stop *stop)
{
    weir__log *log = &keeper->engine->log;
    return (stop->waiting > 0 && weir__log_on(log, WEIR_LOG_WARNING)) ||
           (stop->expired && weir__log_on(log, WEIR_LOG_ERROR));
}

/* An answered stop, to which its processor has a reference as well. */
static void conclude(weir__keeper *keeper, weir__stop *stop)
{
    if (!is_worth_a_word(keeper, stop)) {
        WEIR_ASSERT(stop->references > 1);
        stop->references--;
        return;
    }
    /* A log hook must not run under the lock: the keeper says it. */
    const bool first = keeper->to_say == NULL;
    will_say(keeper, stop);
    if (first) {
        nudge(keeper);
    }
}

/* registry.lock held. Expires what is due; returns until when to sleep. That may be the deadline of
 * a stop that was answered meanwhile: one look too many, some day, is nothing against a wake-up for
 * every stop that comes when the list happens to be empty. */
static weir_ns look_at_stops(weir__keeper *keeper, weir__stop **said)
{
    const weir_ns now = weir__clock_now();
    while (keeper->first != NULL && keeper->first->deadline <= now) {
        weir__stop *stop = keeper->first;
        take_out(keeper, stop);
        weir__stop_expire(keeper->engine, stop, WEIR_TIMEOUT);
        will_say(keeper, stop);
    }
    *said = keeper->to_say;
    keeper->to_say = NULL;
    const weir_ns due = keeper->first != NULL ? keeper->first->deadline : WEIR_FOREVER;
    return keeper->sleeps_until > now && keeper->sleeps_until < due ? keeper->sleeps_until : due;
}

/* Not with the lock held. */
static void let_go(weir__keeper *keeper, weir__stop *stops)
{
    while (stops != NULL) {
        weir__stop *next = stops->keeper_next;
        weir__stop_say(keeper->engine, stops);
        weir__mutex_lock(&keeper->engine->registry.lock);
        weir__stop_release(keeper->engine, stops);
        weir__mutex_unlock(&keeper->engine->registry.lock);
        stops = next;
    }
}

static void keep(void *argument)
{
    weir__keeper *keeper = argument;
    weir__mutex *lock = &keeper->engine->registry.lock;
    weir_engine *engine = keeper->engine;
    weir__helper_begin(engine, &engine->keeper_helper, &engine->helper_plan, "keeper");
    for (;;) {
        const uint32_t seen = weir__load(&keeper->word, acquire);
        weir__stop *said = NULL;
        weir__mutex_lock(lock);
        const weir_ns next = look_at_stops(keeper, &said);
        keeper->sleeps_until = next;
        const bool quit = keeper->quit;
        weir__mutex_unlock(lock);
        let_go(keeper, said);
        if (quit) {
            break;
        }
        weir__wait_until(&keeper->word, seen, next);
    }
    weir__helper_end(&engine->keeper_helper);
}

/* A stop of the engine takes as long as it takes: it has a thread of its own. */
static void stop_engine(void *argument)
{
    weir__keeper *keeper = argument;
    weir__helper helper = { 0 }; /* it is shown nowhere: all others end meanwhile */
    weir__helper_begin(keeper->engine, &helper, &keeper->engine->helper_plan, "stopper");
    weir__shutdown(keeper->engine, keeper->stop_timeout);
}

weir_status weir__keeper_need(weir_engine *engine)
{
    if (engine->keeper != NULL) {
        return WEIR_OK;
    }
    weir__keeper *keeper = weir__allocate(&engine->allocator, sizeof(*keeper));
    if (keeper == NULL) {
        return WEIR_E_NOMEM;
    }
    keeper->engine = engine;
    if (weir__os_thread_start(&keeper->os, keep, keeper) != 0) {
        weir__release(&engine->allocator, keeper, sizeof(*keeper));
        return WEIR_E_SYSTEM;
    }
    engine->keeper = keeper;
    return WEIR_OK;
}

void weir__keeper_watch(weir_engine *engine, weir__stop *stop)
{
    weir__keeper *keeper = engine->keeper;
    if (weir__load(&stop->done, relaxed) != 0) {
        conclude(keeper, stop);
        return;
    }
    insert(keeper, stop);
    if (stop->deadline < keeper->sleeps_until) {
        keeper->sleeps_until = stop->deadline;
        nudge(keeper);
    }
}

void weir__keeper_answered(weir__stop *stop)
{
    weir__keeper *keeper = stop->keeper;
    take_out(keeper, stop);
    conclude(keeper, stop);
}

weir_status weir__keeper_stop_engine(weir_engine *engine, weir_ns timeout)
{
    weir__keeper *keeper = engine->keeper;
    keeper->stop_timeout = timeout;
    if (weir__os_thread_start(&keeper->stopper, stop_engine, keeper) != 0) {
        return WEIR_E_SYSTEM;
    }
    keeper->stops_engine = true;
    return WEIR_OK;
}

void weir__keeper_close(weir_engine *engine)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__keeper *keeper = engine->keeper;
    if (keeper != NULL) {
        keeper->quit = true;
        nudge(keeper);
    }
    weir__mutex_unlock(&engine->registry.lock);
    if (keeper == NULL) {
        return;
    }
    weir__os_thread_join(&keeper->os);
    if (keeper->stops_engine) {
        weir__os_thread_join(&keeper->stopper);
    }
    while (keeper->first != NULL) {
        weir__stop *stop = keeper->first;
        take_out(keeper, stop);
        weir__stop_release(engine, stop);
    }
    engine->keeper = NULL;
    weir__release(&engine->allocator, keeper, sizeof(*keeper));
}
