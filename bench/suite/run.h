/*
 * suite/run.h - runs cases: rows with a number of threads, as often as wanted, interleaved.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_RUN_H
#define WEIR_BENCH_SUITE_RUN_H

#include <stddef.h>

#include "suite/bench.h"
#include "suite/handover.h"

typedef struct bench_measurement {
    bench_handover handover;
    bench_result result;
} bench_measurement;

typedef struct bench_case {
    const bench_row *row;
    uint32_t threads;
    bench_measurement *kept; /* room for as many as there are runs */
    uint32_t kept_count;
    uint32_t thrown_away; /* the hand-over changed meanwhile, or was not the one wanted */
    uint32_t wrong;       /* runs with wrong results: their figures are worth nothing */
    char skipped[sizeof(((bench_result *)NULL)->skipped)];
} bench_case;

typedef struct bench_plan {
    const char *program; /* for messages */
    bench_case *cases;
    size_t case_count;
    uint32_t runs;
    uint32_t tries;  /* for one measurement: the last is kept as mixed */
    bench_mode mode; /* wanted: near or far; BENCH_MIXED: whatever it is */
    double scale;
    double limit_s; /* for one measurement */
    uint64_t seed;
} bench_plan;

/* Run 1 of every case, then run 2 of every case, ...: so noise hits all alike. Says on stderr what
 * was wrong; answers how many measurements were. */
uint32_t bench_run(bench_plan *plan);

#endif /* WEIR_BENCH_SUITE_RUN_H */
