/*
 * cli/interrupt.h - Ctrl-C and SIGTERM as something to wait for, not something that interrupts.
 *
 * Both signals are blocked and read from a descriptor, so no code runs in a signal handler and
 * nothing is shared with one. Open it before any thread is started: threads inherit the mask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_INTERRUPT_H
#define WEIR_CLI_INTERRUPT_H

#include <stdbool.h>

#include "weir/base.h"

/* The descriptor, or -1 with errno. */
int weir__interrupt_open(void);

/* Waits at most that long. True: one of the two came. */
bool weir__interrupt_wait(int descriptor, weir_ns timeout);

/* From here on both end the process at once: a second Ctrl-C must always work. */
void weir__interrupt_close(int descriptor);

#endif /* WEIR_CLI_INTERRUPT_H */
