/*
 * admin/thread.c - see thread.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* strerrordesc_np */
#include "admin/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "admin/reason.h"
#include "base/error.h"
#include "weir/log.h"

static void warn(const weir__admin_thread *thread, const char *text, int failure)
{
    const weir_log_field why = { "reason", weir__reason(failure) };
    weir_log_write(thread->engine, WEIR_LOG_WARNING, thread->shown, text, &why, 1);
}

static void settle_in(const weir__admin_thread *thread)
{
    int32_t wrong;
    weir__os_thread_name(thread->shown);
    int failure =
        thread->core_count > 0 ? weir__os_thread_pin(thread->cores, thread->core_count, &wrong) : 0;
    if (failure != 0) {
        warn(thread, "its cores cannot be had, so it runs unpinned", failure);
    }
    failure = weir__os_thread_priority(thread->priority, thread->priority_value);
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

/* The first that cannot be had; -1: none. */
static int32_t missing_core(const weir__admin_thread *thread)
{
    weir__cores allowed;
    weir__cores_allowed(&allowed);
    for (uint32_t i = 0; i < thread->core_count; i++) {
        const uint32_t n = (uint32_t)thread->cores[i];
        if (n / 64 >= WEIR__CORES_WORDS || (allowed.bits[n / 64] >> n % 64 & 1) == 0) {
            return thread->cores[i];
        }
    }
    return -1;
}

weir_status weir__admin_thread_start(weir__admin_thread *thread, const weir__admin_options *options,
                                     weir_error *error)
{
    for (size_t i = 0; i < options->cores.count && i < WEIR__ADMIN_CORES_MAX; i++) {
        thread->cores[thread->core_count++] = (int32_t)options->cores.items[i];
    }
    const int32_t missing = options->core_required ? missing_core(thread) : -1;
    if (missing >= 0) {
        return weir__error_system(
            error, EINVAL, "weir.admin.thread.cores",
            "has %d, which is required and cannot be had: it does not exist, or "
            "this process may not use it",
            (int)missing);
    }
    thread->priority = (weir_priority)options->priority;
    thread->priority_value = (int32_t)options->priority_value;
    if (thread->priority == WEIR_PRIORITY_DEFAULT && options->nice != 0) {
        thread->priority = WEIR_PRIORITY_NICE;
        thread->priority_value = (int32_t)options->nice;
    }
    const char *before = options->thread_name;
    (void)snprintf(thread->shown, sizeof(thread->shown), "%s-%s",
                   before != NULL && before[0] != '\0' ? before : "weir", thread->name);
    thread->doorbell = weir__doorbell_open();
    if (thread->doorbell < 0) {
        return weir__error_system(error, -thread->doorbell, "weir.admin",
                                  "no descriptor is left for %s", thread->shown);
    }
    const int failure = weir__os_thread_start(&thread->os, run, thread);
    if (failure != 0) {
        weir__doorbell_close(thread->doorbell);
        return weir__error_system(error, failure, "weir.admin", "cannot start %s", thread->shown);
    }
    return WEIR_OK;
}

void weir__admin_thread_stop(weir__admin_thread *thread)
{
    weir__doorbell_ring(thread->doorbell);
    weir__os_thread_join(&thread->os);
    weir__doorbell_close(thread->doorbell);
}
