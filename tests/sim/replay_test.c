/*
 * replay_test.c - the schedule of a run repeats it, step by step: for every scenario, by every
 * strategy, with every fault.
 *
 * A run is cut off in the middle, which is a failure like any other and comes with its schedule;
 * the traces of the run and of its replay must be the same bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <unistd.h>

#include "../test_support.h"
#include "weir/sim.h"

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): see
 * above */
extern const weir_sim_scenario *const __start_weir_scenarios[];
extern const weir_sim_scenario *const __stop_weir_scenarios[];
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static const char *const traces[2] = { "replay_test.first", "replay_test.again" };

static weir_sim_result traced(const weir_sim_scenario *scenario, weir_sim_options options,
                              const char *trace)
{
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    options.struct_size = sizeof(options);
    options.trace = trace;
    assert_int_equal(WEIR_OK,
                     weir_sim_explore(&options, scenario->body, scenario->argument, &result));
    return result;
}

/* The last line of the first tells of the end, which a run that was not cut off does not have. */
static bool same_traces(void)
{
    FILE *first = fopen(traces[0], "re");
    FILE *again = fopen(traces[1], "re");
    assert_non_null(first);
    assert_non_null(again);
    int one;
    int two;
    do {
        one = fgetc(first);
        two = fgetc(again);
    } while (one == two && one != EOF);
    fclose(first);
    fclose(again);
    return one == two;
}

/* True: its decisions fitted into a schedule, and the replay was the same run. */
static bool repeats(const weir_sim_scenario *scenario, weir_sim_options options)
{
    const weir_sim_result first = traced(scenario, options, traces[0]);
    if (!first.failed || first.schedule[0] == '\0') {
        return false;
    }
    options.strategy = WEIR_SIM_REPLAY;
    options.schedule = first.schedule;
    const weir_sim_result again = traced(scenario, options, traces[1]);
    if (!again.failed || strcmp(first.why, again.why) != 0 || !same_traces()) {
        print_error("%s, strategy %d, seed %llu is not repeated by %s\n", scenario->name,
                    (int)options.strategy, (unsigned long long)options.seed, first.schedule);
        fail();
    }
    return true;
}

static void a_schedule_repeats_its_run_step_by_step(void **state)
{
    (void)state;
    uint32_t repeated = 0;
    for (const weir_sim_scenario *const *s = __start_weir_scenarios; s < __stop_weir_scenarios;
         s++) {
        for (uint64_t seed = 1; seed <= 12; seed++) {
            repeated += repeats(*s, (weir_sim_options){ .runs = 1,
                                                        .seed = seed,
                                                        .strategy = (weir_sim_strategy)(seed % 2),
                                                        .faults = seed % 3 == 0 ? 63 : 0,
                                                        .steps_max = 300 + 100 * seed });
        }
    }
    fprintf(stderr, "# %u runs were repeated\n", repeated);
    unlink(traces[0]);
    unlink(traces[1]);
    assert_true(repeated > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schedule_repeats_its_run_step_by_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
