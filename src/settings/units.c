/*
 * settings/units.c - durations and sizes as somebody would write them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>

#include "settings/fill.h"

void weir__duration_text(weir_ns duration, char *out, size_t size)
{
    static const struct {
        weir_ns length;
        const char *unit;
    } units[] = { { 3600 * WEIR_S, "h" }, { 60 * WEIR_S, "m" }, { WEIR_S, "s" },
                  { WEIR_MS, "ms" },      { WEIR_US, "us" },    { 1, "ns" } };
    if (duration == WEIR_FOREVER) {
        snprintf(out, size, "never");
        return;
    }
    size_t i = 0;
    while (duration != 0 && duration % units[i].length != 0) {
        i++;
    }
    i = duration == 0 ? 2 : i;
    snprintf(out, size, "%" PRId64 "%s", duration / units[i].length, units[i].unit);
}

void weir__bytes_text(uint64_t bytes, char *out, size_t size)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    size_t i = 0;
    while (i < 5 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        i++;
    }
    snprintf(out, size, "%" PRIu64 "%s", bytes, units[i]);
}
