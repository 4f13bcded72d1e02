/*
 * cli/sim.c - `weir sim`: hands over to weir-sim, which is a program of its own because it runs on
 * another library: the engine over the simulated sync room. `weir sim scale` is another one still:
 * it measures real threads first, which weir-sim does not have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <string.h>

#include "cli/beside.h"
#include "cli/command.h"

int weir__sim_run(int argc, char **argv)
{
    const bool scale = argc > 1 && strcmp(argv[1], "scale") == 0;
    return weir__beside_run(
        scale ? "weir-sim-scale" : "weir-sim", scale ? "sim scale" : "sim",
        "It comes with weir: meson setup build-sim -Dsim=true, then build and install.",
        argv + (scale ? 1 : 0));
}
