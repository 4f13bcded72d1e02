/*
 * engine/context.c - which context the calling thread has for which engine, and what happens to it
 * when the thread ends, the engine ends, or the process forks.
 *
 * A thread's local pointer leads to a short list of attachments, the last used in front. An
 * attachment names its engine by serial number too: engines come and go at the same address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include "base/memory.h"
#include "base/processwide.h"
#include "engine/engine.h"
#include "engine/signal.h"
#include "engine/traceparent.h"
#include "sync/crash.h"
#include "sync/stack.h"
#include "sync/thread.h"
#include "sync/word.h"

typedef weir__attachment attachment;
typedef weir__attached thread_state;

/* Guards the list of living engines, and with it: a thread that ends against an engine that ends.
 * */
static WEIR__PROCESS_WIDE weir__mutex alive_lock;
static WEIR__PROCESS_WIDE weir_engine *alive;
static WEIR__PROCESS_WIDE uint64_t last_serial;
static WEIR__PROCESS_WIDE bool hooks_installed;

static thread_state *state_of_thread(void)
{
    return *weir__local();
}

static thread_state *make_state(void)
{
    thread_state *state = state_of_thread();
    if (state == NULL) {
        state = weir__allocate(weir__allocator_default(), sizeof(*state));
        *weir__local() = state;
        if (state != NULL) {
            state->system_id = (uint32_t)weir__os_thread_id();
            weir__local_arm();
        }
    }
    return state;
}

static bool is_alive(const weir_engine *engine, uint64_t serial)
{
    for (const weir_engine *e = alive; e != NULL; e = e->next_alive) {
        if (e == engine) {
            return e->serial == serial;
        }
    }
    return false;
}

void weir__context_flush(weir__context *context)
{
    weir_engine *engine = context->engine;
    if (context->carried != NULL) {
        weir__carried_drop(context);
    }
    weir__stock_flush(&context->stock);
    for (uint32_t i = 0; i < WEIR__BLOCK_CLASSES; i++) {
        weir__pool_flush(&engine->blocks[i], &context->blocks[i]);
    }
}

/* A thread ends: its contexts go back to the engines that still live. */
static void thread_ends(void *pointer)
{
    thread_state *state = pointer;
    weir__mutex_lock(&alive_lock);
    for (attachment *a = state->first; a != NULL;) {
        attachment *next = a->next;
        if (!a->own && is_alive(a->engine, a->serial)) {
            weir__context_flush(a->context);
            /* [X1] pairs with [X2]: the next user sees the caches and cells as we left them. */
            weir__store(&a->context->in_use, 0, release);
        }
        if (!a->own) {
            weir__release(weir__allocator_default(), a, sizeof(*a));
        }
        a = next;
    }
    weir__mutex_unlock(&alive_lock);
    weir__release(weir__allocator_default(), state, sizeof(*state));
}

/* In the child only the forking thread lives on, and memory is a copy: every engine of the parent
 * is marked, so that every call on it finds out; locks that other threads held at the fork are
 * void. */
static void after_fork(void)
{
    for (weir_engine *engine = alive; engine != NULL; engine = engine->next_alive) {
        weir__store(&engine->phase, WEIR__FORKED, seq_cst);
    }
    alive_lock = (weir__mutex){ { 0 } };
    alive = NULL;
    thread_state *state = state_of_thread();
    if (state != NULL) {
        state->system_id = (uint32_t)weir__os_thread_id();
    }
    weir__crash_after_fork();
    weir__stack_after_fork();
}

int weir__contexts_open(weir_engine *engine)
{
    int failure = 0;
    weir__mutex_lock(&alive_lock);
    if (!hooks_installed) {
        weir__barrier_open();
        failure = weir__local_at_exit(thread_ends);
        failure = failure != 0 ? failure : weir__after_fork(after_fork);
        hooks_installed = failure == 0;
    }
    if (failure == 0) {
        engine->serial = ++last_serial;
        engine->next_alive = alive;
        alive = engine;
    }
    weir__mutex_unlock(&alive_lock);
    return failure;
}

void weir__contexts_close(weir_engine *engine)
{
    weir__mutex_lock(&alive_lock);
    for (weir_engine **at = &alive; *at != NULL; at = &(*at)->next_alive) {
        if (*at == engine) {
            *at = engine->next_alive;
            break;
        }
    }
    weir__mutex_unlock(&alive_lock);
    /* Nobody can reach a foreign context of ours any more: its thread no longer finds us alive. */
    weir__context *context = weir__contexts_first(engine);
    while (context != NULL) {
        weir__context *next = weir__contexts_next(context);
        if (context->thread == NULL) {
            if (context->carried != NULL) {
                weir__carried_drop(context);
            }
            weir__release(&engine->allocator, context, sizeof(*context));
        }
        context = next;
    }
}

bool weir__engine_usable(const weir_engine *engine)
{
    return engine != NULL && weir__engine_phase(engine) != WEIR__FORKED;
}

void weir__contexts_enlist(weir_engine *engine, weir__context *context)
{
    weir__context *first = weir__load(&engine->contexts, relaxed);
    do {
        weir__store(&context->next, first, relaxed);
        /* [X3] pairs with [X4]: the context is zeroed and complete. */
    } while (!weir__cas(&engine->contexts, &first, context, acq_rel, relaxed));
}

