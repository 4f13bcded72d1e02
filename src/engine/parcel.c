/*
 * engine/parcel.c - packing what is not just a few bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/parcel.h"

WEIR__SELDOM static weir_status pack_with_origin(const weir__posting *by, const weir_event *event,
                                                 weir__parcel *out)
{
    const weir_status status =
        weir__block_for(by->context, event, WEIR__ORIGIN_INLINE_MAX, &out->block, &out->data);
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
    return weir__block_for(by->context, event, weir__parcel_inline_max(by), &out->block,
                           &out->data);
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
