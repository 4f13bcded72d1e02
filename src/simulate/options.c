/*
 * simulate/options.c - the command line: one table of options, and what cannot be combined.
 *
 * Whatever is not understood is an error: a run that silently did something else than was asked
 * for would prove nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16u
#define CORES_MAX 1024u
#define SECONDS_MAX 1e9

static const struct {
    const char *name;
    uint32_t bit;
} fault_names[] = {
    { "store-buffers", WEIR_SIM_STORE_BUFFERS }, { "races", WEIR_SIM_RACES },
    { "spurious", WEIR_SIM_SPURIOUS },           { "stalls", WEIR_SIM_STALLS },
    { "time-jumps", WEIR_SIM_TIME_JUMPS },       { "allocations", WEIR_SIM_ALLOCATIONS },
    { "stale-reads", WEIR_SIM_STALE_READS },     { "none", WEIR_SIM_NO_FAULTS },
};
#define FAULT_COUNT (sizeof(fault_names) / sizeof(fault_names[0]))

static const char *const strategy_names[] = { "random", "pct", "exhaustive" };
#define STRATEGY_COUNT (sizeof(strategy_names) / sizeof(strategy_names[0]))

/* A parser takes the text of one option. False: it is not what the option wants. */
typedef bool parser(const char *text, weir__simulate_options *o);

static bool read_number(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)text[0])) { /* strtoull would take a sign, or spaces */
        return false;
    }
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *out >= least && *out <= most;
}

static bool read_small(const char *text, uint32_t least, uint32_t most, uint32_t *out)
{
    uint64_t number;
    if (!read_number(text, least, most, &number)) {
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

static bool read_runs(const char *text, weir__simulate_options *o)
{
    return read_number(text, 1, UINT64_MAX, &o->sim.runs);
}

static bool read_seed(const char *text, weir__simulate_options *o)
{
    return read_number(text, 1, UINT64_MAX, &o->sim.seed);
}

static bool read_strategy(const char *text, weir__simulate_options *o)
{
    for (uint32_t i = 0; i < STRATEGY_COUNT; i++) {
        if (strcmp(text, strategy_names[i]) == 0) {
            o->sim.strategy = (weir_sim_strategy)i;
            return true;
        }
    }
    return false;
}

static bool read_depth(const char *text, weir__simulate_options *o)
{
    return read_small(text, 1, DEPTH_MAX, &o->sim.depth);
}

static uint32_t fault_of(const char *name, size_t length)
{
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        if (strlen(fault_names[i].name) == length &&
            memcmp(fault_names[i].name, name, length) == 0) {
            return fault_names[i].bit;
        }
    }
    return 0;
}

static bool read_faults(const char *text, weir__simulate_options *o)
{
    uint32_t faults = 0;
    if (!read_small(text, 1, 2 * WEIR_SIM_STALE_READS - 1, &faults)) {
        for (const char *at = text; faults == 0 || *at != '\0';) {
            const size_t length = strcspn(at, ",");
            const uint32_t bit = fault_of(at, length);
            if (bit == 0) {
                return false;
            }
            faults |= bit;
            at += length;
            at += *at == ',' && at[1] != '\0' ? 1 : 0;
        }
    }
    o->sim.faults = faults;
    return (faults & WEIR_SIM_NO_FAULTS) == 0 || faults == WEIR_SIM_NO_FAULTS;
}

static bool read_schedule(const char *text, weir__simulate_options *o)
{
    o->sim.schedule = text; /* what it says is read by the simulator */
    return true;
}

static bool read_trace(const char *text, weir__simulate_options *o)
{
    o->sim.trace = text;
    return text[0] != '\0';
}

static bool read_seconds(const char *text, weir__simulate_options *o)
{
    char *end;
    if (text[0] == '\0' || text[strspn(text, "0123456789.")] != '\0') {
        return false;
    }
    const double seconds = strtod(text, &end);
    if (*end != '\0' || seconds < 1e-3 || seconds > SECONDS_MAX) {
        return false;
    }
    o->sim.time_max = (weir_ns)(seconds * (double)WEIR_S);
    return true;
}

static bool read_steps_max(const char *text, weir__simulate_options *o)
{
    return read_number(text, 1, UINT64_MAX, &o->sim.steps_max);
}

static bool read_cores(const char *text, weir__simulate_options *o)
{
    return read_small(text, 1, CORES_MAX, &o->sim.cores);
}

static bool read_jobs(const char *text, weir__simulate_options *o)
{
    return read_small(text, 1, WEIR__SIMULATE_JOBS_MAX, &o->jobs);
}

static bool read_shrink(const char *text, weir__simulate_options *o)
{
    (void)text;
    o->sim.shrink = true;
    return true;
}

static bool read_list(const char *text, weir__simulate_options *o)
{
    (void)text;
    o->list = true;
    return true;
}

static bool read_help(const char *text, weir__simulate_options *o)
{
    (void)text;
    o->help = true;
    return true;
}

static const struct option {
    const char *name;
    const char *value; /* what it is called; NULL: it takes none */
    const char *about; /* lines of --help */
    const char *wants; /* "must be ..." */
    parser *read;
} options[] = {
    { "--list", NULL, "the names of the scenarios, and do nothing", NULL, read_list },
    { "--runs", "N", "schedules of each scenario; default 1000", "a number from 1 up", read_runs },
    { "--seed", "S", "of the first; the next has S + 1; default 1", "a number from 1 up",
      read_seed },
    { "--strategy", "WHICH", "random (the default), pct or exhaustive", "random, pct or exhaustive",
      read_strategy },
    { "--depth", "N",
      "pct: points at which priorities change, default 3;\n"
      "exhaustive: preemptions, default 2",
      "a number from 1 to 16", read_depth },
    { "--faults", "LIST",
      "in place of the scenario's own: store-buffers, races,\n"
      "spurious, stalls, time-jumps, allocations,\n"
      "stale-reads; none",
      "store-buffers,races,spurious,stalls,time-jumps,allocations,stale-reads (some of them), "
      "none, or their sum as a number",
      read_faults },
    { "--schedule", "TEXT", "these decisions and nothing else: a replay", "a schedule",
      read_schedule },
    { "--trace", "FILE", "every step of every run, in words; -: stdout", "the name of a file",
      read_trace },
    { "--shrink", NULL, "look for a shorter schedule that fails, too, and show it", NULL,
      read_shrink },
    { "--seconds", "S", "stop each scenario after that time", "a number from 0.001 up",
      read_seconds },
    { "--steps-max", "N", "a run that takes more has no end; default 1000000", "a number from 1 up",
      read_steps_max },
    { "--cores", "N", "what the engine is told; default 2", "a number from 1 to 1024", read_cores },
    { "--jobs", "N", "processes that share the seeds; default 1", "a number from 1 to 256",
      read_jobs },
    { "--help", NULL, "this text", NULL, read_help },
};
#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

void weir__simulate_help(const char *program)
{
    printf("usage: %s [NAME ...] [OPTION ...]\n"
           "\n"
           "Runs scenarios under the simulator, all of them or those named: each again and again,\n"
           "every time in another order. A run that fails is told with a line that repeats it.\n"
           "\n",
           program);
    weir__simulate_help_options();
}

void weir__simulate_help_options(void)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char head[32];
        const char *about = options[i].about;
        snprintf(head, sizeof(head), "%s%s%s", options[i].name, options[i].value != NULL ? " " : "",
                 options[i].value != NULL ? options[i].value : "");
        while (about != NULL) {
            const char *next = strchr(about, '\n');
            printf("  %-18s %.*s\n", head, (int)(next != NULL ? next - about : 80), about);
            head[0] = '\0';
            about = next != NULL ? next + 1 : NULL;
        }
    }
    puts("\nexit status: 0 all well, 1 a run failed, 2 used wrongly");
}

