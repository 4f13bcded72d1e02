/*
 * cli/demo_figures.h - what `weir demo` shows. A *look* is a copy of all counters at one moment;
 * *figures* are what happened between two looks, in the units that people read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_DEMO_FIGURES_H
#define WEIR_CLI_DEMO_FIGURES_H

#include "cli/demo_load.h"

typedef struct weir__demo_look {
    weir_ns time;
    weir_counters engine;
    uint64_t posted; /* by the demo's own count: posts that were accepted ... */
    uint64_t seen;   /* ... and runs of handlers */
    weir_timer_counters timers;
    uint64_t moves; /* of a processor, under load */
    weir_dispatcher_counters dispatchers[WEIR__DEMO_DISPATCHERS];
    uint64_t depths[WEIR__DEMO_DISPATCHERS]; /* events that wait in mailboxes of its processors */
    weir__histogram_sum latencies[WEIR__DEMO_DISPATCHERS];
    weir_thread_counters threads[WEIR__DEMO_THREADS_MAX];
    uint64_t cpu_ns[WEIR__DEMO_THREADS_MAX]; /* CPU time of the OS thread; 0: not known */
} weir__demo_look;

typedef struct weir__demo_dispatcher_figures {
    const char *name;
    uint64_t threads;
    uint64_t handled;
    double events_per_s;
    uint64_t depth;    /* at the later look */
    double contention; /* 0..1: failed of all tries at its lock */
    double backoff;    /* 0..1: looks at it that ended in a back-off sleep */
    uint64_t p50_ns, p99_ns;
} weir__demo_dispatcher_figures;

typedef struct weir__demo_thread_figures {
    bool known;
    const char *const *dispatchers; /* that it serves; ends with NULL */
    double events_per_s;
    double utilisation; /* 0..1: CPU time of the time that passed; negative: not known */
} weir__demo_thread_figures;

typedef struct weir__demo_figures {
    double seconds; /* between the looks */
    double events_per_s;
    uint64_t depth;
    weir__demo_dispatcher_figures dispatchers[WEIR__DEMO_DISPATCHERS];
    weir__demo_thread_figures threads[WEIR__DEMO_THREADS_MAX];
    uint32_t thread_count;
    weir_counters totals; /* of the later look: since the start; so those below */
    weir_timer_counters timers;
    uint64_t moves;
} weir__demo_figures;

/* The main thread, while the load runs or after its stop. */
void weir__demo_look_take(weir__demo_look *look, const weir__demo_load *load);

/* `earlier` and `now` are looks at this load. */
void weir__demo_figures_make(weir__demo_figures *figures, const weir__demo_load *load,
                             const weir__demo_look *earlier, const weir__demo_look *now);

/*
 * P-3 of a stopped load: accepted = handled + dropped + dead + left, and the engine's sums are
 * those of the demo itself, which counted its posts and its handlers' runs without asking it.
 * NULL: all of it holds; else the sentence that says what does not.
 */
const char *weir__demo_look_judge(const weir__demo_look *look);

#endif /* WEIR_CLI_DEMO_FIGURES_H */
