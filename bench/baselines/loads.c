/*
 * baselines/loads.c - sets a load up, runs it, and checks that each message came once and in order.
 *
 * A processor knows how many messages it is to get, and counts the latch down with the last one:
 * so the end is seen when it happens, whatever the design does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "baselines/loads.h"

#include <stdlib.h>
#include <time.h>

#include "suite/clock.h"
#include "sync/thread.h"

enum { SENDERS = 2, PROCESSORS = 64, PATIENCE_S = 60 };
enum { MAILBOX = 10000 }; /* the originals' default, and weir's */
enum { SLEEPERS_PER_THREAD = 16, SLEEPS_EACH = 16 };
#define SLEEP_NS 1000000L

/* A processor's state. */
typedef struct station {
    _Alignas(64) baseline_processor *self;
    baseline_processor *peer;
    baseline_latch *done;
    uint64_t next[SENDERS]; /* the number that each sender's next message has */
    uint64_t left;          /* messages to come */
    uint64_t wrong;         /* came out of order, or too many, or could not be sent on */
    int64_t slept_ns;
} station;

typedef struct arena {
    baseline_engine *engine;
    baseline_latch *done;
    station *stations;
    uint32_t count;
    int64_t cpu_begin_ns;
} arena;

static void receive(station *self, const baseline_message *message)
{
    self->wrong += message->number != self->next[message->sender]++ || self->left == 0;
    if (--self->left == 0) {
        baseline_latch_down(self->done);
    }
}

/* ---- an engine with its processors ---- */

static bool arena_open(arena *a, const baseline_design *design, uint32_t threads, uint32_t count,
                       baseline_handler handler)
{
    const baseline_options options = { threads, count, MAILBOX };
    a->count = count;
    a->engine = baseline_create(design, &options);
    a->done = baseline_latch_create();
    a->stations = aligned_alloc(_Alignof(station), count * sizeof(station));
    if (a->engine == NULL || a->done == NULL || a->stations == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        station *s = &a->stations[i];
        *s = (station){ .done = a->done };
        s->self = baseline_add(a->engine, handler, s);
        if (s->self == NULL) {
            return false;
        }
    }
    return true;
}

/* Each processor is to get so many messages, from now on. */
static void arena_expect(arena *a, uint64_t each)
{
    baseline_latch_set(a->done, a->count);
    for (uint32_t i = 0; i < a->count; i++) {
        a->stations[i].left = each;
    }
}

/* Waits until all have come; answers how long that took from `begin`, or 0. */
static weir_ns arena_wait(arena *a, weir_ns begin, bench_result *result)
{
    const weir_ns end = baseline_latch_wait(a->done, PATIENCE_S);
    if (end < 0) {
        bench_wrong(result, "messages are missing after %d s", PATIENCE_S);
        return 0;
    }
    result->cpu_ms = (double)(bench_cpu_now() - a->cpu_begin_ns) / 1e6;
    return end > begin ? end - begin : 1;
}

static void arena_rate(arena *a, uint64_t events, weir_ns begin, bench_result *result)
{
    const weir_ns elapsed = arena_wait(a, begin, result);
    if (elapsed > 0) {
        bench_result_rate(result, events, elapsed);
    }
}

/* Ends the engine, and compares: `total` messages are handled, none out of order. */
static void arena_close(arena *a, uint64_t total, bench_result *result)
{
    baseline_counters sums = { 0 };
    uint64_t wrong = 0;
    if (a->engine != NULL) {
        baseline_stop(a->engine);
        baseline_count(a->engine, &sums);
    }
    for (uint32_t i = 0; a->stations != NULL && i < a->count; i++) {
        wrong += a->stations[i].wrong;
    }
    if (sums.handled != total || wrong != 0) {
        bench_wrong(result, "%llu of %llu messages handled, %llu out of order",
                    (unsigned long long)sums.handled, (unsigned long long)total,
                    (unsigned long long)wrong);
    }
    if (sums.try_locks > 0) {
        result->contention = (double)sums.try_locks_failed / (double)sums.try_locks;
        result->backoff = (double)sums.backoffs / (double)sums.rounds;
    }
    baseline_destroy(a->engine);
    baseline_latch_destroy(a->done);
    free(a->stations);
}

static bool arena_start(arena *a, bench_result *result)
{
    if (!baseline_start(a->engine)) {
        bench_wrong(result, "no threads");
        return false;
    }
    a->cpu_begin_ns = bench_cpu_now();
    return true;
}

/* ---- W1 ---- */

static void hand_back(void *state, const baseline_message *message)
{
    station *self = state;
    const baseline_message answer = { 1 - message->sender, message->number + 1 };
    self->wrong += message->number != self->next[0];
    self->next[0] += 2;
    if (answer.number < self->left) {
        self->wrong += !baseline_post(self->peer, &answer);
    } else {
        baseline_latch_down(self->done);
    }
}

