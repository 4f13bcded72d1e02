/*
 * load/w15_origin.c - W15: an event that carries an origin, against the same without: one that goes
 * to and fro between two processors, of 8 bytes and of 64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/support.h"
#include "suite/rows.h"
#include "weir/feed.h"

typedef struct player {
    _Alignas(64) weir_processor other;
    load_gate *gate;
    uint64_t left; /* hops, of this one */
} player;

static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    player *self = state;
    if (self->left-- == 0) {
        load_gate_pass(self->gate);
        return WEIR_OK;
    }
    /* A copy, as if it had been made here: what lies in a block would be shared. */
    const weir_event copy = { .type = event->type, .data = event->data, .size = event->size };
    const weir_status status = weir_turn_post(turn, self->other, &copy);
    if (status != WEIR_OK) {
        load_gate_break(self->gate, status);
    }
    return status;
}

/* What is published is marked: it is committed when it has come to its end. */
static bool publish(weir_engine *engine, weir_feed feed, uint32_t size, bool tracked)
{
    static const unsigned char bytes[64];
    const weir_event event = { .type = &weir_bytes_type, .data = bytes, .size = size };
    return (!tracked || weir_feed_track(engine, feed) == WEIR_OK) &&
           weir_feed_publish(engine, feed, &event) == WEIR_OK &&
           (!tracked || weir_feed_mark(engine, feed, 1) == WEIR_OK);
}

static void run(const bench_setup *setup, bench_result *result, uint32_t size, bool tracked)
{
    load l;
    const uint64_t hops = bench_scaled(setup, 2000000, 2);
    load_open(&l, (weir_engine_options){ .threads = setup->threads }, 1);
    player players[2] = { { .gate = &l.gate, .left = hops / 2 },
                          { .gate = &l.gate, .left = hops / 2 } };
    for (int i = 0; i < 2; i++) {
        players[1 - i].other = weir_processor_add(
            l.engine, WEIR_PROCESSOR(.handler = pass_on, .argument = &players[i]), &l.error);
    }
    const weir_feed feed = weir_feed_open(l.engine, WEIR_FEED(.name = "bench"), &l.error);
    (void)weir_feed_subscribe(l.engine, feed, players[1].other);
    if (load_start(&l, result)) {
        load_begin(&l);
        if (!publish(l.engine, feed, size, tracked)) {
            bench_wrong(result, "it does not begin");
            load_gate_break(&l.gate, WEIR_E_USER);
        }
        bench_result_rate(result, hops, load_wait(&l, result));
    }
    load_close(&l, result);
}

static void run_small(const bench_setup *setup, bench_result *result)
{
    run(setup, result, 8, true);
}

static void run_small_without(const bench_setup *setup, bench_result *result)
{
    run(setup, result, 8, false);
}

static void run_large(const bench_setup *setup, bench_result *result)
{
    run(setup, result, 64, true);
}

static void run_large_without(const bench_setup *setup, bench_result *result)
{
    run(setup, result, 64, false);
}

const bench_row load_w15_rows[] = {
    { "w15-origin", "weir", "ping-pong of an event with an origin, 8 bytes", { 1, 2 }, run_small },
    { "w15-origin", "weir-none", "the same without", { 1, 2 }, run_small_without },
    { "w15-origin-64",
      "weir",
      "ping-pong of an event with an origin, 64 bytes",
      { 1, 2 },
      run_large },
    { "w15-origin-64", "weir-none", "the same without", { 1, 2 }, run_large_without },
    { 0 },
};
