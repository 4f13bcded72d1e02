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
#include "engine/lease.h"
#include "engine/options.h"
#include "engine/processor.h"
#include "sync/thread.h"

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
    uint32_t ready =
        weir__load(&d->length, relaxed) + (uint32_t)(weir__load(&d->intake, relaxed) & COUNT_MAX);
    for (weir__serving *s = weir__servings_first(d); s != NULL; s = s->next) {
        ready += weir__kept_length(&s->kept);
    }
    return ready;
}

/* The intake is a stack, newest first; turned round it goes behind the list. Lock held. A look from
 * outside must never find both words empty while work is on its way from one to the other, so the
 * length says "something" before the intake says "nothing". */
static uint32_t move_intake(weir__dispatcher *dispatcher, uint32_t length)
{
    if (weir__load(&dispatcher->intake, relaxed) == 0) {
        return 0;
    }
    weir__store(&dispatcher->length, length + 1, relaxed);
    /* [I2] pairs with [I1]; and releases the length. */
    weir__processor *newest = newest_of(weir__exchange(&dispatcher->intake, 0, seq_cst));
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

/* There is something, and the thread was idle. It looks at the clock, once it has asked for what it
 * will need next: that takes as long. */
static void rise(weir__dispatcher *dispatcher, weir__thread *thread)
{
    __builtin_prefetch(newest_of(weir__load(&dispatcher->intake, relaxed)));
    thread->came = weir__clock_now();
}

/* What a turn begins with. */
static void expect_turn(weir__processor *processor)
{
    const uintptr_t first = weir__load(&processor->mailbox.first, relaxed) & ~(uintptr_t)1;
    __builtin_prefetch((const void *)first);
    __builtin_prefetch((const void *)(first + WEIR_CACHE_LINE));
}

WEIR__WARM weir__take weir__dispatcher_take(weir__dispatcher *dispatcher, weir__thread *thread,
                                            uint32_t place, weir__processor **out)
{
    weir__serving *serving = thread->servings[place];
    *out = NULL;
    if (!weir__dispatcher_has_more(dispatcher) && !dispatcher->fair) {
        return WEIR__TAKE_EMPTY;
    }
    if (weir__unlikely(!weir__busy_is(&thread->busy))) {
        rise(dispatcher, thread);
    }
    weir__cell_add(&serving->try_locks, 1);
    if (!weir__trylock_take(&dispatcher->lock)) {
        weir__cell_add(&serving->try_locks_failed, 1);
        return WEIR__TAKE_FAILED;
    }
    WEIR_ASSERT_SLOW(!thread->holding_lock); /* at most one, none nested */
    thread->holding_lock = true;
    uint32_t length = weir__load(&dispatcher->length, relaxed);
    if (length == 0 || dispatcher->fair) {
        length += move_intake(dispatcher, length);
    }
    weir__take result = WEIR__TAKE_NONE;
    if (dispatcher->fair && !weir__fair_may_take(dispatcher, thread, place, length > 0)) {
        result = length > 0 ? WEIR__TAKE_WAIT : WEIR__TAKE_NONE;
    } else if (length > 0) {
        weir__processor *first = dispatcher->head;
        WEIR_ASSERT(first != NULL);
        dispatcher->head = first->ready_next;
        if (dispatcher->head == NULL) {
            dispatcher->tail = NULL;
        }
        length--;
        *out = first;
        result = WEIR__TAKE_GOT;
    }
    if (length > 0) {
        /* Before the look at who is parked (pass_on in duty.c): what is left must not be missed by
         * both sides. */
        weir__store(&dispatcher->length, length, seq_cst);
    } else {
        weir__store(&dispatcher->length, 0, relaxed);
    }
    thread->holding_lock = false;
    weir__trylock_release(&dispatcher->lock);
    if (result == WEIR__TAKE_GOT) {
        expect_turn(*out);
    }
    return result;
}

/* Lock held. Those that were moved are taken out of the list, in their order. */
static weir__processor *take_moved(weir__dispatcher *dispatcher)
{
    uint32_t length = weir__load(&dispatcher->length, relaxed);
    length += move_intake(dispatcher, length);
    weir__processor *moved = NULL;
    weir__processor **end = &moved;
    weir__processor **link = &dispatcher->head;
    weir__processor *stays = NULL;
    while (*link != NULL) {
        weir__processor *processor = *link;
        if (weir__processor_dispatcher(processor) == dispatcher) {
            stays = processor;
            link = &processor->ready_next;
            continue;
        }
        *link = processor->ready_next;
        processor->ready_next = NULL;
        *end = processor;
        end = &processor->ready_next;
        length--;
    }
    dispatcher->tail = stays;
    weir__store(&dispatcher->length, length, seq_cst);
    return moved;
}

bool weir__dispatcher_pass_moved(weir__dispatcher *dispatcher, weir_ns deadline)
{
    if (!weir__dispatcher_has_work(dispatcher)) {
        return true;
    }
    /* Ends: the lock covers steps on the queue and nothing else. */
    while (!weir__trylock_take(&dispatcher->lock)) {
        if (weir__clock_now() >= deadline) {
            return false;
        }
        weir__yield();
    }
    weir__processor *moved = take_moved(dispatcher);
    weir__trylock_release(&dispatcher->lock);
    weir__processors_pass_on(moved);
    return true;
}

void weir__processors_pass_on(weir__processor *first)
{
    while (first != NULL) {
        weir__processor *next = first->ready_next;
        weir__dispatcher_push(weir__processor_dispatcher(first), first);
        first = next;
    }
}

/* Takes that thread's bit, if it is set, and gets the thread up. */
static bool wake_one(weir__dispatcher *dispatcher, weir__atomic_u64 *words, uint32_t index,
                     bool external)
{
    const uint64_t bit = UINT64_C(1) << (index % 64);
    if ((weir__and(&words[index / 64], ~bit, seq_cst) & bit) == 0) {
        return false;
    }
    if (!external) {
        /* On its behalf: from now on others see a searcher and send no signal. */
        weir__add(&dispatcher->searching, 1, seq_cst);
    }
    weir__add(&dispatcher->signals, 1, relaxed);
    weir__thread_wake(weir__thread_at(dispatcher->engine, index));
    return true;
}

/* Gets one parked thread up, the preferred one if it is among them. False: none was there. */
static bool wake_from(weir__dispatcher *dispatcher, weir__atomic_u64 *words, uint32_t preferred,
                      bool external)
{
    const uint32_t count = (weir__threads_count(dispatcher->engine) + 63) / 64;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = weir__load(&words[i], seq_cst);
        if (bits != 0 &&
            (weir__load(&words[preferred / 64], relaxed) >> (preferred % 64) & 1) != 0 &&
            wake_one(dispatcher, words, preferred, external)) {
            return true;
        }
        while (bits != 0) {
            const uint32_t index = i * 64 + (uint32_t)__builtin_ctzll(bits);
            if (wake_one(dispatcher, words, index, external)) {
                return true;
            }
            bits &= bits - 1;
        }
    }
    return false;
}

