/*
 * engine/straight.h - the way of a post with nothing special about it: a few bytes, an engine that
 * runs, a processor that is there and has room, a thread that has what it takes.
 *
 * Whatever stands in the way is found out before anything has happened, and then engine/post.c does
 * all of it again and sees to it. What turns up after the claim (a page that is not there yet, a
 * thread that is to be woken) is done to its end by one of the seldom calls below, and nothing
 * follows them: so the straight way itself calls nobody, and keeps nothing across a call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_STRAIGHT_H
#define WEIR_ENGINE_STRAIGHT_H

#include "engine/parcel.h"
#include "engine/probe.h"
#include "engine/ready.h"
#include "sync/tell.h"

/* Inside the mark, the stock suffices: claim, fill, ready. */
static WEIR__ALWAYS weir__claim weir__offer_to(const weir__posting *by, weir__processor *processor,
                                               const weir__parcel *parcel)
{
    weir__mailbox *mailbox = &processor->mailbox;
    uint32_t one = 1;
    uint64_t before;
    const weir__claim claim = weir__lease_claim(mailbox, &by->context->tenant, &one, &before);
    if (weir__likely(claim <= WEIR__CLAIM_FIRST)) {
        weir__parcel_deliver(by, mailbox, claim, before, parcel);
        if (claim == WEIR__CLAIM_FIRST) {
            weir__ready(by->context, processor);
        }
    }
    return claim;
}

/* ---- the seldom ends of a straight post (engine/straight.c) ---- */

/* Outside the mark. The event is not plain, or something stands in its way: nothing has happened
 * but the count. */
weir_status weir__straight_not(const weir__posting *by, weir_processor to, const weir_event *event);
/* The others leave the mark. It has its ticket, but the page is not there that it falls into. */
weir_status weir__straight_place(const weir__posting *by, weir__processor *processor,
                                 uint64_t before, const weir__parcel *parcel);
/* It is there; the processor goes to its dispatcher's queue. */
weir_status weir__straight_push(weir__context *context, weir__processor *processor);
/* The same, and the processor is kept: the monitor, or another thread, is to know. */
weir_status weir__straight_share(weir__context *context, weir__serving *keeping, uint32_t kept);

/* Field by field: copied as a whole it would be written in words and read back in vectors, and each
 * such read waits until the words have left the store buffer. */
#define WEIR__POSTING_COPY(by)                                                                     \
    {                                                                                              \
        .context = (by)->context, .sender = (by)->sender, .flow = (by)->flow,                      \
        .in_handler = (by)->in_handler, .carries = (by)->carries, .marks = (by)->marks,            \
        .ask = (by)->ask                                                                           \
    }

/* ---- the straight way ---- */

static WEIR__ALWAYS weir_status weir__straight_end(weir__context *context)
{
    weir__context_leave(context);
    return WEIR_OK;
}

/* As weir__ready, to the end. */
static WEIR__ALWAYS weir_status weir__straight_ready(weir__context *context,
                                                     weir__processor *processor)
{
    weir__serving *keeping = context->keeping;
    weir__dispatcher *dispatcher = weir__processor_dispatcher(processor);
    if (keeping == NULL || weir__unlikely(keeping->dispatcher != dispatcher)) {
        return weir__straight_push(context, processor);
    }
    const uint32_t kept = weir__kept_append(&keeping->kept, processor, processor, 1);
    if (weir__unlikely(kept == 0)) {
        return weir__straight_push(context, processor); /* somebody is raiding */
    }
    WEIR__PROBE2(ready, processor, dispatcher);
    if (weir__load(&dispatcher->threads, relaxed) > 1 &&
        weir__unlikely(weir__keep_concerns(keeping, kept))) {
        return weir__straight_share(context, keeping, kept);
    }
    return weir__straight_end(context);
}

/* The first of its epoch: it lies alone. */
static WEIR__ALWAYS weir_status weir__straight_first(const weir__posting *by,
                                                     weir__processor *processor, uint64_t before,
                                                     const weir__parcel *parcel)
{
    weir__lone *lone = weir__stock_take_lone(&by->context->stock);
    const uint32_t state = weir__parcel_put(by, parcel, &lone->envelope);
    weir__init(&lone->envelope.state, state | WEIR__ENVELOPE_FILLED);
    weir__mailbox_put_first(&processor->mailbox, before, lone);
    return weir__straight_ready(by->context, processor);
}

