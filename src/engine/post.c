/*
 * engine/post.c - the way of one event: check, envelope, mark, find, claim, fill, publish, ready;
 * and what is done when something stands in it. Most events never come here (engine/straight.h).
 *
 * Whatever a post may need of memory its thread has before the claim, so that an accepted event can
 * no longer fail; the envelope is filled after it, where it lies in the mailbox. Payloads that are
 * copied into a block are copied before. No code of the application runs inside the mark: a thread
 * that lacks something leaves it, gets it, and comes again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/post.h"

#include "base/assert.h"
#include "engine/block.h"
#include "engine/evict.h"
#include "engine/room.h"
#include "engine/straight.h"
#include "engine/turn.h"
#include "sync/word.h"

WEIR__SELDOM bool weir__post_is_open_late(const weir__posting *by)
{
    weir_engine *engine = by->context->engine;
    const weir__phase phase = (weir__phase)weir__load(&engine->phase, relaxed);
    /* What a handler sends while the stop runs out of time is accepted, and then left: an endless
     * ping-pong does not end as if it had been handled. */
    return phase < WEIR__STOPPING ||
           (by->in_handler &&
            (phase < WEIR__CLOSING ||
             (phase == WEIR__ABANDONED && weir__load(&engine->frozen, relaxed) == 0)));
}

/* What offer learnt about a target that did not take the event. */
typedef struct obstacle {
    weir_overflow overflow; /* it was full: its policy ... */
    uint32_t index;
    weir_ns block_max;
    bool lacks; /* we have not what a mailbox of this class may need */
    uint32_t page_class;
} obstacle;

/* Inside the mark. Accepted and dropped, unless the processor's numbers are closed by now. */
static weir_status drop_newest(const weir__posting *by, weir__processor *processor)
{
    weir__processor_cold *cold = weir__processor_cold_of(processor);
    uint64_t dropped = weir__load(&cold->dropped_newest, relaxed);
    do {
        if ((dropped & WEIR__DROPS_CLOSED) != 0) {
            return WEIR_STOPPING;
        }
    } while (!weir__cas(&cold->dropped_newest, &dropped, dropped + 1, acq_rel, relaxed));
    weir__cell *cell = &by->context->tally.dropped_newest;
    WEIR__PROBE2(drop, (uint64_t)weir__load(&processor->id, relaxed), WEIR__PROBE_DROP_NEWEST);
    /* [Q1]: done, and attempted before. */
    weir__store(cell, weir__load(cell, relaxed) + 1, release);
    return WEIR_DROPPED;
}

/* Inside the mark, the mailbox was full. */
WEIR__SELDOM static weir_status overflow(const weir__posting *by, weir__processor *processor,
                                         const weir__parcel *parcel, weir__eviction *evicted,
                                         obstacle *full)
{
    full->overflow = weir__processor_overflow(processor);
    full->index = weir__processor_room(processor);
    switch (full->overflow) {
    case WEIR_OVERFLOW_DROP_NEWEST:
        return drop_newest(by, processor);
    case WEIR_OVERFLOW_DROP_OLDEST:
        switch (weir__evict_and_deliver(by, processor, parcel, evicted)) {
        case WEIR__CLAIM_OK:
            return WEIR_OK;
        case WEIR__CLAIM_CLOSED:
            return WEIR_STOPPING;
        case WEIR__CLAIM_FULL:
        case WEIR__CLAIM_FIRST:
        default:
            return drop_newest(by, processor);
        }
    case WEIR_OVERFLOW_BLOCK:
        full->block_max =
            (weir_ns)weir__load(&weir__processor_cold_of(processor)->block_max, relaxed);
        return WEIR_FULL;
    case WEIR_OVERFLOW_DEFAULT:
    case WEIR_OVERFLOW_FAIL:
    default:
        return WEIR_FULL;
    }
}

weir_status weir__post_overflow(const weir__posting *by, weir__processor *processor,
                                const weir__parcel *parcel, weir__eviction *evicted)
{
    obstacle full;
    return overflow(by, processor, parcel, evicted, &full);
}

/* Inside the mark. */
static weir_status try_to(const weir__posting *by, weir__processor *processor,
                          const weir__parcel *parcel, weir__eviction *evicted, obstacle *met)
{
    const uint32_t page_class = processor->mailbox.page_class;
    if (!weir__stock_suffices(&by->context->stock, page_class)) {
        met->lacks = true;
        met->page_class = page_class;
        return WEIR_E_NOMEM;
    }
    switch (weir__offer_to(by, processor, parcel)) {
    case WEIR__CLAIM_FULL:
        return overflow(by, processor, parcel, evicted, met);
    case WEIR__CLAIM_CLOSED:
        return WEIR_STOPPING;
    case WEIR__CLAIM_OK:
    case WEIR__CLAIM_FIRST:
    default:
        return WEIR_OK;
    }
}

