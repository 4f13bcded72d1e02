/*
 * cli/config.c - `weir config`: finds what to do with a configuration and hands over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/config.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/config_settings.h"
#include "cli/usage.h"

static const char program[] = "weir config";

/* The one table of what can be done: dispatch, help and suggestions come from it. */
static const weir__command commands[] = {
    { "render", "resolve files into one tree and print it as JSON", weir__config_render },
    { "get", "print one value of a file, as a program would read it", weir__config_get },
    { "check", "say all that is wrong with a configuration", weir__config_check_run },
    { "show", "print the settings that count, and where each came from", weir__config_show_run },
    { "diff", "print what two files make different", weir__config_diff_run },
    { "reference", "print every key with its default and what it is for",
      weir__config_reference_run },
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *out)
{
    fputs("usage: weir config COMMAND [OPTION ...]\n"
          "       weir config COMMAND --help\n"
          "\n"
          "Reads configuration: HOCON (.conf), JSON, Java properties, YAML (.yaml, .yml).\n"
          "\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n"
          "options:\n"
          "  -h, --help     show this text\n"
          "\n"
          "exit status: 0 success, 1 the job failed, 2 wrong usage or configuration\n",
          out);
}

static int refuse(const char *name)
{
    const char *names[COMMAND_COUNT];
    char list[128] = "";
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    if (name[0] == '-') {
        return weir__usage_error(program, "unknown option %s, a command comes first", name);
    }
    const char *nearest = weir__usage_nearest(name, names, COMMAND_COUNT);
    if (nearest != NULL) {
        return weir__usage_error(program, "unknown command '%s', did you mean '%s'?", name,
                                 nearest);
    }
    return weir__usage_error(program, "unknown command '%s', the commands are: %s", name, list);
}

int weir__config_run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return WEIR__EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return WEIR__EXIT_OK;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, argv[1]) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return refuse(argv[1]);
}
