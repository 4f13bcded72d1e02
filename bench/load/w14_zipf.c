/*
 * load/w14_zipf.c - W14: few keys have most of the events. How evenly are the workers busy?
 *
 * 10,000 keys by Zipf's law with 1.1, service times of 1 to 50 us that have nothing to do with the
 * key, and an open loop: events come when they are due, whatever the workers do, at 70 % of what
 * the workers can do. Imbalance is the busiest worker's time in handlers, over the mean.
 *
 * Two workers compute for that time. More would be more than the cores of a small machine, and what
 * waits for a core would look like load: there the handlers sleep, and all times are TIME_SCALE
 * times as long, so that a sleep is about as long as it is meant to be. Latencies are given as if
 * they were not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "load/support.h"
#include "suite/keys.h"
#include "suite/rows.h"

enum { KEYS = 10000, SERVICE_MIN_NS = 1000, SERVICE_MAX_NS = 50000, TIME_SCALE = 20 };
enum { PACE_NS = 50000, COMPUTING_MAX = 2, WORKERS_MAX = 16 };
#define ZIPF 1.1
#define LOAD 0.7
#define EVENTS_COMPUTING 100000u
#define EVENTS_SLEEPING 20000u

typedef enum placement { MOVED, FIXED, HASHED } placement;

/* When which key comes, and how long it takes. */
typedef struct arrival {
    int64_t due_ns;
    uint32_t key; /* its index */
    uint32_t number;
    uint32_t service_ns;
} arrival;

typedef struct call {
    uint64_t index; /* of the arrival */
} call;
WEIR_EVENT_TYPE(call, "bench.call");

typedef struct scene {
    load l;
    placement by;
    uint32_t workers;
    uint32_t scale; /* of times */
    weir_router router;
    uint64_t count;
    arrival *arrivals;
    int64_t *latency;
    uint32_t *got; /* by key: whoever handles that key, one at a time */
    atomic_uint_least64_t disorder;
    atomic_uint_least64_t done;
    struct counter {
        _Alignas(64) struct scene *scene;
        weir_processor self;
        int64_t busy_ns;
    } hashed[WORKERS_MAX];
} scene;

/* ---- the plan ---- */

static double uniform(uint64_t *random)
{
    return ((double)bench_random(random) + 0.5) / 2147483648.0;
}

