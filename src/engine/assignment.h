/*
 * engine/assignment.h - what a strategy makes of dispatchers and threads, row by row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_ASSIGNMENT_H
#define WEIR_ENGINE_ASSIGNMENT_H

#include "weir/thread.h"

/* Of checked options: writes what thread `i` of `count` serves to `out`, which has room for all
 * names; returns how many those are. */
uint32_t weir__assignment_row(const weir_assignment_options *options, uint32_t count, uint32_t i,
                              const char **out);

#endif /* WEIR_ENGINE_ASSIGNMENT_H */
