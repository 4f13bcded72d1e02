/*
 * engine/ask.c - the asker's side: asking, what comes back, and what becomes of open questions when
 * it ends. All of it is the owner's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/ask.h"

#include <string.h>

#include "base/memory.h"
#include "engine/ask_watch.h"
#include "engine/room.h"
#include "engine/stop.h"
#include "engine/straight.h"
#include "engine/timer.h"

#define TIMEOUT_DEFAULT (5 * WEIR_S)

const weir_event_type weir_timeout_type = {
    sizeof(weir_event_type), "weir.timeout", 0, false, NULL, NULL
};

/* ---- the table ---- */

static uint32_t row_length(uint32_t row)
{
    return 1u << (WEIR__ASK_ROW_BITS + row);
}

/* Of as many rows. */
static uint32_t capacity_of(uint32_t rows)
{
    return row_length(rows) - row_length(0);
}

static uint32_t rows_of(uint32_t capacity)
{
    uint32_t rows = 0;
    while (capacity_of(rows) < capacity) {
        rows++;
    }
    return rows;
}

void weir__asks_free(weir_engine *engine, weir__asks *asks)
{
    if (asks == NULL) {
        return;
    }
    const uint32_t capacity = weir__load(&asks->capacity, relaxed);
    for (uint32_t row = 0; row < rows_of(capacity); row++) {
        weir__release(&engine->allocator, weir__load(&asks->rows[row], relaxed),
                      row_length(row) * sizeof(weir__ask));
    }
    weir__release(&engine->allocator, asks->heap, capacity * sizeof(weir__ask_watch));
    weir__release(&engine->allocator, asks, sizeof(*asks));
}

/* One row more, and a heap that has room for all of them. */
WEIR__SELDOM static weir_status grow(weir_engine *engine, weir__asks *asks)
{
    const uint32_t capacity = weir__load(&asks->capacity, relaxed);
    const uint32_t row = rows_of(capacity);
    if (row == WEIR__ASK_ROWS) {
        return WEIR_E_LIMIT;
    }
    const uint32_t larger = capacity_of(row + 1);
    weir__ask *entries = weir__allocate(&engine->allocator, row_length(row) * sizeof(*entries));
    weir__ask_watch *heap = weir__allocate(&engine->allocator, larger * sizeof(*heap));
    if (entries == NULL || heap == NULL) {
        weir__release(&engine->allocator, entries, row_length(row) * sizeof(*entries));
        weir__release(&engine->allocator, heap, larger * sizeof(*heap));
        return WEIR_E_NOMEM;
    }
    for (uint32_t i = 0; i < row_length(row); i++) {
        weir__init(&entries[i].watched, WEIR__ASK_UNWATCHED);
    }
    weir__brief_lock(&asks->lock);
    weir__ask_watch *old = asks->heap;
    if (asks->watches > 0) {
        memcpy(heap, old, asks->watches * sizeof(*heap));
    }
    asks->heap = heap;
    weir__brief_unlock(&asks->lock);
    weir__release(&engine->allocator, old, capacity * sizeof(*old));
    /* [U3] pairs with [U4], both: the entries are free, and then they are there. */
    weir__store(&asks->rows[row], entries, release);
    weir__store(&asks->capacity, larger, release);
    return WEIR_OK;
}

/* At its first question. */
WEIR__SELDOM static weir__asks *make(weir_engine *engine, weir__processor *processor)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__processor_cold *cold = weir__processor_cold_make(engine, processor);
    weir__mutex_unlock(&engine->registry.lock);
    weir__asks *asks = cold != NULL ? weir__allocate(&engine->allocator, sizeof(*asks)) : NULL;
    if (asks != NULL) {
        asks->rings_at = (uint64_t)WEIR_FOREVER;
        /* [U3] pairs with [U4]. */
        weir__store(&cold->asks, asks, release);
    }
    return asks;
}

