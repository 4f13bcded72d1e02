/*
 * flow/worker.c - the turns of a worker.
 *
 * The end of a flow, whatever the reason, is always the same three steps: its state is destroyed,
 * what was at hand is counted as handled, and then, under the shard's lock, the mapping goes if
 * nothing of the flow waits. What came meanwhile lies in this worker's own mailbox, so it finds the
 * flow without a state and makes it anew: the old one is over before the new one begins.
 *
 * A finish that was dropped with its event ends the flow where it stood: events carry how many
 * finishes came before them, so that the next one says that an end is due before it. If none comes,
 * flow->lost has the worker look when all before it are handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow/worker.h"

#include <string.h>

#include "base/assert.h"
#include "engine/chore.h"
#include "engine/room.h"
#include "flow/table.h"

const weir_event_type weir_finish_type = {
    sizeof(weir_event_type), "weir.finish", 0, false, NULL, NULL
};

/* ---- ends ---- */

/* Step one. */
static void end_state(weir__worker *worker, weir__flow *flow, weir_flow_end reason)
{
    const weir_router_options *options = &worker->router->options;
    if (flow->stateful) {
        flow->stateful = false;
        if (options->destroy != NULL) {
            options->destroy(options->state_size > 0 ? flow->state : options->argument, reason);
        }
        memset(flow->state, 0, options->state_size);
        weir__cell_add(&worker->ended_as[reason], 1);
    }
}

/* Those who wait for room, whatever worker it is to be on. They count themselves before they look
 * at what is full (flow/submit.c), and that was changed before this. */
static void wake_waiters(weir__router *router)
{
    if (weir__load(&router->engine->room_waiters, seq_cst) != 0) {
        weir__room_wake_threads(router->engine, WEIR__HANDLE_INDEX(router->caretaker.id));
    }
}

/* Step three, when the flow is not to be used any more: drained, and not on a list. Shard's lock
 * held; it is released. */
static void forget(weir__router *router, weir__shard *shard, weir__flow *flow)
{
    const uint32_t size = flow->size;
    const unsigned char *bytes = weir__table_remove(router, shard, flow);
    weir__brief_unlock(&shard->lock);
    weir__flow_key_free(router, bytes, size);
    weir__sub(&router->live, 1, seq_cst);
    wake_waiters(router);
}

/* Steps two and three, in one hold of the lock: in between a submitter could find the flow drained
 * and take it to another worker, where it lives, ends, and its record is another flow's. */
static void count_last(weir__worker *worker, weir__flow *flow)
{
    weir__router *router = worker->router;
    weir__shard *shard = weir__shard_of(router, flow);
    weir__brief_lock(&shard->lock);
    weir__store(&flow->handled, weir__load(&flow->handled, relaxed) + 1, release); /* [Y6] */
    if (weir__flow_is_drained(flow) && !flow->chored) {
        forget(router, shard, flow);
        return;
    }
    flow->lingers = true;
    weir__brief_unlock(&shard->lock);
}

/* ---- events ---- */

static weir_status call(weir__worker *worker, weir_turn *turn, void *state, const weir_event *event)
{
    const weir__router *router = worker->router;
    return weir__likely(router->handler != NULL)
               ? router->handler(state, turn, event)
               : weir_turn_handle(turn, &router->options.cases, state, event);
}

/* It is the one in so many that is timed, if they are. */
WEIR__SELDOM static weir_status handle_timed(weir__worker *worker, weir_turn *turn, void *state,
                                             const weir_event *event)
{
    const uint64_t every = worker->router->options.latency_every;
    worker->until_timed = (uint32_t)every;
    if (weir__load(&worker->router->untimed, relaxed) != 0) {
        /* As those before them, on average. */
        if (worker->timed > 0) {
            weir__cell_add(&worker->busy, weir__cell_read(&worker->busy) / worker->timed++);
        }
        return call(worker, turn, state, event);
    }
    const weir_ns began = weir__clock_now();
    const weir_status status = call(worker, turn, state, event);
    const weir_ns took = weir__clock_now() - began;
    weir__histogram_record(&worker->latency, (uint64_t)took);
    worker->timed++;
    weir__cell_add(&worker->busy, (uint64_t)took * every);
    return status;
}

static inline weir_status handle(weir__worker *worker, weir_turn *turn, void *state,
                                 const weir_event *event)
{
    return weir__likely(--worker->until_timed != 0) ? call(worker, turn, state, event)
                                                    : handle_timed(worker, turn, state, event);
}

