/*
 * weir/config.h - from files (HOCON) to checked option structs, and to a whole engine.
 *
 * Text ends here: the engine below knows option structs only. A load puts layers over each other,
 *
 *     built-in reference <- files, in order <- environment <- overrides (-D)
 *
 * resolves substitutions over all of them, and checks every key against one table of settings.
 * Every problem is collected, each with file, line, column, key, value, and what would be right;
 * the weir_error carries the first.
 *
 *     weir_error error = WEIR_ERROR_INIT;
 *     weir_config *config = weir_config_load(NULL, NULL, &error);
 *     weir_engine *engine = weir_config_engine(config, NULL, &error);
 *     weir_config_destroy(config);
 *     if (error.status != 0) return weir_error_print(&error);
 *
 * The environment: WEIR__ENGINE__DEFAULT_QUEUE_SIZE=500 is weir.engine.default-queue-size = 500.
 * Two underscores are the dot between names, one is the hyphen within a name, letters become small;
 * the value is HOCON, so a list is written [a, b]. A name that is not made of small letters, digits
 * and hyphens cannot be written that way: use an override, where it may stand in quotes.
 *
 * docs/guide/configuration.md is the introduction, config/reference.conf has every key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_CONFIG_H
#define WEIR_CONFIG_H

#include "weir/engine.h"
#include "weir/flow.h"
#include "weir/processor.h"
#include "weir/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable once loaded: any thread may read it. Ends with weir_config_destroy; an engine that was
 * made from it keeps what it needs. */
typedef struct weir_config weir_config;

/* ---- rows: what a key is ---- */

/* What a key's value is, how it is written, and the member that it fills. */
typedef enum weir_option_kind {
    WEIR_OPTION_STRING = 1, /* const char *                          "text"             */
    WEIR_OPTION_BOOL,       /* bool                                  true, off, yes     */
    WEIR_OPTION_INT,        /* int64_t                               12                 */
    WEIR_OPTION_DOUBLE,     /* double                                1.5                */
    WEIR_OPTION_DURATION,   /* weir_ns                               250 ms             */
    WEIR_OPTION_BYTES,      /* uint64_t                              64 MiB             */
    WEIR_OPTION_ENUM,       /* int64_t, an index into `words`        earliest           */
    WEIR_OPTION_LIST,       /* const char *const *, ends with NULL   [a, b]             */
    WEIR_OPTION_LISTS,      /* const char *const *const *, the same  [[a], [a, b]]      */
    WEIR_OPTION_INTS,       /* weir_option_ints                      [0, 2]             */
    WEIR_OPTION_SECRET,     /* const char *; always shown as ***     "text"             */
    WEIR_OPTION_GROUP,      /* `rows` fill the same struct           { key = value }    */
    WEIR_OPTION_ITEMS,      /* weir_option_items: a struct each      [{ key = value }]  */
    WEIR_OPTION_MAP,        /* weir_option_items: a struct a name    { name { k = v } } */
    WEIR_OPTION_NAME,       /* const char *; in the rows of a map: the name of the item */
    WEIR_OPTION_TARGET,     /* weir_target, weir/component.h: its name   out                */
    WEIR_OPTION_TARGETS     /* weir_targets                              [out, audit]       */
} weir_option_kind;

typedef struct weir_option_ints {
    const int64_t *items;
    size_t count;
} weir_option_ints;

typedef struct weir_option_items {
    const void *items; /* `count` structs of the row's item_size */
    size_t count;
} weir_option_items;

/*
 * One key. weir checks the value, fills the member at `offset` of a struct, and derives the
 * reference file, the manual page and `weir config show` from the row. Fallbacks are text in the
 * syntax of the configuration, so that they are shown as a user would write them.
 */
typedef struct weir_option {
    size_t struct_size; /* rows of an array are found by rows[0].struct_size */
    const char *key;    /* kebab-case: "poll-interval" */
    weir_option_kind kind;
    size_t offset;
    const char *fallback; /* NULL: zero, false, none; or an error if `required` */
    bool required;
    bool above;                     /* `min` itself is not allowed */
    double min, max;                /* INT, DOUBLE, DURATION (ns), BYTES; both 0: unbounded */
    weir_ns unit;                   /* DURATION: of a number without one; default a millisecond */
    const char *const *words;       /* ends with NULL. ENUM: value i is words[i]. DURATION: each of
                                 them is WEIR_FOREVER */
    const char *help;               /* a sentence or two */
    const char *since;              /* the version that had it first; may be NULL */
    const struct weir_option *rows; /* GROUP, ITEMS, MAP */
    size_t row_count;
    size_t item_size; /* ITEMS, MAP */
} weir_option;

/* WEIR_KEY(INT, ticker, rate, "rate", .fallback = "10", .min = 1, .max = 1e6, .help = "..."): what
 * follows the key may be left out. */
#define WEIR_KEY(what, T, member, ...)                                                             \
    {                                                                                              \
        .struct_size = sizeof(weir_option), .kind = WEIR_OPTION_##what,                            \
        .offset = offsetof(T, member), .key = __VA_ARGS__                                          \
    }

/* Keys of a plugin's or an application's own: what lies below `path` is layered, checked and shown
 * as weir's is. Not copied: a static constant. */
typedef struct weir_option_table {
    size_t struct_size;
    const char *path; /* "market.feed" */
    const weir_option *rows;
    size_t row_count;
    const char *help; /* what this is about; may be NULL */
} weir_option_table;

/* ---- loading ---- */

