/*
 * simulate/simulate.c - the command: which scenarios, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/simulate.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "simulate/jobs.h"
#include "simulate/options.h"
#include "simulate/quote.h"
#include "simulate/tell.h"

enum { WELL = 0, FAILED = 1, USED_WRONGLY = 2 };

static weir_ns now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (weir_ns)t.tv_sec * WEIR_S + t.tv_nsec;
}

static bool is_wanted(const weir__simulate_options *o, const char *name)
{
    for (uint32_t i = 0; i < o->name_count; i++) {
        if (strcmp(o->names[i], name) == 0) {
            return true;
        }
    }
    return o->name_count == 0;
}

static bool names_exist(const char *program, const weir__simulate_options *o,
                        const weir_sim_scenario *scenarios)
{
    for (uint32_t i = 0; i < o->name_count; i++) {
        const weir_sim_scenario *s = scenarios;
        while (s->name != NULL && strcmp(s->name, o->names[i]) != 0) {
            s++;
        }
        if (s->name == NULL) {
            fprintf(stderr, "%s: no scenario '%s'\ntry: %s --list\n", program, o->names[i],
                    program);
            return false;
        }
    }
    return true;
}

/* A program's own arguments belong to the line that repeats its run. */
static void add_rest(const weir__simulate_options *o, weir_sim_result *result)
{
    const size_t size = sizeof(result->replay);
    if (o->rest_count > 0) {
        weir__simulate_quote(result->replay, size, "--");
    }
    for (uint32_t i = 0; i < o->rest_count; i++) {
        weir__simulate_quote(result->replay, size, o->rest[i]);
    }
}

static bool run(const char *program, const weir_sim_scenario *scenario,
                const weir__simulate_options *o, bool *failed)
{
    char name[512];
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    weir_sim_options sim = o->sim;
    sim.faults = sim.faults != 0 ? sim.faults : scenario->faults;
    sim.steps_max = sim.steps_max != 0 ? sim.steps_max : scenario->steps_max;
    if ((size_t)snprintf(name, sizeof(name), "%s %s", program, scenario->name) >= sizeof(name)) {
        snprintf(name, sizeof(name), "PROGRAM %s", scenario->name);
    }
    sim.name = name;
    const weir_ns start = now();
    if (!weir__simulate_jobs(scenario, &sim, o->jobs, &result)) {
        return false;
    }
    if (result.failed) {
        add_rest(o, &result);
    }
    weir__simulate_tell(scenario, &sim, &result, now() - start);
    *failed = *failed || result.failed;
    return true;
}

int weir__simulate(const char *program, const weir_sim_scenario *scenarios, int argc, char **argv)
{
    weir__simulate_options o;
    bool failed = false;
    if (!weir__simulate_options_read(program, argc, argv, &o)) {
        return USED_WRONGLY;
    }
    if (o.help) {
        weir__simulate_help(program);
        return WELL;
    }
    if (!names_exist(program, &o, scenarios)) {
        return USED_WRONGLY;
    }
    for (const weir_sim_scenario *s = scenarios; s->name != NULL; s++) {
        if (!is_wanted(&o, s->name)) {
            continue;
        }
        if (o.list) {
            printf("%-24s %s\n", s->name, s->about);
        } else if (!run(program, s, &o, &failed)) {
            return o.sim.schedule != NULL ? USED_WRONGLY : FAILED;
        }
    }
    return fflush(stdout) != 0 || failed ? FAILED : WELL;
}
