/*
 * sync/stack.h - the stack of another thread of this process, as the watchdog shows it.
 *
 * The thread is interrupted by a signal, SIGURG, and writes down itself how it got where it is.
 * That signal is one that nobody minds: it is ignored unless somebody handles it, so that one which
 * comes late, or to a thread that blocks it, does no harm. Whoever else handles it keeps it: then
 * there are no stacks. The handler stands only while a stack is being taken.
 *
 * What the thread notices: a system call that the kernel does not restart after a signal (a sleep,
 * a poll) returns early, with EINTR.
 *
 * In a simulated build there are none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_STACK_H
#define WEIR_SYNC_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/base.h"

#define WEIR__STACK_FRAMES 32u

typedef struct weir__stack {
    uint32_t count;
    void *frames[WEIR__STACK_FRAMES]; /* innermost first: where it is, then where that returns to */
} weir__stack;

/* Loads what is needed. True: nobody uses that signal; asked on a thread of the application, whose
 * mask tells of signals that are waited for elsewhere. */
bool weir__stack_prepare(void);

/* Of the calling thread, which has its signals blocked: it may be asked. */
void weir__stack_admit(void);

/* Of the thread with that system's number, if it answers within `most`. Waits for others who ask:
 * one stack at a time in a process. Not by that thread itself. False: there is none. */
bool weir__stack_take(int32_t thread, weir_ns most, weir__stack *stack);

/* "shop(on_order+0x1a)", "shop(+0x24ef)" or "0x559f0cba04ef". Cut at `size`. */
void weir__stack_frame_text(void *frame, char *out, size_t size);

/* In the child: nobody asks. */
void weir__stack_after_fork(void);

#endif /* WEIR_SYNC_STACK_H */
