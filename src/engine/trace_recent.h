/*
 * engine/trace_recent.h - the last events that a processor has handled, out of the trails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_TRACE_RECENT_H
#define WEIR_ENGINE_TRACE_RECENT_H

#include "weir/engine.h"

typedef struct weir__recent {
    const char *thread; /* its name, during the visit */
    uint64_t back;      /* steps of that thread since then; 0: its newest */
    bool runs;          /* its handler has not returned */
    const weir_event_type *type;
    weir_processor sender; /* 0: not a processor */
    uint64_t size;
} weir__recent;

/* Control. The newest of each thread first, until `visit` answers false. What a thread did more
 * than 30 steps ago is not there, nor what it did while this looked. */
void weir__trace_recent(weir_engine *engine, weir_processor processor,
                        bool (*visit)(void *context, const weir__recent *event), void *context);

#endif /* WEIR_ENGINE_TRACE_RECENT_H */
