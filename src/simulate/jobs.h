/*
 * simulate/jobs.h - one exploration, shared among processes: each has its own slice of the seeds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_JOBS_H
#define WEIR_SIMULATE_JOBS_H

#include "weir/sim.h"

/* Explores with `jobs` processes; 1: here. What is reported is the failure with the lowest seed of
 * all that were asked for, whoever finds one first. False: could not be done, and said so. */
bool weir__simulate_jobs(const weir_sim_scenario *scenario, const weir_sim_options *options,
                         uint32_t jobs, weir_sim_result *result);

#endif /* WEIR_SIMULATE_JOBS_H */