/* The table, an alarm, and an entry that is free. */
WEIR__SELDOM static weir_status prepare(weir_turn *turn, weir__asks **out)
{
    weir_engine *engine = turn->context->engine;
    weir__asks *asks = weir__asks_of(turn->processor);
    if (asks == NULL) {
        asks = make(engine, turn->processor);
    }
    if (asks == NULL) {
        return WEIR_E_NOMEM;
    }
    *out = asks;
    weir_status status = WEIR_OK;
    if (asks->alarm.id == 0) {
        status = weir__timer_alarm(turn->context, turn->self, &asks->alarm);
    }
    const bool none = asks->free == 0 && asks->used == weir__load(&asks->capacity, relaxed);
    return status == WEIR_OK && none ? grow(engine, asks) : status;
}

static bool is_prepared(const weir__asks *asks)
{
    return asks != NULL && asks->free != 0 && asks->alarm.id != 0;
}

/* ---- one question ---- */

typedef struct question {
    weir__asks *asks;
    weir__ask *ask;
    uint32_t index;
    uint64_t generation;
    weir_ns due;
} question;

static weir_ns due_at(weir_ns timeout)
{
    const weir_ns after = timeout == 0 ? TIMEOUT_DEFAULT : timeout == WEIR_NOW ? 0 : timeout;
    if (after == WEIR_FOREVER) {
        return WEIR_FOREVER;
    }
    /* Not the turn's: that may be a while ago, and nobody is to be late before his time. */
    const weir_ns now = weir__clock_now();
    return now < WEIR_FOREVER - after ? now + after : WEIR_FOREVER;
}

/* What comes back unless an answer does. */
static void seal_timeout(const weir_turn *turn, weir__lone *lone, weir_processor to, uint64_t tag)
{
    weir__envelope *envelope = &lone->envelope;
    lone->tag = tag;
    envelope->size = 0;
    envelope->type = &weir_timeout_type;
    envelope->sender = to.id;
    envelope->flow = turn->flow;
    weir__envelope_fill(envelope, WEIR__ENVELOPE_ALONE | WEIR__ENVELOPE_ASKED);
}

/* Whatever comes back belongs to what the asker is at: that is not over before. */
WEIR__SELDOM static void keep_origin(weir_origin *origin, weir__lone *lone)
{
    weir__origin_hold(origin, 1);
    lone->origin = origin;
    lone->ask |= (uint64_t)WEIR__ENVELOPE_ASKER << 32;
    weir__or(&lone->envelope.state, WEIR__ENVELOPE_ASKER, relaxed);
}

/* An entry is free. False: there is no memory for what will come. */
static bool open_one(const weir_turn *turn, weir_processor to, const weir_ask_options *options,
                     question *q)
{
    weir__asks *asks = q->asks;
    weir__lone *lone = weir__stock_get_lone(&turn->context->stock);
    if (weir__unlikely(lone == NULL)) {
        return false;
    }
    if (weir__likely(asks->free != 0)) {
        q->index = asks->free - 1;
        q->ask = weir__ask_at(asks, q->index);
        asks->free = q->ask->next;
    } else {
        q->index = asks->used++;
        q->ask = weir__ask_at(asks, q->index);
    }
    const uint64_t last = weir__load(&q->ask->word, relaxed) >> 2;
    q->generation = last == WEIR__ASK_GENERATIONS ? 1 : last + 1;
    q->due = due_at(options->timeout);
    seal_timeout(turn, lone, to, options->tag);
    lone->ask = q->index;
    if (weir__unlikely(turn->context->origin != NULL)) {
        keep_origin(turn->context->origin, lone);
    }
    q->ask->lone = lone;
    q->ask->then = options->then;
    weir__store(&q->ask->due, WEIR__ASK_UNSENT, relaxed);
    asks->open++;
    /* [U1] pairs with [U2]: whoever takes it gets the envelope. */
    weir__store(&q->ask->word, q->generation << 2 | WEIR__ASK_OPEN, release);
    return true;
}

/* Nothing comes any more, or it has come. */
static void free_entry(weir__asks *asks, weir__ask *ask, uint32_t index)
{
    const uint64_t generation = weir__load(&ask->word, relaxed) >> 2;
    weir__store(&ask->word, generation << 2 | WEIR__ASK_FREE, relaxed);
    ask->next = asks->free;
    asks->free = index + 1;
    asks->open--;
}

