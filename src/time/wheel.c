/*
 * time/wheel.c - lists, digits, and the way down from level to level.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "time/wheel.h"

#include "base/assert.h"

static uint64_t tick_of_due(weir_ns due)
{
    return ((uint64_t)due + (1u << WEIR__TICK_BITS) - 1) >> WEIR__TICK_BITS;
}

static uint64_t tick_of_clock(weir_ns now)
{
    return (uint64_t)now >> WEIR__TICK_BITS;
}

static void append(weir__wheel *wheel, uint32_t place, uint32_t number, weir__timer *timer)
{
    weir__timer_list *list = &wheel->lists[place];
    timer->place = place & WEIR__PLACE_MASK;
    timer->next = 0;
    timer->previous = list->last;
    if (list->last != 0) {
        weir__timer_at(&wheel->store, list->last)->next = number;
    } else {
        list->first = number;
    }
    list->last = number;
}

static void mark_occupied(weir__wheel *wheel, uint32_t place)
{
    if (place < WEIR__PLACE_DUE) {
        wheel->occupied[place / WEIR__WHEEL_SLOTS] |= UINT64_C(1) << (place % WEIR__WHEEL_SLOTS);
        wheel->levels |= 1u << (place / WEIR__WHEEL_SLOTS);
    }
}

static void mark_empty(weir__wheel *wheel, uint32_t place)
{
    const uint32_t level = place / WEIR__WHEEL_SLOTS;
    if (place < WEIR__PLACE_DUE) {
        wheel->occupied[level] &= ~(UINT64_C(1) << (place % WEIR__WHEEL_SLOTS));
        if (wheel->occupied[level] == 0) {
            wheel->levels &= ~(1u << level);
        }
    }
}

static void take_out(weir__wheel *wheel, weir__timer *timer)
{
    const uint32_t place = timer->place;
    weir__timer_list *list = &wheel->lists[place];
    if (timer->previous != 0) {
        weir__timer_at(&wheel->store, timer->previous)->next = timer->next;
    } else {
        list->first = timer->next;
    }
    if (timer->next != 0) {
        weir__timer_at(&wheel->store, timer->next)->previous = timer->previous;
    } else {
        list->last = timer->previous;
    }
    if (list->first == 0) {
        mark_empty(wheel, place);
    }
}

/* Where a timer of that tick belongs. What is left of the time decides nothing: digits do. */
static uint32_t place_for(const weir__wheel *wheel, uint64_t tick)
{
    if (tick <= wheel->tick) {
        return WEIR__PLACE_DUE;
    }
    const uint32_t highest = 63u - (uint32_t)__builtin_clzll(tick ^ wheel->tick);
    const uint32_t level = highest / WEIR__WHEEL_DIGIT;
    return level * WEIR__WHEEL_SLOTS +
           (uint32_t)(tick >> (level * WEIR__WHEEL_DIGIT)) % WEIR__WHEEL_SLOTS;
}

static void put_in(weir__wheel *wheel, uint32_t number, weir__timer *timer)
{
    const uint32_t place = place_for(wheel, tick_of_due(timer->due));
    append(wheel, place, number, timer);
    mark_occupied(wheel, place);
}

void weir__wheel_open(weir__wheel *wheel)
{
    wheel->opened = WEIR__PLACE_NONE;
}

void weir__wheel_schedule(weir__wheel *wheel, uint32_t number)
{
    put_in(wheel, number, weir__timer_at(&wheel->store, number));
    wheel->pending++;
}

void weir__wheel_unschedule(weir__wheel *wheel, uint32_t number)
{
    weir__timer *timer = weir__timer_at(&wheel->store, number);
    WEIR_ASSERT(timer->place < WEIR__PLACES_LISTED);
    take_out(wheel, timer);
    wheel->pending--;
}

