/*
 * soak/pace.h - how fast, and when to rest. The soak uses as many cores as --load says, over the
 * run; and from time to time all drivers rest together, so that what is measured then (memory,
 * descriptors) is not the traffic of the moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SOAK_PACE_H
#define WEIR_SOAK_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "watch.h"

void soak_pace_open(double cores, uint32_t drivers);

/* Sleeps if the process is ahead of its load; at most `most_ns`. Between bursts and scenes. */
void soak_pace(int64_t most_ns);

/* True from the end of the run on: drivers finish what they do. */
bool soak_is_over(void);
void soak_over(void);

/* A driver between two rounds: stays here while the others come to rest and are measured. */
void soak_rest(soak_beat *beat);

/* A driver that comes to no rest any more. */
void soak_leave(void);

/* The measurer: from begin to end all drivers rest. `begin` watches them meanwhile. */
void soak_rest_begin(soak_beat *beats, uint32_t count);
void soak_rest_end(void);

/* After soak_over: until every driver has left. Watches them. */
void soak_all_left(soak_beat *beats, uint32_t count);

#endif /* WEIR_SOAK_PACE_H */
