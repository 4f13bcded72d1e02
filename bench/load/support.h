/*
 * load/support.h - what the loads on weir share: an engine for one measurement, the gate at which
 * its end is seen, and the checks that every measurement passes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_BENCH_LOAD_SUPPORT_H
#define WEIR_BENCH_LOAD_SUPPORT_H

#include <weir/weir.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "suite/bench.h"
#include "suite/clock.h"

/* Opens when everybody has passed. Handlers pass; the thread that measures waits. */
typedef struct load_gate {
    _Alignas(64) atomic_uint_least64_t to_come;
    atomic_int_least32_t broken; /* a status: somebody could not go on */
    sem_t open;
    int64_t opened_ns; /* when the last one passed, not when the waiting thread had woken */
} load_gate;

void load_gate_pass(load_gate *gate);
/* Opens it for good: whoever waits sees that something went wrong. */
void load_gate_break(load_gate *gate, weir_status why);

/* One measurement. */
typedef struct load {
    weir_engine *engine;
    weir_error error; /* sticky: a set-up is written straight down, load_start looks at it */
    load_gate gate;
    int64_t begin_ns;
    int64_t cpu_begin_ns;
} load;

/* The log is off: what is wrong is said by the result. */
void load_open(load *l, weir_engine_options options, uint64_t passes);
/* False: it could not be set up, and the result says why. */
bool load_start(load *l, bench_result *result);
/* The load begins now. */
void load_begin(load *l);
/* Waits until the gate is open; answers how long it took, at least 1. */
int64_t load_wait(load *l, bench_result *result);
/* Stops, checks that all that was accepted was handled, frees everything. */
void load_close(load *l, bench_result *result);

/* Sets the figures that say how the threads got along, over all dispatchers. */
void load_contention(load *l, bench_result *result);
/* Sets cpu_ms, since load_begin. */
void load_cpu(load *l, bench_result *result);

/* Of the process, now; 0: the system does not say. */
int64_t load_resident_bytes(void);

/* Zeroed, with a cache line's alignment. Where there is none, the process ends; so below. */
void *load_memory(size_t count, size_t size);
pthread_t load_thread(void *(*run)(void *argument), void *argument);

#endif /* WEIR_BENCH_LOAD_SUPPORT_H */
