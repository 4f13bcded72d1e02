/*
 * suite/figures.c - see bench.h and figures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suite/figures.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE_ENTRY(name) { #name, offsetof(bench_result, name) },
static const struct {
    const char *name;
    size_t offset;
} figures[BENCH_FIGURE_COUNT] = { BENCH_FIGURES(FIGURE_ENTRY) };

const char *bench_figure_name(bench_figure figure)
{
    return figures[figure].name;
}

double *bench_figure_of(bench_result *result, bench_figure figure)
{
    return (double *)(void *)((char *)result + figures[figure].offset);
}

double bench_figure_get(const bench_result *result, bench_figure figure)
{
    return *(const double *)(const void *)((const char *)result + figures[figure].offset);
}

bool bench_figure_more_is_better(bench_figure figure)
{
    return figure == BENCH_events_per_s || figure == BENCH_efficiency;
}

uint64_t bench_scaled(const bench_setup *setup, uint64_t full, uint64_t least)
{
    const double wanted = (double)full * setup->scale;
    return wanted < (double)least ? least : (uint64_t)wanted;
}

void bench_result_clear(bench_result *result)
{
    memset(result, 0, sizeof(*result));
    for (bench_figure i = 0; i < BENCH_FIGURE_COUNT; i++) {
        *bench_figure_of(result, i) = BENCH_NONE;
    }
}

void bench_result_rate(bench_result *result, uint64_t events, int64_t elapsed_ns)
{
    if (events > 0 && elapsed_ns > 0) {
        result->events_per_s = (double)events * 1e9 / (double)elapsed_ns;
        result->ns_per_event = (double)elapsed_ns / (double)events;
    }
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The smallest sample that so many thousandths of all do not exceed. */
static double percentile(const int64_t *sorted, uint64_t count, uint64_t thousandths)
{
    const uint64_t rank = (count * thousandths + 999) / 1000;
    return (double)sorted[rank == 0 ? 0 : rank - 1];
}

void bench_result_latency(bench_result *result, int64_t *samples, uint64_t count)
{
    if (count == 0) {
        return;
    }
    qsort(samples, count, sizeof(*samples), compare);
    result->p50_ns = percentile(samples, count, 500);
    result->p95_ns = percentile(samples, count, 950);
    result->p99_ns = percentile(samples, count, 990);
    result->p999_ns = percentile(samples, count, 999);
}

void bench_wrong(bench_result *result, const char *format, ...)
{
    if (result->wrong[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(result->wrong, sizeof(result->wrong), format, arguments);
        va_end(arguments);
    }
}

void bench_skip(bench_result *result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(result->skipped, sizeof(result->skipped), format, arguments);
    va_end(arguments);
}
