/*
 * sync/sim/posix.h - what the simulated POSIX calls share.
 *
 * Programs and handlers wait by other means than weir's, too: mutexes, semaphores, sleeps, threads
 * of their own. The posix_*.c files define those functions under their usual names, over the
 * simulator's steps and waits. They make up libweir-sim-posix, which the weir-sim command runs on;
 * libweir-sim itself does not have them. Outside a run each of them is the system's.
 *
 * A lock's state is not kept in the lock: a run that failed leaves locks held, and the next must
 * find them free. It is kept in a table, by address, with the number of the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_SIM_POSIX_H
#define WEIR_SYNC_SIM_POSIX_H

#include <time.h>

#include "sync/sim/core.h"

/* The system's function of that name. */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type cannot stand in parentheses */
#define WEIR__SIM_REAL(name) ((__typeof__(&name))weir__sim_real(#name))
void (*weir__sim_real(const char *name))(void);

static inline bool weir__sim_running(void)
{
    return weir__sim.current != NULL;
}

/* A step's place: users know the function by its name. */
#define WEIR__SIM_CALL(name)                                                                       \
    __extension__({                                                                                \
        static const weir__sim_site site_ = { "POSIX", 0, name };                                  \
        &site_;                                                                                    \
    })

typedef struct weir__sim_object {
    const void *address;
    uint32_t run;     /* that it belongs to */
    uint32_t word;    /* mutex: holder + 1; semaphore: value; condition: signals so far; ... */
    uint32_t arrived; /* barrier: threads that wait in this round */
    uint32_t total;   /* barrier: threads that make a round */
    uint32_t depth;   /* recursive mutex: locks besides the first */
    int kind;         /* of mutex */
    clockid_t clock;  /* condition: of its deadlines */
} weir__sim_object;

/* What is at that address. `fresh`: it was not known in this run, and is all zero. */
weir__sim_object *weir__sim_object_of(const void *address, bool *fresh);
/* The same, as new. */
weir__sim_object *weir__sim_object_new(const void *address);

/* The current thread sleeps on the object until it is woken. False: the deadline came first. */
bool weir__sim_object_wait(const weir__sim_object *object, weir_ns deadline,
                           const weir__sim_site *site);
void weir__sim_object_wake(const weir__sim_object *object, uint32_t count);

/* A point of a clock in the simulator's time; WEIR_FOREVER for NULL. */
weir_ns weir__sim_deadline(const struct timespec *at, clockid_t clock);

#endif /* WEIR_SYNC_SIM_POSIX_H */
