/*
 * baselines/closed_loop.c - as simulate/workload.c does it: a handler computes for a while and
 * posts its event on, to a processor that is drawn by lot. So work never runs out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "baselines/closed_loop.h"

#include <stdlib.h>

#include "sync/thread.h"

/* A processor's state: a line of its own. */
typedef struct station {
    _Alignas(64) uint64_t lot; /* its own chance, so that no two runs differ */
    const struct loop *in;
} station;

typedef struct loop {
    const weir__workload *load;
    baseline_engine *engine;
    baseline_processor **members;
    station *stations;
    uint32_t count;
} loop;

static void pass_on(void *state, const baseline_message *message)
{
    station *self = state;
    const loop *in = self->in;
    const uint64_t chance = weir__workload_draw(&self->lot);
    /* Half to one and a half: handlers that all take the same time fall into step. */
    const weir_ns span =
        in->load->span / 2 + (weir_ns)(((uint64_t)in->load->span * (chance & 0xffff)) >> 16);
    in->load->compute(&self->lot, span);
    /* There is always room: a mailbox takes all events that there are. */
    (void)baseline_post(in->members[((chance >> 32) * in->count) >> 32], message);
}

static weir_status set_up(loop *in, const baseline_design *design)
{
    const weir__workload *load = in->load;
    in->count = load->processors * load->threads;
    const uint32_t events = in->count * load->events;
    const baseline_options options = { load->threads, in->count, events };
    in->engine = baseline_create(design, &options);
    in->members = calloc(in->count, sizeof(baseline_processor *));
    in->stations = aligned_alloc(_Alignof(station), in->count * sizeof(station));
    if (in->engine == NULL || in->members == NULL || in->stations == NULL) {
        return WEIR_E_NOMEM;
    }
    for (uint32_t i = 0; i < in->count; i++) {
        in->stations[i] = (station){ (i + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1, in };
        in->members[i] = baseline_add(in->engine, pass_on, &in->stations[i]);
        if (in->members[i] == NULL) {
            return WEIR_E_NOMEM;
        }
    }
    for (uint32_t i = 0; i < events; i++) {
        baseline_post_all(in->members[i % in->count], &(baseline_message){ 0, i });
    }
    return baseline_start(in->engine) ? WEIR_OK : WEIR_E_SYSTEM;
}

static void measure(const loop *in, weir__workload_result *result)
{
    const weir__workload *load = in->load;
    baseline_counters before, after;
    load->rest(load->warm_up);
    const weir_ns begin = weir__clock_now();
    baseline_count(in->engine, &before);
    if (load->window_begins != NULL) {
        load->window_begins();
    }
    load->rest(load->window);
    if (load->window_ends != NULL) {
        load->window_ends();
    }
    baseline_count(in->engine, &after);
    *result = (weir__workload_result){
        .events = after.handled - before.handled,
        .window = weir__clock_now() - begin,
        .try_locks = after.try_locks - before.try_locks,
        .try_locks_failed = after.try_locks_failed - before.try_locks_failed,
        .backoffs = after.backoffs - before.backoffs,
    };
}

weir_status baseline_closed_loop(const baseline_design *design, const weir__workload *load,
                                 weir__workload_result *result)
{
    loop in = { .load = load };
    *result = (weir__workload_result){ 0 };
    if (load->dispatchers != 1 || load->threads == 0) {
        return WEIR_E_INVALID;
    }
    const weir_status status = set_up(&in, design);
    if (status == WEIR_OK) {
        measure(&in, result);
        baseline_stop(in.engine);
    }
    baseline_destroy(in.engine);
    free(in.members);
    free(in.stations);
    return status;
}
