/*
 * suite/bench.h - what a row of the benchmark suite is, and what it answers.
 *
 * A row is one workload (W1 ... W14) in one variant: weir itself, one of the older designs
 * (bench/baselines/) or a bare floor (bench/floor/) that does the same without any feature. The
 * runner (suite/run.c) calls a row once per run and thread count, interleaves the rows that it was
 * asked for, and takes the medians; a row measures once and knows nothing of runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_BENCH_H
#define WEIR_BENCH_SUITE_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* One call of a row. */
typedef struct bench_setup {
    uint32_t threads; /* that serve; of the counts that the row names */
    double scale;     /* 1: the full load; the smoke run takes a thousandth */
    uint64_t seed;
} bench_setup;

/* How many events of a full load this setup asks for, at least `least`. */
uint64_t bench_scaled(const bench_setup *setup, uint64_t full, uint64_t least);

/* The figures; what a row does not measure stays BENCH_NONE and is not printed. */
#define BENCH_NONE (-1.0)
#define BENCH_FIGURES(X)                                                                           \
    X(events_per_s)                                                                                \
    X(ns_per_event)                                                                                \
    X(p50_ns)                                                                                      \
    X(p95_ns)                                                                                      \
    X(p99_ns)                                                                                      \
    X(p999_ns)                                                                                     \
    X(efficiency)                                                                                  \
    X(contention) /* failed try-locks of all, 0 ... 1 */                                           \
    X(backoff)    /* rounds that backed off, of all, 0 ... 1 */                                    \
    X(imbalance)  /* the busiest worker's time in handlers, over the mean: from 1 */               \
    X(cpu_ms)     /* of the whole process, user and system; of w9 a second's */                    \
    X(syscalls)                                                                                    \
    X(switches) /* context switches of the threads that are watched: who has none did not run */   \
    X(retries)  /* posts that a full mailbox refused, per event */                                 \
    X(schedule_per_s)                                                                              \
    X(cancel_per_s)                                                                                \
    X(fire_cpu_ms) /* while timers fired, of the whole process */                                  \
    X(seconds)                                                                                     \
    X(bytes_each)

#define BENCH_FIGURE_FIELD(name) double name;
typedef struct bench_result {
    BENCH_FIGURES(BENCH_FIGURE_FIELD)
    char wrong[160];   /* "" or what was not as it must be: lost, doubled, out of order */
    char skipped[160]; /* "" or why it cannot be measured here; then there is no figure */
} bench_result;
#undef BENCH_FIGURE_FIELD

void bench_result_clear(bench_result *result);
/* Sets events_per_s and ns_per_event. */
void bench_result_rate(bench_result *result, uint64_t events, int64_t elapsed_ns);
/* Sets p50 ... p999; sorts the samples. */
void bench_result_latency(bench_result *result, int64_t *samples, uint64_t count);
/* Says what was wrong; the first one stays. */
void bench_wrong(bench_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says what is missing here. */
void bench_skip(bench_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define BENCH_THREAD_COUNTS 8

typedef struct bench_row {
    const char *workload; /* "w1", "w2-external", ... */
    const char *variant;  /* "weir", "weir-batch", "blocking-queue", "floor", ... */
    const char *summary;  /* one line of `weir bench list` */
    uint32_t threads[BENCH_THREAD_COUNTS]; /* the counts it is run with by itself; 0 ends them */
    void (*run)(const bench_setup *setup, bench_result *result);
} bench_row;

/* Every file of rows has one such table, ended by a row without a name; suite/rows.c joins them.
 * NULL ends the tables. */
extern const bench_row *const bench_tables[];

#endif /* WEIR_BENCH_SUITE_BENCH_H */
