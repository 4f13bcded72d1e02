/*
 * suite/options.h - the command line of weir-bench.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_OPTIONS_H
#define WEIR_BENCH_SUITE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "suite/handover.h"

typedef enum bench_command {
    BENCH_COMMAND_LIST,
    BENCH_COMMAND_RUN,
    BENCH_COMMAND_HELP
} bench_command;

typedef struct bench_options {
    bench_command command;
    char **names; /* what to run */
    int name_count;
    const char *variant; /* NULL: all */
    uint32_t runs;
    uint32_t threads; /* 0: those that each row names */
    double scale;
    double limit_s;
    uint64_t seed;
    bench_mode mode; /* BENCH_MIXED: any */
    bool json;
    bool smoke;
} bench_options;

/* WEIR__EXIT_OK, or WEIR__EXIT_USAGE with the reason on stderr. */
int bench_options_read(const char *program, int argc, char **argv, bench_options *out);

void bench_options_help(const char *program);

#endif /* WEIR_BENCH_SUITE_OPTIONS_H */
