/*
 * load/w11_ask.c - W11: one processor asks another, gets its answer, and asks again. The same work
 * with two plain posts (`w11` of the variant post) is what it is compared with.
 *
 * An event here is a round: a question and its answer. `deep`: so many questions are open at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "load/support.h"
#include "suite/rows.h"

typedef struct query {
    uint64_t number;
} query;
WEIR_EVENT_TYPE(query, "bench.query");

typedef struct asker {
    _Alignas(64) weir_processor target;
    load_gate *gate;
    uint64_t asked, answered, rounds;
    uint64_t wrong; /* answers that came twice, out of order, or not at all */
} asker;

typedef weir_status send(asker *self, weir_turn *turn);

static weir_status refused(const asker *self, weir_status status)
{
    if (status != WEIR_OK) {
        load_gate_break(self->gate, status);
    }
    return status;
}

static weir_status go_on(asker *self, weir_turn *turn, const weir_event *event, send *next)
{
    const query *q = weir_event_as(event, &query_type);
    self->wrong += q == NULL || q->number != self->answered;
    self->answered++;
    if (self->answered == self->rounds) {
        load_gate_pass(self->gate);
    }
    return self->asked < self->rounds ? refused(self, next(self, turn)) : WEIR_OK;
}

/* ---- with ask ---- */

static send ask_next;

static weir_status take_answer(void *state, weir_turn *turn, const weir_event *event)
{
    return go_on(state, turn, event, ask_next);
}

static weir_status ask_next(asker *self, weir_turn *turn)
{
    return weir_turn_ask(turn, self->target, WEIR_EVENT(query, self->asked++),
                         WEIR_ASK(.then = take_answer));
}

static weir_status answer(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    return weir_turn_reply(turn, event->from, event);
}

/* ---- with posts ---- */

static weir_status post_next(asker *self, weir_turn *turn)
{
    return weir_turn_post(turn, self->target, WEIR_EVENT(query, self->asked++));
}

static weir_status take_post(void *state, weir_turn *turn, const weir_event *event)
{
    asker *self = state;
    if (weir_event_as(event, &query_type) != NULL) {
        return go_on(self, turn, event, post_next);
    }
    return self->asked < self->rounds ? post_next(self, turn) : WEIR_OK;
}

/* ---- both ---- */

WEIR_EMPTY_TYPE(begin, "bench.begin");

static weir_status begin_asking(void *state, weir_turn *turn, const weir_event *event)
{
    asker *self = state;
    (void)event;
    return self->asked < self->rounds ? ask_next(self, turn) : WEIR_OK;
}

static void run(const bench_setup *setup, bench_result *result, weir_handler handler, uint64_t full,
                uint32_t deep)
{
    load l;
    asker self = { .rounds = bench_scaled(setup, full, deep) };
    load_open(&l, (weir_engine_options){ .threads = setup->threads }, 1);
    self.gate = &l.gate;
    self.target = weir_processor_add(l.engine, WEIR_PROCESSOR(.handler = answer), &l.error);
    const weir_processor from = weir_processor_add(
        l.engine, WEIR_PROCESSOR(.handler = handler, .argument = &self), &l.error);
    if (load_start(&l, result)) {
        load_begin(&l);
        for (uint32_t i = 0; i < deep; i++) {
            if (weir_engine_post(l.engine, from, WEIR_EMPTY(begin)) != WEIR_OK) {
                bench_wrong(result, "it does not begin");
            }
        }
        bench_result_rate(result, self.rounds, load_wait(&l, result));
    }
    load_close(&l, result);
    if (self.answered != self.rounds || self.wrong != 0) {
        bench_wrong(result, "%llu of %llu rounds, %llu wrong", (unsigned long long)self.answered,
                    (unsigned long long)self.rounds, (unsigned long long)self.wrong);
    }
}

static void run_ask(const bench_setup *setup, bench_result *result)
{
    run(setup, result, begin_asking, 2000000, 1);
}

static void run_post(const bench_setup *setup, bench_result *result)
{
    run(setup, result, take_post, 2000000, 1);
}

static void run_deep_ask(const bench_setup *setup, bench_result *result)
{
    run(setup, result, begin_asking, 2000000, 1000);
}

static void run_deep_post(const bench_setup *setup, bench_result *result)
{
    run(setup, result, take_post, 2000000, 1000);
}

const bench_row load_w11_ask_rows[] = {
    { "w11-ask", "weir", "ask and reply: a round of both", { 1, 2 }, run_ask },
    { "w11-ask", "weir-post", "the same round with two posts", { 1, 2 }, run_post },
    { "w11-deep", "weir", "the same with 1,000 open questions", { 1, 2 }, run_deep_ask },
    { "w11-deep", "weir-post", "the same with 1,000 posts under way", { 1, 2 }, run_deep_post },
    { 0 },
};
