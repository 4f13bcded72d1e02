/*
 * engine/waiter.c - the blocking ask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/waiter.h"

#include "base/memory.h"
#include "engine/dead_letter.h"
#include "engine/engine.h"
#include "engine/parcel.h"
#include "sync/tell.h"
#include "sync/word.h"

#define TIMEOUT_DEFAULT (5 * WEIR_S)

/* Of a waiter's word, below its generation. */
enum { FREE, OPEN, BUSY, DONE, OVER };
#define STATE_MASK UINT64_C(0xffffffff)

/* A question is | generation 32 | engine 8 | index 24 |. */
#define INDEX_BITS 24u
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

static uint32_t row_of(uint32_t index)
{
    return 31u - (uint32_t)__builtin_clz(index + (1u << WEIR__WAITER_ROW_BITS)) -
           WEIR__WAITER_ROW_BITS;
}

static uint32_t row_length(uint32_t row)
{
    return 1u << (WEIR__WAITER_ROW_BITS + row);
}

/* One that was in use at least once. */
static weir__waiter *waiter_at(weir__waiters *waiters, uint32_t index)
{
    const uint32_t row = row_of(index);
    return &weir__load(&waiters->rows[row],
                       relaxed)[index + (1u << WEIR__WAITER_ROW_BITS) - row_length(row)];
}

/* ---- taking one ---- */

/* Lock held: the next that was never in use, if its row is there. */
static bool take_fresh(weir__waiters *waiters, uint32_t *index)
{
    *index = weir__load(&waiters->used, relaxed);
    if (row_of(*index) >= WEIR__WAITER_ROWS ||
        weir__load(&waiters->rows[row_of(*index)], relaxed) == NULL) {
        return false;
    }
    /* [U3] pairs with [U4]: the row is there, and zeroed. */
    weir__store(&waiters->used, *index + 1, release);
    return true;
}

static bool try_to_take(weir__waiters *waiters, uint32_t *index)
{
    weir__mutex_lock(&waiters->lock);
    bool taken = waiters->free != 0;
    if (taken) {
        *index = waiters->free - 1;
        waiters->free = waiter_at(waiters, *index)->next;
    } else {
        taken = take_fresh(waiters, index);
    }
    weir__mutex_unlock(&waiters->lock);
    return taken;
}

/* No allocator runs under the lock. */
static weir_status add_row(weir_engine *engine, uint32_t row)
{
    weir__waiters *waiters = &engine->waiters;
    if (row >= WEIR__WAITER_ROWS) {
        return WEIR_E_LIMIT;
    }
    const size_t size = row_length(row) * sizeof(weir__waiter);
    weir__waiter *made = weir__allocate(&engine->allocator, size);
    if (made == NULL) {
        return WEIR_E_NOMEM;
    }
    weir__mutex_lock(&waiters->lock);
    const bool wanted = weir__load(&waiters->rows[row], relaxed) == NULL;
    if (wanted) {
        weir__store(&waiters->rows[row], made, relaxed);
    }
    weir__mutex_unlock(&waiters->lock);
    if (!wanted) {
        weir__release(&engine->allocator, made, size); /* somebody was faster */
    }
    return WEIR_OK;
}

static weir_status take(weir_engine *engine, weir__waiter **out, uint64_t *number)
{
    uint32_t index;
    while (!try_to_take(&engine->waiters, &index)) {
        const weir_status status = add_row(engine, row_of(index));
        if (status != WEIR_OK) {
            return status;
        }
    }
    weir__waiter *waiter = waiter_at(&engine->waiters, index);
    const uint64_t generation = (weir__load(&waiter->word, relaxed) >> 32) + 1;
    *number = generation << 32 | (uint64_t)engine->registry.engine_tag << INDEX_BITS | index;
    /* [U7] pairs with [U8]: whoever had it before has read what lay in it. */
    weir__store(&waiter->word, generation << 32 | OPEN, release);
    *out = waiter;
    return WEIR_OK;
}

static void put_back(weir_engine *engine, weir__waiter *waiter, uint64_t number)
{
    weir__waiters *waiters = &engine->waiters;
    weir__store(&waiter->word, (number >> 32) << 32 | FREE, relaxed);
    weir__mutex_lock(&waiters->lock);
    waiter->next = waiters->free;
    waiters->free = ((uint32_t)number & INDEX_MASK) + 1;
    weir__mutex_unlock(&waiters->lock);
}

void weir__waiters_free(weir_engine *engine)
{
    for (uint32_t row = 0; row < WEIR__WAITER_ROWS; row++) {
        weir__release(&engine->allocator, weir__load(&engine->waiters.rows[row], relaxed),
                      row_length(row) * sizeof(weir__waiter));
    }
}

/* ---- waiting ---- */

static void ring(weir__waiter *waiter)
{
    weir__add(&waiter->bell, 1, seq_cst);
    weir__word_wake(&waiter->bell, INT32_MAX);
}

