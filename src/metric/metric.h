/*
 * metric/metric.h - what the metric room keeps for an engine: figures of the application's own, and
 * what health saw at its last look.
 *
 * Made by the first who needs it, it lives as long as its engine. Its lock is held for looks and
 * changes only, never while a figure is read: one that is being read is held by its `uses`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_METRIC_METRIC_H
#define WEIR_METRIC_METRIC_H

#include "metric/figures.h"
#include "sync/mutex.h"

#define WEIR__OWN_MAX 4096u

/* A figure of the application's own. */
typedef struct weir__own_figure {
    weir_metric_options options; /* its strings are copies */
    weir__atomic_u32 uses;       /* reads under way. Grows under the lock */
} weir__own_figure;

/* A read under way, on its reader's stack. */
typedef struct weir__own_reading {
    struct weir__own_reading *next;
    int32_t thread;
} weir__own_reading;

/* What was seen of a feed. */
typedef struct weir__feed_seen {
    uint64_t dropped, waits;       /* at the last look */
    weir_ns dropped_at, waited_at; /* when that was seen to grow; 0: never */
} weir__feed_seen;

typedef struct weir__thread_seen {
    uint64_t id;
    char name[64];
} weir__thread_seen;

typedef struct weir__health_state {
    weir__feed_seen *feeds; /* by number; feed_room of them */
    uint32_t feed_room;
    uint32_t feed_count; /* that were there at the last look ... */
    bool looked;         /* ... if there was one */
    weir__thread_seen *threads;
    uint32_t thread_room, thread_count;
    weir_ns gone_at; /* when a thread was seen to be missing; 0: never */
    char gone[64];   /* the last such one */
} weir__health_state;

typedef struct weir__metrics {
    weir__mutex lock;
    weir__own_figure *own[WEIR__OWN_MAX]; /* by name, then by labels */
    uint32_t own_count;
    weir__own_reading *reading;  /* a list */
    weir__atomic_u32 uses_ended; /* a wait word: a read is over */
    weir__health_state health;
    weir__mutex shown_lock; /* of one look at a time; before registry.lock */
    struct weir__shown *shown;
} weir__metrics;

/* NULL: no memory. */
weir__metrics *weir__metrics_of(weir_engine *engine);

/* ---- health (metric/health.c) ---- */

#define WEIR__HEALTH_FULL_MAX 16u

/* One look: mailboxes that are nearly full are told to it one by one. */
struct weir__health_look {
    weir_processor full[WEIR__HEALTH_FULL_MAX];
    uint32_t percent[WEIR__HEALTH_FULL_MAX];
    uint64_t full_count; /* in all */
};
void weir__health_processor(weir__health_look *look, weir_processor processor,
                            const weir_counters *counters);
/* Judges what the figures say: fills f->reasons, the worst first, and f->health. */
void weir__health_judge(weir__figures *f, const weir__health_look *look);
void weir__health_close(weir_engine *engine, weir__health_state *state);
const char *weir__health_name(weir_health health);

/* Of weir__figures_take, those parts that health needs, too (metric/collect.c). */
void weir__figures_engine(weir__figures *f);
void weir__figures_threads(weir__figures *f);
void weir__figures_feeds(weir__figures *f);
void weir__figures_components(weir__figures *f);
void weir__figures_letters(weir__figures *f);

#endif /* WEIR_METRIC_METRIC_H */
