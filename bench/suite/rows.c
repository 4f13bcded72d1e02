/*
 * suite/rows.c - joins the tables; the order is that of `weir bench list`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suite/rows.h"

#include <string.h>

#include "cli/usage.h"

const bench_row *const bench_tables[] = {
    load_w01_rows,       load_w02_rows,          load_w03_rows,
    load_w04_rows,       load_w05_rows,          load_w06_wake_rows,
    load_w06_hop_rows,   load_w07_rows,          load_w07_ring_rows,
    load_w08_rows,       load_w09_rows,          load_w10_rows,
    load_w11_ask_rows,   load_w11_rows,          load_w12_rows,
    load_w13_rows,       load_w14_rows,          load_w14_zipf_rows,
    load_w15_rows,       load_w16_rows,          load_lock_rows,
    load_cpu_bound_rows, load_grow_rows,         bench_floor_rows,
    bench_baseline_rows, bench_flow_sketch_rows, NULL,
};

enum { NAMES_MAX = 256 };

const bench_row *bench_row_at(size_t index)
{
    for (const bench_row *const *table = bench_tables; *table != NULL; table++) {
        for (const bench_row *row = *table; row->workload != NULL; row++) {
            if (index-- == 0) {
                return row;
            }
        }
    }
    return NULL;
}

bool bench_row_is_called(const bench_row *row, const char *name)
{
    const size_t length = strlen(name);
    return strcmp(name, "all") == 0 ||
           (strncmp(row->workload, name, length) == 0 &&
            (row->workload[length] == '\0' || row->workload[length] == '-'));
}

size_t bench_row_thread_counts(const bench_row *row)
{
    size_t count = 0;
    while (count < BENCH_THREAD_COUNTS && row->threads[count] != 0) {
        count++;
    }
    return count;
}

const char *bench_row_nearest(const char *name)
{
    const char *names[NAMES_MAX] = { "all" };
    size_t count = 1;
    const bench_row *row;
    for (size_t i = 0; count < NAMES_MAX && (row = bench_row_at(i)) != NULL; i++) {
        names[count++] = row->workload;
    }
    return weir__usage_nearest(name, names, count);
}