bool weir__dispatcher_is_crowded(weir__dispatcher *dispatcher, uint32_t more)
{
    /* seq_cst: after the push, as the look at who is parked. Who sees a bound here is seen by the
     * monitor, which looks at the queue after it has raised it. */
    const uint32_t most = weir__load(&dispatcher->awake_max, seq_cst);
    if (weir__likely(most == 0)) {
        return false;
    }
    const uint32_t words = (weir__threads_count(dispatcher->engine) + 63) / 64;
    uint32_t parked = 0;
    for (uint32_t i = 0; i < words; i++) {
        parked += (uint32_t)__builtin_popcountll(weir__load(&dispatcher->parked[i], seq_cst));
    }
    const uint32_t own = weir__load(&dispatcher->threads, relaxed) -
                         weir__load(&dispatcher->threads_external, relaxed);
    return own + more > most + parked;
}

static void wake(weir__dispatcher *dispatcher, uint32_t preferred)
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
    if (!wake_from(dispatcher, dispatcher->parked, preferred, false) &&
        weir__load(&dispatcher->threads_external, seq_cst) != 0) {
        weir__dispatcher_wake_external(dispatcher);
    }
}

static bool anybody_sleeps(weir__dispatcher *dispatcher)
{
    const uint32_t words = (weir__threads_count(dispatcher->engine) + 63) / 64;
    uint64_t parked = 0;
    for (uint32_t i = 0; i < words; i++) {
        parked |= weir__load(&dispatcher->parked[i], relaxed);
    }
    return parked != 0;
}

