/*
 * suite/mode.c - the modes' names, and which one a measurement was in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "suite/handover.h"

const char *bench_mode_name(bench_mode mode)
{
    static const char *const names[BENCH_MODE_COUNT] = { "near", "far", "mixed", "single" };
    return names[mode];
}

bench_handover bench_handover_join(bench_handover before, bench_handover after)
{
    const bool changed = before.mode != after.mode ||
                         before.ns > BENCH_HANDOVER_CHANGE * after.ns ||
                         after.ns > BENCH_HANDOVER_CHANGE * before.ns;
    return (bench_handover){ changed ? BENCH_MIXED : before.mode, (before.ns + after.ns) / 2 };
}
