/*
 * admin/thread.h - a thread of this room's: named, pinned, given a priority, and told to end by a
 * doorbell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ADMIN_THREAD_H
#define WEIR_ADMIN_THREAD_H

#include "admin/admin.h"
#include "sync/thread.h"

#define WEIR__ADMIN_CORES_MAX 64u

typedef struct weir__admin_thread {
    weir__os_thread os;
    const char *name; /* "admin" */
    weir_engine *engine;
    int doorbell; /* readable: end */
    void (*run)(void *context);
    void *context;

    int32_t cores[WEIR__ADMIN_CORES_MAX];
    uint32_t core_count;
    weir_priority priority;
    int32_t priority_value;
    char shown[32]; /* its name to the system */
} weir__admin_thread;

/* Name, engine, run and context are filled in; `options` are needed during the call only. */
weir_status weir__admin_thread_start(weir__admin_thread *thread, const weir__admin_options *options,
                                     weir_error *error);
/* Waits for its end. */
void weir__admin_thread_stop(weir__admin_thread *thread);

#endif /* WEIR_ADMIN_THREAD_H */
