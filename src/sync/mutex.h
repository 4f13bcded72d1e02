/*
 * sync/mutex.h - three locks: a mutex for the control plane, whose waiters sleep; a try-lock, which
 * nobody ever waits for; and a brief lock, whose waiters look again.
 *
 * Zeroed memory is an unlocked lock of any kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_MUTEX_H
#define WEIR_SYNC_MUTEX_H

#include "base/assert.h"
#include "sync/atomic.h"
#include "weir/base.h"

typedef struct weir__mutex {
    weir__atomic_u32 state; /* 0 free, 1 held, 2 held and somebody sleeps */
} weir__mutex;

void weir__mutex_lock(weir__mutex *mutex);
/* The same for who has other things to do: false if it was not free for so long. */
bool weir__mutex_lock_within(weir__mutex *mutex, weir_ns timeout);
void weir__mutex_unlock(weir__mutex *mutex);

typedef struct weir__trylock {
    weir__atomic_u32 held;
} weir__trylock;

static inline bool weir__trylock_take(weir__trylock *lock)
{
    /* The plain look first: a failing exchange would pull the line away from the holder. */
    return weir__load(&lock->held, relaxed) == 0 &&
           /* [L1] pairs with [L2]: what the last holder wrote is ours to read. */
           weir__exchange(&lock->held, 1, acquire) == 0;
}

static inline void weir__trylock_release(weir__trylock *lock)
{
    /* [L2] pairs with [L1]. */
    weir__store(&lock->held, 0, release);
}

/* For a few instructions at a time, whatever the holder does: a wait is shorter than a sleep would
 * be. Zeroed memory is an unlocked one. */
typedef struct weir__brief {
    weir__trylock lock;
} weir__brief;

/* The same when somebody holds it. */
void weir__brief_wait(weir__brief *brief);

static inline void weir__brief_lock(weir__brief *brief)
{
    if (weir__unlikely(!weir__trylock_take(&brief->lock))) {
        weir__brief_wait(brief);
    }
}

static inline void weir__brief_unlock(weir__brief *brief)
{
    weir__trylock_release(&brief->lock);
}

#endif /* WEIR_SYNC_MUTEX_H */
