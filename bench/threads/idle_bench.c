/*
 * idle_bench.c - what each idle strategy costs when there is nothing to do, and how fast it wakes:
 * the table of docs/guide/threads.md.
 *
 * For each strategy an engine of one thread. Idle cost: CPU time of that thread during a stretch
 * in which nothing is posted. Wake latency: from the post to the first line of the handler, each
 * sample after 1 to 2 ms of silence (spread, because a fixed 1 ms runs in step with the naps of
 * `sleep` and measures the phase between the two). Prints Markdown, or one JSON object a line with
 * --json; how busy the machine was goes to stderr, because a row that spins means little on a busy
 * one.
 *
 *     idle_bench [--json] [--samples N] [--idle-ms N]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <weir/weir.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES_DEFAULT = 1000, SAMPLES_MAX = 1000000, IDLE_MS_DEFAULT = 1000, WARM_UP = 50 };

typedef struct stamp {
    int64_t posted;
} stamp;
WEIR_EVENT_TYPE(stamp, "bench.stamp");

typedef struct settings {
    bool json;
    uint32_t samples;
    uint32_t idle_ms;
} settings;

typedef struct result {
    double idle_ms_per_s; /* CPU */
    double load_ms_per_s; /* CPU while the samples were taken, 1 to 2 ms apart */
    double p50_us, p99_us, max_us;
} result;

typedef struct probe {
    int64_t *latencies;
    uint32_t samples;
    atomic_uint_least32_t count;
} probe;

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
    const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    (void)nanosleep(&t, NULL);
}

/* CPU time of another thread of this process: the clock that pthread_getcpuclockid would give. */
static int64_t cpu_ns_of(int32_t task)
{
    struct timespec t = { 0, 0 };
    (void)clock_gettime((clockid_t)((~(unsigned)task << 3) | 6u), &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static weir_status take_time(void *state, weir_turn *turn, const weir_event *event)
{
    const int64_t now = now_ns();
    probe *p = state;
    (void)turn;
    const uint32_t count = atomic_load_explicit(&p->count, memory_order_relaxed);
    if (count < p->samples) {
        p->latencies[count] = now - ((const stamp *)event->data)->posted;
    }
    atomic_store_explicit(&p->count, count + 1, memory_order_release);
    return WEIR_OK;
}

/* 0 to 1 ms; the same sequence in every run. */
static int64_t spread_ns(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % 1000000);
}

/* One sample: silence, then a post, then the answer. */
static weir_status sample(weir_engine *engine, weir_processor to, probe *p)
{
    const uint32_t before = atomic_load_explicit(&p->count, memory_order_acquire);
    sleep_ns(1000000 + spread_ns());
    const weir_status status = weir_engine_post(engine, to, WEIR_EVENT(stamp, now_ns()));
    /* Not a spin: on a machine with few cores it would take one from the thread it waits for. */
    while (status == WEIR_OK && atomic_load_explicit(&p->count, memory_order_acquire) == before) {
        (void)sched_yield();
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double percentile_us(const int64_t *sorted, uint32_t count, uint32_t percent)
{
    const uint64_t rank = ((uint64_t)count * percent + 99) / 100;
    return (double)sorted[rank == 0 ? 0 : rank - 1] / 1000.0;
}

static weir_status measure(weir_engine *engine, weir_thread thread, weir_processor to, probe *p,
                           const settings *set, result *out)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < WARM_UP && status == WEIR_OK; i++) {
        status = sample(engine, to, p);
    }
    weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
    if (status == WEIR_OK) {
        status = weir_thread_counters_get(engine, thread, &counters);
    }
    sleep_ns(50000000); /* whatever it still does about the last event */
    const int64_t idle_begin = now_ns(), idle_cpu = cpu_ns_of(counters.system_id);
    sleep_ns((int64_t)set->idle_ms * 1000000);
    out->idle_ms_per_s = 1000.0 * (double)(cpu_ns_of(counters.system_id) - idle_cpu) /
                         (double)(now_ns() - idle_begin);

    atomic_store_explicit(&p->count, 0, memory_order_release);
    const int64_t load_begin = now_ns(), load_cpu = cpu_ns_of(counters.system_id);
    for (uint32_t i = 0; i < set->samples && status == WEIR_OK; i++) {
        status = sample(engine, to, p);
    }
    out->load_ms_per_s = 1000.0 * (double)(cpu_ns_of(counters.system_id) - load_cpu) /
                         (double)(now_ns() - load_begin);
    qsort(p->latencies, set->samples, sizeof(*p->latencies), compare);
    out->p50_us = percentile_us(p->latencies, set->samples, 50);
    out->p99_us = percentile_us(p->latencies, set->samples, 99);
    out->max_us = percentile_us(p->latencies, set->samples, 100);
    return status;
}

static weir_status run(weir_idle idle, const settings *set, result *out, weir_error *error)
{
    probe p = { .latencies = calloc(set->samples, sizeof(int64_t)), .samples = set->samples };
    if (p.latencies == NULL) {
        return weir_error_set(error, WEIR_E_NOMEM, "--samples", "no memory for so many");
    }
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.name = "idle"), error);
    const weir_thread thread = weir_thread_add(engine, WEIR_THREAD(.idle = idle), error);
    const weir_processor to =
        weir_processor_add(engine, WEIR_PROCESSOR(.handler = take_time, .argument = &p), error);
    (void)weir_engine_start(engine, error);
    if (error->status == WEIR_OK) {
        error->status = measure(engine, thread, to, &p, set, out);
    }
    weir_engine_destroy(engine);
    free(p.latencies);
    return error->status;
}

