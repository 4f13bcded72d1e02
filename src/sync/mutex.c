/*
 * sync/mutex.c - the mutex: one word, three states, sleeping through sync/word.h; and how the
 * waiters of a brief lock pass their time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/mutex.h"

#include "base/assert.h"
#include "sync/thread.h"
#include "sync/word.h"

#define PAUSES 64
#define YIELDS 64
#define NAP (20 * WEIR_US)

void weir__mutex_lock(weir__mutex *mutex)
{
    uint32_t state = 0;
    /* [M1] pairs with [M2]: everything the last holder wrote. */
    if (weir__cas(&mutex->state, &state, 1, acquire, relaxed)) {
        return;
    }
    /* Ends when the holder lets go; every round either takes the lock or sleeps. */
    while (weir__exchange(&mutex->state, 2, acquire) != 0) {
        weir__word_wait(&mutex->state, 2, WEIR_FOREVER);
    }
}

bool weir__mutex_lock_within(weir__mutex *mutex, weir_ns timeout)
{
    uint32_t state = 0;
    if (weir__cas(&mutex->state, &state, 1, acquire, relaxed)) { /* [M1] */
        return true;
    }
    const weir_ns end = weir__clock_now() + timeout;
    /* Ends with the lock or with the time. Who gives up leaves "somebody sleeps" behind: at worst
     * the holder wakes nobody. */
    while (weir__exchange(&mutex->state, 2, acquire) != 0) {
        const weir_ns left = end - weir__clock_now();
        if (left <= 0) {
            return false;
        }
        weir__word_wait(&mutex->state, 2, left);
    }
    return true;
}

void weir__mutex_unlock(weir__mutex *mutex)
{
    /* [M2] pairs with [M1]. */
    const uint32_t state = weir__exchange(&mutex->state, 0, release);
    WEIR_ASSERT(state != 0);
    if (state == 2) {
        weir__word_wake(&mutex->state, 1);
    }
}

void weir__brief_wait(weir__brief *brief)
{
    /* Ends when the holder lets go. It may wait for this core: so the core is given away, and if
    that
     * does not help, because it is of a lower priority, for a while. */
    for (uint32_t n = 0; !weir__trylock_take(&brief->lock); n++) {
        if (n < PAUSES) {
            weir__pause();
        } else if (n < PAUSES + YIELDS) {
            weir__yield();
        } else {
            weir__word_wait(&brief->lock.held, 1, NAP);
        }
    }
}
