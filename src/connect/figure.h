/*
 * connect/figure.h - the one table of what connectors count: each figure of a meter by its name
 * there, its name in /metrics, and what it means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONNECT_FIGURE_H
#define WEIR_CONNECT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct weir__figure {
    const char *figure; /* "bad-frames" */
    const char *name;   /* "connector_bad_frames_total" */
    bool grows;         /* a counter; else it says how things are now */
    const char *help;
} weir__figure;

extern const weir__figure weir__connector_figures[];
extern const size_t weir__connector_figure_count;

/* NULL: no such one. */
const weir__figure *weir__figure_find(const char *figure);

#endif /* WEIR_CONNECT_FIGURE_H */
