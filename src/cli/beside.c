/*
 * cli/beside.c - see beside.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "cli/beside.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

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

int weir__beside_run(const char *program, const char *command, const char *advice, char **argv)
{
    char path[PATH_MAX];
    char name[PATH_MAX + 16];
    snprintf(name, sizeof(name), "%s %s", program_invocation_name, command);
    argv[0] = name;
    if (find_beside(program, path)) {
        execv(path, argv);
    } else {
        execvp(program, argv);
    }
    if (errno == ENOENT) {
        fprintf(stderr, "weir %s: the program %s is not installed\n%s\n", command, program, advice);
    } else {
        fprintf(stderr, "weir %s: cannot start %s: %s\n", command, program, strerror(errno));
    }
    return WEIR__EXIT_FAILED;
}
