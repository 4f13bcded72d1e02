/*
 * load/w11_broadcast.c - W11: one sender, one channel, 1, 10 or 1,000 subscribers whose handler
 * does nothing; an event is one delivery.
 *
 * A broadcast does not wait for a subscriber that is full, and every copy must arrive: the sender
 * keeps its lead over the slowest below what a mailbox holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sched.h>
#include <stdlib.h>

#include "load/producer.h"
#include "suite/rows.h"

enum { DELIVERIES = 20000000, LEAD_MAX = 4096, LOOK_EVERY = LEAD_MAX / 2, BURST = 64, BATCH = 32 };

WEIR_EMPTY_TYPE(go_on, "bench.go-on");

/* A subscriber, on a line of its own. */
typedef struct sink {
    _Alignas(64) atomic_uint_least64_t got; /* written by its handler only */
    uint64_t want, disorder;
    load_gate *gate;
} sink;

typedef struct scene {
    load l;
    sink *sinks;
    uint32_t sink_count;
    weir_channel channel;
    uint64_t each;
    uint64_t sent;
    uint64_t looked; /* none was further behind than LOOK_EVERY when so many were sent */
    uint32_t batch;  /* events a call */
    weir_processor speaker;
    pthread_t thread;
    load_mail mails[BATCH];
    weir_event events[BATCH];
    const weir_event *pointers[BATCH];
} scene;

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    sink *self = state;
    const load_mail *m = event->data;
    const uint64_t got = atomic_load_explicit(&self->got, memory_order_relaxed);
    (void)turn;
    self->disorder += m->number != got;
    atomic_store_explicit(&self->got, got + 1, memory_order_relaxed);
    if (got + 1 == self->want) {
        load_gate_pass(self->gate);
    }
    return WEIR_OK;
}

/* May it go on? Looks at all of them once in LOOK_EVERY broadcasts. */
static bool may_send(scene *s)
{
    if (s->sent - s->looked < LOOK_EVERY) {
        return true;
    }
    for (uint32_t i = 0; i < s->sink_count; i++) {
        if (s->sent - atomic_load_explicit(&s->sinks[i].got, memory_order_relaxed) > LOOK_EVERY) {
            return false;
        }
    }
    s->looked = s->sent;
    return true;
}

static void check_delivery(scene *s, weir_status status, uint32_t sent, const weir_delivery *d)
{
    if (status != WEIR_OK || d->delivered != (uint64_t)sent * s->sink_count) {
        load_gate_break(&s->l.gate, status != WEIR_OK ? status : WEIR_FULL);
    }
}

/* The next call: from a turn, or from outside. */
static void send(scene *s, weir_turn *turn)
{
    weir_delivery d = { 0, 0 };
    weir_status status;
    uint32_t count = 1;
    if (s->batch > 1) {
        const uint64_t rest = s->each - s->sent;
        count = rest < s->batch ? (uint32_t)rest : s->batch;
        for (uint32_t i = 0; i < count; i++) {
            s->mails[i].number = s->sent + i;
        }
        (void)(turn != NULL
                   ? weir_turn_broadcast_batch(turn, s->channel, s->pointers, count, &d, &status)
                   : weir_engine_broadcast_batch(s->l.engine, s->channel, s->pointers, count, &d,
                                                 &status));
    } else {
        const weir_event *event = WEIR_EVENT(load_mail, 0, s->sent);
        status = turn != NULL ? weir_turn_broadcast_many(turn, &s->channel, 1, event, &d)
                              : weir_engine_broadcast(s->l.engine, s->channel, event, &d);
    }
    s->sent += count;
    check_delivery(s, status, count, &d);
}

static void *send_from_outside(void *argument)
{
    scene *s = argument;
    load_begin(&s->l);
    while (s->sent < s->each) {
        if (may_send(s)) {
            send(s, NULL);
        } else {
            (void)sched_yield();
        }
    }
    return NULL;
}

/* A burst a turn, then an event to itself to go on, in a turn of its own: the others are due. */
static weir_status send_from_inside(void *state, weir_turn *turn, const weir_event *event)
{
    scene *s = state;
    (void)event;
    for (uint32_t i = 0; i < BURST && s->sent < s->each && may_send(s); i += s->batch) {
        send(s, turn);
    }
    return s->sent < s->each ? weir_turn_post(turn, weir_turn_self(turn), WEIR_EMPTY(go_on))
                             : WEIR_OK;
}

