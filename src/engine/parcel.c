/*
 * engine/parcel.c - packing what is not just a few bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/parcel.h"

weir_status weir__parcel_pack_block(const weir__posting *by, const weir_event *event,
                                    weir__parcel *out)
{
    out->data = event->data;
    if (!weir__post_is_open(by)) {
        return WEIR_STOPPING; /* a child after fork() must not even look for memory */
    }
    if (event->block != NULL && weir__block_is_of(event->block, by->context->engine)) {
        weir__block_note_drop(event->block, event->type, event->data);
        out->block = weir_block_take(event->block);
    } else if (event->type->drop != NULL) {
        return WEIR_E_TYPE; /* in a block of another engine: it cannot be shared, nor copied */
    } else if (event->size > weir__parcel_inline_max(by)) {
        const weir_status status = weir__block_copy(by->context, event, &out->block);
        if (status != WEIR_OK) {
            return status;
        }
        out->data = weir_block_data(out->block);
    }
    return WEIR_OK;
}
