/*
 * suite/rows.h - all rows, and those that somebody asks for by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_SUITE_ROWS_H
#define WEIR_BENCH_SUITE_ROWS_H

#include <stddef.h>

#include "suite/bench.h"

/* weir, one table a workload (bench/load/). */
extern const bench_row load_w01_rows[];
extern const bench_row load_w02_rows[];
extern const bench_row load_w03_rows[];
extern const bench_row load_w04_rows[];
extern const bench_row load_w05_rows[];
extern const bench_row load_w06_wake_rows[];
extern const bench_row load_w06_hop_rows[];
extern const bench_row load_w07_rows[];
extern const bench_row load_w07_ring_rows[];
extern const bench_row load_w08_rows[];
extern const bench_row load_w09_rows[];
extern const bench_row load_w10_rows[];
extern const bench_row load_w11_rows[];
extern const bench_row load_w11_ask_rows[];
extern const bench_row load_w12_rows[];
extern const bench_row load_w13_rows[];
extern const bench_row load_w14_rows[];
extern const bench_row load_w14_zipf_rows[];
extern const bench_row load_w15_rows[];
extern const bench_row load_w16_rows[];
extern const bench_row load_lock_rows[];
extern const bench_row load_cpu_bound_rows[];
extern const bench_row load_grow_rows[];

/* What the hardware can do with no features, and the older designs. */
extern const bench_row bench_floor_rows[];
extern const bench_row bench_baseline_rows[];
extern const bench_row bench_flow_sketch_rows[];

/* The row with that number in all tables, NULL behind the last. */
const bench_row *bench_row_at(size_t index);

/* "w5" takes w5 and w5-external, not w50; "all" takes all. */
bool bench_row_is_called(const bench_row *row, const char *name);

/* 0 ends them. */
size_t bench_row_thread_counts(const bench_row *row);

/* The workload, or the part of its name in front of a dash, that was probably meant; or NULL. */
const char *bench_row_nearest(const char *name);

#endif /* WEIR_BENCH_SUITE_ROWS_H */
