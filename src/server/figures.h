/*
 * server/figures.h - what each component has done so far, in numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SERVER_FIGURES_H
#define WEIR_SERVER_FIGURES_H

#include "weir/component.h"
#include "weir/counters.h"

typedef struct weir__component_figures {
    char name[80], type[40], phase[16];
    weir_kind kind;
    bool has_feed, has_handler;
    uint64_t published, dropped_feed, waits;                /* of its feed */
    uint64_t accepted, handled, dropped, dead, left, depth; /* of its handler */
    uint64_t failures;
} weir__component_figures;

typedef struct weir__run_figures {
    weir__component_figures *items; /* in the order of starting */
    size_t count, room;
    weir_counters engine;
    weir_ns time;
} weir__run_figures;

/* Control. Zeroed at first, used again. False: no memory for all of them. */
bool weir__run_figures_take(weir__run_figures *figures, weir_engine *engine);
void weir__run_figures_close(weir__run_figures *figures);

#endif /* WEIR_SERVER_FIGURES_H */