/* The first event of a flow. */
static weir_status make_state(weir__worker *worker, weir_turn *turn, weir__flow *flow, void *state)
{
    const weir_router_options *options = &worker->router->options;
    const weir_status status =
        options->init != NULL ? options->init(state, turn, options->argument) : WEIR_OK;
    flow->stateful = status == WEIR_OK || status == WEIR_ALREADY;
    if (!flow->stateful) {
        memset(flow->state, 0, options->state_size);
        return status;
    }
    weir__cell_add(&worker->made, 1);
    return WEIR_OK;
}

/* In a handler the turn is the flow's: it has no address, and what it sends is of its flow. */
static WEIR__ALWAYS weir_status run(weir__worker *worker, weir_turn *turn, const weir_event *event,
                                    weir__at_hand *at)
{
    const weir_router_options *options = &worker->router->options;
    const weir_processor self = turn->self;
    weir__flow *const flow = at->flow;
    void *state = options->argument;
    weir_status status = WEIR_OK;
    turn->self = (weir_processor){ 0 };
    turn->at_hand = at;
    if (weir__likely(flow != NULL)) {
        state = options->state_size > 0 ? flow->state : state;
        if (weir__unlikely(!flow->stateful)) {
            status = make_state(worker, turn, flow, state);
        }
    }
    if (weir__likely(status == WEIR_OK)) {
        status = handle(worker, turn, state, event);
    }
    turn->at_hand = NULL;
    turn->self = self;
    return status;
}

#define AHEAD 2 /* events, whose flows are asked for while one is handled */

/* Flows are many, and those of the next events are likely to be far away. */
static inline void expect(weir__router *router, const weir_turn *turn)
{
    weir__envelope *next = turn->place;
    if (next != NULL && next + AHEAD < turn->place_end) {
        next += AHEAD;
        const uint32_t state = weir__load(&next->state, acquire); /* [E] */
        if ((state & WEIR__ENVELOPE_ROUTED) != 0 && (uint32_t)next->flow != 0) {
            __builtin_prefetch(&weir__flow_at(router, (uint32_t)next->flow)->handled, 1);
        }
    }
}

/* A finish behind this event was dropped: is it the end? That is for a chore to find out. */
WEIR__SELDOM static void look_later(weir__worker *worker, weir_turn *turn, weir__flow *flow)
{
    weir__shard *shard = weir__shard_of(worker->router, flow);
    weir__brief_lock(&shard->lock);
    (void)weir__worker_ask(turn->context, worker->router, flow); /* it is ready: this is its turn */
    weir__brief_unlock(&shard->lock);
}

static WEIR__ALWAYS weir_status run_flow(weir__worker *worker, weir_turn *turn, weir_event *event,
                                         uint32_t life, weir__flow *flow)
{
    weir__at_hand at = { .flow = flow };
    weir_status status = WEIR_OK;
    expect(worker->router, turn);
    if (weir__unlikely(life != flow->life)) {
        end_state(worker, flow, WEIR_FLOW_FINISHED);
        flow->life = life;
    }
    event->flow = flow->shown;
    turn->flow = flow->shown;
    if (weir__likely(event->type != &weir_finish_type)) {
        status = run(worker, turn, event, &at);
    }
    const bool ends = at.finish || (event->flags & WEIR_EVENT_FINISH) != 0;
    if (weir__unlikely(ends)) {
        end_state(worker, flow, WEIR_FLOW_FINISHED);
        count_last(worker, flow);
        return status;
    }
    const bool lost = weir__load(&flow->lost, relaxed) != 0;
    /* [Y6] pairs with [Y5]. After this the flow may be on another worker: without the shard's lock
     * it is not looked at any more. */
    weir__store(&flow->handled, weir__load(&flow->handled, relaxed) + 1, release);
    if (weir__unlikely(lost)) {
        look_later(worker, turn, flow);
    }
    return status;
}

WEIR__SELDOM static weir_status run_loose(weir__worker *worker, weir_turn *turn,
                                          const weir_event *event)
{
    weir__at_hand at = { .flow = NULL };
    turn->flow = 0;
    return run(worker, turn, event, &at);
}

/* The handler did not say OK. */
WEIR__SELDOM static void count_aloud(weir__worker *worker, weir_status status)
{
    const bool well = status == WEIR_DROPPED || status == WEIR_ALREADY || status == WEIR_UNHANDLED;
    weir__cell_add(well ? &worker->handled : &worker->dead, 1);
}