static weir_status forget(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR__FORGOTTEN;
}

/* Outside the mark. */
static void throw_away(weir__context *context, weir__lone *lone)
{
    weir_origin *ended = NULL;
    weir__ask_lone_put(context, lone, &ended);
    weir__origins_end(ended);
}

/* It was taken by its asker: as if it had not been asked. */
static void take_back(const weir_turn *turn, weir__asks *asks, weir__ask *ask, uint32_t index)
{
    throw_away(turn->context, ask->lone);
    free_entry(asks, ask, index);
    weir__room_unreserve(turn->context, turn->self);
}

/* The question was refused: nobody has heard of it, and the alarm does not touch it yet. Should
 * somebody have made a ticket up and answered all the same, that is not to be seen. */
WEIR__SELDOM static void withdraw(const weir_turn *turn, const question *q)
{
    if (weir__ask_take(q->ask, q->generation)) {
        take_back(turn, q->asks, q->ask, q->index);
    } else {
        q->ask->then = forget;
    }
}

/* By its asker. False: somebody else has it. */
static bool time_out(const weir_turn *turn, weir__ask *ask, uint64_t generation)
{
    const weir__posting by = { .context = turn->context, .in_handler = true };
    if (!weir__ask_take(ask, generation)) {
        return false;
    }
    weir__post_begin(by.context);
    const weir_status status = weir__ask_put(&by, turn->processor, ask->lone);
    if (status != WEIR_OK) {
        throw_away(by.context, ask->lone);
        weir__post_count_refusal(&by, status);
    }
    return true;
}

WEIR__SELDOM static void watch(const weir_turn *turn, const question *q)
{
    weir__asks *asks = q->asks;
    weir__brief_lock(&asks->lock);
    const bool closed = asks->closed;
    const bool earlier = !closed && weir__ask_watch_by(asks, q->index, (uint64_t)q->due);
    weir__brief_unlock(&asks->lock);
    if (closed) {
        (void)time_out(turn, q->ask, q->generation);
    } else if (earlier) {
        weir__timer_bring_forward(turn->context->engine, asks->alarm, q->due);
    }
}

static weir_status post(const weir_turn *turn, weir_processor to, const weir_event *event,
                        const question *q)
{
    const weir__posting by = {
        .context = turn->context,
        .sender = turn->self.id,
        .flow = turn->flow,
        .in_handler = true,
        .marks = WEIR__ENVELOPE_ASKS,
        .ask = q->generation << WEIR__ASK_ENTRY_BITS | q->index,
        .carries = true,
    };
    weir__post_begin(by.context);
    return weir__post_straight(&by, to, event);
}

static weir_status ask(weir_turn *turn, weir_processor to, const weir_event *event,
                       const weir_ask_options *options)
{
    question q = { .asks = weir__asks_of(turn->processor) };
    weir_status status = WEIR_OK;
    if (weir__unlikely(!is_prepared(q.asks))) {
        status = prepare(turn, &q.asks);
    }
    if (weir__likely(status == WEIR_OK)) {
        status = weir__claim_status(weir__mailbox_reserve(&turn->processor->mailbox));
    }
    if (weir__unlikely(status != WEIR_OK)) {
        return status;
    }
    if (weir__unlikely(!open_one(turn, to, options, &q))) {
        weir__room_unreserve(turn->context, turn->self);
        return WEIR_E_NOMEM;
    }
    status = post(turn, to, event, &q);
    if (weir__unlikely(status != WEIR_OK)) {
        withdraw(turn, &q);
        return status;
    }
    weir__store(&q.ask->due, (uint64_t)q.due, relaxed);
    /* Pairs with the heavy barrier of the alarm. */
    weir__barrier_light();
    if (weir__unlikely(weir__load(&q.ask->watched, relaxed) > (uint64_t)q.due)) {
        watch(turn, &q);
    }
    return WEIR_OK;
}

