/*
 * engine/duty.h - the duty cycle: one round over a thread's dispatchers and agents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_DUTY_H
#define WEIR_ENGINE_DUTY_H

#include "engine/thread.h"

/* What one round brought. */
typedef enum weir__round {
    WEIR__ROUND_WORK,      /* a turn was run, or an agent did something */
    WEIR__ROUND_NOTHING,   /* nothing to do */
    WEIR__ROUND_AGAIN,     /* some locks were held by others, some not: look again */
    WEIR__ROUND_CONTENDED, /* every lock was held by others */
} weir__round;

/* Takes at most one processor and gives it a turn. */
weir__round weir__duty_round(weir__thread *thread);

/* Searching: counted in every dispatcher of the thread, so that posters need not wake anybody. */
void weir__duty_search_begin(weir__thread *thread);
/* `look`: work that lies there although we found some means that another thread is needed. */
void weir__duty_search_end(weir__thread *thread, bool look);

/* Declares the thread asleep in every dispatcher, and looks once more. True: nothing is there, go
 * to sleep. In either case weir__duty_unpark follows, which leaves the thread searching. */
bool weir__duty_park(weir__thread *thread);
void weir__duty_unpark(weir__thread *thread);

/* What the thread keeps, and what lies in its queues, is for whoever comes: others are woken. */
void weir__duty_hand_over(weir__thread *thread);

/* The thread has nothing to do, or is about to sleep: its time at work ends, if it was. */
void weir__duty_leave_work(weir__thread *thread);

/* The whole life of a thread of weir's own. */
void weir__duty_run(weir__thread *thread);

#endif /* WEIR_ENGINE_DUTY_H */
