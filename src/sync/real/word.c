/*
 * sync/real/word.c - futex(2) and membarrier(2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "sync/word.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "sync/barrier.h"

#define EXPEDITED_TRIES 100

bool weir__word_wait(weir__atomic_u32 *word, uint32_t expected, weir_ns timeout)
{
    if (timeout <= 0) {
        return false;
    }
    const struct timespec span = { .tv_sec = (time_t)(timeout / WEIR_S),
                                   .tv_nsec = (long)(timeout % WEIR_S) };
    const long result = syscall(SYS_futex, &word->value, FUTEX_WAIT_PRIVATE, expected,
                                timeout == WEIR_FOREVER ? NULL : &span, NULL, 0);
    return !(result < 0 && errno == ETIMEDOUT);
}

void weir__word_wake(weir__atomic_u32 *word, uint32_t count)
{
    const int saved = errno;
    if (count == 0) {
        return; /* the kernel would wake one */
    }
    syscall(SYS_futex, &word->value, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = saved;
}

bool weir__barrier_symmetric;

void weir__barrier_open(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) {
        weir__barrier_symmetric = true;
    }
}

/* The kernel needs a little memory for the fast form and may be out of it for a moment; the slow
 * form needs none. There is no going back to fences here: others rely on this barrier already. */
static bool make_all_fence(void)
{
    for (int tries = 0; tries < EXPEDITED_TRIES; tries++) {
        if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) {
            return true;
        }
        sched_yield();
    }
    return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0;
}

void weir__barrier_heavy(void)
{
    weir__fence(seq_cst);
    if (!weir__barrier_symmetric) {
        const bool membarrier_is_allowed = make_all_fence();
        WEIR_ASSERT(membarrier_is_allowed); /* it was when the first engine was created */
    }
    weir__fence(seq_cst);
}
