/*
 * baselines/flow_rows.c - the rows of W14 that the first proposal for flows runs, too.
 *
 * The same keys in the same order as load/flows.c, a state of 8 bytes for each, found by its key in
 * a map of the worker's own: the proposal has none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "baselines/design.h"
#include "baselines/flow_sketch.h"
#include "suite/clock.h"
#include "suite/keys.h"
#include "suite/rows.h"

enum { FLOWS = 1000, WORKERS_MAX = 16 };
#define TRIVIAL 4000000u
#define WITH_WORK 1000000u

/* A worker's. */
typedef struct shelf {
    _Alignas(64) sketch_map states; /* key: events so far */
    uint64_t handled, disorder;
} shelf;

static void take(void *state, const sketch_signal *signal)
{
    shelf *self = state;
    bool made;
    uint64_t *got = sketch_map_at(&self->states, signal->key, &made);
    self->disorder += signal->number != (*got)++;
    self->handled++;
    if (signal->steps > 0) {
        bench_work(signal->steps);
    }
    if (signal->finish != 0) {
        sketch_map_remove(&self->states, signal->key);
    }
}

static void send(sketch *all, const uint64_t *keys, uint64_t rounds, uint32_t steps)
{
    for (uint64_t number = 0; number < rounds; number++) {
        for (uint32_t i = 0; i < FLOWS; i++) {
            sketch_submit(all,
                          &(sketch_signal){ keys[i], number, number + 1 == rounds ? 1 : 0, steps });
        }
    }
}

static void check(const shelf *shelves, uint32_t workers, uint64_t events, uint64_t mapped,
                  bench_result *result)
{
    uint64_t handled = 0, disorder = 0, states = 0;
    for (uint32_t i = 0; i < workers; i++) {
        handled += shelves[i].handled;
        disorder += shelves[i].disorder;
        states += shelves[i].states.count;
    }
    if (handled != events || disorder != 0 || states != 0 || mapped != 0) {
        bench_wrong(result,
                    "%llu of %llu events, %llu out of order, %llu states and %llu mappings "
                    "left",
                    (unsigned long long)handled, (unsigned long long)events,
                    (unsigned long long)disorder, (unsigned long long)states,
                    (unsigned long long)mapped);
    }
}

static void race(const bench_setup *setup, bench_result *result, uint64_t full, uint32_t steps)
{
    const uint32_t workers = setup->threads < WORKERS_MAX ? setup->threads : WORKERS_MAX;
    const uint64_t rounds = bench_scaled(setup, full, FLOWS) / FLOWS, events = rounds * FLOWS;
    shelf *shelves = baseline_allocate(workers * sizeof(*shelves));
    uint64_t keys[FLOWS] = { 0 };
    void *states[WORKERS_MAX] = { NULL };
    bool good = shelves != NULL;
    bench_keys_shuffle(keys, FLOWS);
    for (uint32_t i = 0; good && i < workers; i++) {
        states[i] = &shelves[i];
        good = sketch_map_open(&shelves[i].states, FLOWS);
    }
    sketch *all = good ? sketch_create(&(sketch_options){ workers, FLOWS, take, states }) : NULL;
    if (all == NULL) {
        bench_wrong(result, "out of memory, or no threads");
    } else {
        const double work_ns = steps > 0 ? bench_work_ns(steps) : 0;
        const int64_t cpu_begin = bench_cpu_now(), begin = bench_now();
        send(all, keys, rounds, steps);
        const int64_t elapsed = sketch_drain(all) - begin;
        bench_result_rate(result, events, elapsed);
        result->cpu_ms = (double)(bench_cpu_now() - cpu_begin) / 1e6;
        if (steps > 0) {
            result->efficiency = work_ns * (double)events / (double)workers / (double)elapsed;
        }
        check(shelves, workers, events, sketch_flows(all), result);
        sketch_destroy(all);
    }
    for (uint32_t i = 0; shelves != NULL && i < workers; i++) {
        sketch_map_close(&shelves[i].states);
    }
    free(shelves);
}

static void run_trivial(const bench_setup *setup, bench_result *result)
{
    race(setup, result, TRIVIAL, 0);
}

static void run_with_work(const bench_setup *setup, bench_result *result)
{
    race(setup, result, WITH_WORK, BENCH_STEPS_US);
}

const bench_row bench_flow_sketch_rows[] = {
    { "w14-race-0us", "sketch", "the same as flows were first proposed", { 1, 2 }, run_trivial },
    { "w14-race-1us", "sketch", "the same as flows were first proposed", { 1, 2 }, run_with_work },
    { NULL, NULL, NULL, { 0 }, NULL },
};
