/*
 * sync/crash.h - the operating system's half of a crash report: who is called when a thread does
 * something fatal, on which stack, and how the process dies all the same.
 *
 * A *fatal* signal is one that code brings upon itself: SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP,
 * SIGABRT. While it is open, weir's handler runs first, lets the writer say what it knows, adds the
 * stack, and puts back what was there before: the application's handler, a sanitizer's, or the
 * default. That gets the same signal once more, with the same address and the same registers. So
 * whoever handled crashes before still does, and the process dies by the signal it would have died
 * by. What another process sends is not reported.
 *
 * A report cannot hang or spoil that: a part of it that crashes itself is left out, and all of it
 * has 3 seconds. One thread reports at a time.
 *
 * In a simulated build a crash ends its run, not the process: the first part of the report is what
 * the failure says, and there are no stacks to prepare.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_CRASH_H
#define WEIR_SYNC_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct weir__crash {
    const char *signal; /* "SIGSEGV" */
    uintptr_t address;  /* what was touched, if has_address */
    bool has_address;
    bool stack_overflow; /* to judge by the address: just beyond the stack's end */
    int32_t thread;      /* the system's number */
} weir__crash;

/* Writes part 0, 1, ... of the report with weir__crash_write. False: there is no such part; if it
 * is the first one, nothing is reported at all. Called on the thread that crashed, inside the
 * signal handler: async-signal-safe functions only. */
typedef bool (*weir__crash_writer)(const weir__crash *crash, uint32_t part);

/* Each open is paired with one close; the first installs, the last takes off. One writer a
 * process. */
void weir__crash_open(weir__crash_writer writer);
void weir__crash_close(void);
/* In the child: nobody has opened it, and nobody is in the middle of a report. */
void weir__crash_after_fork(void);

/* To standard error, all of it or as much as can be. For the writer. */
void weir__crash_write(const char *text, size_t length);

/* A stack for the calling thread's fatal signals, so that an overflow of its own can be reported:
 * stack_size bytes of memory, which is in use from begin to end. */
size_t weir__crash_stack_size(void);
void weir__crash_stack_begin(void *memory);
void weir__crash_stack_end(void *memory);

#endif /* WEIR_SYNC_CRASH_H */
