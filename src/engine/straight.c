/*
 * engine/straight.c - where a straight post (engine/straight.h) ends that is not quite straight.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/straight.h"

WEIR__SELDOM weir_status weir__straight_not(const weir__posting *by, weir_processor to,
                                            const weir_event *event)
{
    return weir__post_counted(by, to, event);
}

WEIR__SELDOM weir_status weir__straight_place(const weir__posting *by, weir__processor *processor,
                                              uint64_t before, const weir__parcel *parcel)
{
    weir__envelope *envelope = weir__mailbox_place(
        &processor->mailbox, before, weir__mailbox_ticket(before), &by->context->stock);
    weir__envelope_fill(envelope, weir__parcel_put(by, parcel, envelope));
    return weir__straight_end(by->context);
}

/* Outside the mark. What stands in the way of the next post is seen to while somebody else takes
 * this one: who posts once in a while finds nothing of that in its caches, and its event would wait
 * for it. */
WEIR__SELDOM static void clear_way(weir__context *context, uint32_t page_class)
{
    (void)weir__stock_fill(&context->stock, page_class, 1); /* else the next one finds out */
    weir__stamp_look_ahead(context);
}

weir_status weir__straight_push(weir__context *context, weir__processor *processor)
{
    weir__dispatcher *dispatcher = weir__processor_dispatcher(processor);
    const uint32_t page_class = processor->mailbox.page_class; /* now: it may be gone after that */
    WEIR__PROBE2(ready, processor, dispatcher);
    weir__dispatcher_push(dispatcher, processor);
    const weir_status status = weir__straight_end(context);
    if (weir__unlikely(!weir__stock_suffices(&context->stock, page_class)) ||
        weir__unlikely(weir__stamp_is_next(context))) {
        clear_way(context, page_class);
    }
    return status;
}

weir_status weir__straight_share(weir__context *context, weir__serving *keeping, uint32_t kept)
{
    weir__keep_tell(keeping, kept);
    return weir__straight_end(context);
}
