/*
 * cli/command.h - what a subcommand of `weir` is, and what every one of them promises.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_COMMAND_H
#define WEIR_CLI_COMMAND_H

/* The exit statuses of the command-line contract; nothing else is returned. */
enum {
    WEIR__EXIT_OK = 0,
    WEIR__EXIT_FAILED = 1, /* the job failed */
    WEIR__EXIT_USAGE = 2   /* wrong usage or configuration */
};

/* One row of the table in main.c. */
typedef struct weir__command {
    const char *name;
    const char *summary;               /* one line of `weir --help`; NULL: not shown there */
    int (*run)(int argc, char **argv); /* argv[0] is the name; answers an exit status */
} weir__command;

int weir__admin_run(int argc, char **argv);
int weir__bench_run(int argc, char **argv);
int weir__config_run(int argc, char **argv);
int weir__demo_run(int argc, char **argv);
int weir__doctor_run(int argc, char **argv);
int weir__metrics_run(int argc, char **argv);
int weir__new_run(int argc, char **argv);
int weir__run_run(int argc, char **argv);
int weir__sim_run(int argc, char **argv);
int weir__top_run(int argc, char **argv);
int weir__trace_run(int argc, char **argv);
int weir__types_run(int argc, char **argv);

#endif /* WEIR_CLI_COMMAND_H */
