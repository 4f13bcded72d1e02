/*
 * load/w09_idle.c - W9: what an engine that has nothing to do costs, by idle strategy, and under a
 * quota of CPU time.
 *
 * The threads have started, and gone idle again. One that has had no context switch since was not
 * on a core, so it made no system call either.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/quota.h"
#include "load/support.h"
#include "suite/rows.h"

#define WINDOW_NS 5000000000u /* as the peers; CPU is told per second, as theirs is */
#define WINDOW_LEAST_NS 20000000u
#define SETTLE_NS 150000000 /* the watchdog looks once more, within 50 ms */

WEIR_EMPTY_TYPE(poke, "bench.poke");

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    load_gate_pass(state);
    return WEIR_OK;
}

/* Voluntary ones and the others, of one thread of this process. */
static uint64_t switches_of(const char *task)
{
    char path[64], line[128];
    unsigned long long sum = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", task);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        const char *found = strstr(line, "voluntary_ctxt_switches:");
        sum += found != NULL ? strtoull(strchr(found, ':') + 1, NULL, 10) : 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return sum;
}

/* Of all threads but the calling one. */
static uint64_t switches_of_others(void)
{
    uint64_t sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    const long self = gettid();
    const struct dirent *entry;
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != self) {
            sum += switches_of(entry->d_name);
        }
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return sum;
}

static void measure(load *l, const bench_setup *setup, bench_result *result)
{
    bench_sleep(SETTLE_NS);
    const uint64_t before = switches_of_others();
    load_begin(l);
    bench_sleep((int64_t)bench_scaled(setup, WINDOW_NS, WINDOW_LEAST_NS));
    load_cpu(l, result);
    result->seconds = (double)(bench_now() - l->begin_ns) / 1e9;
    result->cpu_ms /= result->seconds;
    result->switches = (double)(switches_of_others() - before);
}

static void idle(const bench_setup *setup, bench_result *result, weir_idle strategy)
{
    load l;
    load_open(&l, (weir_engine_options){ 0 }, setup->threads);
    for (uint32_t i = 0; i < setup->threads; i++) {
        weir_thread_add(l.engine, WEIR_THREAD(.idle = strategy), &l.error);
    }
    const weir_processor to = weir_processor_add(
        l.engine, WEIR_PROCESSOR(.handler = take, .argument = &l.gate), &l.error);
    if (load_start(&l, result)) {
        weir_status status = WEIR_OK;
        for (uint32_t i = 0; i < setup->threads && status == WEIR_OK; i++) {
            status = weir_engine_post(l.engine, to, WEIR_EMPTY(poke));
        }
        if (status != WEIR_OK) {
            load_gate_break(&l.gate, status);
        }
        (void)load_wait(&l, result);
        measure(&l, setup, result);
    }
    load_close(&l, result);
}

#define RUN(name, strategy)                                                                        \
    static void run_##name(const bench_setup *setup, bench_result *result)                         \
    {                                                                                              \
        idle(setup, result, strategy);                                                             \
    }
RUN(default, WEIR_IDLE_DEFAULT)
RUN(backoff, WEIR_IDLE_BACKOFF)
RUN(park, WEIR_IDLE_PARK)
RUN(sleep, WEIR_IDLE_SLEEP)
RUN(yield, WEIR_IDLE_YIELD)
RUN(busy_spin, WEIR_IDLE_BUSY_SPIN)
RUN(noop, WEIR_IDLE_NOOP)

static void run_quota(const bench_setup *setup, bench_result *result)
{
    load_under_quota(0.5, run_default, setup, result);
}

const bench_row load_w09_rows[] = {
    { "w9-idle", "weir", "8 threads and nothing to do: CPU a second", { 8 }, run_default },
    { "w9-idle", "weir-backoff", "the same, told to spin, yield, park", { 8 }, run_backoff },
    { "w9-idle", "weir-park", "the same, told to park at once", { 8 }, run_park },
    { "w9-idle", "weir-sleep", "the same, told to look every millisecond", { 8 }, run_sleep },
    { "w9-idle", "weir-yield", "the same, told to give its core away", { 8 }, run_yield },
    { "w9-idle", "weir-busy-spin", "the same, told to spin", { 8 }, run_busy_spin },
    { "w9-idle", "weir-noop", "the same, told to look again at once", { 8 }, run_noop },
    { "w9-quota", "weir", "w9-idle with half a core for all", { 8 }, run_quota },
    { 0 },
};