void baseline_ping_pong(const baseline_design *design, const bench_setup *setup,
                        bench_result *result)
{
    const uint64_t total = bench_scaled(setup, 400000, 1000);
    const baseline_message first = { 0, 0 };
    arena a = { 0 };
    if (!arena_open(&a, design, setup->threads, 2, hand_back)) {
        bench_wrong(result, "out of memory");
    } else {
        arena_expect(&a, total);
        baseline_latch_set(a.done, 1);
        for (uint32_t i = 0; i < 2; i++) {
            a.stations[i].peer = a.stations[1 - i].self;
            a.stations[i].next[0] = i;
        }
        if (arena_start(&a, result)) {
            const weir_ns begin = weir__clock_now();
            baseline_post_all(a.stations[0].self, &first);
            arena_rate(&a, total, begin, result);
        }
    }
    arena_close(&a, total, result);
}

/* ---- W5 ---- */

static void count_message(void *state, const baseline_message *message)
{
    receive(state, message);
}

/* Posts to the processors `first`, `first + step`, ... */
typedef struct producer {
    const arena *to;
    uint32_t first, step;
    uint64_t each; /* messages for each of them */
    weir__os_thread thread;
} producer;

static void produce(void *argument)
{
    const producer *self = argument;
    for (uint64_t i = 0; i < self->each; i++) {
        for (uint32_t k = self->first; k < self->to->count; k += self->step) {
            baseline_post_all(self->to->stations[k].self, &(baseline_message){ self->first, i });
        }
    }
}

static uint32_t start_producers(producer *producers, const arena *to, uint64_t each)
{
    uint32_t started = 0;
    for (; started < SENDERS; started++) {
        producers[started] =
            (producer){ .to = to, .first = started, .step = SENDERS, .each = each };
        if (weir__os_thread_start(&producers[started].thread, produce, &producers[started]) != 0) {
            break;
        }
    }
    return started;
}

void baseline_spread(const baseline_design *design, const bench_setup *setup, bench_result *result)
{
    const uint64_t each = bench_scaled(setup, 6400000 / PROCESSORS, 10);
    const uint64_t total = each * PROCESSORS;
    producer producers[SENDERS];
    arena a = { 0 };
    if (!arena_open(&a, design, setup->threads, PROCESSORS, count_message)) {
        bench_wrong(result, "out of memory");
    } else {
        arena_expect(&a, each);
        if (arena_start(&a, result)) {
            const weir_ns begin = weir__clock_now();
            const uint32_t started = start_producers(producers, &a, each);
            if (started < SENDERS) {
                bench_wrong(result, "no threads");
            } else {
                arena_rate(&a, total, begin, result);
            }
            for (uint32_t i = 0; i < started; i++) {
                weir__os_thread_join(&producers[i].thread);
            }
        }
    }
    arena_close(&a, total, result);
}

/* ---- W10 ---- */

static void sleep_once(void *state, const baseline_message *message)
{
    station *self = state;
    const struct timespec span = { 0, SLEEP_NS };
    const weir_ns begin = weir__clock_now();
    (void)nanosleep(&span, NULL);
    self->slept_ns += weir__clock_now() - begin;
    receive(self, message);
}

/* Efficiency: the time that the handlers slept, over the time that all threads had. */
void baseline_sleepers(const baseline_design *design, const bench_setup *setup,
                       bench_result *result)
{
    const uint32_t count = setup->threads * SLEEPERS_PER_THREAD;
    const uint64_t each = bench_scaled(setup, SLEEPS_EACH, 1);
    const uint64_t total = each * count;
    int64_t slept_ns = 0;
    arena a = { 0 };
    if (!arena_open(&a, design, setup->threads, count, sleep_once)) {
        bench_wrong(result, "out of memory");
    } else {
        arena_expect(&a, each);
        if (arena_start(&a, result)) {
            const weir_ns begin = weir__clock_now();
            produce(&(producer){ .to = &a, .first = 0, .step = 1, .each = each });
            const weir_ns elapsed = arena_wait(&a, begin, result);
            if (elapsed > 0) {
                for (uint32_t i = 0; i < count; i++) {
                    slept_ns += a.stations[i].slept_ns;
                }
                bench_result_rate(result, total, elapsed);
                result->efficiency = (double)slept_ns / ((double)elapsed * setup->threads);
            }
        }
    }
    arena_close(&a, total, result);
}

/* ---- W12 ---- */

void baseline_collapse(const baseline_design *design, uint32_t each, const bench_setup *setup,
                       bench_result *result)
{
    const uint64_t once = (uint64_t)each * setup->threads;
    const uint64_t times = bench_scaled(setup, 1000000, once) / once;
    weir_ns elapsed = 1;
    arena a = { 0 };
    if (!arena_open(&a, design, setup->threads, setup->threads, count_message)) {
        bench_wrong(result, "out of memory");
    } else if (arena_start(&a, result)) {
        const weir_ns begin = weir__clock_now();
        for (uint64_t done = 0; done < times && elapsed > 0; done++) {
            arena_expect(&a, each);
            for (uint32_t i = 0; i < each; i++) {
                for (uint32_t k = 0; k < a.count; k++) {
                    const baseline_message message = { 0, done * each + i };
                    baseline_post_all(a.stations[k].self, &message);
                }
            }
            elapsed = arena_wait(&a, begin, result);
        }
        bench_result_rate(result, once * times, elapsed);
    }
    arena_close(&a, once * times, result);
}
