/*
 * suite/run.c - see run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "suite/run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite/watchdog.h"

enum { WHAT_SIZE = 160 };

static void say_progress(const bench_plan *plan, uint32_t run, size_t index)
{
    if (isatty(STDERR_FILENO) != 0) {
        const bench_case *c = &plan->cases[index];
        fprintf(stderr, "\r\033[Krun %u of %u, %zu of %zu: %s/%s, %u threads", run + 1, plan->runs,
                index + 1, plan->case_count, c->row->workload, c->row->variant, c->threads);
    }
}

static void end_progress(void)
{
    if (isatty(STDERR_FILENO) != 0) {
        fputs("\r\033[K", stderr);
    }
}

static bench_measurement measure(const bench_plan *plan, const bench_case *c, uint32_t run)
{
    bench_measurement m;
    char what[WHAT_SIZE];
    const bench_setup setup = { c->threads, plan->scale, plan->seed + run };
    snprintf(what, sizeof(what), "%s: %s/%s with %u threads", plan->program, c->row->workload,
             c->row->variant, c->threads);
    bench_result_clear(&m.result);
    bench_watchdog_set(what, plan->limit_s);
    const bench_handover before = bench_handover_measure();
    c->row->run(&setup, &m.result);
    m.handover = bench_handover_join(before, bench_handover_measure());
    bench_watchdog_clear();
    return m;
}

/* Whether the hand-over stayed what it was, and is the one wanted, if one is; or patience ends. */
static bool is_kept(const bench_plan *plan, bench_mode mode, uint32_t attempt)
{
    if (plan->mode != BENCH_MIXED) {
        return mode == plan->mode || mode == BENCH_SINGLE;
    }
    return mode != BENCH_MIXED || attempt == plan->tries;
}

static void run_case(const bench_plan *plan, bench_case *c, uint32_t run)
{
    for (uint32_t attempt = 1; attempt <= plan->tries && c->skipped[0] == '\0'; attempt++) {
        const bench_measurement m = measure(plan, c, run);
        if (m.result.skipped[0] != '\0') {
            memcpy(c->skipped, m.result.skipped, sizeof(c->skipped));
        } else if (m.result.wrong[0] != '\0') {
            end_progress();
            fprintf(stderr, "%s: %s/%s, %u threads, run %u: wrong: %s\n", plan->program,
                    c->row->workload, c->row->variant, c->threads, run + 1, m.result.wrong);
            c->wrong++;
            return;
        } else if (is_kept(plan, m.handover.mode, attempt)) {
            c->kept[c->kept_count++] = m;
            return;
        } else {
            c->thrown_away++;
        }
    }
}

uint32_t bench_run(bench_plan *plan)
{
    uint32_t wrong = 0;
    for (uint32_t run = 0; run < plan->runs; run++) {
        for (size_t i = 0; i < plan->case_count; i++) {
            say_progress(plan, run, i);
            run_case(plan, &plan->cases[i], run);
        }
    }
    end_progress();
    for (size_t i = 0; i < plan->case_count; i++) {
        wrong += plan->cases[i].wrong;
    }
    return wrong;
}
