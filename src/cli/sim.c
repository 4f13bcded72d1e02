/*
 * cli/sim.c - `weir sim`: hands over to weir-sim, which is a program of its own because it runs on
 * another library: the engine over the simulated sync room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

#define PROGRAM "weir-sim"

/* In the folder of this program, as it is installed and built. */
static bool find_beside(char out[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
    if (length <= 0) {
        return false;
    }
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (slash == NULL || (size_t)(slash + 1 - out) + sizeof(PROGRAM) > PATH_MAX) {
        return false;
    }
    memcpy(slash + 1, PROGRAM, sizeof(PROGRAM));
    return access(out, X_OK) == 0;
}

int weir__sim_run(int argc, char **argv)
{
    char path[PATH_MAX];
    char name[PATH_MAX + 8];
    (void)argc;
    /* How we were called stands in its messages, and in the lines that repeat a run. */
    snprintf(name, sizeof(name), "%s sim", program_invocation_name);
    argv[0] = name;
    if (find_beside(path)) {
        execv(path, argv);
    } else {
        execvp(PROGRAM, argv);
    }
    if (errno == ENOENT) {
        fputs("weir sim: the program weir-sim is not installed\n"
              "It comes with weir: meson setup -Dsim=true, then build and install.\n",
              stderr);
    } else {
        fprintf(stderr, "weir sim: cannot start weir-sim: %s\n", strerror(errno));
    }
    return WEIR__EXIT_FAILED;
}
