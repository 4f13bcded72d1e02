/*
 * simulate/main.c - the weir-sim command: a shared object with scenarios, or a whole program.
 *
 * This program is linked with libweir-sim-posix, so that what it loads finds the simulator's weir_
 * functions first, whichever library it was linked with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/launch.h"
#include "simulate/object.h"
#include "simulate/options.h"
#include "simulate/quote.h"
#include "simulate/simulate.h"

enum { USED_WRONGLY = 2, LINE_BYTES = 512 };

/* Without its folder: replay lines need that, sentences do not. */
static const char *short_name(const char *command)
{
    const char *slash = strrchr(command, '/');
    return slash != NULL ? slash + 1 : command;
}

static void print_help(FILE *out, const char *command)
{
    const char *name = short_name(command);
    fprintf(out,
            "usage: %s PLUGIN.so [SCENARIO ...] [OPTION ...]\n"
            "       %s PROGRAM [OPTION ...] [-- ARGUMENT ...]\n"
            "       weir sim scale [OPTION ...]      a prediction of throughput on many cores\n"
            "\n"
            "Runs code that uses weir under a scheduler that is driven by a seed: again and\n"
            "again, every time in another order. A run that fails is told with a line that\n"
            "repeats it.\n"
            "\n"
            "PLUGIN.so exports scenarios (WEIR_SIM_SCENARIOS in weir/sim.h). PROGRAM is one\n"
            "that is linked with libweir.so; a run of it fails if its exit status is not 0.\n"
            "\n",
            name, name);
}

__attribute__((format(printf, 2, 3))) static int refuse(const char *command, const char *format,
                                                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", short_name(command));
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\ntry: %s --help\n", short_name(command));
    va_end(arguments);
    return USED_WRONGLY;
}

/* Is it there before `--`? */
static bool is_given(int argc, char **argv, const char *word)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* A name without a slash is a file here, not one of the system's libraries. */
static void *load(const char *path)
{
    char here[LINE_BYTES];
    snprintf(here, sizeof(here), "%s%s", strchr(path, '/') != NULL ? "" : "./", path);
    return dlopen(here, RTLD_NOW | RTLD_LOCAL);
}

static int run_plugin(const char *command, const char *path, int argc, char **argv)
{
    char program[LINE_BYTES];
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            return refuse(command, "%s has scenarios, and they take no arguments behind --", path);
        }
    }
    void *plugin = load(path);
    if (plugin == NULL) {
        return refuse(command, "%s", dlerror());
    }
    const weir_sim_scenario *scenarios = dlsym(plugin, "weir_sim_scenarios");
    if (scenarios == NULL) {
        return refuse(command, "%s exports no scenarios: it needs WEIR_SIM_SCENARIOS (weir/sim.h)",
                      path);
    }
    snprintf(program, sizeof(program), "%s", command);
    weir__simulate_quote(program, sizeof(program), path);
    return weir__simulate(program, scenarios, argc, argv);
}

/* Are the options good for a program? Says so if not. */
static bool options_are_good(const char *command, const char *path, int argc, char **argv)
{
    weir__simulate_options o;
    char **copy = calloc((size_t)argc + 2, sizeof(*copy)); /* reading sorts it */
    if (copy == NULL) {
        return false;
    }
    char name[] = "PROGRAM"; /* the one scenario that there is */
    copy[0] = name;
    memcpy(copy + 1, argv, (size_t)argc * sizeof(*copy));
    bool good = weir__simulate_options_read(short_name(command), argc + 1, copy, &o);
    if (good && o.name_count > 1) {
        refuse(command, "'%s' is no option; arguments for %s stand behind --", copy[1], path);
        good = false;
    }
    free(copy);
    return good;
}

static int run_program(const char *command, const char *path, const weir__object *object, int argc,
                       char **argv)
{
    char why[LINE_BYTES];
    if (object->is_static) {
        return refuse(command,
                      "%s is linked statically, so weir cannot be replaced in it: link it with "
                      "the shared library, -lweir without -static",
                      path);
    }
    if (object->needs_sim) {
        return refuse(
            command, "%s is linked with libweir-sim: it explores by itself, run it as it is", path);
    }
    if (!options_are_good(command, path, argc, argv)) {
        return USED_WRONGLY;
    }
    weir__simulate_launch(command, path, argc, argv, why, sizeof(why));
    return refuse(command, "%s %s", path, why);
}

int main(int argc, char **argv)
{
    const char *command = argc > 0 ? argv[0] : "weir-sim";
    char why[LINE_BYTES];
    weir__object object;
    if (argc < 2) {
        print_help(stderr, command);
        return USED_WRONGLY;
    }
    if (is_given(argc - 1, argv + 1, "--help") || strcmp(argv[1], "-h") == 0) {
        print_help(stdout, command);
        weir__simulate_help_options();
        return 0;
    }
    const char *path = argv[1];
    if (path[0] == '-') {
        return refuse(command, "%s: a shared object or a program comes first", path);
    }
    if (!weir__object_read(path, &object, why, sizeof(why))) {
        return refuse(command, "%s %s", path, why);
    }
    return object.is_program ? run_program(command, path, &object, argc - 2, argv + 2)
                             : run_plugin(command, path, argc - 2, argv + 2);
}
