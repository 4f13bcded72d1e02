/*
 * load/ring.c - see ring.h.
 *
 * The tokens start at equal distances and all make the same number of hops. None can overtake
 * another, so every member sees them in the same order, the last one first and then round and
 * round: that is how each knows that what it gets is in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/ring.h"

#include <stdlib.h>

#include "load/support.h"

typedef struct token {
    uint64_t number;
    uint64_t hops_left;
} token;
WEIR_EVENT_TYPE(token, "bench.token");

/* A processor's state: a line of its own. */
typedef struct member {
    _Alignas(64) weir_processor next;
    load_gate *gate;
    uint64_t got;
    uint64_t expected; /* the number of the next token */
    uint64_t tokens;
    uint64_t disorder;
} member;

static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    member *self = state;
    const token *t = event->data;
    self->got++;
    self->disorder += t->number != self->expected;
    self->expected = (t->number == 0 ? self->tokens : t->number) - 1;
    if (t->hops_left == 0) {
        load_gate_pass(self->gate);
        return WEIR_OK;
    }
    const weir_status status =
        weir_turn_post(turn, self->next, WEIR_EVENT(token, t->number, t->hops_left - 1));
    if (status != WEIR_OK) {
        load_gate_break(self->gate, status);
    }
    return status;
}

static void add_members(load *l, member *ring, weir_processor *handles, uint32_t members,
                        uint32_t tokens)
{
    for (uint32_t i = 0; i < members; i++) {
        ring[i] = (member){ .gate = &l->gate,
                            .tokens = tokens,
                            .expected = (uint64_t)i * tokens / members };
        handles[i] = weir_processor_add(
            l->engine, WEIR_PROCESSOR(.handler = pass_on, .argument = &ring[i]), &l->error);
    }
    for (uint32_t i = 0; i < members; i++) {
        ring[i].next = handles[(i + 1) % members];
    }
}

static void check(const member *ring, uint32_t members, uint64_t wanted, bench_result *result)
{
    uint64_t got = 0, disorder = 0;
    for (uint32_t i = 0; i < members; i++) {
        got += ring[i].got;
        disorder += ring[i].disorder;
    }
    if (got != wanted || disorder != 0) {
        bench_wrong(result, "%llu of %llu hops, %llu out of order", (unsigned long long)got,
                    (unsigned long long)wanted, (unsigned long long)disorder);
    }
}

void load_ring_run(const load_ring *ring, const bench_setup *setup, bench_result *result)
{
    load l;
    const uint32_t tokens = ring->tokens;
    member *members = load_memory(ring->members, sizeof(*members));
    weir_processor *handles = load_memory(ring->members, sizeof(*handles));
    const uint64_t each =
        bench_scaled(setup, ring->hops, (uint64_t)ring->members * tokens) / tokens;
    load_open(&l, (weir_engine_options){ .threads = setup->threads }, tokens);
    add_members(&l, members, handles, ring->members, tokens);
    /* Before the start: one that runs while others are still being placed could overtake them. */
    for (uint32_t i = 0; i < tokens; i++) {
        const weir_status status = weir_engine_post(
            l.engine, handles[(uint64_t)i * ring->members / tokens], WEIR_EVENT(token, i, each));
        if (status != WEIR_OK) {
            load_gate_break(&l.gate, status);
        }
    }
    if (ring->trace && weir_trace_start(l.engine, NULL, NULL) != WEIR_OK) {
        bench_wrong(result, "no trace can be begun");
    }
    load_begin(&l);
    if (load_start(&l, result)) {
        bench_result_rate(result, each * tokens, load_wait(&l, result));
    }
    load_close(&l, result);
    check(members, ring->members, (each + 1) * tokens, result);
    free(handles);
    free(members);
}