/* One try. The parcel is consumed if the answer is OK. */
static weir_status offer(const weir__posting *by, weir_processor to, const weir__parcel *parcel,
                         obstacle *met)
{
    weir__context *context = by->context;
    weir__eviction evicted;
    weir_status status = WEIR_STOPPING;
    evicted.happened = false;
    weir__context_enter(context);
    if (weir__post_is_open(by)) {
        weir__processor *processor = weir__registry_find(&context->engine->registry, to);
        status = processor != NULL ? try_to(by, processor, parcel, &evicted, met) : WEIR_UNKNOWN;
    }
    weir__context_leave(context);
    if (weir__unlikely(evicted.happened)) {
        weir__eviction_end(context, &evicted);
    }
    return status;
}

/* The same; what the thread lacks it gets. */
static weir_status offer_with_stock(const weir__posting *by, weir_processor to,
                                    const weir__parcel *parcel, obstacle *met)
{
    for (;;) {
        const weir_status status = offer(by, to, parcel, met);
        if (!met->lacks) {
            return status;
        }
        met->lacks = false;
        if (!weir__stock_fill(&by->context->stock, met->page_class, 1)) {
            return WEIR_E_NOMEM;
        }
    }
}

/* The mailbox is full and its policy is to wait. */
WEIR__SELDOM static weir_status wait_for_room(const weir__posting *by, weir_processor to,
                                              const weir__parcel *parcel, obstacle *full)
{
    weir__room_wait *wait = weir__room_wait_of(by->context->engine, full->index);
    const weir_ns deadline = weir__deadline(full->block_max, WEIR_S);
    weir_status status;
    weir__add(&by->context->engine->room_waiters, 1, seq_cst);
    weir__add(&wait->waiters, 1, seq_cst);
    for (;;) {
        /* The word before the condition: a wake-up between the two is not lost. */
        const uint32_t seen = weir__load(&wait->word, seq_cst);
        weir__fence(seq_cst);
        status = offer_with_stock(by, to, parcel, full);
        if (status != WEIR_FULL || !weir__wait_until(&wait->word, seen, deadline)) {
            break;
        }
    }
    weir__sub(&wait->waiters, 1, seq_cst);
    weir__sub(&by->context->engine->room_waiters, 1, seq_cst);
    return status;
}

static weir__cell *cell_for(weir__tally *tally, weir_status status)
{
    switch (status) {
    case WEIR_FULL:
        return &tally->refused_full;
    case WEIR_STOPPING:
        return &tally->refused_stopping;
    case WEIR_UNKNOWN:
        return &tally->refused_unknown;
    default:
        return &tally->refused_other;
    }
}

void weir__post_count_refusal(const weir__posting *by, weir_status status)
{
    if (status != WEIR_DROPPED) { /* that one was counted where it happened */
        weir__cell *cell = cell_for(&by->context->tally, status);
        /* [Q1]: done, and attempted before. */
        weir__store(cell, weir__load(cell, relaxed) + 1, release);
    }
    /* A stop may be waiting for exactly this post to end. */
    weir__engine_progress_if_stopping(by->context->engine);
}

/* Not accepted, or not at once. */
static weir_status refuse(const weir__posting *by, weir_processor to, const weir_event *event,
                          weir_status status)
{
    if (status != WEIR_DROPPED && status != WEIR_FULL && !weir__post_is_open(by)) {
        status = WEIR_STOPPING; /* whatever else is wrong with it */
    }
    if (weir__engine_phase(by->context->engine) == WEIR__FORKED) {
        status = WEIR_E_INVALID;
    }
    weir__letter_if_refused(by->context, status, by->sender, to, event);
    weir__post_count_refusal(by, status);
    return status;
}

weir_status weir__post_counted(const weir__posting *by, weir_processor to, const weir_event *event)
{
    weir__parcel parcel;
    obstacle met = { .overflow = WEIR_OVERFLOW_FAIL, .lacks = false };
    weir_status status = weir__parcel_check(event);
    if (status == WEIR_OK) {
        status = weir__parcel_pack(by, event, &parcel);
    }
    if (status == WEIR_OK) {
        status = offer_with_stock(by, to, &parcel, &met);
        if (status == WEIR_FULL && met.overflow == WEIR_OVERFLOW_BLOCK && !by->in_handler &&
            !weir__context_in_handler()) {
            status = wait_for_room(by, to, &parcel, &met);
        }
        if (status != WEIR_OK) {
            weir__parcel_unpack(by, &parcel);
        }
    }
    if (status != WEIR_OK) {
        status = refuse(by, to, event, status);
    } else {
        WEIR__PROBE4(post, to.id, by->sender, event->type, event->size);
    }
    if (weir__tell_begin()) {
        weir__tell_end(
            "posts %s%s%s", event != NULL && event->type != NULL ? event->type->name : "nothing",
            status != WEIR_OK ? ": " : "", status != WEIR_OK ? weir_status_name(status) : "");
    }
    return status;
}

weir_status weir__post_commit(const weir__posting *by, weir_processor to, const weir_event *event)
{
    if (event == NULL || event->block == NULL) {
        return WEIR_E_INVALID;
    }
    weir__post_begin(by->context);
    const weir_status status = weir__post_counted(by, to, event);
    /* A refused commit drops the payload like an accepted one. */
    if (event->type != NULL) {
        weir__block_note_drop(event->block, event->type, event->data);
    }
    weir__block_release(by->context, event->block);
    return status;
}
