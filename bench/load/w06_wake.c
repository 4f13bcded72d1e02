/*
 * load/w06_wake.c - W6: from a post to the first line of the handler, a thousand times a second.
 *
 * The thread has had nothing to do for a millisecond: it sleeps (the default, and `park`), or it
 * spins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "load/support.h"
#include "suite/rows.h"

#define SAMPLES 3000u
#define WARM_UP 20u /* the first ones do not count */
#define SILENCE_NS 1000000

typedef struct stamp {
    int64_t posted_ns;
} stamp;
WEIR_EVENT_TYPE(stamp, "bench.stamp");

typedef struct probe {
    int64_t *samples;
    uint64_t want, got;
    int64_t last_ns;
    uint64_t disorder;
    load_gate *gate;
} probe;

static weir_status take_time(void *state, weir_turn *turn, const weir_event *event)
{
    const int64_t now = bench_now();
    probe *self = state;
    const int64_t posted = ((const stamp *)event->data)->posted_ns;
    (void)turn;
    self->disorder += posted <= self->last_ns;
    self->last_ns = posted;
    if (self->got >= WARM_UP) {
        self->samples[self->got - WARM_UP] = now - posted;
    }
    if (++self->got == self->want) {
        load_gate_pass(self->gate);
    }
    return WEIR_OK;
}

static void post_all(load *l, weir_processor to, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        bench_sleep(SILENCE_NS);
        const weir_status status = weir_engine_post(l->engine, to, WEIR_EVENT(stamp, bench_now()));
        if (status != WEIR_OK) {
            load_gate_break(&l->gate, status);
            return;
        }
    }
}

static void wake(const bench_setup *setup, bench_result *result, weir_idle idle)
{
    load l;
    const uint64_t samples = bench_scaled(setup, SAMPLES, 20);
    probe p = { .want = WARM_UP + samples, .gate = &l.gate };
    p.samples = load_memory(samples, sizeof(*p.samples));
    load_open(&l, (weir_engine_options){ 0 }, 1);
    for (uint32_t i = 0; i < setup->threads; i++) {
        weir_thread_add(l.engine, WEIR_THREAD(.idle = idle), &l.error);
    }
    const weir_processor to = weir_processor_add(
        l.engine, WEIR_PROCESSOR(.handler = take_time, .argument = &p), &l.error);
    if (load_start(&l, result)) {
        post_all(&l, to, p.want);
        (void)load_wait(&l, result);
    }
    load_close(&l, result);
    if (p.got != p.want || p.disorder != 0) {
        bench_wrong(result, "%llu of %llu events, %llu out of order", (unsigned long long)p.got,
                    (unsigned long long)p.want, (unsigned long long)p.disorder);
    }
    bench_result_latency(result, p.samples, samples);
    free(p.samples);
}

static void run_default(const bench_setup *setup, bench_result *result)
{
    wake(setup, result, WEIR_IDLE_DEFAULT);
}

static void run_park(const bench_setup *setup, bench_result *result)
{
    wake(setup, result, WEIR_IDLE_PARK);
}

static void run_spin(const bench_setup *setup, bench_result *result)
{
    wake(setup, result, WEIR_IDLE_BUSY_SPIN);
}

const bench_row load_w06_wake_rows[] = {
    { "w6-parked", "weir", "wake-up of a thread that sleeps, 1,000/s", { 1 }, run_default },
    { "w6-parked", "weir-park", "the same, told to park at once", { 1 }, run_park },
    { "w6-spinning", "weir", "the same of a thread that spins", { 1 }, run_spin },
    { 0 },
};
