/*
 * engine/trace.c - recordings: begin, write, end.
 *
 * A writer records between enter and leave of its context's mark, and looks inside it whether the
 * recording is still on:
 *
 *     writer:  enter; light barrier; load recorder; write; leave
 *     stop:    recorder = NULL; heavy barrier; wait until all who are inside have left
 *
 * Either the writer sees NULL, or the stop waits for it: nobody writes into rings that are read, or
 * gone. Who reads after the wait has seen every leave, and with it every record: none is torn.
 *
 * The word `on` only says whether to look: it is a hint, and may be late.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/stamp.h"
#include "engine/traceparent.h"
#include "weir/trace.h"

#define FOREIGN_RINGS 16u /* of threads that are not the engine's, or come while it is on */
#define RECORDS_DEFAULT 65536u
#define BRIEF (8 * WEIR_US) /* turns: a look at the clock and a record are 1 % of that */
#define STRETCH_MAX 256u

/* ---- writers ---- */

static weir__trace_ring *claim(weir__context *context, weir__recorder *recorder)
{
    weir__trace_ring *ring = weir__recorder_claim(recorder);
    context->trace_serial = recorder->serial;
    context->trace_ring = ring;
    if (ring != NULL) {
        const weir__thread *thread = context->thread;
        ring->foreign = thread == NULL;
        ring->began = recorder->began;
        ring->system_id = (uint32_t)weir__os_thread_id();
        (void)snprintf(ring->name, sizeof(ring->name), "%s",
                       thread != NULL && thread->name != NULL ? thread->name : "");
    }
    return ring;
}

/* Inside the mark. NULL: it is off, or there is no ring for this one. */
static weir__trace_ring *ring_of(weir__context *context)
{
    /* [TR2] pairs with [TR1]: the rings are there. */
    weir__recorder *recorder = weir__load(&context->engine->tracing.recorder, acquire);
    if (recorder == NULL) {
        return NULL;
    }
    return context->trace_serial == recorder->serial ? context->trace_ring
                                                     : claim(context, recorder);
}

/* True: it was entered, and is to be left. */
static bool enter(weir__context *context)
{
    const bool outside = (weir__load(&context->inside, relaxed) & 1) == 0;
    if (outside) {
        weir__context_enter(context);
    }
    return outside;
}

static void leave(weir__context *context, bool entered)
{
    if (entered) {
        weir__context_leave(context);
    }
}

/* Once a turn: for each event it would be the dearest part of its record. */
static uint16_t core_now(void)
{
    return (uint16_t)(weir__os_core() + 1);
}

/* So many turns are drawn together as take from BRIEF to twice that long. */
static void adapt(weir__stretch *stretch, weir_ns length)
{
    if (length < BRIEF && stretch->turns >= stretch->most && stretch->most < STRETCH_MAX) {
        stretch->most *= 2;
    } else if (length > 2 * BRIEF && stretch->most > 1) {
        stretch->most /= 2;
    }
}

static void put_stretch(weir__trace_ring *ring, weir__stretch *stretch, weir_ns end)
{
    const weir_ns begun = stretch->begun > ring->began ? stretch->begun : ring->began;
    const uint64_t length = end > begun ? (uint64_t)(end - begun) : 0;
    const uint64_t turns = stretch->turns < UINT16_MAX ? stretch->turns : UINT16_MAX;
    weir__trace_put(ring, &(weir__trace_record){ .kind = WEIR__TRACE_TURN,
                                                 .end = end,
                                                 .who = stretch->others == 0 ? stretch->first : 0,
                                                 .what = turns << WEIR__TRACE_LENGTH_BITS | length,
                                                 .count = stretch->events,
                                                 .extra = stretch->dispatcher,
                                                 .core = core_now() & 0xfffu });
    adapt(stretch, (weir_ns)length);
}

/* The next begins at `next`; 0: none does. */
static void end_stretch(weir__thread *thread, weir_ns end, weir_ns next)
{
    weir__context *context = &thread->context;
    weir__stretch *stretch = &context->stretch;
    if (stretch->turns > 0) {
        const bool entered = enter(context);
        weir__trace_ring *ring = ring_of(context);
        if (ring != NULL) {
            put_stretch(ring, stretch, end);
        }
        leave(context, entered);
        weir__stamp_soon(context, end);
    }
    weir__stretch_begin(stretch, next);
}

/* One is open for the recording that is on. */
static bool is_open(const weir__thread *thread)
{
    const weir__stretch *stretch = &thread->context.stretch;
    return stretch->begun != 0 && stretch->recording == weir__trace_on(thread->engine);
}

