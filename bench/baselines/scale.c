/*
 * baselines/scale.c - weir beside the older designs in the scale model, with a core for each
 * thread: how many times faster it is, predicted.
 *
 * The same model and load as `weir sim scale` (docs/scale.md), on one dispatcher; the default is
 * handlers that do nothing, where the design is all there is.
 *
 *     baseline_scale [--cores LIST] [--work-ns N] [--processors N] [--events N] [--window-ms N]
 *                    [--design NAME] [--lines N] [--transfer-ns N] [--default-costs] [--json]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baselines/closed_loop.h"
#include "simulate/scale_load.h"
#include "sync/sim/scale.h"

enum { LIST_MAX = 32, THREADS_MAX = 250, LINES_MAX = 100, USED_WRONGLY = 2, WARM_UP_MS = 5 };

/* NULL stands for weir itself. */
static const struct competitor {
    const char *name;
    const baseline_design *design;
} competitors[] = { { "weir", NULL },
                    { "blocking-queue", &baseline_blocking_queue },
                    { "shared-queue", &baseline_shared_queue },
                    { "held-lock", &baseline_held_lock } };
enum { COMPETITORS = sizeof(competitors) / sizeof(competitors[0]) };

typedef struct settings {
    uint32_t cores[LIST_MAX], core_count;
    uint32_t processors, events, work_ns, window_ms, lines, transfer_ns;
    const char *only; /* NULL: all designs */
    bool help, json, defaults;
    weir__scale_costs costs;
} settings;

static const char usage[] =
    "usage: baseline_scale [OPTIONS]\n"
    "\n"
    "Predicts what weir and the older designs do on one dispatcher, each thread on a core of its\n"
    "own, from the model of `weir sim scale`.\n"
    "\n"
    "  --cores LIST       numbers of threads          default 1,2,4,8,16\n"
    "  --work-ns N        what a handler computes     default 0\n"
    "  --processors N     a thread                    default 4\n"
    "  --events N         on their way, a processor   default 4\n"
    "  --window-ms N      counted                     default 10\n"
    "  --design NAME      one of weir, blocking-queue, shared-queue, held-lock\n"
    "  --lines N          which cache lines cost most per event, N of them for each cell\n"
    "  --transfer-ns N    what a line costs that comes from another core, not as measured\n"
    "  --default-costs    nothing is measured: the same table on every machine\n"
    "  --json             one object a line instead of a table\n";

/* ---- the command line ---- */

static bool read_number(const char *text, uint32_t most, uint32_t *out)
{
    char *end = NULL;
    const unsigned long value = text != NULL ? strtoul(text, &end, 10) : 0;
    *out = (uint32_t)value;
    return text != NULL && text[0] >= '0' && text[0] <= '9' && *end == '\0' && value <= most;
}

static bool read_cores(settings *set, const char *text)
{
    char part[16];
    set->core_count = 0;
    for (const char *at = text; at != NULL;) {
        const size_t length = strcspn(at, ",");
        if (length >= sizeof(part) || set->core_count == LIST_MAX) {
            return false;
        }
        memcpy(part, at, length);
        part[length] = '\0';
        uint32_t *next = &set->cores[set->core_count++];
        if (!read_number(part, THREADS_MAX, next) || *next == 0) {
            return false;
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return set->core_count > 0;
}

static bool read_design(settings *set, const char *name)
{
    for (size_t i = 0; i < COMPETITORS && name != NULL; i++) {
        if (strcmp(name, competitors[i].name) == 0) {
            set->only = name;
            return true;
        }
    }
    return false;
}

static bool read_flag(settings *set, const char *name)
{
    set->help = set->help || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    set->json = set->json || strcmp(name, "--json") == 0;
    set->defaults = set->defaults || strcmp(name, "--default-costs") == 0;
    return strcmp(name, "--json") == 0 || strcmp(name, "--default-costs") == 0 || set->help;
}

static bool read_value(settings *set, const char *name, const char *value)
{
    const struct {
        const char *name;
        uint32_t *number;
        uint32_t most;
    } numbers[] = {
        { "--work-ns", &set->work_ns, 1000000 }, { "--processors", &set->processors, 32 },
        { "--events", &set->events, 100 },       { "--window-ms", &set->window_ms, 10000 },
        { "--lines", &set->lines, LINES_MAX },   { "--transfer-ns", &set->transfer_ns, 10000 }
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            return read_number(value, numbers[i].most, numbers[i].number);
        }
    }
    return strcmp(name, "--cores") == 0    ? read_cores(set, value)
           : strcmp(name, "--design") == 0 ? read_design(set, value)
                                           : false;
}

static bool read_options(settings *set, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (read_flag(set, argv[i])) {
            continue;
        }
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!read_value(set, argv[i], value)) {
            fprintf(stderr, "baseline_scale: %s %s: no such option (--help lists them)\n", argv[i],
                    value != NULL ? value : "without a value");
            return false;
        }
        i++;
    }
    return set->processors > 0 && set->events > 0 && set->window_ms > 0;
}

