/*
 * simulate/scale.c - a table a number of dispatchers, a row a number of threads.
 *
 * Every cell is one timed run of the load (simulate/workload.h) with a core for each thread. The
 * costs are measured at the start or given; the line that prints them can be given back, and then
 * gives the same table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/scale_load.h"
#include "sync/sim/scale.h"

#define LIST_MAX 32u
#define THREADS_MAX 250u /* of the simulator's, less those that it needs itself */
#define DISPATCHERS_MAX 64u
#define LINES_MAX 100u
#define USED_WRONGLY 2

typedef struct list {
    uint32_t values[LIST_MAX];
    uint32_t count;
} list;

typedef struct settings {
    list threads, dispatchers;
    uint32_t processors, events, work_ns, warm_up_ms, window_ms, lines;
    bool help, json, strict, defaults;
    weir__scale_costs costs;
} settings;

/* What the model is to show: at `threads`, on as many dispatchers or more. */
static const struct target {
    uint32_t threads, dispatchers;
    double efficiency;
} targets[] = { { 4, 4, 0.90 }, { 8, 4, 0.80 }, { 16, 4, 0.60 } };
enum { TARGETS = sizeof(targets) / sizeof(targets[0]) };

/* One hot dispatcher: so many threads are not slower than so few. */
enum { HOT_MANY = 128, HOT_FEW = 4 };

typedef struct verdict {
    uint32_t met, missed;
    double hot_few, hot_many;
} verdict;

static const char usage[] =
    "usage: weir sim scale [OPTIONS]\n"
    "\n"
    "Predicts how the engine's throughput grows with threads, each on a core of its own, from a\n"
    "model of cache lines and system calls with the costs of this machine.\n"
    "\n"
    "  --cores LIST         numbers of threads           default 1,2,4,8,16,32,64,128\n"
    "  --dispatchers LIST   numbers of dispatchers       default 1,2,4,8,16\n"
    "  --work-ns N          what a handler computes      default 1000\n"
    "  --processors N       a thread                     default 4\n"
    "  --events N           on their way, a processor    default 4\n"
    "  --warm-up-ms N       not counted                  default 5\n"
    "  --window-ms N        counted, longer if threads are few; default 10\n"
    "  --lines N            which cache lines cost most per event, N of them for each row\n"
    "  --json               one object a line instead of tables\n"
    "  --strict             a missed target is a failure (exit status 1)\n"
    "  --default-costs      nothing is measured: the same table on every machine\n"
    "\n"
    "Costs, in nanoseconds, in place of what was measured:\n";

/* ---- the command line ---- */

static bool read_number(const char *text, uint32_t least, uint32_t most, uint32_t *out)
{
    char *end = NULL;
    const unsigned long value = text != NULL ? strtoul(text, &end, 10) : 0;
    *out = (uint32_t)value;
    return text != NULL && text[0] >= '0' && text[0] <= '9' && *end == '\0' && value >= least &&
           value <= most;
}

static bool read_list(const char *text, uint32_t most, list *out)
{
    char part[16];
    *out = (list){ .count = 0 };
    for (const char *at = text; at != NULL; out->count++) {
        const size_t length = strcspn(at, ",");
        if (length >= sizeof(part) || out->count == LIST_MAX) {
            return false;
        }
        memcpy(part, at, length);
        part[length] = '\0';
        if (!read_number(part, 1, most, &out->values[out->count])) {
            return false;
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return out->count > 0;
}

/* "--transfer-ns", or what tells reading from taking. False: none of the costs. */
static bool read_cost(weir__scale_costs *costs, const char *name, const char *value, bool *good)
{
    char *end = NULL;
    const double number = value != NULL ? strtod(value, &end) : -1;
    double *cost = NULL;
#define FIND(field, standard, about)                                                               \
    if (strcmp(name, "--" #field "-ns") == 0) {                                                    \
        cost = &costs->field;                                                                      \
    }
    WEIR__SCALE_COSTS(FIND)
#undef FIND
    if (strcmp(name, "--read-takes") == 0) {
        uint32_t yes = 0;
        *good = read_number(value, 0, 1, &yes);
        costs->read_takes = yes != 0;
        return true;
    }
    if (cost == NULL) {
        return false;
    }
    *good = end != NULL && end != value && *end == '\0' && number >= 0 && number <= 1e9;
    *cost = *good ? number : *cost;
    return true;
}

static bool read_flag(settings *set, const char *name)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = { { "--help", &set->help },
                  { "-h", &set->help },
                  { "--json", &set->json },
                  { "--strict", &set->strict },
                  { "--default-costs", &set->defaults } };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(name, flags[i].name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    }
    return false;
}

/* An option with a value. False: no such option. */
static bool read_value(settings *set, const char *name, const char *value, bool *good)
{
    const struct {
        const char *name;
        uint32_t *number;
        uint32_t least, most;
    } numbers[] = { { "--work-ns", &set->work_ns, 0, 1000000 },
                    { "--processors", &set->processors, 1, 32 },
                    { "--events", &set->events, 1, 100 },
                    { "--warm-up-ms", &set->warm_up_ms, 1, 10000 },
                    { "--window-ms", &set->window_ms, 1, 10000 },
                    { "--lines", &set->lines, 1, LINES_MAX } };
    if (strcmp(name, "--cores") == 0) {
        *good = read_list(value, THREADS_MAX, &set->threads);
        return true;
    }
    if (strcmp(name, "--dispatchers") == 0) {
        *good = read_list(value, DISPATCHERS_MAX, &set->dispatchers);
        return true;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *good = read_number(value, numbers[i].least, numbers[i].most, numbers[i].number);
            return true;
        }
    }
    return read_cost(&set->costs, name, value, good);
}

static bool read_options(settings *set, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool good = false;
        if (read_flag(set, argv[i])) {
            continue;
        }
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!read_value(set, argv[i], value, &good)) {
            fprintf(stderr, "weir sim scale: unknown option %s (--help lists them)\n", argv[i]);
            return false;
        }
        if (!good) {
            fprintf(stderr, "weir sim scale: %s cannot be %s (--help has what it can)\n", argv[i],
                    value != NULL ? value : "without a value");
            return false;
        }
        i++;
    }
    return true;
}

