/*
 * simulate/workload.c - sets the engine up, lets it run, counts what was handled in the window.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/workload.h"

#include <stdio.h>
#include <string.h>

#define DISPATCHERS_MAX 64u
#define PROCESSORS_MAX 8192u
#define NAME_SIZE 16

typedef struct token {
    uint64_t number;
} token;
WEIR_EVENT_TYPE(token, "scale.token");

/* The processors of one dispatcher. */
typedef struct group {
    weir_processor *members;
    uint32_t count;
} group;

/* A processor's state. */
typedef struct station {
    uint64_t lot; /* its own chance, so that no two runs differ */
    const group *among;
    char fill[48]; /* a line of its own */
} station;

/* One load at a time in a process: a body of the simulator has nowhere else to leave it. */
static const weir__workload *under_way;
static group groups[DISPATCHERS_MAX];
static weir_processor members[PROCESSORS_MAX];
static char names[DISPATCHERS_MAX][NAME_SIZE];

static weir_status settle_down(void *state, weir_turn *turn, void *argument)
{
    station *self = state;
    self->lot = weir_turn_self(turn).id * UINT64_C(0x9e3779b97f4a7c15) | 1;
    self->among = argument;
    return WEIR_OK;
}

static weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    station *self = state;
    const uint64_t chance = weir__workload_draw(&self->lot);
    /* Half to one and a half: handlers that all take the same time fall into step. */
    const weir_ns span =
        under_way->span / 2 + (weir_ns)(((uint64_t)under_way->span * (chance & 0xffff)) >> 16);
    under_way->compute(&self->lot, span);
    const group *among = self->among;
    return weir_turn_post(turn, among->members[((chance >> 32) * among->count) >> 32], event);
}

static void say_nothing(void *context, const weir_log_entry *entry)
{
    (void)context;
    (void)entry;
}

/* Thread i serves dispatchers i, i + threads, ...; spare threads double up: as `partition` does. */
static void add_threads(weir_engine *engine, const weir__workload *load, weir_error *error)
{
    for (uint32_t i = 0; i < load->threads; i++) {
        const char *row[DISPATCHERS_MAX + 1] = { names[i % load->dispatchers] };
        uint32_t count = 1;
        for (uint32_t k = i + load->threads; k < load->dispatchers; k += load->threads) {
            row[count++] = names[k];
        }
        weir_thread_options options = WEIR_THREAD_OPTIONS_INIT;
        options.dispatchers = row;
        if (load->cores != NULL) {
            options.cores = &load->cores[i];
            options.core_count = 1;
            options.core_required = true;
        }
        if (load->realtime != 0) {
            options.priority = WEIR_PRIORITY_FIFO;
            options.priority_value = load->realtime;
        }
        weir_thread_add(engine, &options, error);
    }
}

static void add_processors(weir_engine *engine, const weir__workload *load, weir_error *error)
{
    const uint32_t all = load->processors * load->threads;
    const uint32_t fair = (all + load->dispatchers - 1) / load->dispatchers;
    const uint32_t each = fair > load->processors ? fair : load->processors;
    uint32_t used = 0;
    for (uint32_t d = 0; d < load->dispatchers; d++) {
        groups[d] = (group){ &members[used], each };
        for (uint32_t i = 0; i < each; i++) {
            members[used++] = weir_processor_add(
                engine,
                WEIR_PROCESSOR(.dispatcher = names[d], .handler = pass_on, .init = settle_down,
                               .argument = &groups[d], .state_size = sizeof(station)),
                error);
        }
    }
    for (uint32_t i = 0; i < used * load->events && error->status == WEIR_OK; i++) {
        error->status = weir_engine_post(engine, members[i % used], WEIR_EVENT(token, i));
    }
}

static weir_status look(weir_engine *engine, const weir__workload *load,
                        weir__workload_result *sums)
{
    weir_counters all = WEIR_COUNTERS_INIT;
    weir_status status = weir_engine_counters(engine, &all);
    *sums = (weir__workload_result){ .events = all.handled };
    for (uint32_t d = 0; d < load->dispatchers && status == WEIR_OK; d++) {
        weir_dispatcher_counters one = WEIR_DISPATCHER_COUNTERS_INIT;
        status = weir_dispatcher_counters_get(engine, names[d], &one);
        sums->try_locks += one.try_locks;
        sums->try_locks_failed += one.try_locks_failed;
        sums->backoffs += one.backoffs;
        sums->signals += one.signals;
    }
    return status;
}

static weir_status measure(weir_engine *engine, const weir__workload *load,
                           weir__workload_result *result)
{
    weir__workload_result before;
    weir__workload_result after;
    load->rest(load->warm_up);
    /* Around both looks: if this thread is held up in one of them, the rate is too low rather than
     * too high. */
    const weir_ns begin = weir_time_now(engine);
    weir_status status = look(engine, load, &before);
    if (load->window_begins != NULL) {
        load->window_begins();
    }
    load->rest(load->window);
    if (load->window_ends != NULL) {
        load->window_ends();
    }
    if (status == WEIR_OK) {
        status = look(engine, load, &after);
    }
    if (status == WEIR_OK) {
        *result = (weir__workload_result){
            .events = after.events - before.events,
            .window = weir_time_now(engine) - begin,
            .try_locks = after.try_locks - before.try_locks,
            .try_locks_failed = after.try_locks_failed - before.try_locks_failed,
            .backoffs = after.backoffs - before.backoffs,
            .signals = after.signals - before.signals,
        };
    }
    return status;
}

static bool is_sane(const weir__workload *load)
{
    const uint64_t most = load->threads > load->dispatchers ? load->threads : load->dispatchers;
    return load->threads >= 1 && load->dispatchers >= 1 && load->dispatchers <= DISPATCHERS_MAX &&
           load->processors >= 1 && load->events >= 1 && load->events <= 1000 &&
           load->processors * (most + load->dispatchers) <= PROCESSORS_MAX;
}

weir_status weir__workload_run(const weir__workload *load, weir__workload_result *result,
                               weir_error *error)
{
    *result = (weir__workload_result){ 0 };
    if (!is_sane(load)) {
        return weir_error_set(error, WEIR_E_INVALID, "workload", "too many of something, or none");
    }
    under_way = load;
    for (uint32_t d = 0; d < load->dispatchers; d++) {
        snprintf(names[d], sizeof(names[d]), "d%u", d);
    }
    weir_engine *engine = weir_engine_create(
        WEIR_ENGINE(.name = "scale", .processors_max = PROCESSORS_MAX, .log = say_nothing), error);
    add_threads(engine, load, error);
    add_processors(engine, load, error);
    weir_engine_start(engine, error);
    if (error->status == WEIR_OK) {
        error->status = measure(engine, load, result);
        /* The loop never ends by itself: a stop without patience; what is on its way is left. */
        weir_engine_stop(engine, 1, NULL);
    }
    weir_engine_destroy(engine);
    return error->status;
}
