/*
 * scenarios.c - the program of all scenarios. Each registers itself (scenario.h); they are found
 * here, sorted, and handed to the command line that the weir command has, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/simulate.h"
#include "weir/sim.h"

#define SCENARIOS_MAX 400
#define NAME_MAX 48

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): see
 * above */
extern const weir_sim_scenario *const __start_weir_scenarios[];
extern const weir_sim_scenario *const __stop_weir_scenarios[];
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const weir_sim_scenario *)a)->name, ((const weir_sim_scenario *)b)->name);
}

int main(int argc, char **argv)
{
    static weir_sim_scenario all[SCENARIOS_MAX + 1];
    static char names[SCENARIOS_MAX][NAME_MAX];
    const size_t count = (size_t)(__stop_weir_scenarios - __start_weir_scenarios);
    if (count > SCENARIOS_MAX) {
        fprintf(stderr, "%zu scenarios; SCENARIOS_MAX is %d\n", count, SCENARIOS_MAX);
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = *__start_weir_scenarios[i];
        snprintf(names[i], NAME_MAX, "%s", all[i].name);
        for (char *at = names[i]; *at != '\0'; at++) {
            *at = *at == '_' ? '-' : *at;
        }
        all[i].name = names[i];
    }
    qsort(all, count, sizeof(all[0]), by_name);
    return weir__simulate(argv[0], all, argc - 1, argv + 1);
}
