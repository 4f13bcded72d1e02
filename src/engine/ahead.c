/*
 * engine/ahead.c - see ahead.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/ahead.h"

#include "base/memory.h"

weir__timer_slab *weir__slab_make(const weir_allocator *allocator, weir__slab_kind kind)
{
    const size_t size = weir__slab_size(kind);
    weir__timer_slab *slab = weir__allocate_raw(allocator, size);
    if (slab != NULL) {
        weir__memory_prepare(slab, size);
        slab->kind = kind;
    }
    return slab;
}

void weir__slab_release(const weir_allocator *allocator, weir__timer_slab *slab)
{
    if (slab != NULL) {
        weir__release(allocator, slab, weir__slab_size(slab->kind));
    }
}

weir__timer_slab *weir__ahead_take(weir__ahead *ahead, weir__slab_kind kind)
{
    weir__timer_slab *slab = NULL;
    for (uint32_t i = 0; i < WEIR__AHEAD_MOST && slab == NULL; i++) {
        if (weir__load(&ahead->ready[kind][i], relaxed) != NULL) {
            /* [TS2] pairs with [TS1]: its kind. */
            slab = weir__exchange(&ahead->ready[kind][i], NULL, acquire);
        }
    }
    return slab;
}

bool weir__ahead_ask(weir__ahead *ahead, weir__slab_kind kind)
{
    return weir__or(&ahead->asked, 1u << kind, relaxed) == 0; /* else somebody has woken it */
}

void weir__ahead_make(weir__ahead *ahead, const weir_allocator *allocator, uint32_t many)
{
    if (weir__load(&ahead->asked, relaxed) == 0) {
        return;
    }
    const uint32_t asked = weir__exchange(&ahead->asked, 0, relaxed) & many;
    for (weir__slab_kind kind = WEIR__SLAB_HOOKS; kind <= WEIR__SLAB_EVENTS; kind++) {
        for (uint32_t i = 0; i < WEIR__AHEAD_MOST && (asked >> kind & 1) != 0; i++) {
            if (weir__load(&ahead->ready[kind][i], relaxed) == NULL) {
                /* [TS1] pairs with [TS2]. NULL, for want of memory, is what was there. */
                weir__store(&ahead->ready[kind][i], weir__slab_make(allocator, kind), release);
            }
        }
    }
}

void weir__ahead_give_back(weir__ahead *ahead, const weir_allocator *allocator,
                           weir__slab_kind kind)
{
    for (uint32_t i = 0; i < WEIR__AHEAD_MOST; i++) {
        weir__slab_release(allocator, weir__ahead_take(ahead, kind));
    }
}

size_t weir__ahead_bytes(const weir__ahead *ahead)
{
    weir__ahead *a = (weir__ahead *)(uintptr_t)ahead;
    size_t sum = 0;
    for (uint32_t kind = 0; kind < WEIR__SLAB_KINDS; kind++) {
        for (uint32_t i = 0; i < WEIR__AHEAD_MOST; i++) {
            const bool there = weir__load(&a->ready[kind][i], relaxed) != NULL;
            sum += there ? weir__slab_size(kind) : 0;
        }
    }
    return sum;
}
