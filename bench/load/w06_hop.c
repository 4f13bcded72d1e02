/*
 * load/w06_hop.c - W6: one hop at a fixed rate, from a thread outside to a thread that spins.
 *
 * The times of sending are fixed beforehand, and the latency of an event begins at its time, not
 * when the sender got round to it: whatever holds the sender up, a full mailbox too, counts for
 * every event that had to wait (no coordinated omission). Nothing is dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "load/support.h"
#include "suite/rows.h"

enum { BATCH_MAX = 32 };

/* The first 20 ms do not count: sender and thread still have to find a core each. */
#define WARM_UPS_PER_S 50u

typedef struct hop {
    uint32_t events_per_s;
    uint32_t batch;  /* of what is due, in one post; at most BATCH_MAX */
    int64_t work_ns; /* that the handler computes */
} hop;

typedef struct due {
    int64_t at_ns;
    uint64_t number;
} due;
WEIR_EVENT_TYPE(due, "bench.due");

typedef struct target {
    _Alignas(64) int64_t *samples;
    uint64_t warm_up, want, got, disorder;
    int64_t work_ns;
    load_gate *gate;
} target;

static weir_status arrive(void *state, weir_turn *turn, const weir_event *event)
{
    const int64_t now = bench_now();
    target *self = state;
    const due *d = event->data;
    (void)turn;
    self->disorder += d->number != self->got;
    if (self->got >= self->warm_up) {
        self->samples[self->got - self->warm_up] = now - d->at_ns;
    }
    while (self->work_ns > 0 && bench_now() - now < self->work_ns) {
    }
    if (++self->got == self->want) {
        load_gate_pass(self->gate);
    }
    return WEIR_OK;
}

typedef struct sender {
    load *l;
    weir_processor to;
    uint64_t retries;
    due dues[BATCH_MAX];
    weir_event events[BATCH_MAX];
    const weir_event *pointers[BATCH_MAX];
} sender;

/* All of them, however often it has to be tried. */
static weir_status send(sender *s, size_t count)
{
    weir_status statuses[BATCH_MAX];
    uint32_t spins = 0;
    for (size_t sent = 0; sent < count;) {
        size_t took = 0;
        if (count == 1) {
            statuses[0] = weir_engine_post(s->l->engine, s->to, s->pointers[0]);
            took = statuses[0] == WEIR_OK;
        } else {
            took = weir_engine_post_batch(s->l->engine, &s->to, 1, s->pointers + sent, count - sent,
                                          statuses);
        }
        sent += took;
        if (sent < count && statuses[took] != WEIR_FULL) {
            return statuses[took];
        }
        if (sent < count) {
            s->retries++;
            bench_give_way(&spins);
        }
    }
    return WEIR_OK;
}

static void send_all(sender *s, const hop *h, uint64_t count)
{
    const double interval_ns = 1e9 / h->events_per_s;
    for (uint32_t i = 0; i < BATCH_MAX; i++) {
        s->events[i] =
            (weir_event){ .type = &due_type, .data = &s->dues[i], .size = sizeof(s->dues[i]) };
        s->pointers[i] = &s->events[i];
    }
    for (uint64_t next = 0; next < count;) {
        size_t ready = 0;
        int64_t now = bench_now();
        while (ready < h->batch && next < count) {
            const int64_t at = s->l->begin_ns + (int64_t)((double)next * interval_ns);
            if (at > now) {
                if (ready > 0) {
                    break;
                }
                bench_pause();
                now = bench_now();
                continue;
            }
            s->dues[ready++] = (due){ at, next++ };
        }
        const weir_status status = send(s, ready);
        if (status != WEIR_OK) {
            load_gate_break(&s->l->gate, status);
            return;
        }
    }
}

static void run_hop(const bench_setup *setup, bench_result *result, hop h)
{
    sender s;
    load l;
    const uint64_t samples = bench_scaled(setup, h.events_per_s / 2, 100);
    const uint64_t warm_up = h.events_per_s / WARM_UPS_PER_S;
    target t = {
        .warm_up = warm_up, .want = warm_up + samples, .work_ns = h.work_ns, .gate = &l.gate
    };
    t.samples =
        load_memory(samples, sizeof(*t.samples)); /* touched: no page fault in the handler */
    load_open(&l, (weir_engine_options){ 0 }, 1);
    for (uint32_t i = 0; i < setup->threads; i++) {
        weir_thread_add(l.engine, WEIR_THREAD(.idle = WEIR_IDLE_BUSY_SPIN), &l.error);
    }
    s = (sender){ .l = &l,
                  .to = weir_processor_add(
                      l.engine, WEIR_PROCESSOR(.handler = arrive, .argument = &t), &l.error) };
    if (load_start(&l, result)) {
        load_begin(&l);
        send_all(&s, &h, t.want);
        bench_result_rate(result, t.want, load_wait(&l, result));
        result->retries = (double)s.retries / (double)t.want;
    }
    load_close(&l, result);
    if (t.got != t.want || t.disorder != 0) {
        bench_wrong(result, "%llu of %llu events, %llu out of order", (unsigned long long)t.got,
                    (unsigned long long)t.want, (unsigned long long)t.disorder);
    }
    bench_result_latency(result, t.samples, samples);
    free(t.samples);
}

#define RUN_HOP(name, ...)                                                                         \
    static void run_##name(const bench_setup *setup, bench_result *result)                         \
    {                                                                                              \
        run_hop(setup, result, (hop){ __VA_ARGS__ });                                              \
    }
RUN_HOP(10k, .events_per_s = 10000, .batch = 1)
RUN_HOP(100k, .events_per_s = 100000, .batch = 1)
RUN_HOP(1m, .events_per_s = 1000000, .batch = 1)
RUN_HOP(10m, .events_per_s = 10000000, .batch = 1)
RUN_HOP(10m_batch, .events_per_s = 10000000, .batch = BATCH_MAX)
RUN_HOP(half, .events_per_s = 50000, .batch = 1, .work_ns = 10000)

const bench_row load_w06_hop_rows[] = {
    { "w6-hop-10k", "weir", "one hop to a spinning thread, 10,000/s", { 1 }, run_10k },
    { "w6-hop-100k", "weir", "one hop to a spinning thread, 100,000/s", { 1 }, run_100k },
    { "w6-hop-1m", "weir", "one hop to a spinning thread, 1 M/s", { 1 }, run_1m },
    { "w6-hop-10m", "weir", "one hop to a spinning thread, 10 M/s", { 1 }, run_10m },
    { "w6-hop-10m", "weir-batch", "the same, what is due in one post", { 1 }, run_10m_batch },
    { "w6-half-load", "weir", "10 us handlers, 50,000/s: half busy", { 1 }, run_half },
    { 0 },
};
