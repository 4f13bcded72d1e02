/*
 * sync/real/backtrace.h - the stack below a signal handler, in words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_REAL_BACKTRACE_H
#define WEIR_SYNC_REAL_BACKTRACE_H

#include <stddef.h>
#include <stdint.h>

/* Loads what weir__backtrace_write and _take need. Not in a signal handler. */
void weir__backtrace_load(void);

/* The same calls as addresses, at most `most`; returns how many. */
uint32_t weir__backtrace_take(const void *frame, void **frames, uint32_t most);

/* One of them in words: "shop(on_order+0x1a)", "shop(+0x24ef)" or its number; cut at `size`. Not in
 * a signal handler. */
void weir__backtrace_text(void *address, char *out, size_t size);

/* `frame` is the third argument of the signal handler. Writes the calls that led to where the
 * signal hit, with weir__crash_write. Async-signal-safe as far as memory goes; it reads the stack,
 * which may be broken. */
void weir__backtrace_write(const void *frame);

/* Where the stack pointer was; 0: unknown on this machine. */
uintptr_t weir__frame_stack(const void *frame);

#endif /* WEIR_SYNC_REAL_BACKTRACE_H */
