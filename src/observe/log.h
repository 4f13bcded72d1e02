/*
 * observe/log.h - weir's own sentences: one hook per engine, logfmt to stderr by default.
 *
 * Never called once per event: who may have to say the same thing often owns a weir__log_gate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_OBSERVE_LOG_H
#define WEIR_OBSERVE_LOG_H

#include "sync/mutex.h"
#include "weir/log.h"

typedef struct weir__log {
    weir__atomic_u32 level;
    weir__mutex lock; /* one entry at a time */
    weir_log_hook hook;
    void *context;
    const char *engine_name;
    void (*begin)(void); /* around the hook: what it calls must not wait */
    void (*end)(void);
} weir__log;

/* Lets one entry a second through. Zeroed is open. */
typedef struct weir__log_gate {
    weir__atomic_u64 next; /* not before this time */
    weir__atomic_u64 suppressed;
} weir__log_gate;

/* The hook that counts if there is no other: a line of logfmt. */
void weir__log_to_stderr(void *context, const weir_log_entry *entry);

void weir__log_open(weir__log *log, weir_log_hook hook, void *context, weir_log_level level,
                    const char *engine_name);

static inline bool weir__log_on(const weir__log *log, weir_log_level level)
{
    return (uint32_t)level >= weir__load((weir__atomic_u32 *)(uintptr_t)&log->level, relaxed);
}

/* `gate` may be NULL: no limit. `fields` may be NULL. */
void weir__log_say(weir__log *log, weir__log_gate *gate, weir_log_level level, weir_status status,
                   const char *component, const char *text, const weir_log_field *fields,
                   size_t field_count);

#endif /* WEIR_OBSERVE_LOG_H */
