/*
 * load/w12_collapse.c - W12: the collapse that started it all. As many threads as processors, all
 * on one dispatcher, and a short burst of messages to each.
 *
 * One burst is over in microseconds, so it is repeated: the thread outside sends the same number
 * to each processor, in turn, waits until all are handled, and begins again. The rate is that of
 * all bursts, waiting included.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "load/producer.h"
#include "suite/rows.h"

#define EVENTS 2000000u

typedef struct burst {
    load l;
    load_sink *sinks;
    weir_processor *handles;
    uint32_t processors;
    uint32_t messages;
} burst;

static void send_burst(burst *b, uint64_t round)
{
    atomic_store_explicit(&b->l.gate.to_come, b->processors, memory_order_relaxed);
    for (uint32_t i = 0; i < b->processors; i++) {
        b->sinks[i].want += b->messages; /* nobody looks: all is handled */
    }
    for (uint32_t k = 0; k < b->messages; k++) {
        for (uint32_t i = 0; i < b->processors; i++) {
            const weir_status status = weir_engine_post(
                b->l.engine, b->handles[i], WEIR_EVENT(load_mail, 0, round * b->messages + k));
            if (status != WEIR_OK) {
                load_gate_break(&b->l.gate, status);
                return;
            }
        }
    }
}

static void run_bursts(const bench_setup *setup, bench_result *result, uint32_t messages)
{
    burst b;
    const uint32_t processors = setup->threads;
    const uint64_t events = (uint64_t)processors * messages;
    const uint64_t rounds = bench_scaled(setup, EVENTS, events) / events;
    b = (burst){ .sinks = load_memory(processors, sizeof(load_sink)),
                 .handles = load_memory(processors, sizeof(weir_processor)),
                 .processors = processors,
                 .messages = messages };
    load_open(&b.l, (weir_engine_options){ .threads = setup->threads }, 0);
    for (uint32_t i = 0; i < processors; i++) {
        b.sinks[i].gate = &b.l.gate;
        b.handles[i] = weir_processor_add(
            b.l.engine, WEIR_PROCESSOR(.handler = load_sink_take, .argument = &b.sinks[i]),
            &b.l.error);
    }
    if (load_start(&b.l, result)) {
        int64_t elapsed = 1;
        load_begin(&b.l);
        for (uint64_t i = 0; i < rounds && result->wrong[0] == '\0'; i++) {
            send_burst(&b, i);
            elapsed = load_wait(&b.l, result);
        }
        bench_result_rate(result, rounds * events, elapsed);
        load_cpu(&b.l, result);
        load_contention(&b.l, result);
    }
    load_close(&b.l, result);
    load_sink_check(b.sinks, processors, result);
    free(b.handles);
    free(b.sinks);
}

static void run_100(const bench_setup *setup, bench_result *result)
{
    run_bursts(setup, result, 100);
}

static void run_1000(const bench_setup *setup, bench_result *result)
{
    run_bursts(setup, result, 1000);
}

const bench_row load_w12_rows[] = {
    { "w12-100",
      "weir",
      "as many processors as threads, 100 messages each",
      { 2, 4, 8, 16 },
      run_100 },
    { "w12-1000",
      "weir",
      "as many processors as threads, 1,000 messages each",
      { 2, 4, 8, 16 },
      run_1000 },
    { 0 },
};