static void print_usage(void)
{
    weir__scale_costs costs;
    weir__scale_defaults(&costs);
    fputs(usage, stdout);
#define LINE(field, standard, about) printf("  --%-18s %s\n", #field "-ns N", about);
    WEIR__SCALE_COSTS(LINE)
#undef LINE
    printf("  --%-18s %s\n", "read-takes 0|1", "a reader of a written line becomes its owner");
}

/* ---- a run ---- */

static weir__workload load;
static weir__workload_result result;

static void body(void *unused)
{
    weir_error error = WEIR_ERROR_INIT;
    (void)unused;
    const weir_status status = weir__workload_run(&load, &result, &error);
    weir_sim_check(status == WEIR_OK, "%s", error.text);
}

/* What is rare, such as a back-off, is to be as frequent in all rows. */
static weir_ns stretch(uint32_t threads)
{
    return threads <= 8 ? 8 : threads < 64 ? (weir_ns)(64 / threads) : 1;
}

/* False: it failed, and that was said. */
static bool run(const settings *set, uint32_t threads, uint32_t dispatchers)
{
    static int32_t cores[THREADS_MAX];
    weir_sim_result outcome = WEIR_SIM_RESULT_INIT;
    for (int32_t i = 0; i < (int32_t)THREADS_MAX; i++) {
        cores[i] = i;
    }
    load = (weir__workload){ .threads = threads,
                             .dispatchers = dispatchers,
                             .processors = set->processors,
                             .events = set->events,
                             .span = set->work_ns,
                             .warm_up = (weir_ns)set->warm_up_ms * WEIR_MS,
                             .window = (weir_ns)set->window_ms * WEIR_MS * stretch(threads),
                             .cores = cores };
    weir__scale_load(&load);
    const weir_status status = weir__scale_run(&set->costs, body, NULL, &outcome);
    if (status != WEIR_OK || outcome.failed) {
        fprintf(stderr, "weir sim scale: %u threads on %u dispatchers: %s\n", threads, dispatchers,
                status != WEIR_OK ? weir_status_name(status) : outcome.why);
        return false;
    }
    return true;
}

/* ---- what is said ---- */

static void print_head(const settings *set, bool measured)
{
    puts("A prediction, from a model with the costs below: not a measurement. Checked against real "
         "runs at\n1 and 2 cores by tools/scale-check; docs/scale.md says what it leaves out.\n");
    printf("costs%s:", measured ? ", as measured here" : "");
#define SHOW(field, standard, about) printf(" --" #field "-ns %.2f", set->costs.field);
    WEIR__SCALE_COSTS(SHOW)
#undef SHOW
    printf(" --read-takes %d\n", set->costs.read_takes);
    printf("load: handlers of %u ns, half to one and a half; %u processor%s a thread, %u event%s "
           "each\n",
           set->work_ns, set->processors, set->processors == 1 ? "" : "s", set->events,
           set->events == 1 ? "" : "s");
}

static double per_event(uint64_t count)
{
    return result.events > 0 ? (double)count / (double)result.events : 0;
}

/* What a row says of its target, if it has one. Counts it. */
static void judge(uint32_t threads, uint32_t dispatchers, double efficiency, verdict *so_far,
                  char *mark, size_t size)
{
    mark[0] = '\0';
    for (size_t i = 0; i < TARGETS; i++) {
        const struct target *t = &targets[i];
        const bool met = efficiency >= t->efficiency;
        if (t->threads != threads) {
            continue;
        }
        if (dispatchers >= t->dispatchers) {
            so_far->met += met;
            so_far->missed += !met;
            snprintf(mark, size, ">= %.0f %%: %s", 100 * t->efficiency, met ? "met" : "MISSED");
        } else if (!met) {
            snprintf(mark, size, "(below %.0f %%)", 100 * t->efficiency);
        }
    }
}