typedef struct weir_config_options {
    size_t struct_size;
    const char *const *files;     /* more of them, each over those before; ends with NULL */
    const char *const *overrides; /* "weir.engine.batch-max=8"; ends with NULL; win over all */
    bool ignore_environment;      /* neither WEIR__... nor $WEIR_CONFIG nor ${HOME} is looked at */
    bool keep_going;              /* a config although it has errors: to look at them. It makes no
                                     engine */
    const char *include_root;     /* includes may not leave it; default: they may */
    const weir_option_table *const *tables; /* ends with NULL */
    const weir_allocator *allocator; /* copied, and used as long as an engine made from the config
                                        lives; default the C library's */
} weir_config_options;

#define WEIR_CONFIG_OPTIONS_INIT WEIR_SIZED(weir_config_options)
#define WEIR_CONFIG(...) WEIR_OPTIONS(weir_config_options, __VA_ARGS__)

/* Control; reads files. `path` NULL and no `files`: $WEIR_CONFIG, else ./application.conf, else
 * ./weir.conf, else the built-in reference alone. NULL on error: E_CONFIG is the first problem,
 * E_NOMEM, E_INVALID for wrong options. */
WEIR_API weir_config *weir_config_load(const char *path, const weir_config_options *options,
                                       weir_error *error);

/* Control. The same from memory; `name` stands in messages in place of a file's. */
WEIR_API weir_config *weir_config_parse(const char *name, const char *text, size_t size,
                                        const weir_config_options *options, weir_error *error);

/* Control. NULL is a no-op. Nobody reads it any more. */
WEIR_API void weir_config_destroy(weir_config *config);

/* What a problem is: only an error keeps a configuration from being used. */
typedef enum weir_config_severity {
    WEIR_CONFIG_NOTE,    /* read as something else: how to write it today */
    WEIR_CONFIG_WARNING, /* will run, and probably not as it was meant */
    WEIR_CONFIG_ERROR
} weir_config_severity;

/* Any. Problem `i`, in the order of files, lines, columns; its status is E_CONFIG whatever the
 * severity, which is written to *severity (may be NULL). False: there is no such `i`. */
WEIR_API bool weir_config_problem_get(const weir_config *config, size_t i, weir_error *problem,
                                      weir_config_severity *severity);

/* Any. The effective settings as JSON, each with where it came from; secrets are "***". Cut at
 * `size`; returns the full length without the final zero, as snprintf does; 0: no memory, or
 * NULL. */
WEIR_API size_t weir_config_show(const weir_config *config, char *out, size_t size);

/* ---- an engine from it ---- */

/* Control. An engine with all threads and dispatchers that the configuration names, not started.
 * Of `code` (may be NULL) it takes what no file can say: allocator, log, log_context, and the name
 * if the files give none. NULL on error. The config may be destroyed afterwards. Threads without a
 * name are called after what they serve, as in "api+realtime-1"; "weir-1" serves "". Warnings and
 * notes of the configuration go to the log (warning, info). */
WEIR_API weir_engine *weir_config_engine(const weir_config *config, const weir_engine_options *code,
                                         weir_error *error);

/* Any. Or in parts. Each fills what the configuration says into a struct whose struct_size is set;
 * what it does not say, a handler for instance, stays as it is. Strings and arrays live as long as
 * the config. */
WEIR_API weir_status weir_config_engine_options(const weir_config *config, weir_engine_options *out,
                                                weir_error *error);

/* Any. Thread `i`, whatever form the assignment has. UNKNOWN: there is no such `i`. */
WEIR_API weir_status weir_config_thread_options(const weir_config *config, size_t i,
                                                weir_thread_options *out, weir_error *error);

/* Any. Dispatcher `i` of those that the configuration tunes. UNKNOWN: there is no such `i`. */
WEIR_API weir_status weir_config_dispatcher_options(const weir_config *config, size_t i,
                                                    weir_dispatcher_options *out,
                                                    weir_error *error);

/* Any. What stands below weir.engine.processors."name"; `name` becomes out->name, too. UNKNOWN:
 * nothing stands there, and only out->name is filled. */
WEIR_API weir_status weir_config_processor_options(const weir_config *config, const char *name,
                                                   weir_processor_options *out, weir_error *error);

/* Any. What stands below weir.flows."name"; `name` becomes out->name, too. UNKNOWN: nothing stands
 * there, and only out->name is filled. E_CONFIG: out->keys is set, and the files say another. */
WEIR_API weir_status weir_config_router_options(const weir_config *config, const char *name,
                                                weir_router_options *out, weir_error *error);

/* Control. Your own keys, with the same units, bounds and messages: fills the struct `out`. `path`
 * is a path of names with dots, "" the root; nothing there: the fallbacks. Keys below it that no
 * row knows are errors with the nearest known one. Strings and arrays live as long as the
 * config. */
WEIR_API weir_status weir_config_read(const weir_config *config, const char *path,
                                      const weir_option *rows, size_t count, void *out,
                                      weir_error *error);

/*
 * Blocking. A new configuration for an engine that weir_config_engine made, running or not: all of
 * what can be changed, or, on error, nothing. At once changes: which threads there are and what
 * they serve, back-off, batch sizes, the log level, the dispatcher of a processor and of a router,
 * a processor's overflow policy between fail and drop-newest (and block, if it had that from the
 * beginning), a router's block-max and flow-idle-timeout, all of what is added later. The rest
 * needs a restart: *pending (may be NULL) counts such keys, and the log names each, at level
 * warning. E_INVALID: the engine was not made from a configuration, or is stopping. A thread that
 * goes finishes its turn first: this waits for it.
 */
WEIR_API weir_status weir_config_apply(const weir_config *config, weir_engine *engine,
                                       size_t *pending, weir_error *error);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_CONFIG_H */
