/*
 * engine/parcel.c - packing what is not just a few bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/parcel.h"

/* What is not in the envelope itself: shared, or copied. */
static WEIR__ALWAYS weir_status pack_block(const weir__posting *by, const weir_event *event,
                                           uint32_t inline_max, weir__parcel *out)
{
    if (event->block != NULL && weir__block_is_of(event->block, by->context->engine)) {
        weir__block_note_drop(event->block, event->type, event->data);
        out->block = weir_block_take(event->block);
        /* Nothing at all is somewhere, too: who handles it is promised an address. */
        out->data = event->data != NULL ? event->data : (const void *)event->block;
    } else if (event->type->drop != NULL) {
        return WEIR_E_TYPE; /* in a block of another engine: it cannot be shared, nor copied */
    } else if (event->size > inline_max) {
        const weir_status status = weir__block_copy(by->context, event, &out->block);
        if (status != WEIR_OK) {
            return status;
        }
        out->data = weir_block_data(out->block);
    }
    return WEIR_OK;
}

WEIR__SELDOM static weir_status pack_with_origin(const weir__posting *by, const weir_event *event,
                                                 weir__parcel *out)
{
    const weir_status status = pack_block(by, event, WEIR__ORIGIN_INLINE_MAX, out);
    if (status == WEIR_OK) {
        weir__origin_hold(by->context->origin, 1);
        out->data = out->data != NULL ? out->data : event;
    }
    return status;
}

weir_status weir__parcel_pack_special(const weir__posting *by, const weir_event *event,
                                      weir__parcel *out)
{
    if (!weir__post_is_open(by)) {
        return WEIR_STOPPING; /* a child after fork() must not even look for memory */
    }
    if (weir__unlikely(weir__posting_origin(by) != NULL)) {
        return pack_with_origin(by, event, out);
    }
    return pack_block(by, event, weir__parcel_inline_max(by), out);
}

void weir__parcel_unpack_special(const weir__posting *by, const weir__parcel *parcel)
{
    weir_origin *origin = weir__posting_origin(by);
    if (parcel->block != NULL) {
        weir__block_release(by->context, parcel->block);
    }
    if (origin != NULL) {
        weir__origin_release(origin);
    }
}
