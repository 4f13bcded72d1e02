/*
 * load/w04_crowd.c - W4: a million processors are created, get one event each, and are destroyed.
 *
 * The time is that of all of it, from the first to be created to the end of the engine. The bytes
 * are what the process has grown by when all have handled their event, without the memory of this
 * program itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <malloc.h>
#include <stdlib.h>

#include "load/support.h"
#include "suite/rows.h"

WEIR_EMPTY_TYPE(poke, "bench.poke");

typedef struct one {
    load_gate *gate;
    uint64_t got;
} one;

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    one *self = state;
    (void)turn;
    (void)event;
    self->got++;
    load_gate_pass(self->gate);
    return WEIR_OK;
}

static void add_and_post(load *l, one *ones, weir_processor *handles, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        handles[i] = weir_processor_add(
            l->engine, WEIR_PROCESSOR(.handler = take, .argument = &ones[i]), &l->error);
    }
    for (uint64_t i = 0; i < count; i++) {
        const weir_status status = weir_engine_post(l->engine, handles[i], WEIR_EMPTY(poke));
        if (status != WEIR_OK) {
            load_gate_break(&l->gate, status);
        }
    }
}

static void stop_all(load *l, const weir_processor *handles, uint64_t count, bench_result *result)
{
    for (uint64_t i = 0; i < count; i++) {
        const weir_status status = weir_processor_stop_async(l->engine, handles[i], 0);
        if (status != WEIR_OK) {
            bench_wrong(result, "a stop was answered %s", weir_status_name(status));
        }
    }
}

static void crowd(const bench_setup *setup, bench_result *result, bool one_by_one)
{
    load l;
    const uint64_t count = bench_scaled(setup, 1000000, 100);
    one *ones = load_memory(count, sizeof(*ones));
    weir_processor *handles = load_memory(count, sizeof(*handles));
    load_open(&l, (weir_engine_options){ .threads = setup->threads }, count);
    for (uint64_t i = 0; i < count; i++) {
        ones[i].gate = &l.gate;
    }
    (void)malloc_trim(0); /* what earlier rows have left would be taken again, unseen */
    if (load_start(&l, result)) {
        const int64_t before = load_resident_bytes();
        load_begin(&l);
        add_and_post(&l, ones, handles, count);
        (void)load_wait(&l, result);
        const double each = (double)(load_resident_bytes() - before) / (double)count;
        result->bytes_each = each > 0 ? each : 0;
        if (one_by_one) {
            stop_all(&l, handles, count, result);
        }
    }
    load_close(&l, result);
    result->seconds = (double)(bench_now() - l.begin_ns) / 1e9;
    for (uint64_t i = 0; i < count; i++) {
        if (ones[i].got != 1) {
            bench_wrong(result, "processor %llu got %llu events instead of one",
                        (unsigned long long)i, (unsigned long long)ones[i].got);
        }
    }
    free(handles);
    free(ones);
}

static void run(const bench_setup *setup, bench_result *result)
{
    crowd(setup, result, true);
}

static void run_at_once(const bench_setup *setup, bench_result *result)
{
    crowd(setup, result, false);
}

const bench_row load_w04_rows[] = {
    { "w4", "weir", "1 M processors: created, one event each, destroyed", { 1, 2 }, run },
    { "w4", "weir-at-once", "the same, destroyed with their engine", { 1, 2 }, run_at_once },
    { 0 },
};
