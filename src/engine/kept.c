/*
 * engine/kept.c - taking from another thread's list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/kept.h"

#include "base/assert.h"

weir__chain weir__kept_raid(weir__kept *list, bool all)
{
    weir__chain chain = { NULL, NULL, 0 };
    if (weir__kept_length(list) == 0 || !weir__bias_raid(&list->bias)) {
        return chain;
    }
    const uint32_t length = weir__load(&list->length, relaxed);
    const uint32_t wanted = all ? length : (length + 1) / 2;
    weir__processor *last = NULL;
    weir__processor *next = list->head;
    for (chain.first = next; chain.count < wanted; chain.count++) {
        WEIR_ASSERT(next != NULL);
        last = next;
        next = next->ready_next;
    }
    list->head = next;
    weir__store(&list->length, length - chain.count, relaxed);
    weir__bias_raid_over(&list->bias);
    chain.last = last;
    return chain;
}