void weir__trace_turns_begin(weir__thread *thread, const weir__serving *serving,
                             weir__processor *processor)
{
    weir__stretch *stretch = &thread->context.stretch;
    const uint16_t dispatcher = (uint16_t)serving->dispatcher->index;
    if (!is_open(thread)) {
        weir__stretch_begin(stretch, weir__clock_now());
        stretch->recording = weir__trace_on(thread->engine);
        stretch->most = stretch->most > 0 ? stretch->most : 1;
    }
    if (stretch->turns == 0) {
        stretch->dispatcher = dispatcher;
        stretch->first = weir__load(&processor->id, relaxed);
    } else if (stretch->dispatcher != dispatcher) {
        stretch->dispatcher = WEIR__STRETCH_MIXED;
    }
    stretch->handled = weir__cell_read(&serving->handled);
    stretch->turned = weir__cell_read(&serving->turns);
}

void weir__trace_turns_end(weir__thread *thread, const weir__serving *serving, bool over)
{
    weir__stretch *stretch = &thread->context.stretch;
    if (!is_open(thread)) {
        return; /* it was switched on in the middle of them */
    }
    /* No turn: a processor that has moved on. */
    stretch->turns += (uint32_t)(weir__cell_read(&serving->turns) - stretch->turned);
    stretch->events += (uint32_t)(weir__cell_read(&serving->handled) - stretch->handled);
    if (over || stretch->turns >= stretch->most) {
        const weir_ns now = weir__clock_now();
        end_stretch(thread, now, over ? 0 : now);
    }
}

void weir__trace_turns_over(weir__thread *thread, weir_ns now)
{
    if (is_open(thread)) {
        end_stretch(thread, now, 0);
    }
}

void weir__trace_park(weir__thread *thread, weir_ns since, bool woken)
{
    weir__trace_turns_over(thread, since);
    const bool entered = enter(&thread->context);
    weir__trace_ring *ring = ring_of(&thread->context);
    if (ring != NULL) {
        const weir_ns end = weir__clock_now();
        since = since > ring->began ? since : ring->began; /* it may have slept for long */
        weir__trace_put(ring, &(weir__trace_record){ .kind = WEIR__TRACE_PARK,
                                                     .end = end,
                                                     .what = (uint64_t)(end - since),
                                                     .count = woken ? 1 : 0,
                                                     .core = core_now() & 0xfffu });
    }
    leave(&thread->context, entered);
}

void weir__trace_agents(weir__thread *thread, weir_ns since, bool work)
{
    weir__trace_turns_over(thread, since);
    const bool entered = enter(&thread->context);
    weir__trace_ring *ring = ring_of(&thread->context);
    /* Most rounds find nothing to do. What one has posted has its place in it in any case. */
    if (ring != NULL && (work || ring->posted >= since)) {
        const weir_ns end = weir__clock_now();
        since = since > ring->began ? since : ring->began;
        weir__trace_put(ring, &(weir__trace_record){ .kind = WEIR__TRACE_AGENTS,
                                                     .end = end,
                                                     .what = (uint64_t)(end - since),
                                                     .core = core_now() & 0xfffu });
    }
    leave(&thread->context, entered);
}

void weir__trace_posted_record(weir__context *context, uint64_t receiver,
                               const weir_event_type *type, weir_ns posted)
{
    const bool entered = enter(context);
    weir__trace_ring *ring = ring_of(context);
    if (ring != NULL) {
        ring->posted = posted;
        weir__trace_put(ring, &(weir__trace_record){ .kind = WEIR__TRACE_POSTED,
                                                     .end = posted,
                                                     .who = receiver,
                                                     .what = (uint64_t)(uintptr_t)type });
    }
    leave(context, entered);
}

/* Bytes as a number, for a record. */
static uint64_t number_of(const uint8_t *bytes)
{
    uint64_t number;
    memcpy(&number, bytes, sizeof(number));
    return number;
}

void weir__trace_handled_record(weir__context *context, weir_processor self,
                                const weir_event *event, weir_ns posted, weir_ns begin, weir_ns end)
{
    const bool entered = enter(context);
    weir__trace_ring *ring = ring_of(context);
    if (ring != NULL) {
        const uint64_t length = (uint64_t)(end - begin);
        weir__trace_put(ring, &(weir__trace_record){ .kind = WEIR__TRACE_HANDLED,
                                                     .end = end,
                                                     .who = self.id,
                                                     .what = (uint64_t)(uintptr_t)event->type,
                                                     .count = (uint32_t)length,
                                                     .extra = (uint16_t)(length >> 32) });
        weir__trace_put(ring, &(weir__trace_record){ .kind = WEIR__TRACE_CAME,
                                                     .end = posted,
                                                     .who = event->from.sender.id,
                                                     .what = event->flow,
                                                     .count = event->size });
        const weir_traceparent *parent = weir__traceparent_of(context->origin);
        if (parent != NULL) {
            weir__trace_put(ring, &(weir__trace_record){ .kind = WEIR__TRACE_PARENT,
                                                         .end = (weir_ns)number_of(parent->trace),
                                                         .who = number_of(parent->trace + 8),
                                                         .what = number_of(parent->parent),
                                                         .count = parent->flags });
        }
    }
    leave(context, entered);
}

