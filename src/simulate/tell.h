/*
 * simulate/tell.h - what a person is told about an exploration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_TELL_H
#define WEIR_SIMULATE_TELL_H

#include "weir/sim.h"

/* One line, and of a failure the rest: why, and the line that repeats it. */
void weir__simulate_tell(const weir_sim_scenario *scenario, const weir_sim_options *options,
                         const weir_sim_result *result, weir_ns took);

#endif /* WEIR_SIMULATE_TELL_H */
