/*
 * sync/sim/stack.c - there are no stacks of simulated threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync/stack.h"

bool weir__stack_prepare(void)
{
    return false;
}

void weir__stack_admit(void)
{
}

bool weir__stack_take(int32_t thread, weir_ns most, weir__stack *stack)
{
    (void)thread;
    (void)most;
    (void)stack;
    return false;
}

void weir__stack_frame_text(void *frame, char *out, size_t size)
{
    (void)frame;
    if (size > 0) {
        out[0] = '\0';
    }
}

void weir__stack_after_fork(void)
{
}
