/*
 * suite/main.c - weir-bench: what `weir bench` hands over to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/usage.h"
#include "suite/options.h"
#include "suite/rows.h"
#include "suite/run.h"
#include "suite/summary.h"

enum { TRIES = 5, TRIES_FOR_A_MODE = 20 };

/* Adds those of the row's thread counts that are wanted; counts only if `cases` is NULL. */
static size_t add_row(const bench_row *row, const bench_options *options, bench_case *cases)
{
    size_t count = 0;
    if (options->variant != NULL && strcmp(row->variant, options->variant) != 0) {
        return 0;
    }
    for (size_t i = 0; i < bench_row_thread_counts(row); i++) {
        if (options->threads == 0 || options->threads == row->threads[i]) {
            if (cases != NULL) {
                cases[count] = (bench_case){ .row = row, .threads = row->threads[i] };
            }
            count++;
        }
    }
    return count;
}

static size_t select_cases(const bench_options *options, bench_case *cases)
{
    size_t count = 0;
    const bench_row *row;
    for (size_t i = 0; (row = bench_row_at(i)) != NULL; i++) {
        for (int k = 0; k < options->name_count; k++) {
            if (bench_row_is_called(row, options->names[k])) {
                count += add_row(row, options, cases != NULL ? cases + count : NULL);
                break; /* once, however often it was named */
            }
        }
    }
    return count;
}

/* Every name must lead to something: a typing error that runs nothing would look like success. */
static int check_name(const char *program, const char *name, const bench_options *options)
{
    size_t rows = 0, cases = 0;
    const bench_row *row;
    for (size_t i = 0; (row = bench_row_at(i)) != NULL; i++) {
        if (bench_row_is_called(row, name)) {
            rows++;
            cases += add_row(row, options, NULL);
        }
    }
    if (cases > 0) {
        return WEIR__EXIT_OK;
    }
    const char *nearest = bench_row_nearest(name);
    if (rows == 0 && nearest != NULL) {
        return weir__usage_error(program, "unknown workload '%s', did you mean '%s'?", name,
                                 nearest);
    }
    if (rows == 0) {
        return weir__usage_error(program, "unknown workload '%s', see %s list", name, program);
    }
    return weir__usage_error(program,
                             "nothing of '%s' has that variant and number of threads, see %s list",
                             name, program);
}

/* For what is measured: the caller's to free. NULL: there is no memory. */
static bench_measurement *make_room(bench_plan *plan)
{
    bench_measurement *kept = calloc(plan->case_count * plan->runs + 1, sizeof(*kept));
    for (size_t i = 0; kept != NULL && i < plan->case_count; i++) {
        plan->cases[i].kept = kept + i * plan->runs;
    }
    return kept;
}

static int run(const char *program, const bench_options *options)
{
    for (int i = 0; i < options->name_count; i++) {
        const int status = check_name(program, options->names[i], options);
        if (status != WEIR__EXIT_OK) {
            return status;
        }
    }
    bench_plan plan = { .program = program,
                        .case_count = select_cases(options, NULL),
                        .runs = options->runs,
                        .tries = options->smoke                 ? 1
                                 : options->mode != BENCH_MIXED ? TRIES_FOR_A_MODE
                                                                : TRIES,
                        .mode = options->mode,
                        .scale = options->scale,
                        .limit_s = options->limit_s,
                        .seed = options->seed };
    plan.cases = calloc(plan.case_count + 1, sizeof(*plan.cases));
    bench_measurement *kept =
        plan.cases != NULL && select_cases(options, plan.cases) > 0 ? make_room(&plan) : NULL;
    if (kept == NULL) {
        fprintf(stderr, "%s: no memory for so many runs\n", program);
        free(plan.cases);
        return WEIR__EXIT_FAILED;
    }
    const uint32_t wrong = bench_run(&plan);
    (options->json ? bench_json_print : bench_table_print)(stdout, &plan);
    free(kept);
    free(plan.cases);
    return wrong == 0 ? WEIR__EXIT_OK : WEIR__EXIT_FAILED;
}

static int obey(const char *program, const bench_options *options)
{
    switch (options->command) {
    case BENCH_COMMAND_HELP:
        bench_options_help(program);
        return WEIR__EXIT_OK;
    case BENCH_COMMAND_LIST:
        (options->json ? bench_json_list : bench_table_list)(stdout);
        return WEIR__EXIT_OK;
    default:
        return run(program, options);
    }
}

int main(int argc, char **argv)
{
    /* `weir bench` says so in argv[0]: it stands in the messages. */
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *program = argc == 0 ? "weir-bench" : slash != NULL ? slash + 1 : argv[0];
    bench_options options;
    int status = bench_options_read(program, argc, argv, &options);
    if (status == WEIR__EXIT_OK) {
        status = obey(program, &options);
    }
    /* What was not written was not done: a full disk must not look like success. */
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fprintf(stderr, "%s: cannot write to standard output: %s\n", program, strerror(errno));
        return WEIR__EXIT_FAILED;
    }
    return status;
}
