/*
 * suite/figures.h - the figures of bench.h by number: for the runner, which takes medians of all
 * of them, and for those that print them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_FIGURES_H
#define WEIR_BENCH_SUITE_FIGURES_H

#include <stddef.h>

#include "suite/bench.h"

#define BENCH_FIGURE_NUMBER(name) BENCH_##name,
typedef enum bench_figure { BENCH_FIGURES(BENCH_FIGURE_NUMBER) BENCH_FIGURE_COUNT } bench_figure;
#undef BENCH_FIGURE_NUMBER

const char *bench_figure_name(bench_figure figure);
double *bench_figure_of(bench_result *result, bench_figure figure);
double bench_figure_get(const bench_result *result, bench_figure figure);
/* A rate, an efficiency: the best one is the greatest. Of all others it is the smallest. */
bool bench_figure_more_is_better(bench_figure figure);

#endif /* WEIR_BENCH_SUITE_FIGURES_H */
