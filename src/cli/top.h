/*
 * cli/top.h - the parts of `weir top`: figures from two looks at a server, tables of them, a page
 * of tables that fits a window, and what keys do.
 *
 * A look is a document of /metrics.json. Everything in it may be missing (an older server) or be
 * more than is known here (a newer one): what is not known is a figure that is NAN and is shown as
 * "-".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CLI_TOP_H
#define WEIR_CLI_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/keyboard.h"
#include "cli/terminal.h"

/* ---- figures (top_read.c) ---- */

/* Rates are of the time between the two looks; latencies are since the start, or since the last
 * `latency reset`. Times are nanoseconds. */
typedef struct weir__top_latency {
    double count, p50, p95, p99, max;
} weir__top_latency;

typedef struct weir__top_dispatcher {
    const char *name;
    double processors, threads, ready, depth, events_per_s, turns_per_s;
    double contention, backoff; /* shares */
    double signals, woke;       /* sent meanwhile; the share of them that woke a thread */
    double wakeups, found;      /* meanwhile; the share of them that found work */
    weir__top_latency queueing, handling;
    double tail; /* p99 / p50 of the queueing */
} weir__top_dispatcher;

typedef struct weir__top_thread {
    const char *name, *serves, *idle;
    double utilisation, cpu; /* shares of the time */
    double core, core_now, events_per_s, parks_per_s, system_id;
    weir__top_latency handling, waits;
    bool loaded; /* some thread of this engine is busy nearly all the time */
} weir__top_thread;

typedef struct weir__top_processor {
    const char *name, *dispatcher, *component;
    double events_per_s, depth, depth_high, mailbox_max, fill;
    double dropped, dropped_per_s, dropped_newest, dropped_oldest, dead, failures, restarts;
    weir__top_latency queueing, handling;
    double tail; /* p99 / p50 of the handling */
} weir__top_processor;

typedef struct weir__top_feed {
    const char *name, *slowest;
    double events_per_s, delivered_per_s, dropped, dropped_per_s, filtered, failed, waits_per_s;
    double waiting; /* share of the time that publishers waited for subscribers */
    double subscribers, deepest, queue_max, fill, outstanding;
} weir__top_feed;

typedef struct weir__top_router {
    const char *name;
    double submitted_per_s, handled_per_s; /* those of processors as targets are not its own */
    double depth, flows, workers, imbalance, refused, dropped, dead, moved, bytes;
    double p50, p99;
} weir__top_router;

typedef struct weir__top_worker {
    const char *name, *router;
    double events_per_s, depth, beyond, busy, flows, p50, p99;
} weir__top_worker;

typedef struct weir__top_letter {
    const char *reason, *status, *sender, *receiver, *type, *time, *text;
    double number, size;
} weir__top_letter;

typedef struct weir__top_reason {
    const char *what, *status, *reason;
} weir__top_reason;

typedef struct weir__top_error {
    const char *component, *time, *status, *text;
} weir__top_error;

/* A figure of the application's own, or of a source or sink. */
typedef struct weir__top_own {
    const char *name, *labels, *kind;
    double value, per_s; /* a gauge has no rate */
} weir__top_own;

/* Which of the tables below; the order is that of their importance. */
enum {
    WEIR__TOP_DISPATCHERS,
    WEIR__TOP_THREADS,
    WEIR__TOP_PROCESSORS,
    WEIR__TOP_FEEDS,
    WEIR__TOP_ROUTERS,
    WEIR__TOP_WORKERS,
    WEIR__TOP_LETTERS,
    WEIR__TOP_HEALTH,
    WEIR__TOP_ERRORS,
    WEIR__TOP_OWN,
    WEIR__TOP_TABLES
};

typedef struct weir__top_rows {
    void *items; /* of the table's type */
    size_t count;
} weir__top_rows;

typedef struct weir__top_figures {
    json_t *document; /* the later look: all strings lie in it */
    double seconds;   /* between the looks */
    bool since_start; /* there was no earlier look of this engine: rates are of its whole life */
    const char *version, *name, *phase, *status;
    double uptime_ns, time_ns;
    double events_per_s, depth;
    double dropped, dropped_per_s, dead, dead_per_s, refused, refused_per_s, failures, letters;
    double processors, processors_shown, threads, timers;
    double cpu, cores, rss;             /* cores' worth of it; usable; bytes */
    double throttled_per_s, throttling; /* times; the share of the time */
    weir__top_rows rows[WEIR__TOP_TABLES];
} weir__top_figures;

/* False: no memory, or `now` is no document of metrics. `before` may be NULL, or a look at an
 * engine that is gone. */
bool weir__top_figures_make(weir__top_figures *out, json_t *before, json_t *now);
void weir__top_figures_close(weir__top_figures *figures);

/* ---- tables (top_table.c) ---- */

