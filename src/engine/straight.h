/*
 * engine/straight.h - the way of a post with nothing special about it: a few bytes, an engine that
 * runs, a processor that is there and has room, a thread that has what it takes.
 *
 * Whatever stands in the way is found out before anything has happened, and then engine/post.c does
 * all of it again and sees to it.
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
    const weir__claim claim = weir__mailbox_claim(mailbox, &one, &before);
    if (weir__likely(claim <= WEIR__CLAIM_FIRST)) {
        weir__parcel_deliver(by, mailbox, claim, before, parcel, 1);
        if (claim == WEIR__CLAIM_FIRST) {
            weir__ready(by->context, processor);
        }
    }
    return claim;
}

/* False: nothing has happened. */
static WEIR__ALWAYS bool weir__post_straight(const weir__posting *by, weir_processor to,
                                             const weir_event *event)
{
    weir__context *context = by->context;
    weir_engine *engine = context->engine;
    bool accepted = false;
    if (weir__unlikely(!weir__parcel_is_plain(context, event)) ||
        (by->ask != 0 && weir__unlikely(event->size > WEIR__QUESTION_INLINE_MAX))) {
        return false;
    }
    const weir__parcel parcel = weir__parcel_of_plain(by, event);
    weir__context_enter(context);
    if (weir__likely(weir__load(&engine->phase, relaxed) < WEIR__STOPPING)) {
        weir__processor *processor = weir__registry_find(&engine->registry, to);
        accepted =
            weir__likely(processor != NULL) &&
            weir__likely(weir__stock_suffices(&context->stock, processor->mailbox.page_class)) &&
            weir__likely(weir__offer_to(by, processor, &parcel) <= WEIR__CLAIM_FIRST);
    }
    weir__context_leave(context);
    if (weir__likely(accepted)) {
        WEIR__PROBE4(post, to.id, by->sender, event->type, event->size);
    }
    if (accepted && weir__tell_begin()) {
        weir__tell_end("posts %s", event->type->name);
    }
    return accepted;
}

#endif /* WEIR_ENGINE_STRAIGHT_H */
