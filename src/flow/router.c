/*
 * flow/router.c - routers begin and end; who is least loaded.
 *
 * A router is a family of processors: the caretaker, and the workers as its children. So a stop of
 * the router is a stop of the caretaker, which drains the workers first, and a stop of the engine
 * needs to know nothing of routers.
 *
 * Routers live as long as their engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/router.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/room.h"
#include "flow/latency.h"
#include "flow/options.h"
#include "flow/sweep.h"
#include "flow/table.h"
#include "flow/tune.h"
#include "flow/worker.h"

#define PATH "weir_router_add"
#define CARETAKER_PLACES 10000u /* for triggers: one that counts, and those of timeouts before it */

/* ---- finding ---- */

weir_router weir_router_find(weir_engine *engine, const char *name)
{
    weir_router found = { 0 };
    if (!weir__engine_usable(engine) || name == NULL) {
        return found;
    }
    weir__routers *routers = weir__load(&engine->routers, acquire); /* [Y9] */
    const uint32_t count = routers != NULL ? weir__load(&routers->count, acquire) : 0;
    for (uint32_t i = 0; i < count && found.id == 0; i++) {
        weir__router *router = weir__load(&routers->all[i], relaxed);
        if (strcmp(router->name, name) == 0 && !weir__router_is_closed(router)) {
            found.id = router->id;
        }
    }
    return found;
}

/* ---- load ---- */

/* Accepted and not done; *word: of its mailbox. What is done is read before what was accepted: so
 * it is never less than none. */
static uint32_t outstanding(weir__processor *processor, uint64_t *word)
{
    const uint64_t done = weir__processor_done(processor) + weir__processor_evicted(processor);
    weir__fence(acquire);
    *word = weir__load(&processor->mailbox.word, acquire);
    return weir__mailbox_outstanding(*word, done);
}

uint32_t weir__worker_depth(weir_engine *engine, const weir__worker *worker)
{
    weir__processor *processor = weir__registry_find(&engine->registry, worker->handle);
    if (processor == NULL) {
        return UINT32_MAX;
    }
    uint64_t word;
    const uint32_t depth = outstanding(processor, &word);
    return (word & WEIR__MAILBOX_CLOSED) != 0 ? UINT32_MAX : depth;
}

uint32_t weir__router_least_loaded(weir__router *router)
{
    uint32_t best = 0;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < router->worker_count && least > 0; i++) {
        const uint32_t depth = weir__worker_depth(router->engine, &router->workers[i]);
        if (depth < least) {
            least = depth;
            best = i;
        }
    }
    return best;
}

/* The ticket is known to 2^20: an old one may be taken for one that waits, for a while, and never
 * the other way round. */
static bool target_is_done(weir__router *router, const weir__flow *flow)
{
    weir__processor *processor =
        weir__registry_find(&router->engine->registry, router->workers[flow->worker].handle);
    if (processor == NULL) {
        return true;
    }
    uint64_t word;
    const uint32_t open = outstanding(processor, &word);
    const uint32_t behind =
        (weir__mailbox_ticket(word) - flow->ticket - 1) & (uint32_t)WEIR__MAILBOX_FIELD;
    return behind >= open;
}

bool weir__flow_is_quiet(weir__router *router, weir__flow *flow)
{
    return router->targeted ? target_is_done(router, flow) : weir__flow_is_drained(flow);
}

/* ---- making ---- */

static void free_router(weir__router *router)
{
    const weir_allocator *allocator = &router->engine->allocator;
    weir__table_close(router);
    weir__router_latency_free(router);
    weir__release(allocator, router->workers, router->worker_count * sizeof(*router->workers));
    weir__release_text(allocator, router->name);
    weir__release(allocator, router, sizeof(*router));
}

static void close_routers(weir_engine *engine)
{
    weir__routers *routers = weir__load(&engine->routers, relaxed);
    const uint32_t count = weir__load(&routers->count, relaxed);
    for (uint32_t i = 0; i < count; i++) {
        free_router(weir__load(&routers->all[i], relaxed));
    }
    weir__release(&engine->allocator, routers, sizeof(*routers));
}

