/*
 * suite/summary.c - medians, best and spread. Near and far are never mixed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suite/summary.h"

#include <stdlib.h>

#include "suite/figures.h"

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of an even number, the mean of the two in the middle. */
static double median_of(const double *sorted, uint32_t count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* `values` is as long as there are measurements, for use in here. */
static void sum_up(bench_summary *s, bench_figure figure, double *values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->about->kept_count; i++) {
        const bench_measurement *m = &s->about->kept[i];
        const double value = bench_figure_get(&m->result, figure);
        if (m->handover.mode == s->mode && value >= 0) {
            values[count++] = value;
        }
    }
    if (count == 0) {
        return;
    }
    qsort(values, count, sizeof(*values), compare);
    const double least = values[0], most = values[count - 1], median = median_of(values, count);
    *bench_figure_of(&s->median, figure) = median;
    *bench_figure_of(&s->best, figure) = bench_figure_more_is_better(figure) ? most : least;
    *bench_figure_of(&s->spread, figure) = median > 0 ? (most - least) / median : 0;
}

bool bench_summary_make(bench_summary *out, const bench_case *about, bench_mode mode)
{
    double *values = calloc(about->kept_count + 1u, sizeof(*values));
    *out = (bench_summary){ .about = about, .mode = mode };
    bench_result_clear(&out->median);
    bench_result_clear(&out->best);
    bench_result_clear(&out->spread);
    if (values == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < about->kept_count; i++) {
        if (about->kept[i].handover.mode == mode) {
            values[out->runs++] = about->kept[i].handover.ns;
        }
    }
    if (out->runs > 0) {
        qsort(values, out->runs, sizeof(*values), compare);
        out->handover_ns = median_of(values, out->runs);
        for (bench_figure i = 0; i < BENCH_FIGURE_COUNT; i++) {
            sum_up(out, i, values);
        }
    }
    free(values);
    return out->runs > 0;
}
