/*
 * cli/demo_actors.c - the processors of `weir demo`: what each does with an event. The picture is
 * in demo_load.h.
 *
 * A refused post (the receiver is full: the machine is slower than the load) sheds that event: it
 * was never accepted, the engine counts it as refused, and the handler goes on. Only the importer
 * fails, on purpose.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/demo_load.h"

#include <stdio.h>

#define MOVE_EVERY (50 * WEIR_MS)

enum { HOPS_MAX = 3, FAIL_EVERY = 1000, SCREEN_ROOM = 64, SAMPLER_ROOM = 256 };

#define STAMPED(type_name)                                                                         \
    {                                                                                              \
        sizeof(weir_event_type), type_name, (uint32_t)sizeof(weir__demo_stamp), false, NULL, NULL  \
    }

const weir_event_type weir__demo_request_type = STAMPED("demo.request");
const weir_event_type weir__demo_tick_type = STAMPED("demo.tick");
const weir_event_type weir__demo_record_type = STAMPED("demo.record");
static const weir_event_type lookup_type = STAMPED("demo.lookup");
static const weir_event_type answer_type = STAMPED("demo.answer");
static const weir_event_type audit_type = STAMPED("demo.audit");
static const weir_event_type quote_type = STAMPED("demo.quote");

WEIR_EMPTY_TYPE(beat, "demo.beat");

/* Every handler of a stamped event begins with it: counts the run, takes the time. */
static const weir__demo_stamp *arrive(weir__demo_actor *self, const weir_event *event)
{
    const weir__demo_stamp *stamp = event->data;
    const weir_ns waited = weir_time_now(self->load->engine) - stamp->sent;
    weir__cell_add(&self->seen, 1);
    weir__histogram_record(&self->latency, waited > 0 ? (uint64_t)waited : 0);
    return stamp;
}

static void count_post(weir__demo_actor *self, weir_status status)
{
    if (status == WEIR_OK || status == WEIR_DROPPED) {
        weir__cell_add(&self->posted, 1);
    }
}

static void post_stamped(weir__demo_actor *self, weir_turn *turn, const weir__demo_actor *to,
                         const weir_event_type *type, uint32_t number, uint32_t hops)
{
    const weir__demo_stamp stamp = { weir_time_now(self->load->engine), number, hops };
    const weir_event event = { .type = type, .data = &stamp, .size = sizeof(stamp) };
    count_post(self, weir_turn_post(turn, to->handle, &event));
}

static weir_status gateway_request(void *state, weir_turn *turn, const weir_event *event)
{
    weir__demo_actor *self = state;
    const uint32_t number = arrive(self, event)->number;
    post_stamped(self, turn, &self->load->stores[number % WEIR__DEMO_STORES], &lookup_type, number,
                 0);
    return WEIR_OK;
}

static weir_status gateway_answer(void *state, weir_turn *turn, const weir_event *event)
{
    weir__demo_actor *self = state;
    const uint32_t number = arrive(self, event)->number;
    post_stamped(self, turn, &self->load->ledgers[number % WEIR__DEMO_LEDGERS], &audit_type, number,
                 0);
    return WEIR_OK;
}

static weir_status store_lookup(void *state, weir_turn *turn, const weir_event *event)
{
    weir__demo_actor *self = state;
    const uint32_t number = arrive(self, event)->number;
    const weir__demo_stamp stamp = { weir_time_now(self->load->engine), number, 0 };
    const weir_event answer = { .type = &answer_type, .data = &stamp, .size = sizeof(stamp) };
    count_post(self, weir_turn_reply(turn, event->from, &answer));
    return WEIR_OK;
}

static weir_status ticker_tick(void *state, weir_turn *turn, const weir_event *event)
{
    weir__demo_actor *self = state;
    const weir__demo_stamp *tick = arrive(self, event);
    if (tick->hops < HOPS_MAX) {
        const uint32_t next = (self->index + 1) % WEIR__DEMO_TICKERS;
        post_stamped(self, turn, &self->load->tickers[next], &weir__demo_tick_type, tick->number,
                     tick->hops + 1);
    } else {
        post_stamped(self, turn, self->load->screen, &quote_type, tick->number, 0);
    }
    return WEIR_OK;
}

/* Ledgers, screen, sampler: the end of the line. */
static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    arrive(state, event);
    return WEIR_OK;
}

static weir_status importer_record(void *state, weir_turn *turn, const weir_event *event)
{
    weir__demo_actor *self = state;
    const bool first = weir__cell_read(&self->seen) == 0;
    const uint32_t number = arrive(self, event)->number;
    if (first && self->load->stuck) {
        weir__demo_hang();
    }
    if (number % FAIL_EVERY == 0) {
        return weir_turn_fail(turn, WEIR_E_FAILED, "a record that cannot be read, as it happens");
    }
    return WEIR_OK;
}

/* It comes by the clock, and carries nothing. */
static weir_status clock_beat(void *state, weir_turn *turn, const weir_event *event)
{
    weir__demo_actor *self = state;
    (void)turn;
    (void)event;
    weir__cell_add(&self->seen, 1);
    return WEIR_OK;
}

