/*
 * metric/figures.h - everything that can be told of an engine, as plain numbers: taken first, and
 * written as text when no lock is held any more.
 *
 * Each group of metrics (metric/table.h) is a list of items here, and every item begins with the
 * labels that Prometheus knows it by; the table says where in an item a figure lies. All memory is
 * given back by one close.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_METRIC_FIGURES_H
#define WEIR_METRIC_FIGURES_H

#include "engine/engine.h"
#include "base/checker.h"
#include "settings/textbuf.h"
#include "weir/component.h"
#include "weir/metrics.h"

#define WEIR__METRICS_PROCESSORS_USUAL 1000u
#define WEIR__METRICS_PROCESSORS_MAX 1000000u
#define WEIR__METRICS_OTHERS "(others)"
#define WEIR__METRICS_EARLIER "(earlier)"
#define WEIR__METRICS_EDGES_MAX 4096u      /* the busiest ones are shown */
#define WEIR__METRICS_SUBSCRIBERS_MAX 256u /* of one feed, likewise: the first ones */
#define WEIR__METRICS_LETTERS 20u          /* dead letters and errors: the newest so many */
#define WEIR__HEALTH_REASONS_MAX 64u

typedef enum weir__metric_group {
    WEIR__GROUP_ENGINE,
    WEIR__GROUP_PROCESS,
    WEIR__GROUP_DISPATCHER,
    WEIR__GROUP_THREAD,
    WEIR__GROUP_PROCESSOR,
    WEIR__GROUP_FEED,
    WEIR__GROUP_ROUTER,
    WEIR__GROUP_WORKER,
    WEIR__GROUP_TIMER,
    WEIR__GROUP_COMPONENT,
    WEIR__GROUPS
} weir__metric_group;

/* ---- items ---- */

typedef struct weir__engine_item {
    const char *labels; /* of each: processor="a",dispatcher="b"; escaped */
    const char *name, *phase;
    weir_ns time, uptime;
    weir_counters c;
    uint64_t latency_every;
    uint64_t hidden; /* processors without series of their own */
    uint64_t health; /* weir_health */
} weir__engine_item;

typedef struct weir__process_item {
    const char *labels;
    uint64_t cpu_ns, rss_bytes, cores_usable, threads, throttled, throttled_ns;
    double quota_cores; /* 0: none */
} weir__process_item;

typedef struct weir__dispatcher_item {
    const char *labels;
    const char *name;
    weir_dispatcher_counters c;
    weir_latency queueing, handling; /* struct_size 0: not there; so below */
} weir__dispatcher_item;

typedef struct weir__thread_item {
    const char *labels;
    weir_thread handle;
    const char *name, *dispatchers, *idle;
    weir_thread_counters c;
    bool external;
    weir_latency handling, waits;
} weir__thread_item;

typedef struct weir__processor_item {
    const char *labels;
    const char *name, *dispatcher, *component;
    weir_processor handle;
    weir_counters c;
    bool measured;
    weir_latency queueing, handling;
} weir__processor_item;

typedef struct weir__feed_item {
    const char *labels;
    const char *name, *slowest;
    weir_feed handle;
    weir_feed_counters c;
    uint64_t queue_max;
} weir__feed_item;

typedef struct weir__router_item {
    const char *labels;
    const char *name;
    weir_router_counters c;
    uint32_t worker_first, worker_count; /* of the workers' list */
    bool targeted;
    bool running;       /* it was not stopped */
    weir_router handle; /* zero if it was */
} weir__router_item;

typedef struct weir__worker_item {
    const char *labels;
    const char *processor;
    uint64_t index, flows;
    weir_worker_counters c;
} weir__worker_item;

typedef struct weir__timer_item {
    const char *labels;
    weir_timer_counters c;
} weir__timer_item;

typedef struct weir__component_item {
    const char *labels;
    const char *name, *type, *kind, *thread, *phase, *feed, *processor;
    uint64_t rounds, work, failures, running;
    weir_processor address;
    weir_feed feed_handle;
} weir__component_item;

typedef struct weir__edge_item {
    const char *from, *to;
    uint64_t events;
} weir__edge_item;

typedef struct weir__letter_item {
    uint64_t number, size;
    const char *reason, *status, *sender, *receiver, *type, *text;
    weir_ns time;
} weir__letter_item;

typedef struct weir__error_item {
    const char *component, *status, *text;
    weir_ns time;
} weir__error_item;

typedef struct weir__own_item {
    const char *name, *labels, *help;
    weir_metric_kind kind;
    double value;
} weir__own_item;

typedef struct weir__reason_item {
    const char *what, *reason;
    weir_health health;
} weir__reason_item;

/* ---- all of it ---- */

typedef struct weir__list {
    void *items;
    uint32_t count, room;
    uint32_t size; /* of an item; set by the first one */
} weir__list;

typedef struct weir__figures {
    weir_engine *engine;
    const weir_allocator *allocator;
    struct weir__chunk *chunks; /* of texts */
    bool failed;                /* no memory: what is here is not all */
    weir__list groups[WEIR__GROUPS];
    weir__list edges, letters, errors, own, reasons;
    uint64_t processors_total, processors_shown; /* sums are none */
    weir_health health;
} weir__figures;

/* ---- memory (metric/figures.c) ---- */

/* A zeroed item at the end of the list. NULL: no memory, which is remembered. */
void *weir__list_add(weir__figures *f, weir__list *list, size_t size);
void weir__list_close(const weir__figures *f, weir__list *list);
/* A copy that lives as long as the figures; "" if there is no memory, or none was given. */
const char *weir__figures_text(weir__figures *f, const char *text);
/* The same of two, one behind the other. */
const char *weir__figures_join(weir__figures *f, const char *first, const char *second);
/* key="value", the value escaped; a second one if it has a key. */
const char *weir__figures_labels(weir__figures *f, const char *key, const char *value,
                                 const char *key2, const char *value2);

/* Control. Takes all of it. False: no memory; to be closed all the same. */
bool weir__figures_take(weir__figures *f, weir_engine *engine, const weir_metrics_options *options);
void weir__figures_close(weir__figures *f);

/* ---- parts of that ---- */

typedef struct weir__health_look weir__health_look;

/* At most `most` of them one by one; looks with the same key go on from each other
 * (metric/shown.h). `health` may be NULL. */
void weir__figures_processors(weir__figures *f, uint32_t key, uint32_t most,
                              weir__health_look *health);
void weir__figures_routers(weir__figures *f);
void weir__figures_edges(weir__figures *f);
void weir__figures_own(weir__figures *f);
/* Files are looked for below `root`, "" for the real ones. */
void weir__process_read(const char *root, weir__process_item *out);

#endif /* WEIR_METRIC_FIGURES_H */