#define YIELDS_BEFORE_SLEEP 64u

bool weir__contexts_wait(weir_engine *engine, weir_ns deadline)
{
    weir__atomic_u32 never;
    weir__init(&never, 0);
    weir__barrier_heavy();
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        /* [R2] pairs with [R1]. */
        const uint64_t seen = weir__load(&c->inside, acquire);
        for (uint32_t looks = 1; (seen & 1) != 0 && weir__load(&c->inside, acquire) == seen;
             looks++) {
            if (deadline != WEIR_FOREVER && weir__clock_now() >= deadline) {
                return false;
            }
            if (looks % YIELDS_BEFORE_SLEEP != 0) {
                weir__yield();
            } else { /* it may be waiting for this core, below our priority */
                weir__word_wait(&never, 0, 50 * WEIR_US);
            }
        }
    }
    return true;
}

weir__context *weir__context_borrow(weir_engine *engine)
{
    for (weir__context *c = weir__contexts_first(engine); c != NULL; c = weir__contexts_next(c)) {
        uint32_t in_use = 0;
        /* [X2] pairs with [X1]. */
        if (c->thread == NULL && weir__cas(&c->in_use, &in_use, 1, acquire, relaxed)) {
            return c;
        }
    }
    weir__context *context = weir__allocate(&engine->allocator, sizeof(*context));
    if (context == NULL) {
        return NULL;
    }
    context->engine = engine;
    context->stock.stores = &engine->stores;
    context->plain_below = WEIR__PLAIN_BELOW;
    context->stamp_in = 1;
    weir__store(&context->in_use, 1, relaxed);
    weir__contexts_enlist(engine, context);
    return context;
}

void weir__context_give_back(weir__context *context)
{
    /* [X1] pairs with [X2]. */
    weir__store(&context->in_use, 0, release);
}

static weir__context *find_slowly(weir_engine *engine)
{
    if (!weir__engine_usable(engine)) {
        return NULL;
    }
    thread_state *state = make_state();
    if (state == NULL) {
        return NULL;
    }
    attachment **spare = NULL;
    weir__mutex_lock(&alive_lock);
    for (attachment **at = &state->first; *at != NULL; at = &(*at)->next) {
        attachment *a = *at;
        if (a->engine == engine && a->serial == engine->serial) {
            *at = a->next; /* to the front: the next call finds it at once */
            a->next = state->first;
            state->first = a;
            weir__mutex_unlock(&alive_lock);
            return a->context;
        }
        if (!a->own && !is_alive(a->engine, a->serial)) {
            spare = at; /* of an engine that is gone: its place can be used */
        }
    }
    weir__mutex_unlock(&alive_lock);
    weir__context *context = weir__context_borrow(engine);
    attachment *a = spare != NULL ? *spare : NULL;
    if (context != NULL && a == NULL) {
        a = weir__allocate(weir__allocator_default(), sizeof(*a));
    }
    if (context == NULL || a == NULL) {
        if (context != NULL) {
            weir__context_give_back(context);
        }
        return NULL;
    }
    if (spare != NULL) {
        *spare = a->next;
    }
    *a = (attachment){ state->first, engine, engine->serial, context, false };
    state->first = a;
    return context;
}

weir__context *weir__context_find(weir_engine *engine)
{
    weir__context *context = weir__context_at_hand(engine);
    return weir__likely(context != NULL) ? context : find_slowly(engine);
}

bool weir__context_attach(weir__context *context, weir__attachment *seat)
{
    thread_state *state = make_state();
    if (state == NULL) {
        return false;
    }
    *seat = (attachment){ state->first, context->engine, context->engine->serial, context, true };
    state->first = seat;
    return true;
}

void weir__context_detach(weir__context *context)
{
    thread_state *state = state_of_thread();
    for (attachment **at = &state->first; *at != NULL; at = &(*at)->next) {
        if ((*at)->context == context && (*at)->own) {
            *at = (*at)->next;
            return;
        }
    }
}

uint32_t weir__context_system_id(void)
{
    const thread_state *state = state_of_thread();
    return state != NULL ? state->system_id : 0;
}

bool weir__context_in_handler(void)
{
    const thread_state *state = state_of_thread();
    return state != NULL && state->handlers > 0;
}

void weir__context_handler_begin(void)
{
    thread_state *state = make_state();
    if (state != NULL) {
        state->handlers++;
    }
}

void weir__context_handler_end(void)
{
    thread_state *state = state_of_thread();
    if (state != NULL) {
        state->handlers--;
    }
}

struct weir__trail *weir__context_trail(void)
{
    const thread_state *state = state_of_thread();
    return state != NULL ? state->trail : NULL;
}

struct weir__trail *weir__context_trail_swap(struct weir__trail *trail)
{
    thread_state *state = state_of_thread();
    struct weir__trail *outer = NULL;
    if (state != NULL) {
        outer = state->trail;
        state->trail = trail;
    }
    return outer;
}

void weir__lone_put(weir__context *context, weir__lone *lone)
{
    if ((weir__load(&lone->envelope.state, relaxed) & WEIR__ENVELOPE_SIGNAL) != 0) {
        weir__signal_give_back(lone);
    } else {
        weir__stock_put_lone(&context->stock, lone);
    }
}
