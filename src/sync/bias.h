/*
 * sync/bias.h - a lock that belongs to one thread: its owner passes with two plain stores, and
 * whoever else wants in (a *raider*) pays for both with a heavy barrier.
 *
 *     owner:   inside = 1; light barrier; look at raided
 *     raider:  raided = 1; heavy barrier; look at inside
 *
 * At least one sees the other. Neither waits: an owner that meets a raider does something else, and
 * so does a raider that meets the owner. Zeroed memory is an unlocked one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_BIAS_H
#define WEIR_SYNC_BIAS_H

#include "base/assert.h"
#include "sync/barrier.h"
#include "sync/thread.h"

#define WEIR__BIAS_LOOKS 64

typedef struct weir__bias {
    weir__atomic_u32 inside; /* the owner */
    weir__atomic_u32 raided; /* raiders, one at a time by exchange */
} weir__bias;

/* The owner. False: somebody is raiding. */
static inline bool weir__bias_enter(weir__bias *bias)
{
    weir__store(&bias->inside, 1, relaxed);
    weir__barrier_light();
    /* [J1] pairs with [J2]: what the last raider has done. */
    if (weir__likely(weir__load(&bias->raided, acquire) == 0)) {
        return true;
    }
    /* [J3] too: a raider that reads this 0 has not read the one before it. */
    weir__store(&bias->inside, 0, release);
    return false;
}

static inline void weir__bias_leave(weir__bias *bias)
{
    /* [J3] pairs with [J4]: what the owner has done. */
    weir__store(&bias->inside, 0, release);
}

/* Anybody else. False: the owner is inside, or another raider. */
static inline bool weir__bias_raid(weir__bias *bias)
{
    if (weir__load(&bias->raided, relaxed) != 0 || weir__exchange(&bias->raided, 1, acquire) != 0) {
        return false;
    }
    weir__barrier_heavy();
    for (int looks = 0; looks < WEIR__BIAS_LOOKS; looks++) {
        /* [J4] pairs with [J3]. */
        if (weir__load(&bias->inside, acquire) == 0) {
            return true;
        }
        weir__pause();
    }
    weir__store(&bias->raided, 0, release);
    return false;
}

static inline void weir__bias_raid_over(weir__bias *bias)
{
    /* [J2] pairs with [J1]. */
    weir__store(&bias->raided, 0, release);
}

#endif /* WEIR_SYNC_BIAS_H */
