/*
 * suite/options.c - see options.h. Whatever is not understood is an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suite/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/usage.h"

#define RUNS_DEFAULT 5u
#define LIMIT_DEFAULT_S 300.0
#define LIMIT_SMOKE_S 60.0
#define SCALE_SMOKE 0.001

/* No letters: beyond all characters. */
enum {
    OPTION_JSON = 256,
    OPTION_RUNS,
    OPTION_THREADS,
    OPTION_SCALE,
    OPTION_VARIANT,
    OPTION_MODE,
    OPTION_LIMIT,
    OPTION_SEED,
    OPTION_SMOKE
};

static const struct option known[] = { { "json", no_argument, NULL, OPTION_JSON },
                                       { "runs", required_argument, NULL, OPTION_RUNS },
                                       { "threads", required_argument, NULL, OPTION_THREADS },
                                       { "scale", required_argument, NULL, OPTION_SCALE },
                                       { "variant", required_argument, NULL, OPTION_VARIANT },
                                       { "mode", required_argument, NULL, OPTION_MODE },
                                       { "limit", required_argument, NULL, OPTION_LIMIT },
                                       { "seed", required_argument, NULL, OPTION_SEED },
                                       { "smoke", no_argument, NULL, OPTION_SMOKE },
                                       { "help", no_argument, NULL, 'h' },
                                       { NULL, 0, NULL, 0 } };

void bench_options_help(const char *program)
{
    printf("usage: %s list [--json]\n"
           "       %s run NAME ... [OPTION ...]\n",
           program, program);
    fputs("\n"
          "Measures workloads: weir, the designs that it replaced, and a bare floor. NAME\n"
          "is a workload (w5-external), the beginning of some (w5), or all. Rows are run\n"
          "in turn, again and again, and every run checks that nothing was lost or out of\n"
          "order. The cost of handing a cache line from core to core is measured before\n"
          "and after each run: runs in which it changed are thrown away and repeated, and\n"
          "near (below 80 ns) and far are reported apart.\n"
          "\n"
          "options:\n"
          "  --json        print JSON and nothing else\n"
          "  --runs N      measurements of each row, 1 to 1000; default 5\n"
          "  --threads N   with N threads only; default those that each row names\n"
          "  --variant V   this variant only, as in --variant weir\n"
          "  --scale X     of the load, 0.0001 to 100; default 1\n"
          "  --mode M      near or far: only such runs count, others are repeated\n"
          "  --limit S     seconds for one measurement, 0.01 to 86400; default 300\n"
          "  --seed N      of what is random, from 1; default 1\n"
          "  --smoke       every row once, with a thousandth of the load\n"
          "  -h, --help    show this text\n"
          "\n"
          "exit status: 0 all results are right, 1 one is wrong or a row hangs,\n"
          "2 wrong usage\n",
          stdout);
}

static bool read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    *out = isdigit((unsigned char)text[0]) != 0 ? strtoull(text, &end, 10) : 0;
    return end != NULL && *end == '\0' && errno == 0 && *out >= least && *out <= most;
}

/* Written so that NaN is not within the bounds. */
static bool read_real(const char *text, double least, double most, double *out)
{
    char *end = NULL;
    errno = 0;
    *out = isspace((unsigned char)text[0]) == 0 ? strtod(text, &end) : 0;
    return end != NULL && end != text && *end == '\0' && errno == 0 && *out >= least &&
           *out <= most;
}

static bool read_count(const char *text, uint32_t most, uint32_t *out)
{
    uint64_t number;
    const bool good = read_whole(text, 1, most, &number);
    *out = (uint32_t)number;
    return good;
}

static bool read_mode(const char *text, bench_mode *out)
{
    *out = strcmp(text, "near") == 0 ? BENCH_NEAR : BENCH_FAR;
    return strcmp(text, bench_mode_name(*out)) == 0;
}

