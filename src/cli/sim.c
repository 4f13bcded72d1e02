/*
 * cli/sim.c - `weir sim`: hands over to weir-sim, which is a program of its own because it runs on
 * another library: the engine over the simulated sync room. `weir sim scale` is another one still:
 * it measures real threads first, which weir-sim does not have.
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

/* In the folder of this program, as it is installed and built. */
static bool find_beside(const char *program, char out[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
    if (length <= 0) {
        return false;
    }
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (slash == NULL || (size_t)(slash + 1 - out) + strlen(program) + 1 > PATH_MAX) {
        return false;
    }
    memcpy(slash + 1, program, strlen(program) + 1);
    return access(out, X_OK) == 0;
}

int weir__sim_run(int argc, char **argv)
{
    char path[PATH_MAX];
    char name[PATH_MAX + 16];
    const bool scale = argc > 1 && strcmp(argv[1], "scale") == 0;
    const char *program = scale ? "weir-sim-scale" : "weir-sim";
    argv += scale ? 1 : 0;
    /* How we were called stands in its messages, and in the lines that repeat a run. */
    snprintf(name, sizeof(name), "%s sim%s", program_invocation_name, scale ? " scale" : "");
    argv[0] = name;
    if (find_beside(program, path)) {
        execv(path, argv);
    } else {
        execvp(program, argv);
    }
    if (errno == ENOENT) {
        fprintf(stderr,
                "weir sim: the program %s is not installed\n"
                "It comes with weir: meson setup build-sim -Dsim=true, then build and install.\n",
                program);
    } else {
        fprintf(stderr, "weir sim: cannot start %s: %s\n", program, strerror(errno));
    }
    return WEIR__EXIT_FAILED;
}