static uint32_t draw(const double *sums, uint64_t *random)
{
    const double wanted = uniform(random) * sums[KEYS - 1];
    uint32_t low = 0, high = KEYS - 1;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (sums[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void plan(scene *s, uint64_t seed)
{
    double *sums = load_memory(KEYS, sizeof(*sums));
    uint32_t *numbers = load_memory(KEYS, sizeof(*numbers));
    uint64_t random = seed;
    const double mean = (SERVICE_MIN_NS + SERVICE_MAX_NS) / 2.0;
    const double gap = mean / LOAD / s->workers;
    double at = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        sums[i] = (i > 0 ? sums[i - 1] : 0) + pow((double)i + 1, -ZIPF);
    }
    for (uint64_t i = 0; i < s->count; i++) {
        arrival *a = &s->arrivals[i];
        a->key = draw(sums, &random);
        a->number = numbers[a->key]++;
        a->service_ns =
            (uint32_t)(SERVICE_MIN_NS + uniform(&random) * (SERVICE_MAX_NS - SERVICE_MIN_NS));
        a->service_ns *= s->scale;
        a->due_ns = (int64_t)at * s->scale;
        at -= log(uniform(&random)) * gap;
    }
    free(numbers);
    free(sums);
}

/* ---- handling ---- */

/* Answers how long it was. */
static int64_t serve(scene *s, uint64_t index)
{
    const arrival *a = &s->arrivals[index];
    const int64_t begin = bench_now();
    int64_t now = begin;
    if (a->number != s->got[a->key]++) {
        atomic_fetch_add(&s->disorder, 1);
    }
    if (s->scale > 1) {
        bench_sleep(a->service_ns);
        now = bench_now();
    }
    while (now - begin < a->service_ns) {
        now = bench_now();
    }
    s->latency[index] = (now - s->l.begin_ns - a->due_ns) / s->scale;
    return now - begin;
}

/* The last thing that a handler does: who waits reads what it wrote. */
static void one_done(scene *s)
{
    if (atomic_fetch_add(&s->done, 1) + 1 == s->count) {
        load_gate_pass(&s->l.gate);
    }
}

static weir_status serve_routed(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)serve(state, ((const call *)event->data)->index);
    one_done(state);
    return WEIR_OK;
}

static weir_status serve_hashed(void *state, weir_turn *turn, const weir_event *event)
{
    struct counter *self = state;
    (void)turn;
    self->busy_ns += serve(self->scene, ((const call *)event->data)->index);
    one_done(self->scene);
    return WEIR_OK;
}

/* ---- the measurement ---- */

static void set_up(scene *s)
{
    load_open(&s->l, (weir_engine_options){ .threads = s->workers }, 1);
    if (s->by != HASHED) {
        s->router = weir_router_add(s->l.engine,
                                    WEIR_ROUTER(.name = "w14", .handler = serve_routed,
                                                .argument = s, .workers = s->workers,
                                                .migrate = s->by == MOVED, .latency_every = 1),
                                    &s->l.error);
    }
    for (uint32_t i = 0; s->by == HASHED && i < s->workers; i++) {
        s->hashed[i].scene = s;
        s->hashed[i].self = weir_processor_add(
            s->l.engine,
            WEIR_PROCESSOR(.handler = serve_hashed, .argument = &s->hashed[i], .mailbox_max = 65536,
                           .overflow = WEIR_OVERFLOW_BLOCK),
            &s->l.error);
    }
}

static weir_status send(scene *s, uint64_t index)
{
    const uint64_t key = bench_key(s->arrivals[index].key);
    const weir_event *event = WEIR_EVENT(call, index);
    return s->by == HASHED ? weir_engine_post(s->l.engine, s->hashed[key % s->workers].self, event)
                           : weir_router_submit(s->l.engine, s->router, key, event);
}

/* Whatever is due; then sleeps, and not for shorter than PACE_NS: the workers need the cores. */
static void send_when_due(scene *s)
{
    for (uint64_t i = 0; i < s->count;) {
        const int64_t now = bench_now() - s->l.begin_ns;
        if (s->arrivals[i].due_ns > now) {
            const int64_t rest = s->arrivals[i].due_ns - now;
            bench_sleep(rest > PACE_NS ? rest : PACE_NS);
            continue;
        }
        const weir_status status = send(s, i++);
        if (status != WEIR_OK) {
            load_gate_break(&s->l.gate, status);
            return;
        }
    }
}

static int64_t busy_of(scene *s, uint32_t worker, bench_result *result)
{
    weir_worker_counters c = WEIR_WORKER_COUNTERS_INIT;
    if (s->by == HASHED) {
        return s->hashed[worker].busy_ns;
    }
    if (weir_worker_counters_get(s->l.engine, s->router, worker, &c) != WEIR_OK) {
        bench_wrong(result, "worker %u has no figures", worker);
    }
    return c.busy;
}

static void sum_up(scene *s, int64_t elapsed, bench_result *result)
{
    int64_t sum = 0, most = 0;
    for (uint32_t i = 0; i < s->workers; i++) {
        const int64_t busy = busy_of(s, i, result);
        sum += busy;
        most = busy > most ? busy : most;
    }
    result->imbalance = sum > 0 ? (double)most * s->workers / (double)sum : BENCH_NONE;
    result->efficiency = (double)sum / s->workers / (double)elapsed;
    bench_result_latency(result, s->latency, s->count);
}

static void check(scene *s, bench_result *result)
{
    uint64_t got = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        got += s->got[i];
    }
    if (got != s->count || atomic_load(&s->disorder) != 0) {
        bench_wrong(result, "%llu of %llu events, %llu out of order", (unsigned long long)got,
                    (unsigned long long)s->count, (unsigned long long)atomic_load(&s->disorder));
    }
}

static void run(const bench_setup *setup, bench_result *result, placement by)
{
    const bool sleeps = setup->threads > COMPUTING_MAX;
    scene *s = load_memory(1, sizeof(*s));
    s->by = by;
    s->workers = setup->threads < WORKERS_MAX ? setup->threads : WORKERS_MAX;
    s->scale = sleeps ? TIME_SCALE : 1;
    s->count = bench_scaled(setup, sleeps ? EVENTS_SLEEPING : EVENTS_COMPUTING, 100);
    s->arrivals = load_memory(s->count, sizeof(*s->arrivals));
    s->latency = load_memory(s->count, sizeof(*s->latency));
    s->got = load_memory(KEYS, sizeof(*s->got));
    plan(s, setup->seed);
    /* The usual slack of a sleep is as long as a service. Threads have it from who makes them. */
    const int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    set_up(s);
    if (load_start(&s->l, result)) {
        load_begin(&s->l);
        send_when_due(s);
        sum_up(s, load_wait(&s->l, result), result);
        load_cpu(&s->l, result);
    }
    load_close(&s->l, result);
    (void)prctl(PR_SET_TIMERSLACK, (unsigned long)(slack > 0 ? slack : 0), 0UL, 0UL, 0UL);
    check(s, result);
    free(s->got);
    free(s->latency);
    free(s->arrivals);
    free(s);
}

static void run_moved(const bench_setup *setup, bench_result *result)
{
    run(setup, result, MOVED);
}

static void run_fixed(const bench_setup *setup, bench_result *result)
{
    run(setup, result, FIXED);
}

static void run_hashed(const bench_setup *setup, bench_result *result)
{
    run(setup, result, HASHED);
}

const bench_row load_w14_zipf_rows[] = {
    { "w14-zipf", "weir-migrate", "Zipf keys, 70 % load, flows may move", { 2, 4 }, run_moved },
    { "w14-zipf", "weir", "the same, each stays where it began", { 2, 4 }, run_fixed },
    { "w14-zipf", "hash", "the same without a router: by the key's bits", { 2, 4 }, run_hashed },
    { 0 },
};
