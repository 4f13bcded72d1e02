/*
 * cli/beside.h - hands over to a program that comes with this one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_BESIDE_H
#define WEIR_CLI_BESIDE_H

/*
 * Runs `program` in place of this one, with argv[1 ...]: the one in the folder of this program, as
 * it is installed and built, or else one that the shell would find. It is told to call itself
 * "COMMAND", as in "weir sim", in its messages and in lines that repeat a run. Returns only if it
 * cannot: WEIR__EXIT_FAILED, after saying why; `advice` says how to get it.
 */
int weir__beside_run(const char *program, const char *command, const char *advice, char **argv);

#endif /* WEIR_CLI_BESIDE_H */
