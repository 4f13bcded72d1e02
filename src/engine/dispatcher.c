/*
 * engine/dispatcher.c - pushing, taking, waking.
 *
 * Fair mode. Every thread that finds no work, or finds that others wait longer, draws a number
 * (under the lock). Work goes to the lowest number, and so does a wake-up; a thread that begins a
 * turn anywhere gives its numbers back and passes the wake-up on, so nobody waits for someone who
 * is inside a handler. External threads take without a number: the application may forget them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/dispatcher.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "engine/engine.h"
#include "engine/fair.h"
#include "engine/processor.h"

#define COUNT_BITS 22
#define COUNT_MAX ((UINT64_C(1) << COUNT_BITS) - 1)

static weir__processor *newest_of(uint64_t intake)
{
    return (weir__processor *)(uintptr_t)((intake >> COUNT_BITS) << 6);
}

void weir__dispatcher_push_quiet(weir__dispatcher *dispatcher, weir__processor *processor)
{
    uint64_t intake = weir__load(&dispatcher->intake, relaxed);
    uint64_t next;
    do {
        const uint64_t count = intake & COUNT_MAX;
        processor->ready_next = newest_of(intake);
        next = ((uint64_t)(uintptr_t)processor >> 6) << COUNT_BITS |
               (count < COUNT_MAX ? count + 1 : count);
        /* [I1] pairs with [I2]: the link, and everything behind the ready edge. seq_cst: before the
         * look at who is parked (see the header). */
    } while (!weir__cas(&dispatcher->intake, &intake, next, seq_cst, relaxed));
}

uint32_t weir__dispatcher_ready(const weir__dispatcher *dispatcher)
{
    weir__dispatcher *d = (weir__dispatcher *)(uintptr_t)dispatcher;
    return weir__load(&d->length, relaxed) +
           (uint32_t)(weir__load(&d->intake, relaxed) & COUNT_MAX);
}

void weir__dispatcher_push(weir__dispatcher *dispatcher, weir__processor *processor)
{
    weir__dispatcher_push_quiet(dispatcher, processor);
    weir__dispatcher_wake(dispatcher);
}

/* The intake is a stack, newest first; turned round it goes behind the list. Lock held. */
static uint32_t move_intake(weir__dispatcher *dispatcher)
{
    if (weir__load(&dispatcher->intake, relaxed) == 0) {
        return 0;
    }
    /* [I2] pairs with [I1]. */
    weir__processor *newest = newest_of(weir__exchange(&dispatcher->intake, 0, acquire));
    weir__processor *turned = NULL;
    uint32_t count = 0;
    for (weir__processor *p = newest; p != NULL; count++) {
        weir__processor *next = p->ready_next;
        p->ready_next = turned;
        turned = p;
        p = next;
    }
    if (dispatcher->tail != NULL) {
        dispatcher->tail->ready_next = turned;
    } else {
        dispatcher->head = turned;
    }
    dispatcher->tail = newest;
    return count;
}

weir__take weir__dispatcher_take(weir__dispatcher *dispatcher, weir__thread *thread, uint32_t place,
                                 weir__processor **out)
{
    weir__serving *serving = &thread->servings[place];
    *out = NULL;
    if (!weir__dispatcher_has_work(dispatcher) && !dispatcher->fair) {
        return WEIR__TAKE_EMPTY;
    }
    weir__cell_add(&serving->try_locks, 1);
    if (!weir__trylock_take(&dispatcher->lock)) {
        weir__cell_add(&serving->try_locks_failed, 1);
        return WEIR__TAKE_FAILED;
    }
    uint32_t length = weir__load(&dispatcher->length, relaxed) + move_intake(dispatcher);
    weir__take result = WEIR__TAKE_NONE;
    if (dispatcher->fair && !weir__fair_may_take(dispatcher, thread, place, length > 0)) {
        result = length > 0 ? WEIR__TAKE_WAIT : WEIR__TAKE_NONE;
    } else if (length > 0) {
        weir__processor *first = dispatcher->head;
        dispatcher->head = first->ready_next;
        if (dispatcher->head == NULL) {
            dispatcher->tail = NULL;
        }
        length--;
        *out = first;
        result = WEIR__TAKE_GOT;
    }
    weir__store(&dispatcher->length, length, relaxed);
    weir__trylock_release(&dispatcher->lock);
    return result;
}

/* Takes one bit of a set of parked threads and gets that thread up. False: none was there. */
static bool wake_from(weir__dispatcher *dispatcher, weir__atomic_u64 *words, bool external)
{
    weir_engine *engine = dispatcher->engine;
    const uint32_t count = (weir__load(&engine->thread_count, acquire) + 63) / 64;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = weir__load(&words[i], seq_cst);
        while (bits != 0) {
            const uint64_t bit = bits & (~bits + 1);
            if ((weir__and(&words[i], ~bit, seq_cst) & bit) != 0) {
                const uint32_t index = i * 64 + (uint32_t)__builtin_ctzll(bit);
                if (!external) {
                    /* On its behalf: from now on others see a searcher and send no signal. */
                    weir__add(&dispatcher->searching, 1, seq_cst);
                }
                weir__add(&dispatcher->signals, 1, relaxed);
                weir__thread_wake(weir__load(&engine->threads[index], acquire));
                return true;
            }
            bits &= ~bit;
        }
    }
    return false;
}

void weir__dispatcher_wake(weir__dispatcher *dispatcher)
{
    if (dispatcher->fair) {
        weir__fair_wake(dispatcher);
        return;
    }
    if (weir__load(&dispatcher->searching, seq_cst) > 0) {
        return;
    }
    /* Threads of weir's own first: an application may be slow to turn an external one, so that one
     * is never counted as searching. */
    if (!wake_from(dispatcher, dispatcher->parked, false) &&
        weir__load(&dispatcher->threads_external, relaxed) != 0) {
        weir__dispatcher_wake_external(dispatcher);
    }
}

void weir__dispatcher_wake_external(weir__dispatcher *dispatcher)
{
    wake_from(dispatcher, dispatcher->parked_external, true);
}

weir__dispatcher *weir__dispatcher_find(weir_engine *engine, const char *name)
{
    const uint32_t count = weir__load(&engine->dispatcher_count, acquire);
    for (uint32_t i = 0; i < count; i++) {
        if (weir__load(&engine->dispatchers[i]->threads, relaxed) != 0 &&
            strcmp(engine->dispatchers[i]->name, name) == 0) {
            return engine->dispatchers[i];
        }
    }
    return NULL;
}

void weir__dispatcher_names(weir_engine *engine, char *out, size_t size)
{
    const uint32_t count = weir__load(&engine->dispatcher_count, acquire);
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count && used < size; i++) {
        if (engine->dispatchers[i]->dedicated) {
            continue;
        }
        const int length = snprintf(out + used, size - used, "%s\"%s\"", used > 0 ? ", " : "",
                                    engine->dispatchers[i]->name);
        used += length > 0 ? (size_t)length : 0;
    }
}

void weir_dispatcher_visit(weir_engine *engine, bool (*visit)(void *context, const char *name),
                           void *context)
{
    if (!weir__engine_usable(engine) || visit == NULL) {
        return;
    }
    /* Without the lock: the visitor may call anything. Entries below the count never change. */
    const uint32_t count = weir__load(&engine->dispatcher_count, acquire);
    for (uint32_t i = 0; i < count; i++) {
        if (!engine->dispatchers[i]->dedicated && !visit(context, engine->dispatchers[i]->name)) {
            return;
        }
    }
}
