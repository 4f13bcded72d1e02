/*
 * time/timer.c - numbers, generations, slabs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "time/timer.h"

#include "base/assert.h"
#include "time/wheel.h"

#define LIFE_MASK ((1u << WEIR__TIMER_LIFE_BITS) - 1)

static void join_room(weir__timer_store *store, weir__timer_slab *slab)
{
    slab->previous = NULL;
    slab->next = store->kinds[slab->kind].with_room;
    if (slab->next != NULL) {
        slab->next->previous = slab;
    }
    store->kinds[slab->kind].with_room = slab;
}

static void leave_room(weir__timer_store *store, weir__timer_slab *slab)
{
    *(slab->previous != NULL ? &slab->previous->next : &store->kinds[slab->kind].with_room) =
        slab->next;
    if (slab->next != NULL) {
        slab->next->previous = slab->previous;
    }
}

bool weir__timer_add_slab(weir__timer_store *store, weir__timer_slab *slab)
{
    if (store->kinds[slab->kind].with_room != NULL) {
        return false;
    }
    while (store->lowest < store->table_size && store->table[store->lowest].slab != NULL) {
        store->lowest++;
    }
    if (store->lowest == store->table_size) {
        return false;
    }
    slab->index = store->lowest;
    slab->free_first = 0;
    slab->free_last = 0;
    slab->fresh = 0;
    slab->live = 0;
    store->table[slab->index].slab = slab;
    store->kinds[slab->kind].slabs++;
    store->kinds[slab->kind].empty++;
    join_room(store, slab);
    return true;
}

uint32_t weir__timer_take(weir__timer_store *store, weir__slab_kind kind)
{
    weir__timer_slab *slab = store->kinds[kind].with_room;
    uint32_t number;
    if (slab == NULL) {
        return 0;
    }
    if (slab->fresh < WEIR__SLAB_TIMERS) {
        weir__timer *timer = &slab->timers[slab->fresh++];
        timer->generation = store->table[slab->index].generation;
        timer->outcomes = 0;
        number = slab->index * WEIR__SLAB_TIMERS + slab->fresh;
    } else {
        number = slab->free_first;
        slab->free_first = weir__timer_at(store, number)->next;
        if (slab->free_first == 0) {
            slab->free_last = 0;
        }
    }
    store->kinds[kind].empty -= slab->live == 0 ? 1 : 0;
    slab->live++;
    if (slab->live == WEIR__SLAB_TIMERS) {
        leave_room(store, slab);
    }
    return number;
}

/* Handles to what was in it must stay stale for ever. */
static weir__timer_slab *drop(weir__timer_store *store, weir__timer_slab *slab)
{
    weir__timer_row *row = &store->table[slab->index];
    uint32_t newest = row->generation;
    for (uint32_t i = 0; i < slab->fresh; i++) {
        const uint32_t generation = slab->timers[i].generation;
        newest = generation - row->generation > newest - row->generation ? generation : newest;
    }
    row->generation = newest;
    row->slab = NULL;
    leave_room(store, slab);
    store->kinds[slab->kind].slabs--;
    store->kinds[slab->kind].empty--;
    store->lowest = slab->index < store->lowest ? slab->index : store->lowest;
    return slab;
}

weir__timer_slab *weir__timer_end(weir__timer_store *store, uint32_t number,
                                  weir_timer_outcome outcome)
{
    weir__timer_slab *slab = weir__timer_slab_of(store, number);
    weir__timer *timer = weir__timer_at(store, number);
    timer->generation++;
    timer->outcomes =
        (uint16_t)((uint32_t)timer->outcomes << WEIR__TIMER_LIFE_BITS | (uint32_t)outcome);
    timer->place = WEIR__PLACE_FREE;
    timer->next = 0;
    if (slab->free_last != 0) {
        weir__timer_at(store, slab->free_last)->next = number;
    } else {
        slab->free_first = number;
    }
    slab->free_last = number;
    if (slab->live == WEIR__SLAB_TIMERS) {
        join_room(store, slab);
    }
    slab->live--;
    if (slab->live > 0) {
        return NULL;
    }
    store->kinds[slab->kind].empty++;
    return store->kinds[slab->kind].empty > 1 ? drop(store, slab) : NULL;
}

bool weir__timer_look(const weir__timer_store *store, uint32_t number, uint32_t generation,
                      weir_timer_outcome *outcome)
{
    const uint32_t index = (number - 1) >> WEIR__SLAB_BITS;
    if (number == 0 || index >= store->table_size) {
        return false;
    }
    const weir__timer_slab *slab = store->table[index].slab;
    const uint32_t within = (number - 1) % WEIR__SLAB_TIMERS;
    if (slab == NULL || within >= slab->fresh) {
        return false;
    }
    const weir__timer *timer = &slab->timers[within];
    const uint32_t lives_ago = timer->generation - generation;
    if (lives_ago == 0) {
        *outcome = WEIR_TIMER_PENDING;
        return timer->place != WEIR__PLACE_FREE;
    }
    if (lives_ago > WEIR__TIMER_LIVES) {
        return false;
    }
    *outcome =
        (weir_timer_outcome)((uint32_t)timer->outcomes >> (lives_ago - 1) * WEIR__TIMER_LIFE_BITS &
                             LIFE_MASK);
    return *outcome != WEIR_TIMER_PENDING;
}
