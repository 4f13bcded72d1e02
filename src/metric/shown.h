/*
 * metric/shown.h - which processors have a row of their own, from look to look, so that no counter
 * of a row ever falls.
 *
 * However many processors there are, at most so many have a row. Who has one keeps it as long as it
 * lives, unless another was sent more than twice as much; who comes again under the same name goes
 * on with the row. What rows have is theirs only: one that gets its row later begins there with
 * nothing, for what it had is counted in "(others)" and has been told. What rows that are no more
 * had is told as "(earlier)"; so "(others)" does not leap when a row goes, and
 *
 *     rows + (others) + (earlier) = all that processors ever had
 *
 * holds of every counter when nothing is under way. Else a look may miss what happens during it (a
 * processor that ends between two steps of it), never count it twice: the next one has it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_METRIC_SHOWN_H
#define WEIR_METRIC_SHOWN_H

#include "engine/outcome.h"
#include "metric/figures.h"

#define WEIR__SHOWN_TABLES_MAX 8u /* readers with bounds of their own, at once */

/* How many were measured, and for how long in all: of a row, whoever was it. */
typedef struct weir__measured {
    uint64_t count, sum;
} weir__measured;

typedef struct weir__shown_row {
    weir_processor handle;
    char name[WEIR__NAME_SIZE], dispatcher[WEIR__NAME_SIZE];
    weir_counters now;    /* of the processor, at this look */
    weir__outcome before; /* of those that had the row before it */
    weir__outcome offset; /* of it, before it got the row */
    weir__outcome told;   /* of the row, at the last look */
    weir__measured queueing_before, handling_before, queueing_told, handling_told;
    bool seen; /* at this look */
} weir__shown_row;

/* Of those who ask for the same number of rows. */
typedef struct weir__shown {
    struct weir__shown *next; /* who asked last is first */
    uint32_t key;             /* what they ask for; 0: as the configuration says */
    weir__shown_row *rows;    /* room of them, count are there: the busiest first */
    uint32_t count, room;
    uint64_t hidden; /* at the last look: those without a row */
    bool looked;
    weir__outcome others, earlier; /* told at the last look */
} weir__shown;

/* What a look found. */
typedef struct weir__shown_look {
    weir__figures *f;
    weir__health_look *health; /* or NULL */
    uint32_t most;
    weir__shown *shown;
    weir__list picks;       /* a heap of who has no row: the least busy first, once it is full */
    bool heaped;            /* it is one */
    weir__outcome gone;     /* of those that had ended before the look */
    weir_counters others;   /* of those without a row, now */
    uint64_t total, hidden; /* processors */
} weir__shown_look;

/* The table's lock is held. Brings it up to date; false: no memory, nothing has changed. */
bool weir__shown_update(weir__shown_look *look);
/* The same. The table for that key, made if there is none; NULL: no memory. */
weir__shown *weir__shown_find(weir_engine *engine, weir__shown **first, uint32_t key);
/* What it had, as counters of one item; of a row what it has in all, which is kept as told. */
weir_counters weir__shown_tell(weir__shown_row *row);
void weir__shown_counters(weir_counters *out, const weir__outcome *from);
void weir__shown_close(weir_engine *engine, weir__shown *first);

#endif /* WEIR_METRIC_SHOWN_H */
