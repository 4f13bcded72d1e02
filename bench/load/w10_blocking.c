/*
 * load/w10_blocking.c - W10: handlers that sleep for a millisecond.
 *
 * Efficiency is the time that the sleeps alone would take, shared among the threads, by the time
 * that it took. Sleeps last longer than they are asked to, by an amount that is the system's: so
 * each is measured, and their real length counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "load/support.h"
#include "suite/rows.h"

enum { PROCESSORS_PER_THREAD = 16, EVENTS_EACH = 16, SLEEP_NS = 1000000 };

WEIR_EMPTY_TYPE(nap, "bench.nap");

typedef struct sleeper {
    _Alignas(64) int64_t slept_ns;
    uint64_t want, got;
    load_gate *gate;
} sleeper;

static weir_status sleep_on_it(void *state, weir_turn *turn, const weir_event *event)
{
    sleeper *self = state;
    (void)turn;
    (void)event;
    const int64_t begin = bench_now();
    bench_sleep(SLEEP_NS);
    self->slept_ns += bench_now() - begin;
    if (++self->got == self->want) {
        load_gate_pass(self->gate);
    }
    return WEIR_OK;
}

/* In turn, so that none is done before the others have begun. */
static void post_all(load *l, const weir_processor *handles, uint32_t count, uint64_t each)
{
    for (uint64_t k = 0; k < each; k++) {
        for (uint32_t i = 0; i < count; i++) {
            const weir_status status = weir_engine_post(l->engine, handles[i], WEIR_EMPTY(nap));
            if (status != WEIR_OK) {
                load_gate_break(&l->gate, status);
                return;
            }
        }
    }
}

static void run(const bench_setup *setup, bench_result *result)
{
    load l;
    const uint32_t count = setup->threads * PROCESSORS_PER_THREAD;
    const uint64_t each = bench_scaled(setup, EVENTS_EACH, 1);
    sleeper *sleepers = load_memory(count, sizeof(*sleepers));
    weir_processor *handles = load_memory(count, sizeof(*handles));
    load_open(&l, (weir_engine_options){ .threads = setup->threads }, count);
    for (uint32_t i = 0; i < count; i++) {
        sleepers[i] = (sleeper){ .want = each, .gate = &l.gate };
        handles[i] = weir_processor_add(
            l.engine, WEIR_PROCESSOR(.handler = sleep_on_it, .argument = &sleepers[i]), &l.error);
    }
    if (load_start(&l, result)) {
        load_begin(&l);
        post_all(&l, handles, count, each);
        const int64_t elapsed = load_wait(&l, result);
        int64_t slept = 0;
        for (uint32_t i = 0; i < count; i++) {
            slept += sleepers[i].slept_ns;
        }
        bench_result_rate(result, count * each, elapsed);
        result->efficiency = (double)slept / (double)setup->threads / (double)elapsed;
        load_contention(&l, result);
    }
    load_close(&l, result);
    for (uint32_t i = 0; i < count; i++) {
        if (sleepers[i].got != each) {
            bench_wrong(result, "processor %u got %llu of %llu events", i,
                        (unsigned long long)sleepers[i].got, (unsigned long long)each);
        }
    }
    free(handles);
    free(sleepers);
}

const bench_row load_w10_rows[] = {
    { "w10", "weir", "handlers that sleep 1 ms", { 1, 2, 4, 8, 16 }, run },
    { 0 },
};