static void print_lines(const settings *set)
{
    static weir__scale_line lines[LINES_MAX];
    const size_t count = weir__scale_lines(lines, set->lines);
    for (size_t i = 0; i < count && result.events > 0; i++) {
        const double moved = lines[i].moved_ns / (double)result.events;
        const double queued = lines[i].queued_ns / (double)result.events;
        if (moved + queued >= 0.05) {
            printf("      %6.1f ns moving, %6.1f ns in line, %5.2f times: the line of %s, %s\n",
                   moved, queued, per_event(lines[i].transfers), lines[i].line, lines[i].site);
        }
    }
}

static void print_row(const settings *set, uint32_t threads, uint32_t dispatchers, double alone,
                      verdict *so_far)
{
    const double rate = weir__workload_rate(&result);
    const double efficiency = rate / (threads * alone);
    if (dispatchers == 1) {
        so_far->hot_few = threads == HOT_FEW ? rate : so_far->hot_few;
        so_far->hot_many = threads == HOT_MANY ? rate : so_far->hot_many;
    }
    char mark[32];
    judge(threads, dispatchers, efficiency, so_far, mark, sizeof(mark));
    if (set->json) {
        printf("{\"prediction\":true,\"threads\":%u,\"dispatchers\":%u,\"work_ns\":%u,"
               "\"events_per_second\":%.0f,\"efficiency\":%.4f,\"lock_failures\":%.5f,"
               "\"backoffs\":%.5f,\"signals\":%.5f}\n",
               threads, dispatchers, set->work_ns, rate, efficiency,
               per_event(result.try_locks_failed), per_event(result.backoffs),
               per_event(result.signals));
    } else {
        printf("%9u %15.0f %10.1f %% %14.2f %%%s%s\n", threads, rate, 100 * efficiency,
               100 * per_event(result.backoffs), mark[0] != '\0' ? "   " : "", mark);
        print_lines(set);
    }
    fflush(stdout);
}

static bool table(const settings *set, uint32_t dispatchers, verdict *so_far)
{
    double alone = 0;
    if (!set->json) {
        printf("\n%u dispatcher%s\n  threads        events/s   efficiency   back-offs/event\n",
               dispatchers, dispatchers == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < set->threads.count; i++) {
        const uint32_t threads = set->threads.values[i];
        if (alone == 0) {
            if (!run(set, 1, dispatchers)) {
                return false;
            }
            alone = weir__workload_rate(&result);
        }
        if (threads != 1 && !run(set, threads, dispatchers)) {
            return false;
        }
        print_row(set, threads, dispatchers, alone, so_far);
    }
    return true;
}

static void judge_hot(const settings *set, verdict *v)
{
    if (v->hot_few == 0 || v->hot_many == 0) {
        return;
    }
    const bool met = v->hot_many >= v->hot_few;
    v->met += met;
    v->missed += !met;
    if (!set->json) {
        printf("\none hot dispatcher: %.2f million events/s with %d threads, %.2f with %d: %s\n",
               v->hot_few / 1e6, HOT_FEW, v->hot_many / 1e6, HOT_MANY,
               met ? "no collapse" : "COLLAPSE");
    }
}

int weir__simulate_scale(int argc, char **argv)
{
    settings set = { .threads = { { 1, 2, 4, 8, 16, 32, 64, 128 }, 8 },
                     .dispatchers = { { 1, 2, 4, 8, 16 }, 5 },
                     .processors = 4,
                     .events = 4,
                     .work_ns = 1000,
                     .warm_up_ms = 5,
                     .window_ms = 10 };
    settings first = set; /* a first look: is anything to be measured at all? */
    verdict v = { 0, 0, 0, 0 };
    weir__scale_defaults(&set.costs);
    if (!read_options(&first, argc, argv)) {
        return USED_WRONGLY;
    }
    if (first.help) {
        print_usage();
        return 0;
    }
    const bool measured = !first.defaults && weir__scale_measure(&set.costs);
    if (!first.defaults && !measured) {
        fprintf(stderr, "weir sim scale: one core only; what needs two is not measured\n");
    }
    read_options(&set, argc, argv);
    if (!set.json) {
        print_head(&set, measured);
    }
    for (uint32_t i = 0; i < set.dispatchers.count; i++) {
        if (!table(&set, set.dispatchers.values[i], &v)) {
            return 1;
        }
    }
    judge_hot(&set, &v);
    if (!set.json) {
        printf("\n%u targets met, %u missed (predicted)\n", v.met, v.missed);
    }
    return set.strict && v.missed > 0 ? 1 : 0;
}
