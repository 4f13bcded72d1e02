/*
 * engine/origin.c - references to origins, and the way out of a turn that has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/origin.h"

#include "base/assert.h"

void weir__origin_hold(weir_origin *origin, uint64_t count)
{
    const uint64_t before = weir__add(&origin->references, count, relaxed);
    WEIR_ASSERT(before > 0);
}

void weir__origin_give(weir_origin *origin, uint64_t count)
{
    /* Relaxed: nothing was done by them, and the caller's own comes after. */
    const uint64_t before = weir__sub(&origin->references, count, relaxed);
    WEIR_ASSERT(before > count);
}

bool weir__origin_let_go(weir_origin *origin)
{
    /* [OR1] pairs with itself: the last one out has seen all that was done with the others. */
    const uint64_t before = weir__sub(&origin->references, 1, acq_rel);
    WEIR_ASSERT(before > 0);
    return before == 1;
}

void weir__origin_put_aside(weir_origin *origin, weir_origin **list)
{
    origin->next = *list;
    *list = origin;
}

void weir__origins_end(weir_origin *list)
{
    while (list != NULL) {
        weir_origin *next = list->next; /* it may be another's once it is done */
        list->done(list);
        list = next;
    }
}

void weir__origin_release(weir_origin *origin)
{
    if (weir__origin_let_go(origin)) {
        origin->done(origin);
    }
}

void weir_origin_release(weir_origin *origin)
{
    if (origin != NULL) {
        weir__origin_release(origin);
    }
}
