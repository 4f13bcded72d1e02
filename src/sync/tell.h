/*
 * sync/tell.h - which handler runs, and what is posted, in the trace of a simulated run.
 *
 *     if (weir__tell_begin()) {
 *         weir__tell_end("%s handles %s", ...);
 *     }
 *
 * In libweir it is nothing. In between nothing counts as a step, so that a run with a trace is the
 * run without.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_TELL_H
#define WEIR_SYNC_TELL_H

#include <stdbool.h>

#ifdef WEIR_SIMULATED
/* False: nobody reads it. */
bool weir__tell_begin(void);
void weir__tell_end(const char *format, ...) __attribute__((format(printf, 1, 2)));
#else
static inline bool weir__tell_begin(void)
{
    return false;
}
static inline void weir__tell_end(const char *format, ...)
{
    (void)format;
}
#endif

#endif /* WEIR_SYNC_TELL_H */
