/*
 * scale_bench.c - the scale model's load on real threads: what `weir sim scale` predicts, measured.
 *
 * Threads are pinned to the first cores that this process may use, one each. A handler computes by
 * a chain of multiplications whose length is found at the start, so that it takes the time wanted
 * whatever else the machine does meanwhile. Each setting is run several times for a short while,
 * and the best run counts: what disturbs a run makes it slower, never faster. On a busy machine
 * --realtime keeps others away from the cores; it also makes timers exact, so that back-off sleeps
 * are shorter than those of ordinary threads.
 *
 *     scale_bench [--threads N] [--dispatchers N] [--processors N] [--events N] [--work-ns N]
 *                 [--runs N] [--window-ms N] [--realtime]
 *
 * Prints one line: events per second of the best run, of the median and of the worst.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simulate/workload.h"

enum { RUNS_MAX = 1000, CORES_MAX = 1024, REALTIME = 10 };

typedef struct settings {
    uint32_t threads, dispatchers, processors, events, work_ns, runs, window_ms;
    bool realtime;
} settings;

static double turns_per_ns;

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_ns(weir_ns ns)
{
    const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    (void)nanosleep(&t, NULL);
}

/* Each turn needs the result of the one before. */
static uint64_t churn(uint64_t x, uint64_t turns)
{
    for (uint64_t i = 0; i < turns; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

static void calibrate(void)
{
    const uint64_t turns = 100000;
    for (int i = 0; i < 50; i++) {
        const int64_t begin = now_ns();
        (void)churn(1, turns);
        const double rate = (double)turns / (double)(now_ns() - begin);
        turns_per_ns = rate > turns_per_ns ? rate : turns_per_ns;
    }
}

static void compute(void *own, weir_ns span)
{
    uint64_t *lot = own;
    const uint64_t end = churn(*lot, (uint64_t)((double)span * turns_per_ns));
    *lot ^= end & 1 ? 0 : 2; /* it is used, and never zero */
}

/* Above the engine's threads, which inherit nothing: on two cores they would never let it back. */
static bool claim_time(void)
{
    const struct sched_param parameter = { .sched_priority = REALTIME + 1 };
    return sched_setscheduler(0, SCHED_FIFO, &parameter) == 0;
}

static uint32_t usable_cores(int32_t *cores)
{
    cpu_set_t set;
    uint32_t count = 0;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        for (int32_t i = 0; i < CPU_SETSIZE && count < CORES_MAX; i++) {
            if (CPU_ISSET((size_t)i, &set)) {
                cores[count++] = i;
            }
        }
    }
    return count;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static int run(const settings *set, const int32_t *cores)
{
    static double rates[RUNS_MAX];
    weir_error error = WEIR_ERROR_INIT;
    weir__workload_result best = { 0 };
    const weir__workload load = { .threads = set->threads,
                                  .dispatchers = set->dispatchers,
                                  .processors = set->processors,
                                  .events = set->events,
                                  .span = set->work_ns,
                                  .warm_up = (weir_ns)set->window_ms * WEIR_MS / 2,
                                  .window = (weir_ns)set->window_ms * WEIR_MS,
                                  .cores = cores,
                                  .realtime = set->realtime ? REALTIME : 0,
                                  .compute = compute,
                                  .rest = sleep_ns };
    for (uint32_t i = 0; i < set->runs; i++) {
        weir__workload_result result;
        if (weir__workload_run(&load, &result, &error) != WEIR_OK) {
            return weir_error_print(&error);
        }
        rates[i] = weir__workload_rate(&result);
        if (rates[i] > weir__workload_rate(&best)) {
            best = result;
        }
        sleep_ns(10 * WEIR_MS); /* others get a turn, too */
    }
    qsort(rates, set->runs, sizeof(rates[0]), compare);
    printf("threads=%u dispatchers=%u work_ns=%u best=%.0f median=%.0f worst=%.0f "
           "lock_failures=%.4f backoffs=%.4f signals=%.4f\n",
           set->threads, set->dispatchers, set->work_ns, rates[0], rates[set->runs / 2],
           rates[set->runs - 1], (double)best.try_locks_failed / (double)best.events,
           (double)best.backoffs / (double)best.events, (double)best.signals / (double)best.events);
    return 0;
}

static bool read_number(const char *text, uint32_t most, uint32_t *out)
{
    char *end = NULL;
    const unsigned long value = text != NULL ? strtoul(text, &end, 10) : 0;
    *out = (uint32_t)value;
    return end != NULL && *end == '\0' && end != text && value <= most;
}

static bool read_arguments(int count, char **arguments, settings *set)
{
    const struct {
        const char *name;
        uint32_t *value;
        uint32_t most;
    } options[] = {
        { "--threads", &set->threads, CORES_MAX },  { "--dispatchers", &set->dispatchers, 64 },
        { "--processors", &set->processors, 1024 }, { "--events", &set->events, 1000 },
        { "--work-ns", &set->work_ns, 1000000 },    { "--runs", &set->runs, RUNS_MAX },
        { "--window-ms", &set->window_ms, 10000 },
    };
    for (int i = 1; i < count; i++) {
        bool known = strcmp(arguments[i], "--realtime") == 0;
        set->realtime = set->realtime || known;
        for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
            if (!known && strcmp(arguments[i], options[k].name) == 0) {
                known = ++i < count && read_number(arguments[i], options[k].most, options[k].value);
                break;
            }
        }
        if (!known) {
            return false;
        }
    }
    return set->runs > 0 && set->window_ms > 0;
}

int main(int count, char **arguments)
{
    static int32_t cores[CORES_MAX];
    settings set = { .threads = 1,
                     .dispatchers = 1,
                     .processors = 4,
                     .events = 4,
                     .work_ns = 1000,
                     .runs = 20,
                     .window_ms = 20 };
    if (!read_arguments(count, arguments, &set)) {
        fprintf(stderr, "usage: scale_bench [--threads N] [--dispatchers N] [--processors N]\n"
                        "                   [--events N] [--work-ns N] [--runs N] "
                        "[--window-ms N] [--realtime]\n");
        return 2;
    }
    const uint32_t usable = usable_cores(cores);
    if (set.threads > usable) {
        fprintf(stderr, "scale_bench: %u threads need a core each, and there are %u\n", set.threads,
                usable);
        return 2;
    }
    if (set.realtime && !claim_time()) {
        fprintf(stderr, "scale_bench: --realtime is not allowed here\n");
        return 2;
    }
    calibrate();
    return run(&set, cores);
}
