/*
 * sync/sim/lines.h - cache lines: which core has each, and how long another waits for it.
 *
 * A line is with one core, which may write it, or with several, which may read it. A core that
 * wants what it does not have asks for it: the line comes after `transfer`, and requests for one
 * line are served one after the other, in the order in which they were made; only reading copies of
 * what nobody has written are handed out side by side. Whoever got a line keeps it for `hold`: the
 * next request is on its way for so long, and meanwhile the owner goes on. (So a counter that two
 * cores increase as fast as they can moves less often than it grows.) On machines that do so
 * (`read_takes`), a core that reads what another has written gets the line as a writer would.
 *
 * Times are picoseconds: fractions of a nanosecond count, and sums stay exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SYNC_SIM_LINES_H
#define WEIR_SYNC_SIM_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sync/sim/atomic.h"

#define WEIR__LINES_CORES_MAX 256u

typedef uint64_t weir__ps;

typedef struct weir__lines_costs {
    weir__ps transfer; /* from core to core */
    weir__ps hold;
    bool read_takes;
} weir__lines_costs;

typedef struct weir__lines_ask {
    uint32_t core;
    uintptr_t address;
    bool write;
    bool plain; /* not an atom's */
    weir__ps at;
    weir__ps visible;           /* of a store: not before those in front of it; else 0 */
    const weir__sim_site *site; /* this access, or the atom's before it on that core */
} weir__lines_ask;

/* From now on all lines are nobody's: who touches one first has it at no cost. */
void weir__lines_reset(const weir__lines_costs *machine);

/* When the core has the line: `at` if it has it already. */
weir__ps weir__lines_get(const weir__lines_ask *ask);

/* What was waited for while this was on, by line and by place in the source. Lines go by the name
 * of the first atom that was seen in them: those of all processors are one. */
typedef struct weir__lines_cause {
    const weir__sim_site *line;
    const weir__sim_site *site;
    bool plain_line; /* no atom in it: `line` is only near ... */
    bool plain;      /* ... and so is `site`, for an access that is not an atom's */
    uint64_t transfers;
    weir__ps moved;  /* time that they took ... */
    weir__ps queued; /* ... and that was spent behind others */
} weir__lines_cause;

void weir__lines_watch(bool on);
/* The i-th, in no order. NULL: no more. */
const weir__lines_cause *weir__lines_causes(size_t i);

#endif /* WEIR_SYNC_SIM_LINES_H */
