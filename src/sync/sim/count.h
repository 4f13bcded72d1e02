/*
 * sync/sim/count.h - how often each kind of operation was done: what an event costs, apart from
 * time.
 *
 * The counts go on for ever, in all threads and runs of the process: whoever wants to know what
 * something costs reads them before and after it, in a run with one order only. A cell counts as a
 * load and a store, a store that is seq_cst as locked, as on x86.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_SIM_COUNT_H
#define WEIR_SYNC_SIM_COUNT_H

#include <stdint.h>

#define WEIR__SIM_COUNTS(X)                                                                        \
    X(loads)  /* of atoms */                                                                       \
    X(stores) /* to atoms */                                                                       \
    X(locked) /* exchange, cas, add, or, and; seq_cst stores */                                    \
    X(fences)                                                                                      \
    X(barriers) /* heavy ones (sync/barrier.h) */                                                  \
    X(calls)    /* of the system: futexes, doorbells */                                            \
    X(clocks)   /* read */

#define WEIR__SIM_COUNT_FIELD(name) uint64_t name;
typedef struct weir__sim_counts {
    WEIR__SIM_COUNTS(WEIR__SIM_COUNT_FIELD)
} weir__sim_counts;
#undef WEIR__SIM_COUNT_FIELD

extern weir__sim_counts weir__sim_counted; /* written by the simulator only */

/* Light barriers. They cost nothing, and here they do nothing: the other side's heavy one does all.
 * Where a kernel has none they are what keeps two threads apart, so that they are there is counted
 * apart from what things cost. */
extern uint64_t weir__sim_lights;

#endif /* WEIR_SYNC_SIM_COUNT_H */