static void set_up(scene *s, const bench_setup *setup)
{
    load_open(&s->l, (weir_engine_options){ .threads = setup->threads }, s->sink_count);
    s->channel = weir_channel_open(s->l.engine, "w11", &s->l.error);
    for (uint32_t i = 0; i < s->sink_count; i++) {
        s->sinks[i].want = s->each;
        s->sinks[i].gate = &s->l.gate;
        const weir_processor p = weir_processor_add(
            s->l.engine, WEIR_PROCESSOR(.handler = take, .argument = &s->sinks[i]), &s->l.error);
        (void)weir_channel_subscribe(s->l.engine, s->channel, p);
    }
    s->speaker = weir_processor_add(
        s->l.engine, WEIR_PROCESSOR(.handler = send_from_inside, .argument = s, .batch_max = 1),
        &s->l.error);
}

static void measure(const bench_setup *setup, bench_result *result, uint32_t subscribers,
                    bool inside, uint32_t batch)
{
    scene s = { .sink_count = subscribers, .batch = batch };
    for (uint32_t i = 0; i < BATCH; i++) {
        s.events[i] = (weir_event){ .type = &load_mail_type,
                                    .data = &s.mails[i],
                                    .size = sizeof(s.mails[i]) };
        s.pointers[i] = &s.events[i];
    }
    s.each = bench_scaled(setup, DELIVERIES, (uint64_t)10 * subscribers) / subscribers;
    s.sinks = load_memory(subscribers, sizeof(*s.sinks));
    set_up(&s, setup);
    if (load_start(&s.l, result)) {
        if (inside) {
            load_begin(&s.l);
            if (weir_engine_post(s.l.engine, s.speaker, WEIR_EMPTY(go_on)) != WEIR_OK) {
                load_gate_break(&s.l.gate, WEIR_FULL);
            }
        } else {
            s.thread = load_thread(send_from_outside, &s);
        }
        bench_result_rate(result, s.each * subscribers, load_wait(&s.l, result));
        load_cpu(&s.l, result);
        if (!inside) {
            (void)pthread_join(s.thread, NULL);
        }
    }
    load_close(&s.l, result);
    for (uint32_t i = 0; i < subscribers && result->wrong[0] == '\0'; i++) {
        const uint64_t got = atomic_load(&s.sinks[i].got);
        if (got != s.each || s.sinks[i].disorder != 0) {
            bench_wrong(result, "subscriber %u got %llu of %llu, %llu out of order", i,
                        (unsigned long long)got, (unsigned long long)s.each,
                        (unsigned long long)s.sinks[i].disorder);
        }
    }
    free(s.sinks);
}

#define RUN(count, where, inside)                                                                  \
    static void run_##where##_##count(const bench_setup *setup, bench_result *result)              \
    {                                                                                              \
        measure(setup, result, (count), (inside), 1);                                              \
    }                                                                                              \
    static void run_##where##_batch_##count(const bench_setup *setup, bench_result *result)        \
    {                                                                                              \
        measure(setup, result, (count), (inside), BATCH);                                          \
    }
RUN(1, external, false)
RUN(1, inside, true)
RUN(10, external, false)
RUN(10, inside, true)
RUN(1000, external, false)
RUN(1000, inside, true)

#define ROWS(count, where, text)                                                                   \
    { "w11-" #where "-" #count, "weir", text, { 1, 2 }, run_##where##_##count },                   \
    {                                                                                              \
        "w11-" #where "-" #count, "weir-batch", "the same, 32 events a call", { 1, 2 },            \
            run_##where##_batch_##count                                                            \
    }

const bench_row load_w11_rows[] = {
    ROWS(1, external, "a thread outside broadcasts to 1 subscriber"),
    ROWS(1, inside, "a processor broadcasts to 1 subscriber"),
    ROWS(10, external, "a thread outside broadcasts to 10 subscribers"),
    ROWS(10, inside, "a processor broadcasts to 10 subscribers"),
    ROWS(1000, external, "a thread outside broadcasts to 1,000 subscribers"),
    ROWS(1000, inside, "a processor broadcasts to 1,000 subscribers"),
    { 0 },
};