static WEIR__ALWAYS weir_status weir__straight_next(const weir__posting *by,
                                                    weir__processor *processor, uint64_t before,
                                                    const weir__parcel *parcel)
{
    weir__envelope *envelope = weir__mailbox_place_if_there(&processor->mailbox, before);
    if (weir__unlikely(envelope == NULL)) {
        const weir__posting again = WEIR__POSTING_COPY(by);
        const weir__parcel same = { .event = parcel->event, .flow = parcel->flow };
        return weir__straight_place(&again, processor, before, &same);
    }
    weir__envelope_fill(envelope, weir__parcel_put(by, parcel, envelope));
    /* The next one is likely to be ours, too, and its line is with the last owner. */
    __builtin_prefetch(envelope + 1, 1);
    return weir__straight_end(by->context);
}

static WEIR__ALWAYS weir_status weir__straight_refused(const weir__posting *by, weir_processor to,
                                                       const weir_event *event)
{
    const weir__posting again = WEIR__POSTING_COPY(by);
    weir__context_leave(by->context);
    return weir__straight_not(&again, to, event);
}

/* It is accepted. */
static WEIR__ALWAYS void weir__straight_note(const weir__posting *by, weir_processor to,
                                             const weir_event *event)
{
    (void)to; /* without probes */
    weir__stamp_pass(by->context);
    WEIR__PROBE4(post, to.id, by->sender, event->type, event->size);
    if (weir__tell_begin()) {
        weir__tell_end("posts %s", event->type->name);
    }
}

/* It looks full: because it is leased, and has room? */
static WEIR__ALWAYS bool weir__straight_leased(const weir__mailbox *mailbox, uint64_t word)
{
    return weir__mailbox_is_leased(word) && weir__mailbox_count(word) < mailbox->limit;
}

/* All of it, but for weir__post_begin. What nobody else can reach of `by` stays in registers, if
 * the caller has made it field by field. */
static WEIR__ALWAYS weir_status weir__post_straight(const weir__posting *by, weir_processor to,
                                                    const weir_event *event)
{
    weir__context *const context = by->context;
    weir_engine *const engine = context->engine;
    if (weir__unlikely(!weir__parcel_is_plain(context, event)) ||
        (by->ask != 0 && weir__unlikely(event->size > WEIR__QUESTION_INLINE_MAX))) {
        const weir__posting again = WEIR__POSTING_COPY(by);
        return weir__straight_not(&again, to, event);
    }
    const weir__parcel parcel = weir__parcel_of_plain(by, event);
    weir__context_enter(context);
    if (weir__unlikely(weir__load(&engine->phase, relaxed) >= WEIR__STOPPING)) {
        return weir__straight_refused(by, to, event);
    }
    weir__processor *processor = weir__registry_find(&engine->registry, to);
    if (weir__unlikely(processor == NULL) ||
        weir__unlikely(!weir__stock_suffices(&context->stock, processor->mailbox.page_class)) ||
        weir__unlikely(weir__stamp_is_next(context))) {
        return weir__straight_refused(by, to, event);
    }
    /* weir__mailbox_claim for one event, its two cases apart, each with what follows it. */
    weir__mailbox *mailbox = &processor->mailbox;
    uint64_t word = weir__load(&mailbox->word, relaxed);
    for (;;) {
        uint64_t next = word + WEIR__MAILBOX_ACCEPT_ONE;
        bool leased = false;
        if (weir__unlikely(weir__mailbox_is_closed(word)) ||
            weir__unlikely(weir__mailbox_looks_full(word, mailbox->limit))) {
            leased = weir__straight_leased(mailbox, word);
            if (!leased) {
                return weir__straight_refused(by, to, event);
            }
        }
        /* Twice [A], or a step of ours. */
        if ((word & WEIR__MAILBOX_READY) != 0) {
            if (weir__likely(leased ? weir__lease_step(mailbox, &context->tenant, next)
                                    : weir__cas(&mailbox->word, &word, next, acq_rel, relaxed))) {
                weir__straight_note(by, to, event);
                return weir__straight_next(by, processor, word, &parcel);
            }
        } else {
            next |= WEIR__MAILBOX_READY | WEIR__MAILBOX_FIRST;
            if (weir__likely(leased ? weir__lease_step(mailbox, &context->tenant, next)
                                    : weir__cas(&mailbox->word, &word, next, acq_rel, relaxed))) {
                weir__straight_note(by, to, event);
                return weir__straight_first(by, processor, word, &parcel);
            }
        }
        if (leased) {
            return weir__straight_refused(by, to, event); /* not ours, or not any more */
        }
    }
}

#endif /* WEIR_ENGINE_STRAIGHT_H */