/* The engine's table of routers, made by the first one. NULL: no memory. */
static weir__routers *routers_of(weir_engine *engine)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__routers *routers = weir__load(&engine->routers, relaxed);
    if (routers == NULL) {
        routers = weir__allocate(&engine->allocator, sizeof(*routers));
        if (routers != NULL) {
            engine->routers_close = close_routers;
            /* [Y10] pairs with [Y9]. */
            weir__store(&engine->routers, routers, release);
        }
    }
    weir__mutex_unlock(&engine->registry.lock);
    return routers;
}

static uint32_t shards_for(uint64_t flows_max)
{
    uint32_t shards = 1;
    while (shards < WEIR__SHARDS_MAX && (uint64_t)shards * WEIR__FLOWS_A_SHARD < flows_max) {
        shards *= 2;
    }
    return shards;
}

static weir_ns least(weir_ns a, weir_ns b)
{
    return a < b ? a : b;
}

/* All its memory but for records and tables. */
static bool fill_in(weir__router *router, const weir_router_options *o)
{
    const weir_allocator *allocator = &router->engine->allocator;
    const uint32_t shards = shards_for(o->flows_max);
    const size_t state_room = sizeof(weir__flow) - WEIR__FLOW_STATE;
    const size_t more = o->state_size > state_room ? o->state_size - state_room : 0;
    router->options = *o;
    weir__store(&router->block_max, (uint64_t)o->block_max, relaxed);
    weir__store(&router->idle_timeout, (uint64_t)o->idle_timeout, relaxed);
    router->handler = o->handler;
    router->targeted = o->targets != NULL;
    router->plain = !router->targeted && !o->migrate;
    router->worker_count = router->targeted ? o->target_count : o->workers;
    router->shard_mask = shards - 1;
    /* Where one list has them all the order is exact; else a little less of it is much cheaper. */
    router->slack = shards == 1 ? 0 : least(o->idle_timeout / 64, 10 * WEIR_S);
    router->stride = sizeof(weir__flow) + ((more + 63) & ~(size_t)63);
    router->flows_most = (uint32_t)(o->flows_max + o->flows_max / 16 + WEIR__FLOWS_SPARE);
    router->chunk_max = router->flows_most / WEIR__FLOW_CHUNK + shards + 1 + 64; /* a slab */
    router->shards = weir__allocate(allocator, shards * sizeof(*router->shards));
    router->chunks = weir__allocate(allocator, router->chunk_max * sizeof(*router->chunks));
    router->workers = weir__allocate(allocator, router->worker_count * sizeof(*router->workers));
    for (uint32_t i = 0; router->shards != NULL && i < shards; i++) {
        weir__store(&router->shards[i].oldest_touched, UINT64_MAX, relaxed);
    }
    for (uint32_t i = 0; router->workers != NULL && i < router->worker_count; i++) {
        weir__worker *worker = &router->workers[i];
        worker->router = router;
        worker->index = i;
        worker->until_timed = o->latency_every;
        worker->looked_at = weir__clock_now();
        if (router->targeted) {
            worker->handle = o->targets[i];
        }
    }
    return router->shards != NULL && router->chunks != NULL && router->workers != NULL &&
           weir__copy_text(allocator, o->name, &router->name);
}

/* Those that are left without work. They may not be needed as long as the engine is. */
static void remove_threads(weir__router *router)
{
    for (uint32_t i = 0; i < router->worker_count; i++) {
        if (router->workers[i].thread.id != 0) {
            (void)weir_thread_remove(router->engine, router->workers[i].thread, NULL);
            router->workers[i].thread.id = 0;
        }
    }
}

