/*
 * load/grow.c - how the cost of an event grows: with the number of processors, with the size of its
 * payload, with the depth of the mailbox. One thread, so that nothing else plays a part.
 *
 * How it grows with threads and dispatchers is what w5-external, w5-dispatchers and w10 are for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "load/ring.h"
#include "load/support.h"
#include "suite/rows.h"

enum { PAYLOAD_MAX = 65536 };

/* ---- processors: one token, so every hop is to one that was not touched for a round ---- */

#define RUN_PROCESSORS(count)                                                                      \
    static void run_processors_##count(const bench_setup *setup, bench_result *result)             \
    {                                                                                              \
        load_ring_run(&(load_ring){ .members = (count), .tokens = 1, .hops = 5000000 }, setup,     \
                      result);                                                                     \
    }
RUN_PROCESSORS(10)
RUN_PROCESSORS(1000)
RUN_PROCESSORS(100000)
RUN_PROCESSORS(1000000)

/* ---- payload: two processors and one event of so many bytes ---- */

typedef struct player {
    _Alignas(64) weir_processor other;
    load_gate *gate;
    uint64_t left; /* of its hops */
    uint64_t wrong;
    uint32_t size;
    bool share; /* what came in a block goes on in it */
} player;

static weir_status return_it(void *state, weir_turn *turn, const weir_event *event)
{
    player *self = state;
    const unsigned char *bytes = event->data;
    self->wrong += event->size != self->size ||
                   (event->size > 0 && (bytes[0] != 'a' || bytes[event->size - 1] != 'a'));
    if (self->left-- == 0) {
        load_gate_pass(self->gate);
        return WEIR_OK;
    }
    const weir_status status =
        weir_turn_post(turn, self->other,
                       &(weir_event){ .type = &weir_bytes_type,
                                      .data = event->data,
                                      .size = event->size,
                                      .block = self->share ? event->block : NULL });
    if (status != WEIR_OK) {
        load_gate_break(self->gate, status);
    }
    return status;
}

static void run_payload(const bench_setup *setup, bench_result *result, uint32_t size, bool share)
{
    static unsigned char payload[PAYLOAD_MAX];
    load l;
    player pair[2];
    const uint64_t each = bench_scaled(setup, size > 4096 ? 50000 : 1000000, 1);
    weir_processor handles[2];
    memset(payload, 'a', sizeof(payload));
    load_open(&l, (weir_engine_options){ .threads = setup->threads }, 1);
    for (int i = 0; i < 2; i++) {
        pair[i] = (player){ .gate = &l.gate, .left = each, .size = size, .share = share };
        handles[i] = weir_processor_add(
            l.engine, WEIR_PROCESSOR(.handler = return_it, .argument = &pair[i]), &l.error);
    }
    pair[0].other = handles[1];
    pair[1].other = handles[0];
    if (load_start(&l, result)) {
        load_begin(&l);
        const weir_status status = weir_engine_post(
            l.engine, handles[0],
            &(weir_event){ .type = &weir_bytes_type, .data = payload, .size = size });
        if (status != WEIR_OK) {
            load_gate_break(&l.gate, status);
        }
        bench_result_rate(result, 2 * each + 1, load_wait(&l, result));
    }
    load_close(&l, result);
    const unsigned long long wrong = pair[0].wrong + pair[1].wrong;
    if (wrong != 0) {
        bench_wrong(result, "%llu payloads were not what was sent", wrong);
    }
}

#define RUN_PAYLOAD(size)                                                                          \
    static void run_payload_##size(const bench_setup *setup, bench_result *result)                 \
    {                                                                                              \
        run_payload(setup, result, (size), false);                                                 \
    }                                                                                              \
    static void run_shared_##size(const bench_setup *setup, bench_result *result)                  \
    {                                                                                              \
        run_payload(setup, result, (size), true);                                                  \
    }
RUN_PAYLOAD(0)
RUN_PAYLOAD(32)
RUN_PAYLOAD(64)
RUN_PAYLOAD(1024)
RUN_PAYLOAD(65536)

/* ---- depth: one fills the other's mailbox to it, again and again ---- */

typedef struct mark {
    uint64_t number;
} mark;
WEIR_EVENT_TYPE(mark, "bench.mark");
WEIR_EMPTY_TYPE(refill, "bench.refill");

typedef struct basin {
    weir_processor source, sink;
    load_gate *gate;
    uint64_t depth;
    uint64_t rounds_left;
    uint64_t sent, got, disorder;
} basin;