static bool refuse(const char *program, const char *what, const char *which, const char *why)
{
    fprintf(stderr, "%s: %s%s%s%s\ntry: %s --help\n", program, what, which,
            why[0] != '\0' ? " " : "", why, program);
    return false;
}

/* True: it was one, and is read; *at moves on to the option's text. */
static bool read_option(const char *program, int argc, char **argv, int *at,
                        weir__simulate_options *out)
{
    const char *given = argv[*at];
    const size_t length = strcspn(given, "=");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];
        if (strlen(o->name) != length || memcmp(o->name, given, length) != 0) {
            continue;
        }
        const char *text = given[length] == '=' ? given + length + 1 : NULL;
        if (o->value == NULL && text != NULL) {
            return refuse(program, o->name, "", "takes no value");
        }
        if (o->value != NULL && text == NULL) {
            if (*at + 1 == argc) {
                return refuse(program, o->name, "", "needs a value");
            }
            text = argv[++*at];
        }
        if (!o->read(text, out)) {
            char why[200];
            snprintf(why, sizeof(why), "'%.60s' is not %s", text, o->wants);
            return refuse(program, o->name, "", why);
        }
        return true;
    }
    return refuse(program, "unknown option ", given, "");
}

/* What is fine by itself and makes no sense together. */
static bool check_together(const char *program, weir__simulate_options *o, bool strategy_given)
{
    weir_sim_options *sim = &o->sim;
    if (sim->schedule != NULL) {
        if (strategy_given || sim->runs > 1 || o->jobs > 1 || sim->depth != 0) {
            return refuse(program, "--schedule", "",
                          "is one run: no --strategy, --depth, --runs or --jobs with it");
        }
        if (o->name_count != 1) {
            return refuse(program, "--schedule", "", "belongs to one scenario: name it");
        }
        sim->strategy = WEIR_SIM_REPLAY;
    }
    if (sim->depth != 0 && sim->strategy == WEIR_SIM_RANDOM) {
        return refuse(program, "--depth", "", "is for --strategy pct or exhaustive");
    }
    if (o->jobs > 1 && sim->strategy == WEIR_SIM_EXHAUSTIVE) {
        return refuse(program, "--jobs", "", "shares seeds, and an exhaustive search has none");
    }
    if (sim->trace != NULL && (o->jobs > 1 || o->name_count != 1)) {
        return refuse(program, "--trace", "", "is for one scenario (name it) and one job");
    }
    const uint64_t runs = sim->runs != 0 ? sim->runs : 1000;
    if (sim->strategy != WEIR_SIM_EXHAUSTIVE && sim->seed > UINT64_MAX - runs) {
        return refuse(program, "--seed", "", "and --runs together are more than there are seeds");
    }
    return true;
}

bool weir__simulate_options_read(const char *program, int argc, char **argv,
                                 weir__simulate_options *out)
{
    bool strategy_given = false;
    *out = (weir__simulate_options){ .sim = WEIR_SIM_OPTIONS_INIT, .jobs = 1, .names = argv };
    out->sim.seed = 1;
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-') {
            argv[out->name_count++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            out->rest = argv + i + 1;
            out->rest_count = (uint32_t)(argc - i - 1);
            break;
        } else {
            strategy_given = strategy_given || strncmp(argv[i], "--strategy", 10) == 0;
            if (!read_option(program, argc, argv, &i, out)) {
                return false;
            }
        }
    }
    return out->help || out->list || check_together(program, out, strategy_given);
}
