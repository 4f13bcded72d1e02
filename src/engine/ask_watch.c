/*
 * engine/ask_watch.c - a heap of four: flat, since most entries leave it from the top.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/ask_watch.h"

#include "base/assert.h"

#define BRANCHES 4u

static void put(weir__asks *asks, uint32_t at, const weir__ask_watch *watch)
{
    weir__ask *ask = weir__ask_at(asks, watch->index);
    asks->heap[at] = *watch;
    ask->heap_at = at;
    weir__store(&ask->watched, watch->time, relaxed);
}

/* From a place that is free, towards the top. */
static void rise(weir__asks *asks, uint32_t at, const weir__ask_watch *watch)
{
    while (at > 0) {
        const uint32_t above = (at - 1) / BRANCHES;
        if (asks->heap[above].time <= watch->time) {
            break;
        }
        put(asks, at, &asks->heap[above]);
        at = above;
    }
    put(asks, at, watch);
}

/* From the top, which is free, down. */
static void sink(weir__asks *asks, const weir__ask_watch *watch)
{
    uint32_t at = 0;
    for (;;) {
        const uint32_t first = at * BRANCHES + 1;
        const uint32_t end = first + BRANCHES < asks->watches ? first + BRANCHES : asks->watches;
        uint32_t least = first;
        for (uint32_t i = first + 1; i < end; i++) {
            least = asks->heap[i].time < asks->heap[least].time ? i : least;
        }
        if (first >= end || asks->heap[least].time >= watch->time) {
            break;
        }
        put(asks, at, &asks->heap[least]);
        at = least;
    }
    put(asks, at, watch);
}

bool weir__ask_watch_by(weir__asks *asks, uint32_t index, uint64_t time)
{
    const weir__ask *ask = weir__ask_at(asks, index);
    const weir__ask_watch watch = { time, index };
    const uint64_t before = weir__load(&((weir__ask *)(uintptr_t)ask)->watched, relaxed);
    if (before == WEIR__ASK_UNWATCHED) {
        WEIR_ASSERT(asks->watches < weir__load(&asks->capacity, relaxed));
        rise(asks, asks->watches++, &watch);
    } else if (time < before) {
        rise(asks, ask->heap_at, &watch);
    }
    if (time >= asks->rings_at) {
        return false;
    }
    asks->rings_at = time;
    return true;
}

bool weir__ask_watch_take(weir__asks *asks, uint64_t time, uint32_t *index)
{
    if (asks->watches == 0 || asks->heap[0].time > time) {
        return false;
    }
    *index = asks->heap[0].index;
    weir__store(&weir__ask_at(asks, *index)->watched, WEIR__ASK_UNWATCHED, relaxed);
    asks->watches--;
    if (asks->watches > 0) {
        const weir__ask_watch last = asks->heap[asks->watches];
        sink(asks, &last);
    }
    return true;
}
