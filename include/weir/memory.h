/*
 * weir/memory.h - component types that need nothing outside the process: for programs that bring
 * their own events or want to see what comes out, and for tests.
 *
 *     memory        a source: publishes what the program pushes
 *     memory-sink   keeps the last events, for the program to look at
 *     pipe          a sink and a feed back to back: publishes what it gets
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_MEMORY_H
#define WEIR_MEMORY_H

#include "weir/component.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_memory_config {
    int64_t max; /* events that wait to be published, or are kept; default 1,024 */
} weir_memory_config;

WEIR_API extern const weir_component_type weir_memory_type;      /* config: weir_memory_config */
WEIR_API extern const weir_component_type weir_memory_sink_type; /* the same */
/* Its feed has many writers, since turns of its handler may run on several threads. What its
 * subscribers have no room for waits in its mailbox, in order. */
WEIR_API extern const weir_component_type weir_pipe_type; /* no config */

/* Control. The source `name` publishes it soon, on its thread, in the order of the pushes. FULL:
 * `max` of them wait. UNKNOWN: there is no such source, or it does not run. E_NOMEM, E_TYPE,
 * E_INVALID. */
WEIR_API WEIR_MUST_CHECK weir_status weir_memory_push(weir_engine *engine, const char *name,
                                                      const weir_event *event);

/* Control. Calls `visit` (or NULL) with what the sink `name` has kept, oldest first, until it
 * answers false. *total (or NULL) is how many events it ever got. UNKNOWN: there is no such sink.
 * E_NOMEM. */
WEIR_API weir_status weir_memory_visit(weir_engine *engine, const char *name,
                                       bool (*visit)(void *context, const weir_event *event),
                                       void *context, uint64_t *total);

#ifdef __cplusplus
}
#endif

#endif /* WEIR_MEMORY_H */
