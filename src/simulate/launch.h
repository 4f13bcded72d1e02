/*
 * simulate/launch.h - a program, started with the simulator inside.
 *
 * The command starts `PROGRAM [OPTION ...] -- [ARGUMENT ...]` with libweir-sim-posix preloaded and
 * a variable set. In there main() does not begin at once: what stands before `--` is for the
 * simulator, which makes every run in a process of its own that is forked off before main()
 * (program.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_LAUNCH_H
#define WEIR_SIMULATE_LAUNCH_H

#include <stddef.h>

/* Holds the name of the command, with which replay lines begin. */
#define WEIR__SIMULATE_VARIABLE "WEIR_SIMULATE"

/* Becomes that program. Returns only if it cannot: `why` is the end of a sentence that begins with
 * the program's name. */
void weir__simulate_launch(const char *command, const char *path, int argc, char **argv, char *why,
                           size_t why_size);

#endif /* WEIR_SIMULATE_LAUNCH_H */
