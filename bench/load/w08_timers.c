/*
 * load/w08_timers.c - W8: a million timers are scheduled, every other one is cancelled, the others
 * fire; and what one more costs when many are pending.
 *
 * The delays are those of the peers' programs: 2 s and up to 999 ms more, by chance; counted, as in
 * a peer's loop, from one look at the clock. What fires
 * calls a hook, as a peer's timer does (weir), or is an event to a processor (weir-event).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "load/support.h"
#include "suite/rows.h"

typedef struct tick {
    uint64_t number;
} tick;
WEIR_EVENT_TYPE(tick, "bench.tick");

typedef struct crowd {
    load l;
    weir_processor to; /* {0}: hooks are called */
    weir_timer *timers;
    weir_ns *delays;
    uint64_t count, each; /* of all, of a thread */
    uint64_t fired;       /* its hook's or handler's thread; read when the gate is open */
    atomic_uint_least64_t wrong;
} crowd;

static void call(void *context, weir_timer timer, weir_timer_outcome outcome)
{
    crowd *c = context;
    (void)timer;
    if (outcome == WEIR_TIMER_POSTED) {
        load_gate_pass(&c->l.gate);
    }
}

static weir_status take(void *state, weir_turn *turn, const weir_event *event)
{
    crowd *c = state;
    const tick *t = event->data;
    (void)turn;
    if (t->number % 2 == 0) { /* it was cancelled */
        atomic_fetch_add(&c->wrong, 1);
    }
    load_gate_pass(&c->l.gate);
    return WEIR_OK;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void schedule(crowd *c, uint64_t first, uint64_t count)
{
    const weir_ns now = weir_time_now(c->l.engine);
    uint64_t wrong = 0;
    for (uint64_t i = first; i < first + count; i++) {
        const weir_status status =
            c->to.id != 0
                ? weir_timer_add(c->l.engine, c->to, WEIR_EVENT(tick, i),
                                 WEIR_TIMER(.at = now + c->delays[i]), &c->timers[i])
                : weir_timer_add(c->l.engine, c->to, NULL,
                                 WEIR_TIMER(.at = now + c->delays[i], .hook = call, .context = c),
                                 &c->timers[i]);
        wrong += status != WEIR_OK ? 1 : 0;
    }
    atomic_fetch_add(&c->wrong, wrong);
}

static void cancel(crowd *c, uint64_t first, uint64_t count)
{
    uint64_t wrong = 0;
    for (uint64_t i = first + first % 2; i < first + count; i += 2) {
        wrong += weir_timer_cancel(c->l.engine, c->timers[i]) != WEIR_OK ? 1 : 0;
    }
    atomic_fetch_add(&c->wrong, wrong);
}

/* ---- by one thread, or by several at once ---- */

typedef struct hand {
    crowd *crowd;
    void (*what)(crowd *c, uint64_t first, uint64_t count);
    uint64_t first;
    pthread_barrier_t *start;
    pthread_t thread;
} hand;

static void *lend_a_hand(void *argument)
{
    hand *h = argument;
    (void)pthread_barrier_wait(h->start);
    h->what(h->crowd, h->first, h->crowd->each);
    return NULL;
}

/* Returns how long it took, in seconds. */
static double do_with(crowd *c, uint32_t threads, void (*what)(crowd *, uint64_t, uint64_t))
{
    hand hands[16];
    pthread_barrier_t start;
    if (threads == 1) {
        const int64_t begin = bench_now();
        what(c, 0, c->count);
        return (double)(bench_now() - begin) / 1e9;
    }
    (void)pthread_barrier_init(&start, NULL, threads + 1);
    for (uint32_t i = 0; i < threads; i++) {
        hands[i] = (hand){ .crowd = c, .what = what, .first = i * c->each, .start = &start };
        hands[i].thread = load_thread(lend_a_hand, &hands[i]);
    }
    (void)pthread_barrier_wait(&start);
    const int64_t begin = bench_now();
    for (uint32_t i = 0; i < threads; i++) {
        (void)pthread_join(hands[i].thread, NULL);
    }
    const double seconds = (double)(bench_now() - begin) / 1e9;
    (void)pthread_barrier_destroy(&start);
    return seconds;
}

static void run_crowd(const bench_setup *setup, bench_result *result, bool events)
{
    crowd c = { .to = { 0 } };
    uint64_t random = 1;
    const uint32_t threads = setup->threads < 16 ? setup->threads : 16;
    c.each = bench_scaled(setup, 1000000, 32) / threads / 2 * 2;
    c.count = c.each * threads;
    c.timers = load_memory(c.count, sizeof(*c.timers));
    c.delays = load_memory(c.count, sizeof(*c.delays));
    for (uint64_t i = 0; i < c.count; i++) {
        /* A small load need not wait for as long as a large one takes to be scheduled. */
        const weir_ns least = setup->scale < 1 ? 200 * WEIR_MS : 2 * WEIR_S;
        c.delays[i] =
            least + (weir_ns)(next_random(&random) % (setup->scale < 1 ? 100 : 1000)) * WEIR_MS;
    }
    load_open(&c.l, (weir_engine_options){ .threads = 1, .mailbox_max = 1000000 }, c.count / 2);
    if (events) {
        c.to = weir_processor_add(c.l.engine, WEIR_PROCESSOR(.handler = take, .argument = &c),
                                  &c.l.error);
    }
    if (load_start(&c.l, result)) {
        load_begin(&c.l);
        result->schedule_per_s = (double)c.count / do_with(&c, threads, schedule);
        weir_timer_counters counters = WEIR_TIMER_COUNTERS_INIT;
        if (weir_timer_counters_get(c.l.engine, &counters) == WEIR_OK && c.count >= 100000) {
            result->bytes_each = (double)counters.bytes / (double)c.count;
        }
        result->cancel_per_s = (double)c.count / 2 / do_with(&c, threads, cancel);
        const int64_t before = bench_cpu_now();
        (void)load_wait(&c.l, result);
        result->fire_cpu_ms = (double)(bench_cpu_now() - before) / 1e6;
        if (weir_timer_counters_get(c.l.engine, &counters) == WEIR_OK) {
            result->p50_ns = (double)counters.late_p50;
            result->p99_ns = (double)counters.late_p99;
            result->p999_ns = (double)counters.late_p999;
        }
    }
    load_close(&c.l, result);
    if (atomic_load(&c.wrong) != 0) {
        bench_wrong(result, "%llu timers were refused, or fired although cancelled",
                    (unsigned long long)atomic_load(&c.wrong));
    }
    free(c.timers);
    free(c.delays);
}

static void run(const bench_setup *setup, bench_result *result)
{
    run_crowd(setup, result, false);
}

static void run_events(const bench_setup *setup, bench_result *result)
{
    run_crowd(setup, result, true);
}

/* ---- one more among many ---- */

enum { MORE = 500, REPEATS = 400 };

static void run_among(const bench_setup *setup, bench_result *result, uint64_t pending)
{
    crowd c = { .to = { 0 } };
    uint64_t random = 1;
    const uint64_t repeats = bench_scaled(setup, REPEATS, 2);
    int64_t spent = 0;
    c.count = pending + MORE;
    c.timers = load_memory(c.count, sizeof(*c.timers));
    c.delays = load_memory(c.count, sizeof(*c.delays));
    for (uint64_t i = 0; i < c.count; i++) {
        c.delays[i] = 60 * WEIR_S + (weir_ns)(next_random(&random) % 1000000) * WEIR_MS;
    }
    load_open(&c.l, (weir_engine_options){ .threads = 1, .timers_max = 2000000 }, 1);
    if (load_start(&c.l, result)) {
        schedule(&c, 0, pending);
        for (uint64_t i = 0; i < repeats; i++) {
            const int64_t begin = bench_now();
            schedule(&c, pending, MORE);
            spent += bench_now() - begin;
            for (uint64_t k = pending; k < pending + MORE; k++) {
                if (weir_timer_cancel(c.l.engine, c.timers[k]) != WEIR_OK) {
                    bench_wrong(result, "a timer could not be cancelled");
                }
            }
        }
        bench_result_rate(result, repeats * MORE, spent > 0 ? spent : 1);
    }
    load_close(&c.l, result);
    free(c.timers);
    free(c.delays);
}

#define RUN_AMONG(count)                                                                           \
    static void run_among_##count(const bench_setup *setup, bench_result *result)                  \
    {                                                                                              \
        run_among(setup, result, (count));                                                         \
    }
RUN_AMONG(1000)
RUN_AMONG(10000)
RUN_AMONG(100000)
RUN_AMONG(1000000)

const bench_row load_w08_rows[] = {
    { "w8",
      "weir",
      "1 M timers: scheduled, half cancelled, the rest fire hooks",
      { 1, 2, 8 },
      run },
    { "w8", "weir-event", "the same, each an event to a processor", { 1 }, run_events },
    { "timers-1000", "weir", "one timer more among 1,000", { 1 }, run_among_1000 },
    { "timers-10000", "weir", "among 10,000", { 1 }, run_among_10000 },
    { "timers-100000", "weir", "among 100,000", { 1 }, run_among_100000 },
    { "timers-1000000", "weir", "among 1,000,000", { 1 }, run_among_1000000 },
    { 0 },
};
