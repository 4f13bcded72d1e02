/*
 * guard/counts.c - the paths in the simulator, which counts atomic operations. One run each, in
 * which nothing is left to chance.
 *
 * Prints a line of JSON a path: its events, and how many operations of each kind they took. With
 * GUARD_TRACE in the environment every step is written to that file: which operations they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard/scene.h"
#include "sync/sim/count.h"
#include "weir/sim.h"

static weir__sim_counts at_mark[2];
static uint32_t marks;

static void mark(void)
{
    at_mark[marks++ % 2] = weir__sim_counted;
}

static void body(void *argument)
{
    guard_run(argument, mark);
}

static void run(const guard_path *path)
{
    weir_sim_result result = WEIR_SIM_RESULT_INIT;
    const weir_status status =
        weir_sim_explore(WEIR_SIM(.runs = 1, .faults = WEIR_SIM_NO_FAULTS, .steps_max = UINT64_MAX,
                                  .trace = getenv("GUARD_TRACE")),
                         body, (void *)(uintptr_t)path, &result);
    guard_check(status == WEIR_OK && !result.failed, result.why);
    printf("{\"path\": \"%s\", \"events\": %u", path->name, path->rounds * path->events);
#define PRINT(name) printf(", \"" #name "\": %" PRIu64, at_mark[1].name - at_mark[0].name);
    WEIR__SIM_COUNTS(PRINT)
#undef PRINT
    puts("}");
}

int main(int argc, char **argv)
{
    return guard_main(argc, argv, run);
}