/* ---- a run ---- */

static weir__workload load;
static weir__workload_result result;
static const baseline_design *under_test;

static void body(void *unused)
{
    weir_error error = WEIR_ERROR_INIT;
    (void)unused;
    const weir_status status = under_test != NULL ? baseline_closed_loop(under_test, &load, &result)
                                                  : weir__workload_run(&load, &result, &error);
    weir_sim_check(status == WEIR_OK, "%s", weir_status_name(status));
}

/* Events per second, or -1: it failed, and that was said. */
static double predict(const settings *set, const struct competitor *who, uint32_t threads)
{
    weir_sim_result outcome = WEIR_SIM_RESULT_INIT;
    under_test = who->design;
    load = (weir__workload){ .threads = threads,
                             .dispatchers = 1,
                             .processors = set->processors,
                             .events = set->events,
                             .span = set->work_ns,
                             .warm_up = WARM_UP_MS * WEIR_MS,
                             .window = (weir_ns)set->window_ms * WEIR_MS };
    weir__scale_load(&load);
    const weir_status status = weir__scale_run(&set->costs, body, NULL, &outcome);
    if (status != WEIR_OK || outcome.failed) {
        fprintf(stderr, "baseline_scale: %s, %u threads: %s\n", who->name, threads,
                status != WEIR_OK ? weir_status_name(status) : outcome.why);
        return -1;
    }
    return weir__workload_rate(&result);
}

/* ---- what is said ---- */

static void print_lines(const settings *set)
{
    static weir__scale_line lines[LINES_MAX];
    const size_t count = weir__scale_lines(lines, set->lines);
    for (size_t i = 0; i < count && result.events > 0; i++) {
        const double events = (double)result.events;
        printf("      %6.1f ns moving, %6.1f ns in line, %5.2f times: the line of %s, %s\n",
               lines[i].moved_ns / events, lines[i].queued_ns / events,
               (double)lines[i].transfers / events, lines[i].line, lines[i].site);
    }
}

static void print_cell(const settings *set, const struct competitor *who, uint32_t threads,
                       double rate, double weir_rate)
{
    if (set->json) {
        printf("{\"prediction\":true,\"design\":\"%s\",\"threads\":%u,\"work_ns\":%u,"
               "\"events_per_second\":%.0f}\n",
               who->name, threads, set->work_ns, rate);
    } else if (weir_rate > 0 && who->design != NULL) {
        printf("%9u  %-15s %13.0f %14.2f x\n", threads, who->name, rate, weir_rate / rate);
    } else {
        printf("%9u  %-15s %13.0f\n", threads, who->name, rate);
    }
    print_lines(set);
    fflush(stdout);
}

static bool table(const settings *set)
{
    for (uint32_t i = 0; i < set->core_count; i++) {
        double weir_rate = 0;
        for (size_t k = 0; k < COMPETITORS; k++) {
            const struct competitor *who = &competitors[k];
            if (set->only != NULL && strcmp(set->only, who->name) != 0) {
                continue;
            }
            const double rate = predict(set, who, set->cores[i]);
            if (rate < 0) {
                return false;
            }
            weir_rate = who->design == NULL ? rate : weir_rate;
            print_cell(set, who, set->cores[i], rate, weir_rate);
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    settings set = {
        .cores = { 1, 2, 4, 8, 16 }, .core_count = 5, .processors = 4, .events = 4, .window_ms = 10
    };
    if (!read_options(&set, argc, argv)) {
        return USED_WRONGLY;
    }
    if (set.help) {
        fputs(usage, stdout);
        return 0;
    }
    weir__scale_defaults(&set.costs);
    if (!set.defaults && !weir__scale_measure(&set.costs)) {
        fprintf(stderr, "baseline_scale: one core only; what needs two is not measured\n");
    }
    set.costs.transfer = set.transfer_ns > 0 ? set.transfer_ns : set.costs.transfer;
    if (!set.json) {
        puts("A prediction, from a model with the costs below: not a measurement (docs/scale.md).");
#define SHOW(field, standard, about) printf(" " #field " %.2f", set.costs.field);
        WEIR__SCALE_COSTS(SHOW)
#undef SHOW
        printf(
            "\nhandlers of %u ns, one dispatcher\n  threads  design               events/s   weir "
            "is faster\n",
            set.work_ns);
    }
    return table(&set) ? 0 : 1;
}
