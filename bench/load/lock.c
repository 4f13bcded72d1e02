/*
 * load/lock.c - what a turn costs besides its events: a dispatcher's lock, taken and given back
 * with all its bookkeeping, by one thread that nobody disturbs.
 *
 * All events are there before the thread begins, in 64 mailboxes, and a turn is one event: so the
 * time of an event is the time of a whole turn, an upper bound for the lock's share of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "load/producer.h"
#include "suite/rows.h"

enum { PROCESSORS = 64, EVENTS_EACH = 10000 };

/* The first event of all sets the clock. */
typedef struct starter {
    load *l;
} starter;
WEIR_EMPTY_TYPE(begin, "bench.begin");

static weir_status start_clock(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    load_begin(((starter *)state)->l);
    return WEIR_OK;
}

static void post_all(load *l, weir_processor first, const weir_processor *handles, uint64_t each)
{
    weir_status status = weir_engine_post(l->engine, first, WEIR_EMPTY(begin));
    for (uint64_t k = 0; k < each; k++) {
        for (uint32_t i = 0; i < PROCESSORS && status == WEIR_OK; i++) {
            status = weir_engine_post(l->engine, handles[i], WEIR_EVENT(load_mail, 0, k));
        }
    }
    if (status != WEIR_OK) {
        load_gate_break(&l->gate, status);
    }
}

static void run(const bench_setup *setup, bench_result *result)
{
    load l;
    starter first = { &l };
    const uint64_t each = bench_scaled(setup, EVENTS_EACH, 10);
    load_sink *sinks = load_memory(PROCESSORS, sizeof(*sinks));
    weir_processor handles[PROCESSORS];
    load_open(&l,
              (weir_engine_options){ .threads = setup->threads,
                                     .batch_max = 1,
                                     .mailbox_max = each < 1000000 ? (uint32_t)each : 1000000 },
              PROCESSORS);
    const weir_processor clock = weir_processor_add(
        l.engine, WEIR_PROCESSOR(.handler = start_clock, .argument = &first), &l.error);
    for (uint32_t i = 0; i < PROCESSORS; i++) {
        sinks[i] = (load_sink){ .want = each, .gate = &l.gate };
        handles[i] = weir_processor_add(
            l.engine, WEIR_PROCESSOR(.handler = load_sink_take, .argument = &sinks[i]), &l.error);
    }
    post_all(&l, clock, handles, each);
    if (load_start(&l, result)) {
        bench_result_rate(result, PROCESSORS * each, load_wait(&l, result));
        load_contention(&l, result);
    }
    load_close(&l, result);
    load_sink_check(sinks, PROCESSORS, result);
    free(sinks);
}

const bench_row load_lock_rows[] = {
    { "lock", "weir", "turns of one event, one thread: a dispatcher's lock", { 1 }, run },
    { 0 },
};
