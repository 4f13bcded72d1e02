/*
 * cli/demo_figures.c - see demo_figures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/demo_figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds on a CPU: the first number of schedstat. 0 where the kernel does not keep it. */
static uint64_t read_cpu_ns(int32_t system_id)
{
    char path[64];
    char text[96] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", system_id);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    const char *line = fgets(text, sizeof(text), file);
    fclose(file);
    return line != NULL ? strtoull(line, NULL, 10) : 0;
}

static void look_at_actors(weir__demo_look *look, const weir__demo_load *load)
{
    for (uint32_t i = 0; i < WEIR__DEMO_ACTORS; i++) {
        const weir__demo_actor *actor = &load->actors[i];
        weir_counters counters = WEIR_COUNTERS_INIT;
        look->posted += weir__cell_read(&actor->posted);
        look->seen += weir__cell_read(&actor->seen);
        weir__histogram_sum_add_live(&look->latencies[actor->dispatcher], &actor->latency);
        /* After the stop it is UNKNOWN, and nothing waits. */
        if (weir_processor_counters(load->engine, actor->handle, &counters) == WEIR_OK) {
            look->depths[actor->dispatcher] += counters.depth;
        }
    }
    for (uint32_t i = 0; i < WEIR__DEMO_PRODUCERS; i++) {
        look->posted += weir__cell_read(&load->producers[i].posted);
    }
}

static void look_at_threads(weir__demo_look *look, const weir__demo_load *load)
{
    for (uint32_t i = 0; i < load->threads; i++) {
        weir_thread_counters *counters = &look->threads[i];
        char name[32];
        snprintf(name, sizeof(name), "weir-%u", i); /* as weir_assign names them */
        *counters = (weir_thread_counters)WEIR_THREAD_COUNTERS_INIT;
        const weir_thread thread = weir_thread_find(load->engine, name);
        if (weir_thread_counters_get(load->engine, thread, counters) != WEIR_OK) {
            counters->struct_size = 0; /* not known */
        } else if (counters->system_id != 0) {
            look->cpu_ns[i] = read_cpu_ns(counters->system_id);
        }
    }
}

void weir__demo_look_take(weir__demo_look *look, const weir__demo_load *load)
{
    memset(look, 0, sizeof(*look));
    look->time = weir_time_now(load->engine);
    look->engine = (weir_counters)WEIR_COUNTERS_INIT;
    weir_engine_counters(load->engine, &look->engine);
    for (uint32_t i = 0; i < WEIR__DEMO_DISPATCHERS; i++) {
        look->dispatchers[i] = (weir_dispatcher_counters)WEIR_DISPATCHER_COUNTERS_INIT;
        weir_dispatcher_counters_get(load->engine, weir__demo_dispatchers[i],
                                     &look->dispatchers[i]);
    }
    look->timers = (weir_timer_counters)WEIR_TIMER_COUNTERS_INIT;
    if (weir_timer_counters_get(load->engine, &look->timers) == WEIR_OK) {
        look->posted += look->timers.posted;
    }
    look_at_actors(look, load);
    look->moves = weir__cell_read(&load->mover->moves);
    look_at_threads(look, load);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

static void make_dispatcher(weir__demo_dispatcher_figures *figures, const weir__demo_look *earlier,
                            const weir__demo_look *now, uint32_t i, double seconds)
{
    const weir_dispatcher_counters *a = &earlier->dispatchers[i];
    const weir_dispatcher_counters *b = &now->dispatchers[i];
    weir__histogram_sum latency = now->latencies[i];
    weir__histogram_sum_subtract(&latency, &earlier->latencies[i]);
    *figures = (weir__demo_dispatcher_figures){
        .name = weir__demo_dispatchers[i],
        .threads = b->threads,
        .handled = b->handled - a->handled,
        .events_per_s = (double)(b->handled - a->handled) / seconds,
        .depth = now->depths[i],
        .contention = share(b->try_locks_failed - a->try_locks_failed, b->try_locks - a->try_locks),
        .backoff = share(b->backoffs - a->backoffs, b->rounds - a->rounds),
        .p50_ns = weir__histogram_sum_percentile(&latency, 50.0),
        .p99_ns = weir__histogram_sum_percentile(&latency, 99.0),
    };
}

static void make_thread(weir__demo_thread_figures *figures, const weir__demo_look *earlier,
                        const weir__demo_look *now, uint32_t i, double seconds)
{
    const uint64_t a = earlier->cpu_ns[i];
    const uint64_t b = now->cpu_ns[i];
    *figures = (weir__demo_thread_figures){
        .known = now->threads[i].struct_size != 0,
        .events_per_s = (double)(now->threads[i].handled - earlier->threads[i].handled) / seconds,
        .utilisation = b > 0 && b >= a ? (double)(b - a) / 1e9 / seconds : -1.0,
    };
    if (figures->utilisation > 1.0) {
        figures->utilisation = 1.0; /* the two clocks are not read at one moment */
    }
}

void weir__demo_figures_make(weir__demo_figures *figures, const weir__demo_load *load,
                             const weir__demo_look *earlier, const weir__demo_look *now)
{
    const weir_ns span = now->time - earlier->time;
    memset(figures, 0, sizeof(*figures));
    figures->seconds = span > 0 ? (double)span / 1e9 : 1e-9;
    for (uint32_t i = 0; i < WEIR__DEMO_DISPATCHERS; i++) {
        make_dispatcher(&figures->dispatchers[i], earlier, now, i, figures->seconds);
        figures->events_per_s += figures->dispatchers[i].events_per_s;
        figures->depth += figures->dispatchers[i].depth;
    }
    figures->thread_count = load->threads;
    for (uint32_t i = 0; i < load->threads; i++) {
        make_thread(&figures->threads[i], earlier, now, i, figures->seconds);
        figures->threads[i].dispatchers = load->rows[i];
    }
    figures->totals = now->engine;
    figures->timers = now->timers;
    figures->moves = now->moves;
}

const char *weir__demo_look_judge(const weir__demo_look *look)
{
    const weir_counters *sums = &look->engine;
    if (sums->accepted != sums->handled + sums->dropped + sums->dead + sums->left) {
        return "the engine's sums do not add up";
    }
    if (look->posted != sums->accepted) {
        return "the engine's count of accepted events is not that of the posts";
    }
    if (look->seen != sums->handled + sums->dead) {
        return "the engine's count of handled events is not that of the handlers' runs";
    }
    return NULL;
}