/* ---- control ---- */

/* Lock held. */
static void let_go(weir__recorder *recorder)
{
    if (recorder != NULL && --recorder->references == 0) {
        weir__recorder_close(recorder);
    }
}

static weir_status check_options(const weir_trace_options *options, uint32_t *records,
                                 weir_error *error)
{
    weir_trace_options o = { 0 };
    if (options != NULL) {
        const weir_status status = weir__options_read(&o, sizeof(o), options);
        if (status != WEIR_OK) {
            return weir__error_at(error, status, "weir_trace_options",
                                  "is of a version that is not known here");
        }
    }
    *records = o.records_max != 0 ? o.records_max : RECORDS_DEFAULT;
    if ((*records & (*records - 1)) != 0 || *records < WEIR__TRACE_RECORDS_MIN ||
        *records > WEIR__TRACE_RECORDS_MAX) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_trace_options.records_max",
                              "is %u, must be a power of two from %u to %u", *records,
                              WEIR__TRACE_RECORDS_MIN, WEIR__TRACE_RECORDS_MAX);
    }
    return WEIR_OK;
}

weir_status weir_trace_start(weir_engine *engine, const weir_trace_options *options,
                             weir_error *error)
{
    uint32_t records = 0;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!weir__engine_usable(engine)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_trace_start.engine",
                              "is no usable engine");
    }
    weir_status status = check_options(options, &records, error);
    if (status != WEIR_OK) {
        return status;
    }
    weir__tracing *tracing = &engine->tracing;
    weir__mutex_lock(&tracing->lock);
    if (weir__load(&tracing->recorder, relaxed) != NULL) {
        weir__mutex_unlock(&tracing->lock);
        return WEIR_ALREADY;
    }
    let_go(tracing->kept); /* first: two at once are twice the memory */
    const uint32_t wanted = weir__threads_count(engine) + FOREIGN_RINGS;
    weir__recorder *recorder =
        weir__recorder_open(&engine->allocator, records,
                            wanted < WEIR__TRACE_RINGS_MAX ? wanted : WEIR__TRACE_RINGS_MAX);
    tracing->kept = recorder;
    if (recorder != NULL) {
        recorder->serial = ++tracing->serial;
        recorder->began = weir__clock_now();
        /* [TR1] pairs with [TR2]. */
        weir__store(&tracing->recorder, recorder, release);
        weir__store(&tracing->on, (uint32_t)(tracing->serial % UINT32_MAX) + 1, relaxed);
    } else {
        status = weir__error_memory(error, "weir_trace_start");
    }
    weir__mutex_unlock(&tracing->lock);
    return status;
}

weir_status weir_trace_stop(weir_engine *engine)
{
    if (!weir__engine_usable(engine)) {
        return WEIR_E_INVALID;
    }
    weir_status status = WEIR_ALREADY;
    weir__tracing *tracing = &engine->tracing;
    weir__mutex_lock(&tracing->lock);
    if (weir__load(&tracing->recorder, relaxed) != NULL) {
        weir__store(&tracing->on, 0, relaxed);
        weir__store(&tracing->recorder, NULL, relaxed);
        /* Its heavy barrier is before its look at who is inside. */
        (void)weir__contexts_wait(engine, WEIR_FOREVER);
        tracing->kept->ended = weir__clock_now();
        /* Without it there are no arrows, and all the rest. */
        (void)weir__recorder_index(tracing->kept);
        status = WEIR_OK;
    }
    weir__mutex_unlock(&tracing->lock);
    return status;
}

weir__recorder *weir__trace_take(weir_engine *engine)
{
    weir__tracing *tracing = &engine->tracing;
    weir__mutex_lock(&tracing->lock);
    weir__recorder *recorder =
        weir__load(&tracing->recorder, relaxed) == NULL ? tracing->kept : NULL;
    if (recorder != NULL) {
        recorder->references++;
    }
    weir__mutex_unlock(&tracing->lock);
    return recorder;
}

void weir__trace_give_back(weir_engine *engine, weir__recorder *recorder)
{
    weir__mutex_lock(&engine->tracing.lock);
    let_go(recorder);
    weir__mutex_unlock(&engine->tracing.lock);
}

void weir__trace_close(weir_engine *engine)
{
    let_go(engine->tracing.kept);
}

/* ---- the public readers ---- */

weir_status weir_trace_visit(weir_engine *engine,
                             bool (*put)(void *context, const char *text, size_t size),
                             void *context)
{
    if (!weir__engine_usable(engine) || put == NULL) {
        return WEIR_E_INVALID;
    }
    weir__recorder *recorder = weir__trace_take(engine);
    if (recorder == NULL) {
        return WEIR_E_INVALID;
    }
    uint64_t cursor = WEIR__TRACE_BEGIN;
    const weir_status status = weir__trace_text(engine, recorder, &cursor, SIZE_MAX, put, context);
    weir__trace_give_back(engine, recorder);
    return status;
}
