/*
 * engine/scheduler.h - a timer wheel, the lock that guards it, and the thread that turns it.
 *
 *     add, cancel (any thread)  ->  lock, wheel, unlock  ->  wake the thread, if it would sleep too
 *                                                            long
 *     its thread:  lock, turn the wheel, take some that are due (FIRING), unlock
 *                  post their events, call their hooks        (no lock)
 *                  lock, end them or schedule them again, ...
 *
 * A timer's outcome is decided under the lock, once: whoever takes it out of the wheel, to fire or
 * to cancel it, has it. While it is FIRING it is its thread's alone; a cancel that comes then is
 * late, and only notes that it shall not come again.
 *
 * A thread adds to one wheel as long as that has numbers left, and cancels wherever the handle
 * says. No code of the application, its allocator included, runs under the lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_SCHEDULER_H
#define WEIR_ENGINE_SCHEDULER_H

#include "engine/ahead.h"
#include "engine/context.h"
#include "engine/helper.h"
#include "engine/watched.h"
#include "observe/histogram.h"
#include "sync/mutex.h"
#include "sync/thread.h"
#include "time/wheel.h"

#define WEIR__SCHEDULERS_MAX 64u

typedef struct weir__timer_tally {
    uint64_t added, posted, cancelled, stopped, failed_unknown, failed_full, failed_other, missed;
} weir__timer_tally;

typedef struct weir__scheduler {
    /* Under the lock. */
    _Alignas(64) weir__brief lock;
    bool closed;      /* the engine stops: nothing is added or fired any more */
    uint32_t credit;  /* timers that may be added without asking: of timers_max */
    weir_ns wakes_at; /* 0: its thread is about to look; it need not be woken */
    weir__wheel wheel;
    weir__timer_tally tally;

    weir__ahead ahead; /* not under the lock: it says by whom */

    /* Its thread. */
    _Alignas(64) weir__atomic_u32 word; /* a wait word: changes when there is something new */
    weir__atomic_u32 left;              /* it is on its way out */
    weir__histogram late;
    weir__context *context;
    weir__attachment seat;
    weir__trail trail;     /* of hooks */
    bool admitted;         /* the watchdog may ask it for its stack */
    weir__watched watched; /* up: it is not asleep */

    weir_engine *engine;
    uint32_t index;
    weir__os_thread os;
    weir__helper helper;
} weir__scheduler;

/* The one that the calling thread adds to; *status: E_NOMEM, E_SYSTEM, STOPPING. */
weir__scheduler *weir__scheduler_of(weir__context *context, weir_status *status);
/* From now on the next one: this one's numbers are used up. */
void weir__scheduler_change(weir__context *context);
/* The one that a handle speaks of; NULL: none. */
weir__scheduler *weir__scheduler_by_handle(weir_engine *engine, weir_timer timer, uint32_t *number,
                                           uint32_t *generation);
weir_timer weir__scheduler_handle(const weir__scheduler *scheduler, uint32_t number,
                                  uint32_t generation);
/* NULL: it has not been needed. */
weir__scheduler *weir__scheduler_at(weir_engine *engine, uint32_t index);

/* Not with the lock held. One timer more may be added. False: timers_max are pending. */
bool weir__scheduler_get_credit(weir__scheduler *scheduler);
/* Lock held. Gives one back. */
void weir__scheduler_put_credit(weir__scheduler *scheduler);

/* Not with the lock held: it looks again. */
void weir__scheduler_wake(weir__scheduler *scheduler);

/* Gives back what a load holds and nobody has got. */
void weir__scheduler_unload(weir__context *context, const weir__timer_load *load);

/* Not with the lock held. It is no longer needed, and neither are those that lie ready. */
void weir__scheduler_give_back(weir__scheduler *scheduler, weir__timer_slab *slab);

/* Its thread's life. */
void weir__scheduler_run(void *argument); /* the scheduler */

/* The engine stops: nothing fires any more, what is pending is cancelled by the schedulers' own
 * threads, which then leave. */
void weir__schedulers_close(weir_engine *engine);
bool weir__schedulers_left(weir_engine *engine);
/* Joins and frees them. */
void weir__schedulers_free(weir_engine *engine);

#endif /* WEIR_ENGINE_SCHEDULER_H */