/* NULL, or what the value must be. */
static const char *read_value(int option, bench_options *o)
{
    switch (option) {
    case OPTION_RUNS:
        return read_count(optarg, 1000, &o->runs) ? NULL : "--runs: must be 1 to 1000";
    case OPTION_THREADS:
        return read_count(optarg, 1024, &o->threads) ? NULL : "--threads: must be 1 to 1024";
    case OPTION_SCALE:
        return read_real(optarg, 1e-4, 100, &o->scale) ? NULL : "--scale: must be 0.0001 to 100";
    case OPTION_LIMIT:
        return read_real(optarg, 0.01, 86400, &o->limit_s) ? NULL
                                                           : "--limit: must be 0.01 to 86400";
    case OPTION_SEED:
        return read_whole(optarg, 1, UINT64_MAX, &o->seed) ? NULL : "--seed: must be 1 or more";
    case OPTION_MODE:
        return read_mode(optarg, &o->mode) ? NULL : "--mode: must be near or far";
    case OPTION_VARIANT:
        o->variant = optarg;
        return NULL;
    case OPTION_JSON:
        o->json = true;
        return NULL;
    case OPTION_SMOKE:
        o->smoke = true;
        return NULL;
    default:
        o->command = BENCH_COMMAND_HELP;
        return NULL;
    }
}

static int read_command(const char *program, const char *word, bench_options *out)
{
    static const char *const commands[] = { "list", "run", "help" };
    static const bench_command meant[] = { BENCH_COMMAND_LIST, BENCH_COMMAND_RUN,
                                           BENCH_COMMAND_HELP };
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(word, commands[i]) == 0) {
            out->command = meant[i];
            return WEIR__EXIT_OK;
        }
    }
    const char *nearest = weir__usage_nearest(word, commands, 3);
    return nearest != NULL
               ? weir__usage_error(program, "unknown command '%s', did you mean '%s'?", word,
                                   nearest)
               : weir__usage_error(program, "unknown command '%s', it is list or run", word);
}

/* What the command does with the words that are no options. */
static int read_names(const char *program, int argc, char **argv, bench_options *out)
{
    if (argc == 0) {
        return weir__usage_error(program, "list or run?");
    }
    const int status = read_command(program, argv[0], out);
    if (status != WEIR__EXIT_OK) {
        return status;
    }
    out->names = argv + 1;
    out->name_count = argc - 1;
    if (out->command == BENCH_COMMAND_LIST && out->name_count > 0) {
        return weir__usage_error(program, "list takes no name '%s'", out->names[0]);
    }
    if (out->command == BENCH_COMMAND_RUN && out->name_count == 0) {
        return weir__usage_error(program, "run what? a name of %s list, or all", program);
    }
    return WEIR__EXIT_OK;
}

int bench_options_read(const char *program, int argc, char **argv, bench_options *out)
{
    *out = (bench_options){ .command = BENCH_COMMAND_LIST, .seed = 1, .mode = BENCH_MIXED };
    opterr = 0;
    /* Ends with the arguments: each call consumes at least a letter. */
    for (int answer; (answer = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        if (answer == '?' || answer == ':') {
            return weir__usage_option_error(program, answer, argv, known);
        }
        const char *wanted = read_value(answer, out);
        if (wanted != NULL) {
            return weir__usage_error(program, "%s, not '%s'", wanted, optarg);
        }
    }
    if (out->command == BENCH_COMMAND_HELP) {
        return WEIR__EXIT_OK;
    }
    if (out->smoke && (out->runs != 0 || out->scale > 0 || out->mode != BENCH_MIXED)) {
        return weir__usage_error(program, "--smoke is one small run: no --runs, --scale or --mode");
    }
    out->runs = out->smoke ? 1 : out->runs != 0 ? out->runs : RUNS_DEFAULT;
    out->scale = out->smoke ? SCALE_SMOKE : out->scale > 0 ? out->scale : 1;
    out->limit_s = out->limit_s > 0 ? out->limit_s : out->smoke ? LIMIT_SMOKE_S : LIMIT_DEFAULT_S;
    return read_names(program, argc - optind, argv + optind, out);
}
