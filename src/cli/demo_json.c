/*
 * cli/demo_json.c - the figures of `weir demo` for programs. Only numbers and the names of our own
 * dispatchers are printed, so nothing needs escaping.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "cli/demo_show.h"

void weir__demo_json_print(FILE *out, const weir__demo_figures *figures)
{
    const weir_counters *sums = &figures->totals;
    fprintf(out,
            "{\"accepted\":%" PRIu64 ",\"handled\":%" PRIu64 ",\"dropped\":%" PRIu64
            ",\"dead\":%" PRIu64 ",\"left\":%" PRIu64 ",\"seconds\":%.3f,\"dispatchers\":[",
            sums->accepted, sums->handled, sums->dropped, sums->dead, sums->left, figures->seconds);
    for (uint32_t i = 0; i < WEIR__DEMO_DISPATCHERS; i++) {
        const weir__demo_dispatcher_figures *d = &figures->dispatchers[i];
        fprintf(out,
                "%s{\"name\":\"%s\",\"threads\":%" PRIu64 ",\"handled\":%" PRIu64
                ",\"events_per_s\":%.1f,\"depth\":%" PRIu64 ",\"contention\":%.6f"
                ",\"backoff\":%.6f,\"p50_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64 "}",
                i == 0 ? "" : ",", d->name, d->threads, d->handled, d->events_per_s, d->depth,
                d->contention, d->backoff, d->p50_ns, d->p99_ns);
    }
    fprintf(out,
            "],\"timers\":{\"posted\":%" PRIu64 ",\"missed\":%" PRIu64
            ",\"late_p50_ns\":%lld,\"late_p99_ns\":%lld},\"moves\":%" PRIu64 "}\n",
            figures->timers.posted, figures->timers.missed, (long long)figures->timers.late_p50,
            (long long)figures->timers.late_p99, figures->moves);
}
