/*
 * sync/mutex.c - the mutex: one word, three states, sleeping through sync/word.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/mutex.h"

#include "base/assert.h"
#include "sync/word.h"

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

void weir__mutex_unlock(weir__mutex *mutex)
{
    /* [M2] pairs with [M1]. */
    const uint32_t state = weir__exchange(&mutex->state, 0, release);
    WEIR_ASSERT(state != 0);
    if (state == 2) {
        weir__word_wake(&mutex->state, 1);
    }
}
