/*
 * simulate/tell.c - one line per scenario; a failure with its replay, and the end of its trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "simulate/tell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAIL_LINES 40u
#define LINE_BYTES 256u

static const char *verdict(const weir_sim_options *o, const weir_sim_result *result)
{
    if (result->failed) {
        return "FAILED";
    }
    if (o->strategy == WEIR_SIM_EXHAUSTIVE) {
        return result->complete ? "ok, all orders within the bound" : "ok so far, not all orders";
    }
    const bool races_wanted = o->faults == 0 || (o->faults & WEIR_SIM_RACES) != 0;
    return races_wanted && !result->races_seen ? "ok, but not every race would have been seen"
                                               : "ok";
}

/* The last lines of a file that were kept, as a ring. */
typedef struct ring {
    char lines[TAIL_LINES][LINE_BYTES];
    uint64_t count;
} ring;

static void keep(ring *r, const char *line)
{
    snprintf(r->lines[r->count++ % TAIL_LINES], LINE_BYTES, "%s", line);
}

static void print_ring(const ring *r, const char *what, const char *heading)
{
    const uint64_t shown = r->count < TAIL_LINES ? r->count : TAIL_LINES;
    if (shown < r->count) {
        printf("    the last %" PRIu64 " of its %" PRIu64 " %s:\n", shown, r->count, what);
    } else {
        printf("    its %s:\n", what);
    }
    printf("      %s\n", heading);
    for (uint64_t i = r->count - shown; i < r->count; i++) {
        printf("      %s\n", r->lines[i % TAIL_LINES]);
    }
}

/* First what handlers did and what was noted, which is the story; then the steps at the end. */
static void print_trace(FILE *trace)
{
    static ring notes;
    static ring steps;
    char line[LINE_BYTES];
    notes.count = steps.count = 0;
    while (fgets(line, sizeof(line), trace) != NULL) {
        unsigned long long step;
        long long time;
        char who[8];
        int text = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%llu %lld %7s note %n", &step, &time, who, &text) == 3 && text > 0) {
            char note[LINE_BYTES];
            snprintf(note, sizeof(note), "%7llu %14.9f %-3s %.200s", step,
                     (double)time / (double)WEIR_S, who, line + text);
            keep(&notes, note);
        } else {
            keep(&steps, line);
        }
    }
    if (notes.count > 0) {
        print_ring(&notes, "turns and notes", "   step        seconds who");
    }
    print_ring(&steps, "steps", "   step           ns who what         where      value      at");
}

/* Runs the shorter schedule once more, to see its steps. */
static void show_steps(const weir_sim_scenario *scenario, const weir_sim_options *options,
                       const weir_sim_result *result)
{
    weir_sim_options o = *options;
    weir_sim_result again = WEIR_SIM_RESULT_INIT;
    char name[] = "/tmp/weir-sim-XXXXXX";
    const int descriptor = mkstemp(name);
    FILE *trace = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    if (trace == NULL) {
        fprintf(stderr, "no temporary file for the trace\n");
        return;
    }
    o.strategy = WEIR_SIM_REPLAY;
    o.schedule = result->schedule;
    o.trace = name;
    o.shrink = false;
    if (weir_sim_explore(&o, scenario->body, scenario->argument, &again) == WEIR_OK) {
        print_trace(trace);
    }
    fclose(trace);
    unlink(name);
}

static void tell_failure(const weir_sim_scenario *scenario, const weir_sim_options *o,
                         const weir_sim_result *result)
{
    printf("    why: %s\n    replay: %s\n", result->why, result->replay);
    if (!o->shrink) {
        return;
    }
    printf("    shorter: %" PRIu32 " preemption%s", result->preemptions,
           result->preemptions == 1 ? "" : "s");
    if (result->schedule[0] == '\0') {
        puts(", and either no decision at all or too many for a line");
        return;
    }
    printf("\n");
    show_steps(scenario, o, result);
}

void weir__simulate_tell(const weir_sim_scenario *scenario, const weir_sim_options *options,
                         const weir_sim_result *result, weir_ns took)
{
    const double seconds = took > 0 ? (double)took / (double)WEIR_S : 1e-9;
    printf("%-24s %10" PRIu64 " schedules %9.0f/s %6.0f steps  %s", scenario->name, result->runs,
           (double)result->runs / seconds,
           result->runs > 0 ? (double)result->steps / (double)result->runs : 0.0,
           verdict(options, result));
    if (result->failed && options->strategy != WEIR_SIM_REPLAY &&
        options->strategy != WEIR_SIM_EXHAUSTIVE) {
        printf(" (seed %" PRIu64 ")", result->seed);
    }
    printf("\n");
    if (result->failed) {
        tell_failure(scenario, options, result);
    }
    fflush(stdout);
}
