/*
 * cli/demo_stuck.h - `weir demo --stuck`: a handler that hangs, and the reports about it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_DEMO_STUCK_H
#define WEIR_CLI_DEMO_STUCK_H

#include <stdio.h>

#include "sync/mutex.h"
#include "weir/weir.h"

#define WEIR__DEMO_STUCK_AFTER (500 * WEIR_MS)

/* Zeroed is empty. */
typedef struct weir__demo_reports {
    weir__mutex lock; /* guards the rest */
    size_t length;
    char text[8192];
} weir__demo_reports;

/* The log hook of an engine; its context is the reports. */
void weir__demo_reports_hook(void *context, const weir_log_entry *entry);

/* The main thread: whether some wait to be shown; and shows them. */
bool weir__demo_reports_wait(weir__demo_reports *reports);
void weir__demo_reports_print(weir__demo_reports *reports, FILE *out);

/* Does not return for two seconds. Its name is to stand in a stack: it is no static function. */
void weir__demo_hang(void);

#endif /* WEIR_CLI_DEMO_STUCK_H */