static weir_status wait_for_answer(const weir_engine *engine, weir__waiter *waiter, uint64_t number,
                                   weir_ns deadline)
{
    const uint64_t generation = number >> 32 << 32;
    if (weir__engine_phase(engine) >= WEIR__CLOSING) {
        deadline = weir__clock_now(); /* who closes has told all others, and may have missed us */
    }
    for (;;) {
        /* The bell before the state: what comes between the two is not lost. */
        const uint32_t seen = weir__load(&waiter->bell, seq_cst);
        /* [U6] pairs with [U5]: the answer. */
        const uint64_t state = weir__load(&waiter->word, acquire) & STATE_MASK;
        if (state == DONE || state == OVER) {
            return state == DONE ? WEIR_OK : WEIR_STOPPING;
        }
        if (!weir__wait_until(&waiter->bell, seen, deadline)) {
            uint64_t word = generation | OPEN;
            if (weir__cas(&waiter->word, &word, generation | OVER, relaxed, relaxed)) {
                return weir__engine_phase(engine) >= WEIR__CLOSING ? WEIR_STOPPING : WEIR_TIMEOUT;
            }
            deadline = WEIR_FOREVER; /* it is being answered at this moment */
        }
    }
}

weir_status weir_engine_ask(weir_engine *engine, weir_processor to, const weir_event *event,
                            weir_ns timeout, weir_event *reply)
{
    weir__posting by;
    weir__waiter *waiter;
    if (reply == NULL || !weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    *reply = (weir_event){ .type = NULL };
    if (weir__context_in_handler()) {
        return WEIR_E_BLOCKING;
    }
    if (!weir__post_outside(engine, &by)) {
        return weir__post_why_not(engine);
    }
    const weir_ns deadline = weir__deadline(timeout, TIMEOUT_DEFAULT);
    weir_status status = take(engine, &waiter, &by.ask);
    if (status != WEIR_OK) {
        return status;
    }
    by.marks = WEIR__ENVELOPE_ASKS;
    weir__post_begin(by.context);
    status = weir__post_counted(&by, to, event);
    if (status == WEIR_OK) {
        status = wait_for_answer(engine, waiter, by.ask, deadline);
    }
    if (status == WEIR_OK) {
        *reply = waiter->reply;
    }
    put_back(engine, waiter, by.ask);
    return status;
}

/* ---- answering ---- */

/* NULL: never was one. */
static weir__waiter *find(weir_engine *engine, uint64_t number)
{
    const uint32_t low = (uint32_t)number;
    /* [U4] pairs with [U3]. */
    return low >> INDEX_BITS == engine->registry.engine_tag &&
                   (low & INDEX_MASK) < weir__load(&engine->waiters.used, acquire)
               ? waiter_at(&engine->waiters, low & INDEX_MASK)
               : NULL;
}

static weir_status answer(const weir__posting *by, uint64_t number, const weir_event *event)
{
    weir_engine *engine = by->context->engine;
    weir__waiter *waiter = find(engine, number);
    uint64_t word = number >> 32 << 32 | OPEN;
    weir_event kept;
    weir_status status = weir__parcel_check(event);
    if (status == WEIR_OK && (waiter == NULL || weir__load(&waiter->word, relaxed) != word)) {
        status = WEIR_UNKNOWN;
    }
    if (status == WEIR_OK) {
        status = weir_event_keep(engine, event, &kept);
    }
    if (status != WEIR_OK) {
        return status;
    }
    /* [U8] pairs with [U7]. */
    if (!weir__cas(&waiter->word, &word, number >> 32 << 32 | BUSY, acquire, relaxed)) {
        weir_event_release(&kept);
        return WEIR_UNKNOWN;
    }
    kept.flow = weir__parcel_flow(by, event);
    kept.from = (weir_ticket){ .sender = { by->sender } };
    kept.tag = 0;
    waiter->reply = kept;
    /* [U5] pairs with [U6]: the answer. From here on the waiter may be somebody else's: who wakes
     * for nothing looks again. */
    weir__store(&waiter->word, number >> 32 << 32 | DONE, release);
    ring(waiter);
    return WEIR_OK;
}

weir_status weir__waiter_answer(const weir__posting *by, uint64_t number, const weir_event *event)
{
    const weir_status status = answer(by, number, event);
    if (status != WEIR_OK) { /* an answer that a thread takes was never in a mailbox */
        weir__post_begin(by->context);
        if (status == WEIR_UNKNOWN) {
            weir__dead_letter(by->context, WEIR_DEAD_LATE, status, (weir_processor){ by->sender },
                              (weir_processor){ 0 }, event, "");
        }
        weir__post_count_refusal(by, status);
    }
    if (weir__tell_begin()) {
        weir__tell_end("answers a thread: %s", weir_status_name(status));
    }
    return status;
}

void weir__waiters_close(weir_engine *engine)
{
    weir__waiters *waiters = &engine->waiters;
    weir__mutex_lock(&waiters->lock);
    const uint32_t used = weir__load(&waiters->used, relaxed);
    for (uint32_t i = 0; i < used; i++) {
        weir__waiter *waiter = waiter_at(waiters, i);
        uint64_t word = weir__load(&waiter->word, relaxed);
        if ((word & STATE_MASK) == OPEN &&
            weir__cas(&waiter->word, &word, word - OPEN + OVER, relaxed, relaxed)) {
            ring(waiter);
        }
    }
    weir__mutex_unlock(&waiters->lock);
}
