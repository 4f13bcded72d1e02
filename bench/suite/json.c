/*
 * suite/json.c - the same as the table, for programs: an array, one object a case and mode.
 *
 * Names of workloads and variants are plain words, so nothing is escaped but texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suite/figures.h"
#include "suite/rows.h"
#include "suite/summary.h"

static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', out);
        }
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    fputc('"', out);
}

/* Without an exponent where people look at it. */
static void print_number(FILE *out, double value)
{
    fprintf(out, value >= 1e6 && value < 1e15 ? "%.0f" : "%.6g", value);
}

/* "name": value, ... without braces. */
static void print_figures(FILE *out, const bench_result *figures, const char *before)
{
    for (bench_figure i = 0; i < BENCH_FIGURE_COUNT; i++) {
        const double value = bench_figure_get(figures, i);
        if (value >= 0) {
            fprintf(out, "%s\"%s\": ", before, bench_figure_name(i));
            print_number(out, value);
            before = ", ";
        }
    }
}

/* Opens an object and leaves it open. */
static void open_object(FILE *out, const bench_row *row, bool *first)
{
    fprintf(out, "%s\n  {\"workload\": \"%s\", \"variant\": \"%s\"", *first ? "" : ",",
            row->workload, row->variant);
    *first = false;
}

static void print_summary(FILE *out, const bench_summary *s)
{
    fprintf(out, ", \"threads\": %u, \"mode\": \"%s\", \"handover_ns\": %.1f", s->about->threads,
            bench_mode_name(s->mode), s->handover_ns);
    fprintf(out, ", \"runs\": %u, \"thrown_away\": %u", s->runs, s->about->thrown_away);
    print_figures(out, &s->median, ", ");
    fputs(", \"best\": {", out);
    print_figures(out, &s->best, "");
    fputs("}, \"spread\": {", out);
    print_figures(out, &s->spread, "");
    fputs("}}", out);
}

void bench_json_print(FILE *out, const bench_plan *plan)
{
    bool first = true;
    fputc('[', out);
    for (size_t i = 0; i < plan->case_count; i++) {
        const bench_case *c = &plan->cases[i];
        if (c->skipped[0] != '\0') {
            open_object(out, c->row, &first);
            fprintf(out, ", \"threads\": %u, \"mode\": \"skipped\", \"runs\": 0, \"skipped\": ",
                    c->threads);
            print_text(out, c->skipped);
            fputc('}', out);
        }
        for (bench_mode mode = 0; mode < BENCH_MODE_COUNT; mode++) {
            bench_summary s;
            if (bench_summary_make(&s, c, mode)) {
                open_object(out, c->row, &first);
                print_summary(out, &s);
            }
        }
    }
    fputs(first ? "]\n" : "\n]\n", out);
}

void bench_json_list(FILE *out)
{
    bool first = true;
    const bench_row *row;
    fputc('[', out);
    for (size_t i = 0; (row = bench_row_at(i)) != NULL; i++) {
        open_object(out, row, &first);
        fputs(", \"threads\": [", out);
        for (size_t k = 0; k < bench_row_thread_counts(row); k++) {
            fprintf(out, "%s%u", k == 0 ? "" : ", ", row->threads[k]);
        }
        fputs("], \"summary\": ", out);
        print_text(out, row->summary);
        fputc('}', out);
    }
    fputs(first ? "]\n" : "\n]\n", out);
}
