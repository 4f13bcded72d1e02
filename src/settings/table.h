/*
 * settings/table.h - the one table of settings: what every key of weir's is.
 *
 * Load, validation, `weir config show`, config/reference.conf and weir.conf(5) come from it. Rooms
 * that have keys add a table here; plugins and applications bring theirs in
 * weir_config_options.tables. The structs are what the rows fill: wide types, in the units of the
 * engine, zero where nothing was said and the row has no fallback.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_SETTINGS_TABLE_H
#define WEIR_SETTINGS_TABLE_H

#include "weir/config.h"

typedef struct weir__thread_settings {
    const char *name;
    const char *const *dispatchers;
    int64_t idle; /* weir_idle */
    weir_ns idle_spin_max, idle_sleep, max_park;
    weir_option_ints cores;
    bool core_required;
    int64_t priority; /* weir_priority */
    int64_t priority_value;
} weir__thread_settings;

/* Of threads that serve no dispatcher. */
typedef struct weir__helper_settings {
    const char *name;
    weir_option_ints cores;
    bool core_required;
    int64_t priority; /* weir_priority */
    int64_t priority_value;
    weir_helper_options options; /* the same, as the engine has them */
} weir__helper_settings;

typedef struct weir__backoff_settings {
    weir_ns base, max;
    double multiplier, jitter;
} weir__backoff_settings;

typedef struct weir__dispatcher_settings {
    const char *name;
    bool fair;
    int64_t batch_max;
    weir__backoff_settings backoff;
} weir__dispatcher_settings;

typedef struct weir__processor_settings {
    const char *name;
    const char *dispatcher;
    int64_t mailbox_max;
    int64_t overflow; /* weir_overflow */
    weir_ns block_max;
    int64_t batch_max;
    bool dedicated;
    int64_t on_failure; /* weir_directive */
    int64_t retry_max;
    weir_ns retry_delay;
    int64_t retry_then; /* weir_directive */
    int64_t restart_max;
    weir_ns restart_window;
    weir_ns retry_delay_max;
} weir__processor_settings;

/* A router. What was said and what only may be cannot be told apart by a zero: `..._said`. */
typedef struct weir__flow_settings {
    const char *name;
    const char *dispatcher;
    int64_t workers, ingress_max, worker_max, batch_max;
    int64_t overflow; /* weir_overflow */
    weir_ns block_max;
    weir_ns idle_timeout;
    int64_t flows_max;
    bool migrate, migrate_said;
    int64_t keys; /* weir_flow_keys */
    bool own_threads, own_threads_said;
    int64_t idle; /* weir_idle */
    weir_option_ints cores;
    const int32_t *core_list; /* the same, as weir_router_options has them */
    int64_t latency_every;
    const char *const *targets; /* of `weir run`: components that get what is submitted */
} weir__flow_settings;

typedef struct weir__assignment_settings {
    int64_t strategy; /* weir_strategy */
    const char *const *dispatchers;
    int64_t threads;
    weir_option_ints counts;
    int64_t idle; /* weir_idle */
} weir__assignment_settings;

typedef struct weir__engine_settings {
    const char *name;
    int64_t scheduler_threads;
    weir__helper_settings scheduler_thread, helper_thread;
    int64_t mailbox_max;
    const char *const *const *rows;
    weir_option_items threads; /* weir__thread_settings */
    weir__assignment_settings assignment;
    weir__backoff_settings backoff;
    int64_t batch_max;
    int64_t overflow; /* weir_overflow */
    weir_ns block_max;
    int64_t processors_max;
    uint64_t block_bytes_max;
    int64_t timers_max;
    int64_t channels_max;
    weir_ns stuck_after;
    bool crash_report;
    int64_t latency_every; /* 0: none */
    int64_t latency_max_processors;
    const char *const *latency;    /* patterns; NULL: none */
    int64_t log_level;             /* weir_log_level */
    weir_option_items dispatchers; /* weir__dispatcher_settings */
    weir_option_items processors;  /* weir__processor_settings */
} weir__engine_settings;

typedef struct weir__metrics_settings {
    int64_t processors_max;
} weir__metrics_settings;

/* What stands beside the engine. */
typedef struct weir__weir_settings {
    weir_option_items flows; /* weir__flow_settings */
    weir__metrics_settings metrics;
    const char *const *plugins, *const *plugin_path; /* of `weir run` */
} weir__weir_settings;

#define WEIR__ENGINE_PATH "weir.engine"
#define WEIR__FLOWS_PATH "weir.flows"

/* Ends with NULL. The first is that of weir.engine, the second that of weir itself, where other
 * tables lie, too: a key that it does not know is theirs, or nobody's. */
enum { WEIR__TABLE_ENGINE, WEIR__TABLE_WEIR, WEIR__TABLES_OWN };
extern const weir_option_table *const weir__tables[];

#endif /* WEIR_SETTINGS_TABLE_H */