/* Moves store-0 to another dispatcher, and the next time back, while it is asked and answers. */
static weir_status mover_beat(void *state, weir_turn *turn, const weir_event *event)
{
    weir__demo_actor *self = state;
    const weir_processor store = self->load->stores[0].handle;
    const char *to = weir__cell_read(&self->moves) % 2 == 0 ? "api" : "";
    (void)event;
    weir__cell_add(&self->seen, 1);
    if (weir_processor_move(weir_turn_engine(turn), store, to, NULL) == WEIR_OK) {
        weir__cell_add(&self->moves, 1);
    }
    return WEIR_OK;
}

static const weir_case gateway_cases[] = { { &weir__demo_request_type, gateway_request },
                                           { &answer_type, gateway_answer } };
static const weir_case store_cases[] = { { &lookup_type, store_lookup } };
static const weir_case ticker_cases[] = { { &weir__demo_tick_type, ticker_tick } };
static const weir_case screen_cases[] = { { &quote_type, take } };
static const weir_case ledger_cases[] = { { &audit_type, take } };
static const weir_case importer_cases[] = { { &weir__demo_record_type, importer_record } };
static const weir_case clock_cases[] = { { &beat_type, clock_beat } };
static const weir_case mover_cases[] = { { &beat_type, mover_beat } };
static const weir_case sampler_cases[] = { { &weir__demo_record_type, take } };

/* A kind of actor: so many of them, in load->actors one behind the other. */
struct kind {
    const char *name;
    uint32_t dispatcher; /* index in weir__demo_dispatchers */
    uint32_t count;
    weir_cases cases;
    uint32_t mailbox_max; /* 0: the engine's default */
    weir_overflow overflow;
};

static const struct kind kinds[] = {
    { "gateway", 1, WEIR__DEMO_GATEWAYS, WEIR_CASES(gateway_cases), 0, WEIR_OVERFLOW_FAIL },
    { "store", 0, WEIR__DEMO_STORES, WEIR_CASES(store_cases), 0, WEIR_OVERFLOW_FAIL },
    { "ticker", 2, WEIR__DEMO_TICKERS, WEIR_CASES(ticker_cases), 0, WEIR_OVERFLOW_FAIL },
    { "ledger", 3, WEIR__DEMO_LEDGERS, WEIR_CASES(ledger_cases), 0, WEIR_OVERFLOW_FAIL },
    { "screen", 2, 1, WEIR_CASES(screen_cases), SCREEN_ROOM, WEIR_OVERFLOW_DROP_OLDEST },
    { "importer", 3, 1, WEIR_CASES(importer_cases), 0, WEIR_OVERFLOW_FAIL },
    { "sampler", 3, 1, WEIR_CASES(sampler_cases), SAMPLER_ROOM, WEIR_OVERFLOW_DROP_NEWEST },
    { "clock", 0, WEIR__DEMO_CLOCKS, WEIR_CASES(clock_cases), 0, WEIR_OVERFLOW_FAIL },
    { "mover", 0, 1, WEIR_CASES(mover_cases), 0, WEIR_OVERFLOW_FAIL },
};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

static void add_kind(weir__demo_load *load, const struct kind *kind, weir__demo_actor *actors,
                     weir_error *error)
{
    for (uint32_t i = 0; i < kind->count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%s-%u", kind->name, i);
        actors[i].load = load;
        actors[i].dispatcher = kind->dispatcher;
        actors[i].index = i;
        actors[i].handle = weir_processor_add(
            load->engine,
            WEIR_PROCESSOR(.name = name, .dispatcher = weir__demo_dispatchers[kind->dispatcher],
                           .cases = kind->cases, .argument = &actors[i],
                           .mailbox_max = kind->mailbox_max, .overflow = kind->overflow),
            error);
    }
}

void weir__demo_actors_add(weir__demo_load *load, weir_error *error)
{
    weir__demo_actor **const first[KIND_COUNT] = { &load->gateways, &load->stores, &load->tickers,
                                                   &load->ledgers,  &load->screen, &load->importer,
                                                   &load->sampler,  &load->clocks, &load->mover };
    weir__demo_actor *next = load->actors;
    for (uint32_t i = 0; i < KIND_COUNT; i++) {
        *first[i] = next;
        add_kind(load, &kinds[i], next, error);
        next += kinds[i].count;
    }
}

void weir__demo_timers_add(weir__demo_load *load, weir_error *error)
{
    static const weir_ns periods[WEIR__DEMO_CLOCKS] = { WEIR_MS, 10 * WEIR_MS };
    weir_status status = error->status;
    for (uint32_t i = 0; i < WEIR__DEMO_CLOCKS && status == WEIR_OK; i++) {
        status = weir_timer_add(load->engine, load->clocks[i].handle, WEIR_EMPTY(beat),
                                WEIR_TIMER(.every = periods[i]), NULL);
    }
    if (status == WEIR_OK) {
        status = weir_timer_add(load->engine, load->mover->handle, WEIR_EMPTY(beat),
                                WEIR_TIMER(.every = MOVE_EVERY), NULL);
    }
    if (status != WEIR_OK && error->status == WEIR_OK) {
        weir_error_set(error, status, "weir demo", "a timer could not be added");
    }
}
