/*
 * suite/table.c - the results and the list of rows, for people.
 *
 * Rows measure different things, so there is no column for each: a line ends with the figures
 * that it has, in their own units.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suite/figures.h"
#include "suite/rows.h"
#include "suite/summary.h"

typedef enum unit {
    UNIT_RATE,
    UNIT_NS,
    UNIT_SHARE,
    UNIT_MS,
    UNIT_S,
    UNIT_BYTES,
    UNIT_TIMES,
    UNIT_PLAIN
} unit;

static const struct {
    const char *before, *after; /* of the value */
    unit unit;
} shapes[BENCH_FIGURE_COUNT] = {
    [BENCH_events_per_s] = { "", "", UNIT_RATE },
    [BENCH_ns_per_event] = { "", " each", UNIT_NS },
    [BENCH_p50_ns] = { "p50 ", "", UNIT_NS },
    [BENCH_p95_ns] = { "p95 ", "", UNIT_NS },
    [BENCH_p99_ns] = { "p99 ", "", UNIT_NS },
    [BENCH_p999_ns] = { "p999 ", "", UNIT_NS },
    [BENCH_efficiency] = { "efficiency ", "", UNIT_SHARE },
    [BENCH_contention] = { "contention ", "", UNIT_SHARE },
    [BENCH_backoff] = { "back-off ", "", UNIT_SHARE },
    [BENCH_imbalance] = { "busiest ", " x the mean", UNIT_TIMES },
    [BENCH_cpu_ms] = { "CPU ", "", UNIT_MS },
    [BENCH_syscalls] = { "", " system calls", UNIT_PLAIN },
    [BENCH_switches] = { "", " switches", UNIT_PLAIN },
    [BENCH_retries] = { "retries ", "", UNIT_SHARE },
    [BENCH_schedule_per_s] = { "schedule ", "", UNIT_RATE },
    [BENCH_cancel_per_s] = { "cancel ", "", UNIT_RATE },
    [BENCH_fire_cpu_ms] = { "CPU of firing ", "", UNIT_MS },
    [BENCH_seconds] = { "", "", UNIT_S },
    [BENCH_bytes_each] = { "", " each", UNIT_BYTES },
};

enum { VALUE_SIZE = 32 };

static void format_value(char out[static VALUE_SIZE], unit in, double value)
{
    switch (in) {
    case UNIT_RATE:
        snprintf(out, VALUE_SIZE, value >= 1e5 ? "%.2f M/s" : "%.2f k/s",
                 value >= 1e5 ? value / 1e6 : value / 1e3);
        break;
    case UNIT_NS:
        snprintf(out, VALUE_SIZE, value >= 1e4 ? "%.1f us" : "%.1f ns",
                 value >= 1e4 ? value / 1e3 : value);
        break;
    case UNIT_SHARE:
        snprintf(out, VALUE_SIZE, "%.2f %%", value * 100);
        break;
    case UNIT_MS:
        snprintf(out, VALUE_SIZE, "%.3f ms", value);
        break;
    case UNIT_S:
        snprintf(out, VALUE_SIZE, "%.3f s", value);
        break;
    case UNIT_BYTES:
        snprintf(out, VALUE_SIZE, "%.1f B", value);
        break;
    case UNIT_TIMES:
        snprintf(out, VALUE_SIZE, "%.3f", value);
        break;
    case UNIT_PLAIN:
        snprintf(out, VALUE_SIZE, "%.0f", value);
        break;
    }
}

static void print_figures(FILE *out, const bench_summary *s)
{
    char value[VALUE_SIZE];
    bench_figure chief = BENCH_FIGURE_COUNT; /* the first: best and spread are its */
    for (bench_figure i = 0; i < BENCH_FIGURE_COUNT; i++) {
        const double median = bench_figure_get(&s->median, i);
        if (median >= 0) {
            format_value(value, shapes[i].unit, median);
            fprintf(out, "%s%s%s%s", chief == BENCH_FIGURE_COUNT ? "" : ", ", shapes[i].before,
                    value, shapes[i].after);
            chief = chief == BENCH_FIGURE_COUNT ? i : chief;
        }
    }
    if (chief != BENCH_FIGURE_COUNT && s->runs > 1) {
        format_value(value, shapes[chief].unit, bench_figure_get(&s->best, chief));
        fprintf(out, " (best %s, spread %.1f %%)", value,
                bench_figure_get(&s->spread, chief) * 100);
    }
}

/* The columns in front of the figures. */
static void print_head(FILE *out, const bench_case *c)
{
    fprintf(out, "%-17s %-16s %7u  ", c->row->workload, c->row->variant, c->threads);
}

static void print_summary(FILE *out, const bench_summary *s)
{
    print_head(out, s->about);
    fprintf(out, "%-6s %7.1f %4u  ", bench_mode_name(s->mode), s->handover_ns, s->runs);
    print_figures(out, s);
    fputc('\n', out);
}

void bench_table_print(FILE *out, const bench_plan *plan)
{
    fprintf(out, "%-17s %-16s %7s  %-6s %7s %4s  %s\n", "workload", "variant", "threads", "mode",
            "line ns", "runs", "medians");
    for (size_t i = 0; i < plan->case_count; i++) {
        const bench_case *c = &plan->cases[i];
        if (c->skipped[0] != '\0') {
            print_head(out, c);
            fprintf(out, "skipped: %s\n", c->skipped);
        } else if (c->kept_count == 0) {
            print_head(out, c);
            fprintf(out, "nothing to show: %u wrong, %u thrown away\n", c->wrong, c->thrown_away);
        }
        for (bench_mode mode = 0; mode < BENCH_MODE_COUNT; mode++) {
            bench_summary s;
            if (bench_summary_make(&s, c, mode)) {
                print_summary(out, &s);
            }
        }
    }
}

void bench_table_list(FILE *out)
{
    const bench_row *row;
    for (size_t i = 0; (row = bench_row_at(i)) != NULL; i++) {
        char threads[64] = "";
        size_t used = 0;
        for (size_t k = 0; k < bench_row_thread_counts(row) && used < sizeof(threads); k++) {
            used += (size_t)snprintf(threads + used, sizeof(threads) - used, "%s%u",
                                     k == 0 ? "" : " ", row->threads[k]);
        }
        fprintf(out, "%-17s %-16s %-12s %s\n", row->workload, row->variant, threads, row->summary);
    }
}