static weir_status fill_up(void *state, weir_turn *turn, const weir_event *event)
{
    basin *self = state;
    weir_status status = WEIR_OK;
    (void)event;
    for (uint64_t i = 0; i < self->depth && status == WEIR_OK; i++) {
        status = weir_turn_post(turn, self->sink, WEIR_EVENT(mark, self->sent));
        self->sent += status == WEIR_OK ? 1 : 0;
    }
    if (status != WEIR_OK) {
        load_gate_break(self->gate, status);
    }
    return status;
}

static weir_status drain(void *state, weir_turn *turn, const weir_event *event)
{
    basin *self = state;
    const mark *m = event->data;
    self->disorder += m->number != self->got++;
    if (self->got % self->depth != 0) {
        return WEIR_OK;
    }
    if (--self->rounds_left == 0) {
        load_gate_pass(self->gate);
        return WEIR_OK;
    }
    const weir_status status = weir_turn_post(turn, self->source, WEIR_EMPTY(refill));
    if (status != WEIR_OK) {
        load_gate_break(self->gate, status);
    }
    return status;
}

static void run_depth(const bench_setup *setup, bench_result *result, uint32_t depth)
{
    load l;
    basin b = { .depth = depth };
    b.rounds_left = (bench_scaled(setup, 4000000, depth) + depth - 1) / depth;
    const uint64_t wanted = b.rounds_left * depth;
    load_open(&l, (weir_engine_options){ .threads = setup->threads }, 1);
    b.gate = &l.gate;
    b.source =
        weir_processor_add(l.engine, WEIR_PROCESSOR(.handler = fill_up, .argument = &b), &l.error);
    b.sink = weir_processor_add(l.engine,
                                WEIR_PROCESSOR(.handler = drain, .argument = &b,
                                               .mailbox_max = depth < 1000 ? 1000 : depth),
                                &l.error);
    if (load_start(&l, result)) {
        load_begin(&l);
        const weir_status status = weir_engine_post(l.engine, b.source, WEIR_EMPTY(refill));
        if (status != WEIR_OK) {
            load_gate_break(&l.gate, status);
        }
        bench_result_rate(result, wanted, load_wait(&l, result));
    }
    load_close(&l, result);
    if (b.got != wanted || b.disorder != 0) {
        bench_wrong(result, "%llu of %llu events, %llu out of order", (unsigned long long)b.got,
                    (unsigned long long)wanted, (unsigned long long)b.disorder);
    }
}

#define RUN_DEPTH(depth)                                                                           \
    static void run_depth_##depth(const bench_setup *setup, bench_result *result)                  \
    {                                                                                              \
        run_depth(setup, result, (depth));                                                         \
    }
RUN_DEPTH(1)
RUN_DEPTH(10)
RUN_DEPTH(100)
RUN_DEPTH(10000)
RUN_DEPTH(1000000)

#define PROCESSORS(count, short_name, text)                                                        \
    {                                                                                              \
        "processors-" short_name, "weir", "one token round a ring of " text " processors", { 1 },  \
            run_processors_##count                                                                 \
    }
#define PAYLOAD(size, short_name, text)                                                            \
    { "payload-" short_name,                                                                       \
      "weir",                                                                                      \
      "ping-pong with " text " bytes, copied",                                                     \
      { 1 },                                                                                       \
      run_payload_##size },                                                                        \
    {                                                                                              \
        "payload-" short_name, "weir-shared", "the same, passed on in its block", { 1 },           \
            run_shared_##size                                                                      \
    }
#define DEPTH(depth, short_name, text)                                                             \
    {                                                                                              \
        "depth-" short_name, "weir", "a mailbox is filled to " text " events, and emptied", { 1 }, \
            run_depth_##depth                                                                      \
    }

const bench_row load_grow_rows[] = {
    PROCESSORS(10, "10", "10"),
    PROCESSORS(1000, "1k", "1,000"),
    PROCESSORS(100000, "100k", "100,000"),
    PROCESSORS(1000000, "1m", "1,000,000"),
    PAYLOAD(0, "0", "no"),
    PAYLOAD(32, "32", "32"),
    PAYLOAD(64, "64", "64"),
    PAYLOAD(1024, "1k", "1,024"),
    PAYLOAD(65536, "64k", "65,536"),
    DEPTH(1, "1", "1"),
    DEPTH(10, "10", "10"),
    DEPTH(100, "100", "100"),
    DEPTH(10000, "10k", "10,000"),
    DEPTH(1000000, "1m", "1,000,000"),
    { 0 },
};
