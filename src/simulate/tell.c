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

/* The last lines of a file, as a ring. */
static void print_tail(FILE *trace)
{
    static char ring[TAIL_LINES][LINE_BYTES];
    uint64_t count = 0;
    while (fgets(ring[count % TAIL_LINES], LINE_BYTES, trace) != NULL) {
        count++;
    }
    const uint64_t shown = count < TAIL_LINES ? count : TAIL_LINES;
    printf("    its last %" PRIu64 " of %" PRIu64 " steps:\n", shown, count);
    printf("      %7s %12s %-3s %-12s %-10s %-10s %s\n", "step", "time", "who", "what", "where",
           "value", "at");
    for (uint64_t i = count - shown; i < count; i++) {
        printf("      %s", ring[i % TAIL_LINES]);
    }
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
        print_tail(trace);
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
