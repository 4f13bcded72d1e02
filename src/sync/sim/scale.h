/*
 * sync/sim/scale.h - a model of time: what a run would take on a machine with a core for each of
 * its threads.
 *
 * In a timed run every simulated thread has a core and a clock of its own. Each operation of the
 * sync room, each plain access, each system call adds what it costs on the machine; the thread
 * whose clock is the earliest goes on. So operations happen in the order in which they would, lines
 * are fought for as they would be (sync/sim/lines.h), and the clock of a run says how long it would
 * have taken. Same costs, same run: nothing is left to chance, and nothing goes wrong.
 *
 * Stores do not wait for their line: they leave in order behind the thread's back, and a locked
 * operation waits for them. Loads wait, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_SIM_SCALE_H
#define WEIR_SYNC_SIM_SCALE_H

#include "weir/sim.h"

/* Nanoseconds. The defaults are those of the machine of docs/scale.md, for machines that cannot
 * measure them. */
#define WEIR__SCALE_COSTS(X)                                                                       \
    X(access, 0.3, "an access to a line that is here, and the instructions around it")             \
    X(locked, 5.6, "a locked operation on a line that is here")                                    \
    X(transfer, 29.0, "a line comes from another core")                                            \
    X(clock, 17.0, "the clock is read")                                                            \
    X(pause, 13.0, "a pause instruction")                                                          \
    X(yield, 270.0, "a yield that finds nobody else")                                              \
    X(call, 110.0, "a futex call that finds nothing to do")                                        \
    X(wake, 10000.0, "a futex call that wakes a thread, for its caller")                           \
    X(latency, 25000.0, "from the beginning of that call until the woken thread runs")             \
    X(late, 25000.0, "a timed sleep ends so much too late ...")                                    \
    X(slack, 50000.0, "... and so much more, unless the thread is a real-time one")

#define WEIR__SCALE_FIELD(name, value, about) double name;
typedef struct weir__scale_costs {
    WEIR__SCALE_COSTS(WEIR__SCALE_FIELD)
    bool read_takes; /* see sync/sim/lines.h */
} weir__scale_costs;
#undef WEIR__SCALE_FIELD

void weir__scale_defaults(weir__scale_costs *machine);

/* Measures this machine with real threads, for about a second. False: it has one core only, and
 * what needs two is as before. */
bool weir__scale_measure(weir__scale_costs *machine);

/* One timed run, as weir_sim_explore. */
weir_status weir__scale_run(const weir__scale_costs *machine, void (*body)(void *), void *argument,
                            weir_sim_result *result);

/* Inside a body: from now on waiting for lines is counted; or no longer. */
void weir__scale_watch(bool on);

/* What was waited for most, in the last run. */
typedef struct weir__scale_line {
    char line[48];  /* "intake": the first atom seen in it */
    char site[112]; /* "engine/dispatcher.c:40 &dispatcher->intake" */
    uint64_t transfers;
    double moved_ns, queued_ns;
} weir__scale_line;
size_t weir__scale_lines(weir__scale_line *out, size_t count);

#endif /* WEIR_SYNC_SIM_SCALE_H */