static void print(weir_idle idle, const settings *set, const result *r)
{
    if (set->json) {
        printf("{\"idle\":\"%s\",\"idle_cpu_ms_per_s\":%.3f,\"load_cpu_ms_per_s\":%.3f,"
               "\"wake_p50_us\":%.1f,\"wake_p99_us\":%.1f,\"wake_max_us\":%.1f,\"samples\":%u}\n",
               weir_idle_name(idle), r->idle_ms_per_s, r->load_ms_per_s, r->p50_us, r->p99_us,
               r->max_us, (unsigned)set->samples);
    } else {
        printf("| `%s` | %.2f | %.1f | %.1f | %.1f |\n", weir_idle_name(idle), r->idle_ms_per_s,
               r->load_ms_per_s, r->p50_us, r->p99_us);
    }
    (void)fflush(stdout);
}

static bool read_number(const char *text, uint32_t *out)
{
    char *end = NULL;
    const unsigned long value = text != NULL ? strtoul(text, &end, 10) : 0;
    *out = (uint32_t)value;
    return end != NULL && *end == '\0' && value >= 1 && value <= SAMPLES_MAX;
}

static bool read_arguments(int count, char **arguments, settings *set)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--json") == 0) {
            set->json = true;
        } else if (strcmp(arguments[i], "--samples") == 0 && i + 1 < count) {
            if (!read_number(arguments[++i], &set->samples)) {
                return false;
            }
        } else if (strcmp(arguments[i], "--idle-ms") == 0 && i + 1 < count) {
            if (!read_number(arguments[++i], &set->idle_ms)) {
                return false;
            }
        } else {
            return false;
        }
    }
    return true;
}

static void print_load(const char *when)
{
    double load[1] = { -1 };
    (void)getloadavg(load, 1);
    fprintf(stderr, "# %s: load average %.2f\n", when, load[0]);
}

int main(int count, char **arguments)
{
    static const weir_idle strategies[] = {
        WEIR_IDLE_BACKOFF, WEIR_IDLE_PARK,      WEIR_IDLE_SLEEP,
        WEIR_IDLE_YIELD,   WEIR_IDLE_BUSY_SPIN, WEIR_IDLE_NOOP
    };
    settings set = { .samples = SAMPLES_DEFAULT, .idle_ms = IDLE_MS_DEFAULT };
    if (!read_arguments(count, arguments, &set)) {
        fprintf(stderr, "usage: idle_bench [--json] [--samples 1..%d] [--idle-ms N]\n",
                SAMPLES_MAX);
        return 2;
    }
    if (!set.json) {
        printf("| idle | CPU idle, ms/s | CPU at 600 events/s, ms/s | wake p50, us "
               "| wake p99, us |\n|---|---:|---:|---:|---:|\n");
    }
    weir_error error = WEIR_ERROR_INIT;
    print_load("before");
    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
        result r = { 0 };
        if (run(strategies[i], &set, &r, &error) != WEIR_OK) {
            break;
        }
        print(strategies[i], &set, &r);
    }
    print_load("after, with the share of this program");
    return weir_error_print(&error);
}
