/*
 * simulate/options.h - the command line of a simulation, checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SIMULATE_OPTIONS_H
#define WEIR_SIMULATE_OPTIONS_H

#include "weir/sim.h"

#define WEIR__SIMULATE_JOBS_MAX 256u

typedef struct weir__simulate_options {
    weir_sim_options sim;
    uint32_t jobs;   /* processes that share the seeds */
    bool list, help; /* say so, and do nothing else */
    char **names;    /* of the scenarios that are wanted; `name_count` of them, none: all */
    uint32_t name_count;
    char **rest; /* what stands behind `--`: the arguments of a program */
    uint32_t rest_count;
} weir__simulate_options;

/* Sorts the names to the front of argv. False: said on stderr what is wrong. */
bool weir__simulate_options_read(const char *program, int argc, char **argv,
                                 weir__simulate_options *out);

void weir__simulate_help(const char *program);
/* Only the list of options, and the exit statuses. */
void weir__simulate_help_options(void);

#endif /* WEIR_SIMULATE_OPTIONS_H */