typedef enum weir__top_kind {
    WEIR__TOP_TEXT,
    WEIR__TOP_COUNT,
    WEIR__TOP_ID, /* a number that is a name */
    WEIR__TOP_SHARE,
    WEIR__TOP_BAR, /* a share, drawn */
    WEIR__TOP_TIME,
    WEIR__TOP_RATIO,
    WEIR__TOP_BYTES
} weir__top_kind;

typedef struct weir__top_column {
    const char *key;   /* in JSON, and for --sort */
    const char *title; /* on the screen */
    weir__top_kind kind;
    uint8_t width;   /* on the screen, with the blank before it; of a text: at most, unless there is
                      room */
    uint8_t rank;    /* the higher, the sooner it is left out for want of room */
    uint16_t offset; /* in the row */
    weir__tone (*tone)(const void *row, double value); /* NULL: plain */
} weir__top_column;

typedef struct weir__top_table {
    const char *name, *one;          /* "processors", "processor" */
    const weir__top_column *columns; /* the first is the name */
    uint32_t count;
    size_t row_size;
} weir__top_table;

extern const weir__top_table weir__top_tables[WEIR__TOP_TABLES];

const char *weir__top_cell_text(const weir__top_column *column, const void *row);
double weir__top_cell_number(const weir__top_column *column, const void *row); /* NAN: unknown */
weir__tone weir__top_cell_tone(const weir__top_column *column, const void *row);

/* A figure as people read it, in at most `width` columns (7 are enough for any). */
typedef struct weir__top_text {
    char text[64];
} weir__top_text;
weir__top_text weir__top_number_text(weir__top_kind kind, double value, int width);

/* A name or a sentence of whoever runs the server: what would steer the terminal is a '?'. How many
 * columns it takes; and no more than `width` of it, with a sign if it was cut: how many it took. */
int weir__top_text_width(const char *text, bool utf8);
int weir__top_text_put(FILE *out, const char *text, int width, bool utf8);

/* The column of that key (or, if there is none, of that title); -1: none. */
int weir__top_column_find(const weir__top_table *table, const char *key);

/* ---- what is to be seen (top_state.c) ---- */

enum { WEIR__TOP_VIEWS = 7, WEIR__TOP_FILTER_MAX = 40, WEIR__TOP_COLUMNS_MAX = 32 };

typedef struct weir__top_order {
    int column;   /* -1: as they come */
    bool reverse; /* numbers: the smallest first; texts: the last */
} weir__top_order;

typedef struct weir__top_state {
    uint32_t view; /* 0: a bit of everything */
    weir__top_order orders[WEIR__TOP_TABLES];
    size_t scroll[WEIR__TOP_VIEWS];
    char filter[WEIR__TOP_FILTER_MAX + 1]; /* "": all */
    bool typing;                           /* the filter is being written */
    bool paused, help, ended;
} weir__top_state;

void weir__top_state_open(weir__top_state *state);
/* `page`: how many rows PgDn goes. */
void weir__top_state_key(weir__top_state *state, weir__key key, size_t page);
/* The table that sorting and scrolling are about. */
uint32_t weir__top_state_table(const weir__top_state *state);

/* ---- rows as they are to be seen (top_list.c) ---- */

typedef struct weir__top_list {
    const void **rows; /* filtered and sorted */
    size_t count, total;
} weir__top_list;

/* False: no memory. */
bool weir__top_list_open(weir__top_list *list, const weir__top_figures *figures,
                         const weir__top_state *state, uint32_t table);
void weir__top_list_close(weir__top_list *list);

/* ---- one table (top_grid.c) ---- */

typedef struct weir__top_grid {
    const weir__top_table *table;
    weir__top_order order;
    weir__terminal terminal;
    weir__top_list list;
    uint32_t columns[WEIR__TOP_COLUMNS_MAX]; /* those that there is room for, from the left */
    int widths[WEIR__TOP_COLUMNS_MAX];
    uint32_t count;
} weir__top_grid;

/* Chooses the columns: `width` 0 takes all. The list is the grid's from then on. */
void weir__top_grid_open(weir__top_grid *grid, uint32_t width);
int weir__top_grid_width(const weir__top_grid *grid);
/* Without the newline. `shown`: how many of its rows are, if not all. */
void weir__top_grid_head(FILE *out, const weir__top_grid *grid, size_t shown);
void weir__top_grid_row(FILE *out, const weir__top_grid *grid, size_t row);

/* ---- the page (top_view.c) ---- */

typedef struct weir__top_window {
    uint32_t width, height; /* height 0: as many lines as it takes; width 0: as many columns */
    weir__terminal terminal;
    const char *notice; /* what is the matter with the server; NULL: nothing */
} weir__top_window;

/* Lines, each with its newline, for free(); NULL: no memory. *state: scrolled no further than there
 * is something. *page: how many rows of its table are shown. */
char *weir__top_page(const weir__top_figures *figures, weir__top_state *state,
                     const weir__top_window *window, size_t *page);

/* ---- for programs (top_json.c) ---- */

/* NULL: no memory. */
json_t *weir__top_json(const weir__top_figures *figures, const weir__top_state *state);

#endif /* WEIR_CLI_TOP_H */
