/*
 * engine/keeper.c - the keeper's loop: look at every watched stop, sleep until the next deadline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/keeper.h"

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
    weir__stop *stops;
} weir__keeper;

/* registry.lock held. Expires what is due, moves what is answered to *said; returns the next
 * deadline. */
static weir_ns look_at_stops(weir__keeper *keeper, weir__stop **said)
{
    weir_ns next = WEIR_FOREVER;
    const weir_ns now = weir__clock_now();
    for (weir__stop **at = &keeper->stops; *at != NULL;) {
        weir__stop *stop = *at;
        if (weir__load(&stop->done, acquire) == 0 && stop->deadline <= now) {
            weir__stop_expire(keeper->engine, stop, WEIR_TIMEOUT);
        }
        if (weir__load(&stop->done, acquire) != 0) {
            *at = stop->keeper_next;
            stop->keeper_next = *said;
            *said = stop;
            continue;
        }
        next = stop->deadline < next ? stop->deadline : next;
        at = &stop->keeper_next;
    }
    return next;
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
    weir__os_thread_name("weir-keeper");
    for (;;) {
        const uint32_t seen = weir__load(&keeper->word, acquire);
        weir__stop *said = NULL;
        weir__mutex_lock(lock);
        const weir_ns next = look_at_stops(keeper, &said);
        const bool quit = keeper->quit;
        weir__mutex_unlock(lock);
        let_go(keeper, said);
        if (quit) {
            return;
        }
        weir__wait_until(&keeper->word, seen, next);
    }
}

/* A stop of the engine takes as long as it takes: it has a thread of its own. */
static void stop_engine(void *argument)
{
    weir__keeper *keeper = argument;
    weir__os_thread_name("weir-stopper");
    weir__shutdown(keeper->engine, keeper->stop_timeout);
}

static void nudge(weir__keeper *keeper)
{
    weir__add(&keeper->word, 1, release);
    weir__word_wake(&keeper->word, 1);
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
    stop->keeper_next = engine->keeper->stops;
    engine->keeper->stops = stop;
    nudge(engine->keeper);
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
    while (keeper->stops != NULL) {
        weir__stop *stop = keeper->stops;
        keeper->stops = stop->keeper_next;
        weir__stop_release(engine, stop);
    }
    engine->keeper = NULL;
    weir__release(&engine->allocator, keeper, sizeof(*keeper));
}
