/*
 * simulate/launch.c - see launch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "simulate/launch.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weir/sim.h"

/* The library that this program runs on is the one to preload. */
static bool find_library(char out[PATH_MAX])
{
    Dl_info about;
    void *address;
    weir_status (*function)(const weir_sim_options *, void (*)(void *), void *, weir_sim_result *) =
        weir_sim_explore;
    memcpy(&address, &function, sizeof(address)); /* ISO C has no cast for it */
    return dladdr(address, &about) != 0 && realpath(about.dli_fname, out) != NULL;
}

static bool preload(const char *command, const char *library)
{
    char list[2 * PATH_MAX];
    const char *others = getenv("LD_PRELOAD");
    const int length = others != NULL && others[0] != '\0'
                           ? snprintf(list, sizeof(list), "%s:%s", library, others)
                           : snprintf(list, sizeof(list), "%s", library);
    return length > 0 && (size_t)length < sizeof(list) && setenv("LD_PRELOAD", list, 1) == 0 &&
           setenv(WEIR__SIMULATE_VARIABLE, command, 1) == 0;
}

/* The program's name, then what was given, with a `--` at the end if there was none. */
static char **arguments_of(const char *path, int argc, char **argv)
{
    static char end[] = "--";
    bool ended = false;
    char **out = calloc((size_t)argc + 3, sizeof(*out));
    if (out == NULL) {
        return NULL;
    }
    out[0] = strdup(path);
    for (int i = 0; i < argc; i++) {
        out[i + 1] = argv[i];
        ended = ended || strcmp(argv[i], end) == 0;
    }
    out[argc + 1] = ended ? NULL : end;
    return out;
}

void weir__simulate_launch(const char *command, const char *path, int argc, char **argv, char *why,
                           size_t why_size)
{
    char library[PATH_MAX];
    struct stat about;
    char **arguments = arguments_of(path, argc, argv);
    if (stat(path, &about) == 0 && (about.st_mode & (S_ISUID | S_ISGID)) != 0) {
        snprintf(why, why_size, "runs as somebody else (set-uid), so nothing can be put into it");
    } else if (!find_library(library) || strpbrk(library, ": ") != NULL) {
        snprintf(why, why_size,
                 "cannot be started: the simulator's library must have a name "
                 "without spaces and colons");
    } else if (arguments == NULL || !preload(command, library)) {
        snprintf(why, why_size, "cannot be started: no memory");
    } else {
        /* The same addresses in every run, so that the same seed is the same run. */
        personality(ADDR_NO_RANDOMIZE);
        execv(path, arguments);
        snprintf(why, why_size, "cannot be started: %s", strerror(errno));
    }
    if (arguments != NULL) {
        free(arguments[0]);
    }
    free(arguments);
}