/* What a wake-up needs, all at once: a poster that comes seldom finds none of it near. */
static void expect_wake(weir__dispatcher *dispatcher, uint32_t preferred)
{
    weir__thread *last = weir__thread_at(dispatcher->engine, preferred);
    __builtin_prefetch(&dispatcher->searching, 1);
    if (weir__likely(last != NULL)) {
        __builtin_prefetch(&last->wake, 1);
    }
}

void weir__dispatcher_push(weir__dispatcher *dispatcher, weir__processor *processor)
{
    uint32_t preferred = 0;
    if (anybody_sleeps(dispatcher)) {
        /* It is on the owner's line, and where nobody sleeps that stays there. Read before the
         * push: afterwards it may be anybody's. */
        preferred = weir__run_by(processor);
        expect_wake(dispatcher, preferred);
    }
    weir__dispatcher_push_quiet(dispatcher, processor);
    if (!weir__dispatcher_is_crowded(dispatcher, 1)) {
        wake(dispatcher, preferred);
    }
}

void weir__dispatcher_wake(weir__dispatcher *dispatcher)
{
    if (!weir__dispatcher_is_crowded(dispatcher, 1)) {
        wake(dispatcher, 0);
    }
}

void weir__dispatcher_wake_instead(weir__dispatcher *dispatcher)
{
    if (!weir__dispatcher_is_crowded(dispatcher, 0)) {
        wake(dispatcher, 0);
    }
}

void weir__dispatcher_wake_external(weir__dispatcher *dispatcher)
{
    wake_from(dispatcher, dispatcher->parked_external, 0, true);
}

weir__dispatcher *weir__dispatcher_find(weir_engine *engine, const char *name)
{
    const uint32_t count = weir__dispatchers_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        if (weir__dispatcher_is_served(engine->dispatchers[i]) &&
            strcmp(engine->dispatchers[i]->name, name) == 0) {
            return engine->dispatchers[i];
        }
    }
    return NULL;
}

/* Others may be put there, by name. */
static bool is_valid(const weir__dispatcher *dispatcher)
{
    return !dispatcher->dedicated && weir__dispatcher_is_served(dispatcher);
}

void weir__dispatcher_names(weir_engine *engine, char *out, size_t size)
{
    const uint32_t count = weir__dispatchers_count(engine);
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count && used < size; i++) {
        if (!is_valid(engine->dispatchers[i])) {
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
    char name[WEIR__NAME_SIZE];
    const uint32_t count = weir__dispatchers_count(engine);
    for (uint32_t i = 0; i < count; i++) {
        const weir__dispatcher *dispatcher = engine->dispatchers[i];
        weir__mutex_lock(&engine->registry.lock);
        const bool valid = is_valid(dispatcher);
        if (valid) {
            (void)snprintf(name, sizeof(name), "%s", dispatcher->name);
        }
        weir__mutex_unlock(&engine->registry.lock);
        /* Without the lock: the visitor may call anything. */
        if (valid && !visit(context, name)) {
            return;
        }
    }
}
