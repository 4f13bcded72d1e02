/*
 * sync/sim/shrink.h - schedules as text, and shorter ones that fail, too.
 *
 * A schedule is a list of decisions, `thread.stepWHATvalue`, joined by commas: "0.15s1,2.40f0" is
 * "before the 15th step of thread 0 switch to thread 1; at step 40 of thread 2 a store of thread 0
 * becomes visible". What is not in it takes its usual way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_SIM_SHRINK_H
#define WEIR_SYNC_SIM_SHRINK_H

#include "sync/sim/core.h"

/* Empty if it does not fit. */
void weir__sim_schedule_print(const weir__sim_decision *decisions, uint32_t count, char *out,
                              size_t size);
/* False: not a schedule, or no memory. *out is for free(). */
bool weir__sim_schedule_parse(const char *text, weir__sim_decision **out, uint32_t *count);

/* Leaves decisions out as long as the run still fails; writes what it found to the result. */
void weir__sim_shrink(const weir__sim_plan *plan, const weir__sim_decision *made, uint32_t count,
                      void (*body)(void *), void *argument, weir_sim_result *result);

#endif /* WEIR_SYNC_SIM_SHRINK_H */
