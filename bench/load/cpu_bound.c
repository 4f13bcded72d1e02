/*
 * load/cpu_bound.c - handlers that compute for 10 us: how busy the threads are kept.
 *
 * 16 processors with one event each, which they send to themselves again. Efficiency is the time
 * inside handlers, by threads times the time that it took.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "load/support.h"
#include "suite/rows.h"

enum { PROCESSORS = 16, WORK_NS = 10000 };
#define EVENTS 100000u

typedef struct job {
    uint64_t left;
} job;
WEIR_EVENT_TYPE(job, "bench.job");

typedef struct worker {
    _Alignas(64) int64_t busy_ns;
    uint64_t got;
    weir_processor self;
    load_gate *gate;
} worker;

static weir_status work(void *state, weir_turn *turn, const weir_event *event)
{
    const int64_t begin = bench_now();
    worker *self = state;
    const uint64_t left = ((const job *)event->data)->left;
    int64_t now = begin;
    while (now - begin < WORK_NS) {
        now = bench_now();
    }
    self->busy_ns += now - begin;
    self->got++;
    if (left == 0) {
        load_gate_pass(self->gate);
        return WEIR_OK;
    }
    const weir_status status = weir_turn_post(turn, self->self, WEIR_EVENT(job, left - 1));
    if (status != WEIR_OK) {
        load_gate_break(self->gate, status);
    }
    return status;
}

static void run(const bench_setup *setup, bench_result *result)
{
    load l;
    const uint64_t each = bench_scaled(setup, EVENTS, UINT64_C(10) * PROCESSORS) / PROCESSORS;
    worker *workers = load_memory(PROCESSORS, sizeof(*workers));
    load_open(&l, (weir_engine_options){ .threads = setup->threads }, PROCESSORS);
    for (uint32_t i = 0; i < PROCESSORS; i++) {
        workers[i].gate = &l.gate;
        workers[i].self = weir_processor_add(
            l.engine, WEIR_PROCESSOR(.handler = work, .argument = &workers[i]), &l.error);
    }
    if (load_start(&l, result)) {
        int64_t busy = 0;
        load_begin(&l);
        for (uint32_t i = 0; i < PROCESSORS; i++) {
            const weir_status status =
                weir_engine_post(l.engine, workers[i].self, WEIR_EVENT(job, each - 1));
            if (status != WEIR_OK) {
                load_gate_break(&l.gate, status);
            }
        }
        const int64_t elapsed = load_wait(&l, result);
        for (uint32_t i = 0; i < PROCESSORS; i++) {
            busy += workers[i].busy_ns;
        }
        bench_result_rate(result, PROCESSORS * each, elapsed);
        result->efficiency = (double)busy / (double)setup->threads / (double)elapsed;
        load_contention(&l, result);
    }
    load_close(&l, result);
    for (uint32_t i = 0; i < PROCESSORS; i++) {
        if (workers[i].got != each) {
            bench_wrong(result, "processor %u got %llu of %llu events", i,
                        (unsigned long long)workers[i].got, (unsigned long long)each);
        }
    }
    free(workers);
}

const bench_row load_cpu_bound_rows[] = {
    { "cpu-bound", "weir", "10 us handlers: how busy the cores are", { 1, 2 }, run },
    { 0 },
};
