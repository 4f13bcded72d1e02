/*
 * weir/metrics.h - every figure of an engine by name, as Prometheus reads it and as JSON; figures
 * of your own among them; and whether all is well.
 *
 * Names, labels and units are in one table (docs/METRICS.md is made of it). Reading disturbs
 * nobody.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_METRICS_H
#define WEIR_METRICS_H

#include "weir/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_metric_kind {
    WEIR_METRIC_COUNTER = 1, /* only ever grows */
    WEIR_METRIC_GAUGE
} weir_metric_kind;

typedef struct weir_metric {
    size_t struct_size;
    weir_metric_kind kind;
    const char *name;   /* "weir_processor_handled_total" */
    const char *labels; /* processor="orders",dispatcher="api"; "" if none */
    const char *help;
    double value;
} weir_metric;

typedef struct weir_metrics_options {
    size_t struct_size;
    uint32_t processors_max; /* the busiest so many have figures of their own, the rest is summed up
                                in one called "(others)"; default 1,000. Whoever asks for the same
                                number never sees a counter fall; of the 9th number and more that
                                are in use, those begin anew */
} weir_metrics_options;
#define WEIR_METRICS_OPTIONS_INIT WEIR_SIZED(weir_metrics_options)
#define WEIR_METRICS(...) WEIR_OPTIONS(weir_metrics_options, __VA_ARGS__)

/* Control. One after the other, those of one name together. Strings are valid during the call. Ends
 * early when visit returns false. E_NOMEM. */
WEIR_API weir_status weir_metric_visit(weir_engine *engine, const weir_metrics_options *options,
                                       bool (*visit)(void *context, const weir_metric *metric),
                                       void *context);

/* Control. As text that ends with a zero byte; *size (may be NULL) without it. NULL: no memory.
 * Free it with weir_metrics_free. Options may be NULL. */
WEIR_API char *weir_metrics_prometheus(weir_engine *engine, const weir_metrics_options *options,
                                       size_t *size);
WEIR_API char *weir_metrics_json(weir_engine *engine, const weir_metrics_options *options,
                                 size_t *size);
WEIR_API void weir_metrics_free(weir_engine *engine, char *text);

/* A figure of your own: read when somebody asks. `read` may be called by any thread, and must be
 * brief; it is not called after remove has returned. */
typedef struct weir_metric_options {
    size_t struct_size;
    weir_metric_kind kind;
    const char *name;   /* "orders_rejected_total": letters, digits, '_' */
    const char *labels; /* reason="price"; NULL: none */
    const char *help;   /* one line; required */
    double (*read)(void *context);
    void *context;
} weir_metric_options;
#define WEIR_METRIC_OPTIONS_INIT WEIR_SIZED(weir_metric_options)
#define WEIR_METRIC(...) WEIR_OPTIONS(weir_metric_options, __VA_ARGS__)

/* Control. E_TAKEN: name and labels are; E_INVALID: a name or label that Prometheus would refuse, a
 * name that begins with weir_, or one that is of the other kind with other labels. E_LIMIT: there
 * are 4,096. E_NOMEM. */
WEIR_API weir_status weir_metric_add(weir_engine *engine, const weir_metric_options *options,
                                     weir_error *error);
/* Any thread, handlers and hooks (tear_down) too: waits for a read that is under way, which is
 * brief. UNKNOWN: no such one. E_BLOCKING: inside a read. */
WEIR_API weir_status weir_metric_remove(weir_engine *engine, const char *name, const char *labels);

/* ---- health ---- */

/* How something is; docs/guide/metrics.md says when. */
typedef enum weir_health {
    WEIR_UP = 0,
    WEIR_DEGRADED, /* it works, and somebody should look */
    WEIR_DOWN      /* it does not */
} weir_health;

/* Control. Of the whole: the worst there is. `why` (may be NULL): who, and the reason; "" if up. */
WEIR_API weir_health weir_engine_health(weir_engine *engine, char *why, size_t size);
/* Control. Everything that is not up, the worst first, until `visit` answers false. */
WEIR_API void weir_health_visit(weir_engine *engine,
                                bool (*visit)(void *context, const char *what, weir_health health,
                                              const char *reason),
                                void *context);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_METRICS_H */
