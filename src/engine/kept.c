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

bool weir__kept_raid_moved(weir__kept *list, const weir__dispatcher *dispatcher,
                           weir__processor **moved)
{
    weir__processor **end = moved;
    weir__processor **link = &list->head;
    weir__processor *stays = NULL;
    uint32_t length = 0;
    *moved = NULL;
    if (!weir__bias_raid(&list->bias)) {
        return false;
    }
    while (*link != NULL) {
        weir__processor *processor = *link;
        if (weir__processor_dispatcher(processor) == dispatcher) {
            stays = processor;
            link = &processor->ready_next;
            length++;
            continue;
        }
        *link = processor->ready_next;
        processor->ready_next = NULL;
        *end = processor;
        end = &processor->ready_next;
    }
    list->tail = stays;
    weir__store(&list->length, length, relaxed);
    weir__bias_raid_over(&list->bias);
    return true;
}
