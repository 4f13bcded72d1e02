/*
 * suite/watchdog.h - a row that hangs must not hang the suite: it is named, and the process ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_WATCHDOG_H
#define WEIR_BENCH_SUITE_WATCHDOG_H

/* From here on `what` has so many seconds. If it needs more, that is said on stderr and the
 * process ends with status 1. */
void bench_watchdog_set(const char *what, double seconds);
void bench_watchdog_clear(void);

#endif /* WEIR_BENCH_SUITE_WATCHDOG_H */