/* A thread a worker, on a dispatcher of the router's name. */
static weir_status add_threads(weir__router *router, weir_error *error)
{
    const weir_router_options *o = &router->options;
    for (uint32_t i = 0; i < router->worker_count; i++) {
        char name[WEIR__ROUTER_NAME_SIZE + 16];
        snprintf(name, sizeof(name), "%s-%u", router->name, i);
        const int32_t *core = o->core_count > 0 ? &o->cores[i % o->core_count] : NULL;
        router->workers[i].thread = weir_thread_add(
            router->engine,
            WEIR_THREAD(.name = name, .dispatchers = WEIR_NAMES(router->name), .idle = o->idle,
                        .cores = core, .core_count = core != NULL ? 1 : 0),
            error);
        if (router->workers[i].thread.id == 0) {
            remove_threads(router);
            return error != NULL ? error->status : WEIR_E_SYSTEM;
        }
    }
    return WEIR_OK;
}

static const char *dispatcher_of(const weir__router *router)
{
    return router->options.own_threads ? router->name : router->options.dispatcher;
}

/* A caretaker and its workers, while they are made. */
typedef struct draft_name {
    char text[WEIR__ROUTER_NAME_SIZE + 32];
} draft_name;

static weir__processor_draft draft_caretaker(weir__router *router, draft_name *name)
{
    snprintf(name->text, sizeof(name->text), "flows:%s", router->name);
    return (weir__processor_draft){
        *WEIR_PROCESSOR(.name = name->text, .dispatcher = dispatcher_of(router),
                        .handler = weir__caretaker_handle, .argument = router,
                        .mailbox_max = CARETAKER_PLACES, .overflow = WEIR_OVERFLOW_FAIL,
                        .destroy = router->targeted ? weir__caretaker_destroy : NULL),
        { .chore = weir__caretaker_chore }
    };
}

static weir__processor_draft draft_worker(weir__router *router, uint32_t index, draft_name *name)
{
    const weir_router_options *o = &router->options;
    const bool block = o->overflow == WEIR_OVERFLOW_BLOCK;
    weir__router_worker_name(router->name, index, name->text, sizeof(name->text));
    return (weir__processor_draft){
        *WEIR_PROCESSOR(.name = name->text, .dispatcher = dispatcher_of(router),
                        .handler = weir__worker_handle, .argument = &router->workers[index],
                        .destroy = weir__worker_destroy,
                        .mailbox_max = o->worker_max + (block ? o->ingress_max : 0),
                        .batch_max = o->batch_max, .overflow = o->overflow,
                        .block_max = o->block_max),
        { .within = o->worker_max, .chore = weir__worker_chore, .shares_room = true }
    };
}

/* What was added is the router's. */
static void adopt(weir__router *router, const weir_processor *handles, uint32_t count)
{
    router->caretaker = handles[0];
    for (uint32_t i = 1; i < count; i++) {
        weir__worker *worker = &router->workers[i - 1];
        worker->handle = handles[i];
        /* Nobody knows of it, so that it is there. */
        worker->processor = weir__registry_find(&router->engine->registry, handles[i]);
    }
}

/* All of them, or none. */
static weir_status add_family(weir__router *router, weir_error *error)
{
    const weir_allocator *allocator = &router->engine->allocator;
    const uint32_t count = 1 + (router->targeted ? 0 : router->worker_count);
    draft_name *names = weir__allocate(allocator, count * sizeof(*names));
    weir__processor_draft *drafts = weir__allocate(allocator, count * sizeof(*drafts));
    weir_processor *handles = weir__allocate(allocator, count * sizeof(*handles));
    weir_status status = WEIR_E_NOMEM;
    if (names != NULL && drafts != NULL && handles != NULL) {
        drafts[0] = draft_caretaker(router, &names[0]);
        for (uint32_t i = 1; i < count; i++) {
            drafts[i] = draft_worker(router, i - 1, &names[i]);
        }
        status = weir__processor_add_family(router->engine, drafts, count, handles, error);
    } else {
        weir__error_memory(error, PATH);
    }
    if (status == WEIR_OK) {
        adopt(router, handles, count);
    }
    weir__release(allocator, handles, count * sizeof(*handles));
    weir__release(allocator, drafts, count * sizeof(*drafts));
    weir__release(allocator, names, count * sizeof(*names));
    return status;
}

