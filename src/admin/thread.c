/*
 * admin/thread.c - see thread.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerrordesc_np */
#include "admin/thread.h"

#include <stdio.h>
#include <string.h>

#include "admin/reason.h"
#include "base/error.h"
#include "weir/log.h"

static void warn(const weir__admin_thread *thread, const char *text, int failure)
{
    const weir_log_field why = { "reason", weir__reason(failure) };
    weir_log_write(thread->engine, WEIR_LOG_WARNING, thread->name, text, &why, 1);
}

static void settle_in(const weir__admin_thread *thread)
{
    int32_t wrong;
    weir__os_thread_name(thread->name);
    int failure =
        thread->core_count > 0 ? weir__os_thread_pin(thread->cores, thread->core_count, &wrong) : 0;
    if (failure != 0) {
        warn(thread, "its cores cannot be had, so it runs unpinned", failure);
    }
    failure = thread->nice != 0 ? weir__os_thread_priority(WEIR_PRIORITY_NICE, thread->nice) : 0;
    if (failure != 0) {
        warn(thread, "its priority cannot be had", failure);
    }
}

static void run(void *argument)
{
    const weir__admin_thread *thread = argument;
    settle_in(thread);
    thread->run(thread->context);
}

weir_status weir__admin_thread_start(weir__admin_thread *thread, const weir__admin_options *options,
                                     weir_error *error)
{
    for (size_t i = 0; i < options->cores.count && i < WEIR__ADMIN_CORES_MAX; i++) {
        thread->cores[thread->core_count++] = (int32_t)options->cores.items[i];
    }
    thread->nice = (int32_t)options->nice;
    thread->doorbell = weir__doorbell_open();
    if (thread->doorbell < 0) {
        return weir__error_system(error, -thread->doorbell, "weir.admin",
                                  "no descriptor is left for %s", thread->name);
    }
    const int failure = weir__os_thread_start(&thread->os, run, thread);
    if (failure != 0) {
        weir__doorbell_close(thread->doorbell);
        return weir__error_system(error, failure, "weir.admin", "cannot start %s", thread->name);
    }
    return WEIR_OK;
}

void weir__admin_thread_stop(weir__admin_thread *thread)
{
    weir__doorbell_ring(thread->doorbell);
    weir__os_thread_join(&thread->os);
    weir__doorbell_close(thread->doorbell);
}