weir_status weir_turn_ask(weir_turn *turn, weir_processor to, const weir_event *event,
                          const weir_ask_options *options)
{
    weir_ask_options read = { 0 };
    if (turn == NULL || weir__unlikely(weir__turn_is_flows(turn))) {
        return WEIR_E_INVALID;
    }
    if (weir__unlikely(options == NULL || options->struct_size != sizeof(*options))) {
        const weir_status status = weir__options_read(&read, sizeof(read), options);
        if (status != WEIR_OK) {
            return status;
        }
        options = &read;
    }
    if (weir__unlikely(options->timeout < 0 && options->timeout != WEIR_NOW)) {
        return WEIR_E_INVALID;
    }
    const weir__phase phase = weir__engine_phase(turn->context->engine);
    if (weir__unlikely(phase >= WEIR__STOPPING)) {
        return phase == WEIR__FORKED ? WEIR_E_INVALID : WEIR_STOPPING;
    }
    return ask(turn, to, event, options);
}

/* ---- what comes back ---- */

weir_handler weir__ask_close(weir__processor *asker, weir__lone *lone)
{
    if (weir__likely(lone->ask != WEIR__ASK_CLOSED)) {
        weir__asks *asks = weir__asks_of(asker);
        const uint32_t index = (uint32_t)lone->ask;
        weir__ask *ask = weir__ask_at(asks, index);
        lone->ask = WEIR__ASK_CLOSED;
        lone->then = (void (*)(void))ask->then;
        free_entry(asks, ask, index);
    }
    return lone->then != NULL ? (weir_handler)lone->then : asker->handler;
}

/* ---- the end ---- */

static bool is_open(weir__ask *ask, uint64_t *generation)
{
    const uint64_t word = weir__load(&ask->word, relaxed);
    *generation = word >> 2;
    return (word & WEIR__ASK_STATES) == WEIR__ASK_OPEN;
}

weir__turn_end weir__asks_finish(const weir_turn *turn)
{
    weir__asks *asks = weir__asks_of(turn->processor);
    weir__turn_end end = WEIR__TURN_GAP;
    uint64_t generation;
    if (weir__likely(asks == NULL || asks->open == 0)) {
        return WEIR__TURN_OVER;
    }
    for (uint32_t i = 0; i < asks->used; i++) {
        weir__ask *ask = weir__ask_at(asks, i);
        if (is_open(ask, &generation) && time_out(turn, ask, generation)) {
            end = WEIR__TURN_MORE;
        }
    }
    return end;
}

void weir__asks_abandon(const weir_turn *turn)
{
    weir__asks *asks = weir__asks_of(turn->processor);
    uint64_t generation;
    if (asks == NULL) {
        return;
    }
    weir__mailbox_renounce(&turn->processor->mailbox);
    for (uint32_t i = 0; i < asks->used; i++) {
        weir__ask *ask = weir__ask_at(asks, i);
        if (is_open(ask, &generation) && weir__ask_take(ask, generation)) {
            throw_away(turn->context, ask->lone);
        }
    }
}

void weir__asks_drop(const weir_turn *turn, weir__lone *held)
{
    weir__asks *asks = weir__asks_of(turn->processor);
    uint64_t generation;
    if (held != NULL && (weir__load(&held->envelope.state, relaxed) & WEIR__ENVELOPE_ASKED) != 0 &&
        held->then != NULL) {
        held->then = (void (*)(void))forget;
    }
    for (uint32_t i = 0; asks != NULL && i < asks->used; i++) {
        weir__ask *ask = weir__ask_at(asks, i);
        const uint64_t word = weir__load(&ask->word, relaxed);
        if ((word & WEIR__ASK_STATES) == WEIR__ASK_FREE || ask->then == NULL) {
            continue;
        }
        if (is_open(ask, &generation) && weir__ask_take(ask, generation)) {
            take_back(turn, asks, ask, i);
        } else {
            ask->then = forget;
        }
    }
}

void weir__asks_end(weir_engine *engine, weir__processor *processor)
{
    weir__asks *asks = weir__asks_of(processor);
    if (asks != NULL && asks->alarm.id != 0) {
        (void)weir_timer_cancel(engine, asks->alarm);
    }
}
