/*
 * journal.h - two writers and one journal: whoever holds the lease may write.
 *
 *     ┌──────────┐  ask    ┌────────┐
 *     │ writer 0 │ ──────► │ keeper │   a lease has a number and an end
 *     └──────────┘ ◄────── └────────┘
 *          │ line   grant    ▲    │
 *          ▼                 │    ▼
 *     ┌─────────┐   line   ┌──────────┐
 *     │ journal │ ◄─────── │ writer 1 │
 *     └─────────┘          └──────────┘
 *
 * The journal must not mix what two holders wrote: after a line of lease 5 there is no line of
 * lease 4.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <weir/weir.h>

#define LEASE (10 * WEIR_S)
#define MARGIN (3 * WEIR_S) /* a holder stops writing so long before the end */

struct keeper {
    int number; /* of the last lease */
    weir_ns until;
};

struct writer {
    weir_processor keeper, journal;
    int number; /* of the lease that it holds, or held */
    weir_ns until;
};

struct journal {
    bool fenced;  /* it looks at the number of the lease itself: the repair */
    int newest;   /* number of a lease that it has lines of */
    int late;     /* number of a line that came after one of a newer lease: must not be */
    long lines;   /* written */
    long refused; /* for being late, by a journal that is fenced */
};

struct office {
    struct keeper keeper;
    struct writer writers[2];
    struct journal journal;
    weir_processor writer[2];
};

/* For a writer: write a line, and go on with it until then. */
typedef struct work {
    weir_ns until;
} work;
WEIR_EVENT_TYPE(work, "office.work");

/* Adds the four processors to the engine. */
void office_open(struct office *office, bool fenced, weir_engine *engine, weir_error *error);

#endif /* JOURNAL_H */
