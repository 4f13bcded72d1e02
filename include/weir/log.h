/*
 * weir/log.h - where weir's own sentences go. One hook per engine, set at create.
 *
 * The default hook writes one line of logfmt to stderr:
 *
 *   time=2026-01-31T12:00:00.123Z level=warning engine=weir component="thread io" msg="..." core=9
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H

#include "weir/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_log_level {
    WEIR_LOG_DEFAULT = 0, /* warning */
    WEIR_LOG_DEBUG,
    WEIR_LOG_INFO,
    WEIR_LOG_WARNING,
    WEIR_LOG_ERROR,
    WEIR_LOG_OFF
} weir_log_level;

/* One pair behind the text: left=3. Both are valid during the hook and never NULL. */
typedef struct weir_log_field {
    const char *key;
    const char *value;
} weir_log_field;

/* One entry; valid during the hook. Made by weir, so it may grow: read only what you know. */
typedef struct weir_log_entry {
    size_t struct_size;
    weir_log_level level;
    weir_status status;           /* 0, or the status behind it */
    weir_ns wall_time;            /* since 1970 */
    uint64_t suppressed;          /* entries of this kind left out since the last one shown */
    const char *engine;           /* its name; never NULL */
    const char *component;        /* "processor orders", "thread io-1", "engine"; never NULL */
    const char *text;             /* one line, no newline; never NULL */
    const weir_log_field *fields; /* `field_count` of them */
    size_t field_count;
} weir_log_entry;

/*
 * Called on the thread that has something to say, one entry at a time for each engine. Nothing is
 * said once per event: what a load can repeat is limited to one entry a second and kind, and
 * counted in `suppressed`. May post, and call nothing else of weir's: locks may be held.
 */
typedef void (*weir_log_hook)(void *context, const weir_log_entry *entry);

/* Any. Takes effect at once. */
WEIR_API void weir_log_level_set(weir_engine *engine, weir_log_level level);

/* Any. One load: ask it before you build a text. */
WEIR_API bool weir_log_enabled(const weir_engine *engine, weir_log_level level);

/* Any; waits only for the hook. A line of the application's own through the same hook. */
WEIR_API void weir_log_write(weir_engine *engine, weir_log_level level, const char *component,
                             const char *text, const weir_log_field *fields, size_t field_count);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_LOG_H */