/* The slot that the wheel reaches first, and its tick. False: there is none. */
static bool find_next(const weir__wheel *wheel, uint32_t *place, uint64_t *tick)
{
    if (wheel->levels == 0) {
        return false;
    }
    const uint32_t level = (uint32_t)__builtin_ctz(wheel->levels);
    const uint32_t slot = (uint32_t)__builtin_ctzll(wheel->occupied[level]);
    const uint32_t shift = level * WEIR__WHEEL_DIGIT;
    /* The digits above are those of the wheel; those below begin at zero. */
    const uint64_t above = wheel->tick >> shift >> WEIR__WHEEL_DIGIT << WEIR__WHEEL_DIGIT;
    *place = level * WEIR__WHEEL_SLOTS + slot;
    *tick = (above | slot) << shift;
    return true;
}

/* What lies in the opened slot finds its place by the wheel's new tick: never in that slot again,
 * since it is now a digit of the wheel's own. Returns how many may follow. */
static uint32_t empty_opened(weir__wheel *wheel, uint32_t most)
{
    uint32_t number;
    while (most > 0 && (number = wheel->lists[wheel->opened].first) != 0) {
        weir__timer *timer = weir__timer_at(&wheel->store, number);
        take_out(wheel, timer);
        put_in(wheel, number, timer);
        most--;
    }
    if (wheel->lists[wheel->opened].first == 0) {
        wheel->opened = WEIR__PLACE_NONE;
    }
    return most;
}

bool weir__wheel_turn(weir__wheel *wheel, weir_ns now, uint32_t most)
{
    const uint64_t clock = tick_of_clock(now);
    uint32_t place;
    uint64_t tick;
    for (;;) {
        if (wheel->opened != WEIR__PLACE_NONE) {
            most = empty_opened(wheel, most);
            if (wheel->opened != WEIR__PLACE_NONE) {
                return false;
            }
        }
        if (!find_next(wheel, &place, &tick) || tick > clock) {
            wheel->tick = clock > wheel->tick ? clock : wheel->tick;
            return true;
        }
        wheel->tick = tick;
        wheel->opened = place;
    }
}

void weir__wheel_note(weir__wheel *wheel, weir_ns now)
{
    const uint64_t clock = tick_of_clock(now);
    uint32_t place;
    uint64_t tick;
    if (clock > wheel->tick && wheel->opened == WEIR__PLACE_NONE &&
        (!find_next(wheel, &place, &tick) || tick > clock)) {
        wheel->tick = clock;
    }
}

weir_ns weir__wheel_next(const weir__wheel *wheel)
{
    uint32_t place;
    uint64_t tick;
    if (wheel->lists[WEIR__PLACE_DUE].first != 0 || wheel->opened != WEIR__PLACE_NONE) {
        return 0;
    }
    if (!find_next(wheel, &place, &tick)) {
        return WEIR_FOREVER;
    }
    return tick < (uint64_t)WEIR_FOREVER >> WEIR__TICK_BITS ? (weir_ns)(tick << WEIR__TICK_BITS)
                                                            : WEIR_FOREVER - 1;
}

static uint32_t take_first(weir__wheel *wheel, uint32_t place)
{
    const uint32_t number = wheel->lists[place].first;
    if (number != 0) {
        weir__timer *timer = weir__timer_at(&wheel->store, number);
        take_out(wheel, timer);
        timer->place = WEIR__PLACE_FIRING;
        wheel->pending--;
    }
    return number;
}

uint32_t weir__wheel_take_due(weir__wheel *wheel)
{
    return take_first(wheel, WEIR__PLACE_DUE);
}

uint32_t weir__wheel_take_any(weir__wheel *wheel)
{
    uint32_t place;
    uint64_t tick;
    if (wheel->lists[WEIR__PLACE_DUE].first != 0) {
        return take_first(wheel, WEIR__PLACE_DUE);
    }
    return find_next(wheel, &place, &tick) ? take_first(wheel, place) : 0;
}
