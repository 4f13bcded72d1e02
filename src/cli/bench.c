/*
 * cli/bench.c - `weir bench`: hands over to weir-bench, which is a program of its own because what
 * it measures is not the command's business: baselines, floors, and the inside of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/beside.h"
#include "cli/command.h"

int weir__bench_run(int argc, char **argv)
{
    (void)argc;
    return weir__beside_run("weir-bench", "bench", "It comes with weir, and is built with it.",
                            argv);
}
