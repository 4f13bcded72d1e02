/*
 * time/wheel.h - a hierarchical timer wheel: schedule, unschedule and "what is due" without a
 * search, however many are pending.
 *
 * Time is cut into ticks. A pending timer lies in a slot, by the highest digit (of 6 bits) in which
 * its tick differs from the wheel's own: digit 0 chooses among the next 64 ticks, digit 1 among the
 * next 64 x 64, and so on; nine digits hold every moment there is. So all of a lower level is due
 * before anything of a higher one, and the next slot is the lowest bit of the lowest level in use:
 *
 *     schedule  ->  slot  --the wheel reaches it-->  slots of lower levels  ->  due  ->  firing
 *                     '--unschedule, from anywhere-->
 *
 * A timer's tick is its time rounded up, the wheel's is the clock rounded down: none is early.
 * Those of one tick come in the order in which they were scheduled.
 *
 * Plain data without a lock: its owner sees to it that calls do not overlap. Timers are numbers;
 * where they lie is time/timer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TIME_WHEEL_H
#define WEIR_TIME_WHEEL_H

#include "time/timer.h"

#define WEIR__TICK_BITS 12u /* 4.1 us: finer than any sleep ends */
#define WEIR__WHEEL_DIGIT 6u
#define WEIR__WHEEL_SLOTS (1u << WEIR__WHEEL_DIGIT)
#define WEIR__WHEEL_LEVELS 9u /* 12 + 9 x 6 bits are more than a weir_ns has */

/* Where a timer is. Up to DUE these are lists. */
enum {
    WEIR__PLACE_DUE = WEIR__WHEEL_LEVELS * WEIR__WHEEL_SLOTS, /* after the slots */
    WEIR__PLACE_FIRING, /* in nobody's list: its owner is posting its event */
    WEIR__PLACE_FREE,
    WEIR__PLACES_LISTED = WEIR__PLACE_FIRING,
};

#define WEIR__PLACE_NONE UINT32_MAX
#define WEIR__PLACE_MASK 0x3ffu /* of the bits that a timer has for it */

typedef struct weir__timer_list {
    uint32_t first, last;
} weir__timer_list;

typedef struct weir__wheel {
    weir__timer_store store;
    uint64_t tick;    /* the wheel has come so far */
    uint32_t levels;  /* a bit each: something is there */
    uint32_t pending; /* in lists */
    uint32_t opened;  /* the slot that the wheel has reached, and is emptying; or NONE */
    uint64_t occupied[WEIR__WHEEL_LEVELS];
    weir__timer_list lists[WEIR__PLACES_LISTED];
} weir__wheel;

/* Of zeroed memory. */
void weir__wheel_open(weir__wheel *wheel);

/* By its `due`, which may be in the past. */
void weir__wheel_schedule(weir__wheel *wheel, uint32_t number);

/* Out of the list that it is in. */
void weir__wheel_unschedule(weir__wheel *wheel, uint32_t number);

/* The clock says `now`: what is due goes to the list DUE. Handles up to `most` timers, so that the
 * owner does not hold others up. False: call again. */
bool weir__wheel_turn(weir__wheel *wheel, weir_ns now, uint32_t most);

/* The clock says `now` and nothing was due until then: saves the way through higher levels for what
 * is scheduled next. */
void weir__wheel_note(weir__wheel *wheel, weir_ns now);

/* When to turn it next; WEIR_FOREVER: nothing is pending; 0: at once. */
weir_ns weir__wheel_next(const weir__wheel *wheel);

/* The first that is due, now FIRING; 0: none. */
uint32_t weir__wheel_take_due(weir__wheel *wheel);

/* Any that is pending, now FIRING; 0: none. */
uint32_t weir__wheel_take_any(weir__wheel *wheel);

#endif /* WEIR_TIME_WHEEL_H */
