/*
 * load/flood.c - see flood.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/flood.h"

#include <stdio.h>
#include <stdlib.h>

#include "load/producer.h"

enum { DISPATCHERS_MAX = 8, NAME_SIZE = 8 };

typedef struct scene {
    const load_flood *flood;
    load l;
    load_sink *sinks;
    load_producer *producers;
    weir_processor *targets; /* grouped by producer: its own lie together */
    uint64_t each;           /* from a producer to a target */
    char names[DISPATCHERS_MAX][NAME_SIZE];
} scene;

static void add_threads(scene *s, uint32_t threads)
{
    const char *names[DISPATCHERS_MAX + 1] = { NULL };
    for (uint32_t i = 0; i < s->flood->dispatchers; i++) {
        snprintf(s->names[i], NAME_SIZE, "d%u", i);
        names[i] = s->names[i];
    }
    if (s->flood->dispatchers > 0) {
        weir_assign_strategy(s->l.engine,
                             WEIR_ASSIGNMENT(.strategy = s->flood->strategy, .dispatchers = names,
                                             .threads = threads),
                             &s->l.error);
    } else if (s->flood->fair) {
        /* A dispatcher exists once a thread serves it: with these the engine adds none. */
        for (uint32_t i = 0; i < threads; i++) {
            weir_thread_add(s->l.engine, NULL, &s->l.error);
        }
        weir_dispatcher_tune(s->l.engine, WEIR_DISPATCHER(.name = "", .fair = true), &s->l.error);
    }
}

/* Producer p has the processors p, p + producers, ...; a single processor is everybody's. */
static void add_sinks(scene *s)
{
    const load_flood *flood = s->flood;
    const bool shared = flood->processors < flood->producers;
    for (uint32_t i = 0; i < flood->processors; i++) {
        s->sinks[i] =
            (load_sink){ .want = s->each * (shared ? flood->producers : 1), .gate = &s->l.gate };
    }
    uint32_t used = 0;
    for (uint32_t p = 0; p < (shared ? 1 : flood->producers); p++) {
        for (uint32_t i = p; i < flood->processors; i += shared ? 1 : flood->producers) {
            s->targets[used++] = weir_processor_add(
                s->l.engine,
                WEIR_PROCESSOR(.handler = load_sink_take, .argument = &s->sinks[i],
                               .dispatcher =
                                   flood->dispatchers > 0 ? s->names[i % flood->dispatchers] : "",
                               .overflow = flood->overflow),
                &s->l.error);
        }
    }
}

static void make_producers(scene *s)
{
    const load_flood *flood = s->flood;
    const bool shared = flood->processors < flood->producers;
    const uint32_t share = shared ? flood->processors : flood->processors / flood->producers;
    for (uint32_t p = 0; p < flood->producers; p++) {
        s->producers[p] = (load_producer){ .engine = s->l.engine,
                                           .gate = &s->l.gate,
                                           .targets = s->targets + (shared ? 0 : p * share),
                                           .target_count = share,
                                           .number = p,
                                           .each = s->each,
                                           .batch = flood->batch,
                                           .burst = flood->burst,
                                           .wants_room = flood->wants_room };
    }
    if (flood->inside) {
        load_producers_add(&s->l, s->producers, flood->producers);
    }
}

static void measure(scene *s, uint64_t events, bench_result *result)
{
    const load_flood *flood = s->flood;
    uint64_t retries = 0;
    if (flood->inside) {
        load_begin(&s->l);
        load_producers_wake(&s->l, s->producers, flood->producers);
    } else {
        load_producers_run(&s->l, s->producers, flood->producers);
    }
    bench_result_rate(result, events, load_wait(&s->l, result));
    load_cpu(&s->l, result);
    load_contention(&s->l, result);
    if (!flood->inside) {
        load_producers_join(s->producers, flood->producers);
        for (uint32_t p = 0; p < flood->producers; p++) {
            retries += s->producers[p].retries;
        }
        result->retries = (double)retries / (double)events;
    }
}

void load_flood_run(const load_flood *flood, const bench_setup *setup, bench_result *result)
{
    scene s;
    const uint32_t flows =
        flood->processors > flood->producers ? flood->processors : flood->producers;
    weir_engine_options options = flood->engine;
    s = (scene){ .flood = flood,
                 .sinks = load_memory(flood->processors, sizeof(load_sink)),
                 .producers = load_memory(flood->producers, sizeof(load_producer)),
                 .targets = load_memory(flood->processors, sizeof(weir_processor)),
                 .each = bench_scaled(setup, flood->events, 10 * (uint64_t)flows) / flows };
    options.threads = flood->dispatchers > 0 || flood->fair ? 0 : setup->threads;
    load_open(&s.l, options, flood->processors);
    add_threads(&s, setup->threads);
    add_sinks(&s);
    make_producers(&s);
    if (flood->latency && weir_latency_enable(s.l.engine, NULL, NULL) != WEIR_OK) {
        bench_wrong(result, "the processors cannot be measured");
    }
    if (load_start(&s.l, result)) {
        if (flood->trace && weir_trace_start(s.l.engine, NULL, NULL) != WEIR_OK) {
            bench_wrong(result, "no trace can be begun");
        }
        measure(&s, s.each * flows, result);
    }
    load_close(&s.l, result);
    load_sink_check(s.sinks, flood->processors, result);
    free(s.targets);
    free(s.producers);
    free(s.sinks);
}
