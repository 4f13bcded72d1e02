/*
 * load/support.c - see support.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load/support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE 64u

void load_gate_pass(load_gate *gate)
{
    if (atomic_fetch_sub_explicit(&gate->to_come, 1, memory_order_acq_rel) == 1) {
        gate->opened_ns = bench_now();
        (void)sem_post(&gate->open);
    }
}

void load_gate_break(load_gate *gate, weir_status why)
{
    atomic_store_explicit(&gate->broken, why, memory_order_release);
    (void)sem_post(&gate->open);
}

void load_open(load *l, weir_engine_options options, uint64_t passes)
{
    memset(l, 0, sizeof(*l));
    l->error = (weir_error)WEIR_ERROR_INIT;
    atomic_init(&l->gate.to_come, passes);
    atomic_init(&l->gate.broken, WEIR_OK);
    (void)sem_init(&l->gate.open, 0, 0);
    options.struct_size = sizeof(options);
    options.name = "bench";
    options.log_level = WEIR_LOG_OFF;
    l->engine = weir_engine_create(&options, &l->error);
}

bool load_start(load *l, bench_result *result)
{
    if (weir_engine_start(l->engine, &l->error) != WEIR_OK) {
        char text[sizeof(result->wrong)];
        (void)weir_error_format(&l->error, text, sizeof(text));
        bench_wrong(result, "%s", text);
        return false;
    }
    return true;
}

void load_begin(load *l)
{
    l->cpu_begin_ns = bench_cpu_now();
    l->begin_ns = bench_now();
}

int64_t load_wait(load *l, bench_result *result)
{
    while (sem_wait(&l->gate.open) != 0 && errno == EINTR) {
    }
    const weir_status broken = atomic_load_explicit(&l->gate.broken, memory_order_acquire);
    if (broken != WEIR_OK) {
        bench_wrong(result, "a post was answered %s", weir_status_name(broken));
    }
    const int64_t elapsed = l->gate.opened_ns - l->begin_ns;
    return elapsed > 0 ? elapsed : 1;
}

void load_close(load *l, bench_result *result)
{
    weir_stop_report sums = WEIR_STOP_REPORT_INIT;
    const weir_status status = weir_engine_stop(l->engine, 0, &sums);
    if (l->engine != NULL && l->error.status == WEIR_OK &&
        (status != WEIR_OK || sums.accepted != sums.handled)) {
        bench_wrong(result, "%s: %llu accepted, %llu handled, %llu dead, %llu left",
                    weir_status_name(status), (unsigned long long)sums.accepted,
                    (unsigned long long)sums.handled, (unsigned long long)sums.dead,
                    (unsigned long long)sums.left);
    }
    weir_engine_destroy(l->engine);
    (void)sem_destroy(&l->gate.open);
}

typedef struct dispatcher_sums {
    weir_engine *engine;
    uint64_t try_locks, try_locks_failed, rounds, backoffs;
} dispatcher_sums;

static bool add_dispatcher(void *context, const char *name)
{
    dispatcher_sums *sums = context;
    weir_dispatcher_counters one = WEIR_DISPATCHER_COUNTERS_INIT;
    if (weir_dispatcher_counters_get(sums->engine, name, &one) == WEIR_OK) {
        sums->try_locks += one.try_locks;
        sums->try_locks_failed += one.try_locks_failed;
        sums->rounds += one.rounds;
        sums->backoffs += one.backoffs;
    }
    return true;
}

void load_contention(load *l, bench_result *result)
{
    dispatcher_sums sums = { .engine = l->engine };
    weir_dispatcher_visit(l->engine, add_dispatcher, &sums);
    if (sums.try_locks > 0) {
        result->contention = (double)sums.try_locks_failed / (double)sums.try_locks;
    }
    if (sums.rounds > 0) {
        result->backoff = (double)sums.backoffs / (double)sums.rounds;
    }
}

void load_cpu(load *l, bench_result *result)
{
    result->cpu_ms = (double)(bench_cpu_now() - l->cpu_begin_ns) / 1e6;
}

static void give_up(const char *why)
{
    fprintf(stderr, "weir-bench: %s\n", why);
    exit(1);
}

void *load_memory(size_t count, size_t size)
{
    const size_t bytes = (count * size + LINE - 1) / LINE * LINE;
    void *memory = aligned_alloc(LINE, bytes == 0 ? LINE : bytes);
    if (memory == NULL) {
        give_up("out of memory");
    }
    memset(memory, 0, bytes);
    return memory;
}

pthread_t load_thread(void *(*run)(void *argument), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, argument) != 0) {
        give_up("cannot start a thread");
    }
    return thread;
}

int64_t load_resident_bytes(void)
{
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &all, &resident) != 2) {
            resident = 0;
        }
        fclose(file);
    }
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}