static weir_status add_processors(weir__router *router, weir_error *error)
{
    weir_status status = router->options.own_threads ? add_threads(router, error) : WEIR_OK;
    if (status == WEIR_OK) {
        status = add_family(router, error);
        if (status != WEIR_OK) {
            remove_threads(router);
        }
    }
    return status;
}

/* routers->lock held. From here on it belongs to the table, where it stays, whatever comes. */
static weir_router publish(weir__routers *routers, weir__router *router, uint32_t number)
{
    router->id = router->engine->serial << WEIR__ROUTER_NUMBER_BITS | (number + 1);
    weir__store(&routers->all[number], router, relaxed);
    weir__store(&routers->count, number + 1, release); /* [Y10] */
    return (weir_router){ router->id };
}

static weir_router add(weir_engine *engine, weir__routers *routers, const weir_router_options *o,
                       weir_error *error)
{
    const weir_router none = { 0 };
    const uint32_t number = weir__load(&routers->count, relaxed);
    if (number == WEIR__ROUTERS_MAX) {
        weir__error_at(error, WEIR_E_LIMIT, PATH, "an engine has at most %u in its life",
                       WEIR__ROUTERS_MAX);
        return none;
    }
    if (weir_router_find(engine, o->name).id != 0) {
        weir__error_at(error, WEIR_E_TAKEN, "weir_router_options.name",
                       "is \"%.100s\", which is taken", o->name);
        return none;
    }
    weir__router *router = weir__allocate(&engine->allocator, sizeof(*router));
    if (router == NULL) {
        weir__error_memory(error, PATH);
        return none;
    }
    router->engine = engine;
    if (!fill_in(router, o)) {
        weir__error_memory(error, PATH);
        free_router(router);
        return none;
    }
    if (add_processors(router, error) != WEIR_OK) {
        free_router(router); /* nobody has seen it */
        return none;
    }
    return publish(routers, router, number);
}

weir_router weir_router_add(weir_engine *engine, const weir_router_options *options,
                            weir_error *error)
{
    weir_router out = { 0 };
    weir_router_options checked;
    weir_error local = WEIR_ERROR_INIT;
    error = error != NULL ? error : &local;
    if (weir__error_is_set(error)) {
        return out;
    }
    if (!weir__engine_usable(engine)) {
        weir__error_at(error, WEIR_E_INVALID, PATH ".engine", "is no usable engine");
        return out;
    }
    if (weir__options_router(engine, options, &checked, error) != WEIR_OK) {
        return out;
    }
    weir__flow_seed_make();
    weir__routers *routers = routers_of(engine);
    if (routers == NULL) {
        weir__error_memory(error, PATH);
        return out;
    }
    weir__mutex_lock(&routers->lock);
    out = add(engine, routers, &checked, error);
    weir__mutex_unlock(&routers->lock);
    return out;
}

/* ---- the end ---- */

#define GRACE WEIR_S /* for those who are in the middle of a call; else the engine's end frees it */

/* Its processors have ended. Who is inside its mark may have found it open. */
static void free_flows(weir_engine *engine, weir__router *router)
{
    weir__routers *routers = weir__load(&engine->routers, relaxed);
    weir__mutex_lock(&routers->lock);
    if (!router->freed && weir__contexts_wait(engine, weir__clock_now() + GRACE)) {
        weir__table_empty(router);
        router->freed = true;
    }
    remove_threads(router);
    weir__mutex_unlock(&routers->lock);
}

weir_status weir_router_stop(weir_engine *engine, weir_router handle, weir_ns timeout,
                             weir_stop_report *report)
{
    weir__router *router = weir__engine_usable(engine) ? weir__router_find(engine, handle) : NULL;
    if (router == NULL) {
        return weir__engine_usable(engine) ? WEIR_UNKNOWN : WEIR_E_INVALID;
    }
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    weir__store(&router->closed, 1, seq_cst); /* [Y2] pairs with [Y1] */
    weir__room_wake_all(engine);
    const weir_status status = weir_processor_stop(engine, router->caretaker, timeout, report);
    if (status == WEIR_OK) {
        free_flows(engine, router);
    }
    return status;
}
