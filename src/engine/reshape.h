/*
 * engine/reshape.h - other defaults, other dispatchers, fewer threads for an engine that may be
 * running: all in one step, or nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_RESHAPE_H
#define WEIR_ENGINE_RESHAPE_H

#include "engine/backoff.h"
#include "weir/weir.h"

/* What becomes of something that a processor may have of its own. */
typedef enum weir__own {
    WEIR__OWN_LEAVE,  /* as it is */
    WEIR__OWN_GIVE,   /* it has this value from now on */
    WEIR__OWN_INHERIT /* it has none any more: the dispatcher's, or the engine's */
} weir__own;

typedef struct weir__processor_shape {
    const char *name; /* one that is not there is passed over */
    weir__own overflow_own, block_own, batch_own;
    weir_overflow overflow;
    weir_ns block_max;
    uint32_t batch_max;
} weir__processor_shape;

typedef struct weir__shape {
    const weir_engine_options *defaults; /* mailbox_max, overflow, block_max, batch_max, backoff_*:
                                            all of them set */
    const weir_dispatcher_options *dispatchers; /* those with something of their own: 0 inherits;
                                                   `fair` is not looked at */
    size_t dispatcher_count;
    const weir__processor_shape *processors;
    size_t processor_count;
    weir_thread *leaving; /* go; the array is used up */
    size_t leaving_count;
} weir__shape;

/* Blocking: waits for the turns of those that leave. *kept counts processors whose policy could not
 * become the one that is wanted: drop-oldest and block have to be there from the beginning. On
 * error nothing has changed: no memory, a dispatcher would be without a thread, a stop. */
weir_status weir__engine_reshape(weir_engine *engine, const weir__shape *shape, size_t *kept,
                                 weir_error *error);

/* The names of these threads are free for others, or theirs again. Threads that are gone are passed
 * over. */
void weir__threads_replaced(weir_engine *engine, const weir_thread *threads, size_t count,
                            bool replaced);

/* Takes back a thread that was added for the sake of something that failed; it stays if somebody
 * was put where it alone serves, or a stop was faster. */
void weir__thread_take_back(weir_engine *engine, weir_thread thread);

/* ---- what it was made from: the settings room's ---- */

typedef struct weir__configured {
    struct weir_config *config; /* NULL: not from a configuration */
    void (*release)(struct weir_config *config);
} weir__configured;

/* From lock to unlock nobody else applies one. False, and not locked: the engine is not usable. */
bool weir__engine_configure_lock(weir_engine *engine, weir__configured **configured);
void weir__engine_configure_unlock(weir_engine *engine);
/* How many processors have figures of their own, if nobody says otherwise. */
void weir__engine_metrics_max(weir_engine *engine, uint32_t processors);
const weir_allocator *weir__engine_allocator(const weir_engine *engine);
bool weir__engine_inside_handler(void);

#endif /* WEIR_ENGINE_RESHAPE_H */