weir_status weir__worker_handle(void *state, weir_turn *turn, const weir_event *event)
{
    weir__worker *const worker = state;
    weir_event *mine = (weir_event *)(uintptr_t)event; /* the turn's own, made for this call */
    const uint64_t routed = event->flow;
    weir_status status;
    if (weir__unlikely((turn->state & WEIR__ENVELOPE_ROUTED) == 0)) {
        return WEIR_UNHANDLED; /* somebody has guessed our handle */
    }
    if (weir__likely(routed != 0)) {
        weir__flow *flow = weir__flow_at(worker->router, (uint32_t)routed);
        status = run_flow(worker, turn, mine, (uint32_t)(routed >> 32), flow);
    } else {
        status = run_loose(worker, turn, event);
    }
    if (weir__likely(status == WEIR_OK)) {
        weir__cell_add(&worker->handled, 1);
    } else {
        count_aloud(worker, status);
    }
    return status;
}

/* ---- chores ---- */

weir__processor *weir__worker_ask(weir__context *context, weir__router *router, weir__flow *flow)
{
    weir__worker *worker = &router->workers[flow->worker];
    weir__processor *processor = weir__registry_find(&context->engine->registry, worker->handle);
    bool ready = false;
    weir__brief_lock(&worker->lock);
    if (!worker->ended && processor != NULL && !flow->chored) {
        flow->chored = true;
        flow->chore_next = worker->chores;
        worker->chores = flow->index;
        ready = weir__chore_ask(processor);
    }
    weir__brief_unlock(&worker->lock);
    return ready ? processor : NULL;
}

/* Lock held. What is to be done with the flow; 0: nothing. */
static weir_flow_end reason_for(weir__flow *flow)
{
    const uint8_t why = flow->why;
    flow->why = 0;
    if (!weir__flow_is_drained(flow)) {
        return 0;
    }
    weir__store(&flow->lost, 0, relaxed);
    if (flow->life != flow->finishes) { /* the last finish was dropped, and nothing follows it */
        flow->life = flow->finishes;
        return WEIR_FLOW_FINISHED;
    }
    return (weir_flow_end)why;
}

/* What was asked for is done, if it is still so. */
static void look_at(weir__worker *worker, weir__flow *flow)
{
    weir__router *router = worker->router;
    weir__shard *shard = weir__shard_of(router, flow);
    weir__brief_lock(&shard->lock);
    const weir_flow_end reason = reason_for(flow);
    if (flow->leaving) {
        flow->leaving = false;
        weir__sub(&router->leaving, 1, relaxed);
    }
    const bool forgotten = weir__flow_is_drained(flow) && flow->lingers && !flow->stateful;
    if (reason != 0) {
        /* It stays on our list in name, so that nobody moves it to another worker meanwhile. */
        weir__brief_unlock(&shard->lock);
        end_state(worker, flow, reason);
        weir__brief_lock(&shard->lock);
    }
    flow->chored = false;
    if ((reason != 0 || forgotten) && weir__flow_is_drained(flow)) {
        forget(router, shard, flow);
        return;
    }
    flow->lingers = flow->lingers || reason != 0;
    weir__brief_unlock(&shard->lock);
}

void weir__worker_chore(weir_turn *turn)
{
    weir__worker *worker = turn->processor->state;
    weir__brief_lock(&worker->lock);
    weir__chore_begin(turn->processor);
    uint32_t index = worker->chores;
    worker->chores = 0;
    weir__brief_unlock(&worker->lock);
    while (index != 0) {
        weir__flow *flow = weir__flow_at(worker->router, index);
        index = flow->chore_next;
        look_at(worker, flow);
    }
}

/* ---- the end ---- */

/* The flows of this worker in that shard, in a list by chore_next: there are no chores any more. */
static uint32_t list_flows(weir__worker *worker, weir__shard *shard)
{
    weir__router *router = worker->router;
    uint32_t first = 0;
    weir__brief_lock(&shard->lock);
    for (uint32_t index = shard->newest; index != 0;) {
        weir__flow *flow = weir__flow_at(router, index);
        if (flow->worker == worker->index) {
            flow->chore_next = first;
            first = index;
        }
        index = flow->older;
    }
    weir__brief_unlock(&shard->lock);
    return first;
}

void weir__worker_destroy(void *state, weir_status reason)
{
    weir__worker *worker = state;
    weir__router *router = worker->router;
    (void)reason;
    weir__store(&router->closed, 1, release); /* [Y2] */
    weir__brief_lock(&worker->lock);
    worker->ended = true;
    weir__brief_unlock(&worker->lock);
    for (uint32_t i = 0; i <= router->shard_mask; i++) {
        weir__shard *shard = &router->shards[i];
        for (uint32_t index = list_flows(worker, shard); index != 0;) {
            weir__flow *flow = weir__flow_at(router, index);
            index = flow->chore_next;
            end_state(worker, flow, WEIR_FLOW_STOPPED);
            weir__brief_lock(&shard->lock);
            forget(router, shard, flow);
        }
    }
}
