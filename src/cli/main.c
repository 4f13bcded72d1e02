/*
 * cli/main.c - the weir command: finds the subcommand and hands over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/usage.h"
#include "weir/base.h"

static int help_run(int argc, char **argv);

/* The one table of commands: dispatch, help and suggestions come from it. */
static const weir__command commands[] = {
    { "run", "run a server from files: sources, processors, routers, sinks", weir__run_run },
    { "types", "list what a component of a server can be, and its options", weir__types_run },
    { "new", "write a plugin or an application to begin with", weir__new_run },
    { "doctor", "say what is wrong with a server or machine", weir__doctor_run },
    { "demo", "run a mixed load for some seconds and show what the engine does", weir__demo_run },
    { "config", "read configuration files: check, show, resolve, ask for a value",
      weir__config_run },
    { "admin", "look at a weir that runs, and change it: one command and its answer",
      weir__admin_run },
    { "top", "show what a weir that runs is doing, live", weir__top_run },
    { "trace", "record what a running weir does, for Perfetto or chrome://tracing",
      weir__trace_run },
    { "sim", "run a program or a plugin under a scheduler that is driven by a seed",
      weir__sim_run },
    { "bench", "measure weir, workload by workload, and what it replaced", weir__bench_run },
    { "help", "show this text, or that of a command", help_run },
    { "metrics", NULL, weir__metrics_run }, /* for tools/metrics_reference.py */
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const weir__command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int refuse_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    char list[256] = "";
    size_t shown = 0;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].summary == NULL) {
            continue;
        }
        names[shown] = commands[i].name;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", shown == 0 ? "" : ", ", names[shown]);
        shown++;
    }
    const char *nearest = weir__usage_nearest(name, names, shown);
    if (nearest != NULL) {
        return weir__usage_error("weir", "unknown command '%s', did you mean '%s'?", name, nearest);
    }
    return weir__usage_error("weir", "unknown command '%s', the commands are: %s", name, list);
}

static void print_help(FILE *out)
{
    fputs("weir - an event-processing engine\n"
          "\n"
          "usage: weir COMMAND [OPTION ...]\n"
          "       weir COMMAND --help\n"
          "\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].summary != NULL) {
            fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].summary);
        }
    }
    fputs("\n"
          "options:\n"
          "  -h, --help     show this text\n"
          "  -V, --version  show the version\n"
          "\n"
          "exit status: 0 success, 1 the job failed, 2 wrong usage or configuration\n",
          out);
}

static int help_run(int argc, char **argv)
{
    if (argc > 2) {
        return weir__usage_error("weir help", "one command at a time, not '%s' as well", argv[2]);
    }
    if (argc == 2 && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0) {
        const weir__command *command = find_command(argv[1]);
        if (command == NULL) {
            return refuse_command(argv[1]);
        }
        if (command->run != help_run) {
            char option[] = "--help";
            char *arguments[] = { argv[1], option, NULL };
            return command->run(2, arguments);
        }
    }
    print_help(stdout);
    return WEIR__EXIT_OK;
}

/* The library may be newer than the command if it is shared, so it is asked. */
static int print_version(void)
{
    const uint32_t version = weir_version();
    printf("weir %u.%u\n", version / 1000u, version % 1000u);
    return WEIR__EXIT_OK;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return WEIR__EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help(stdout);
        return WEIR__EXIT_OK;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        return print_version();
    }
    if (word[0] == '-') {
        return weir__usage_error("weir", "unknown option %s, a command comes first", word);
    }
    const weir__command *command = find_command(word);
    return command != NULL ? command->run(argc - 1, argv + 1) : refuse_command(word);
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* whether the terminal shows UTF-8; numbers stay as C writes them */
    const int status = dispatch(argc, argv);
    /* What was not written was not done: a full disk must not look like success. */
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fprintf(stderr, "weir: cannot write to standard output: %s\n", strerror(errno));
        return WEIR__EXIT_FAILED;
    }
    return status;
}
