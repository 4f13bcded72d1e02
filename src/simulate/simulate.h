/*
 * simulate/simulate.h - the command line over weir/sim.h: which scenarios, how often, what is said.
 *
 * Used by the weir-sim program, which loads scenarios from shared objects, and by the project's own
 * scenarios in tests/sim/, which are linked with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_SIMULATE_H
#define WEIR_SIMULATE_SIMULATE_H

#include "weir/sim.h"

/* `program` begins the replay lines as it is: what a shell needs to come here again ("weir sim
 * ./x.so", "build/tests/sim/scenarios"). The arguments are names and options; see --help. The exit
 * status of the program: 0 all well, 1 a run failed, 2 used wrongly. */
int weir__simulate(const char *program, const weir_sim_scenario *scenarios, int argc, char **argv);

#endif /* WEIR_SIMULATE_SIMULATE_H */
