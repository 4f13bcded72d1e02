/*
 * suite/summary.h - what the measurements of a case come to, mode by mode, and who prints it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_SUMMARY_H
#define WEIR_BENCH_SUITE_SUMMARY_H

#include <stdio.h>

#include "suite/run.h"

typedef struct bench_summary {
    const bench_case *about;
    bench_mode mode;
    uint32_t runs;       /* in this mode */
    double handover_ns;  /* the median */
    bench_result median; /* figure by figure */
    bench_result best;
    bench_result spread; /* (most - least) / median */
} bench_summary;

/* False: there is no run in this mode. */
bool bench_summary_make(bench_summary *out, const bench_case *about, bench_mode mode);

void bench_table_print(FILE *out, const bench_plan *plan);
void bench_json_print(FILE *out, const bench_plan *plan);

void bench_table_list(FILE *out);
void bench_json_list(FILE *out);

#endif /* WEIR_BENCH_SUITE_SUMMARY_H */
