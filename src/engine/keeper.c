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
    bool stop_engine;
    weir_ns stop_timeout;
    weir__stop *stops;
} weir__keeper;

/* registry.lock held. Drops what is answered, expires what is due; returns the next deadline. */
static weir_ns look_at_stops(weir__keeper *keeper)
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
            weir__stop_release(keeper->engine, stop);
            continue;
        }
        next = stop->deadline < next ? stop->deadline : next;
        at = &stop->keeper_next;
    }
    return next;
}

static void keep(void *argument)
{
    weir__keeper *keeper = argument;
    weir__mutex *lock = &keeper->engine->registry.lock;
    weir__os_thread_name("weir-keeper");
    for (;;) {
        const uint32_t seen = weir__load(&keeper->word, acquire);
        weir__mutex_lock(lock);
        const weir_ns next = look_at_stops(keeper);
        const bool quit = keeper->quit;
        const bool stop_engine = keeper->stop_engine;
        const weir_ns timeout = keeper->stop_timeout;
        keeper->stop_engine = false;
        weir__mutex_unlock(lock);
        if (quit) {
            return;
        }
        if (stop_engine) {
            weir__shutdown(keeper->engine, timeout);
            continue;
        }
        weir__wait_until(&keeper->word, seen, next);
    }
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

void weir__keeper_stop_engine(weir_engine *engine, weir_ns timeout)
{
    engine->keeper->stop_engine = true;
    engine->keeper->stop_timeout = timeout;
    nudge(engine->keeper);
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
    while (keeper->stops != NULL) {
        weir__stop *stop = keeper->stops;
        keeper->stops = stop->keeper_next;
        weir__stop_release(engine, stop);
    }
    engine->keeper = NULL;
    weir__release(&engine->allocator, keeper, sizeof(*keeper));
}
