/*
 * engine/options.c - bounds and defaults of every option.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/options.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/channel.h"

#define HOUR (3600 * WEIR_S)
#ifdef WEIR_SIMULATED
#define STUCK_AFTER WEIR_FOREVER /* a thread that ticks would hide that all others wait for ever */
#else
#define STUCK_AFTER (5 * WEIR_S)
#endif

#define OVERFLOW_NAMES "one of WEIR_OVERFLOW_..."
#define DIRECTIVE_NAMES "WEIR_RESUME, WEIR_RETRY, WEIR_RESTART, WEIR_STOP or WEIR_ESCALATE"
#define IDLE_NAMES "one of WEIR_IDLE_..."

weir_status weir__options_engine(const weir_engine_options *in, weir_engine_options *out,
                                 weir_error *error)
{
    weir__checker check = weir__check_begin("weir_engine_options", out, sizeof(*out), in, error);
    weir__check_name(&check, "name", out->name);
    if (out->threads != 0) {
        weir__check_number32(&check, "threads", &out->threads, 1, 1024, 1);
    }
    weir__check_number32(&check, "mailbox_max", &out->mailbox_max, 1, 1000000, 10000);
    weir__check_choice(&check, "overflow", (int)out->overflow, WEIR_OVERFLOW_BLOCK, OVERFLOW_NAMES);
    weir__check_span(&check, "block_max", &out->block_max, 1, WEIR_FOREVER, WEIR_S);
    weir__check_number32(&check, "batch_max", &out->batch_max, 1, 65535, 64);
    weir__check_number32(&check, "processors_max", &out->processors_max, 1, 16000000, 2000000);
    weir__check_number(&check, "block_bytes_max", &out->block_bytes_max, 1, UINT64_MAX / 2,
                       (uint64_t)256 << 20);
    weir__check_span(&check, "backoff_base", &out->backoff_base, 1, HOUR, 10 * WEIR_US);
    weir__check_span(&check, "backoff_max", &out->backoff_max, 1, HOUR, 10 * WEIR_MS);
    weir__check_real(&check, "backoff_multiplier", &out->backoff_multiplier, 1.0, 100.0, 1.5);
    if (out->backoff_jitter != 0) {
        weir__check_real(&check, "backoff_jitter", &out->backoff_jitter, 0.0, 1.0, 0.0);
    }
    weir__check_choice(&check, "log_level", (int)out->log_level, WEIR_LOG_OFF,
                       "one of WEIR_LOG_...");
    weir__check_number32(&check, "scheduler_threads", &out->scheduler_threads, 1, 64, 2);
    weir__check_number32(&check, "timers_max", &out->timers_max, 1, 16000000, 1000000);
    weir__check_choice(&check, "crash_report", (int)out->crash_report, WEIR_CRASH_REPORT_OFF,
                       "one of WEIR_CRASH_REPORT_...");
    weir__check_span(&check, "stuck_after", &out->stuck_after, WEIR_MS, WEIR_FOREVER, STUCK_AFTER);
    weir__check_number32(&check, "channels_max", &out->channels_max, 1, WEIR__CHANNELS_MAX, 65536);
    weir__check_number32(&check, "latency_every", &out->latency_every, 1, UINT32_MAX, 64);
    weir__check_number32(&check, "latency_max_processors", &out->latency_max_processors, 1, 100000,
                         1000);
    if (check.status == WEIR_OK && out->backoff_base >= out->backoff_max) {
        char text[128];
        snprintf(text, sizeof(text), "is %lld ns, must be less than backoff_max (%lld ns)",
                 (long long)out->backoff_base, (long long)out->backoff_max);
        weir__check_refuse(&check, "backoff_base", text);
    }
    if (out->allocator != NULL &&
        (out->allocator->allocate == NULL || out->allocator->release == NULL)) {
        weir__check_refuse(&check, "allocator", "has no allocate or no release function");
    }
    if (out->overflow == WEIR_OVERFLOW_DEFAULT) {
        out->overflow = WEIR_OVERFLOW_FAIL;
    }
    return check.status;
}

static void check_cores(weir__checker *check, const int32_t *cores, uint32_t count)
{
    if (count > 1024) {
        weir__check_refuse(check, "core_count", "is more than 1024");
    } else if (count > 0 && cores == NULL) {
        weir__check_refuse(check, "cores", "is NULL, must have core_count entries");
    }
    for (uint32_t i = 0; check->status == WEIR_OK && cores != NULL && i < count; i++) {
        if (cores[i] < 0) {
            char text[96];
            snprintf(text, sizeof(text), "has %d, must be core numbers from 0 on", (int)cores[i]);
            weir__check_refuse(check, "cores", text);
        }
    }
}

static void check_priority(weir__checker *check, weir_priority priority, int32_t value)
{
    char text[96];
    weir__check_choice(check, "priority", (int)priority, WEIR_PRIORITY_ROUND_ROBIN,
                       "one of WEIR_PRIORITY_...");
    if (priority == WEIR_PRIORITY_NICE && (value < -20 || value > 19)) {
        snprintf(text, sizeof(text), "is %d, must be -20 to 19 for nice", (int)value);
        weir__check_refuse(check, "priority_value", text);
    } else if ((priority == WEIR_PRIORITY_FIFO || priority == WEIR_PRIORITY_ROUND_ROBIN) &&
               (value < 1 || value > 99)) {
        snprintf(text, sizeof(text), "is %d, must be 1 to 99 for fifo and round-robin", (int)value);
        weir__check_refuse(check, "priority_value", text);
    }
}

static void check_names(weir__checker *check, const char *const *names, uint32_t most)
{
    uint32_t count = 0;
    char text[128];
    for (; check->status == WEIR_OK && names != NULL && names[count] != NULL; count++) {
        weir__check_name(check, "dispatchers", names[count]);
        if (count >= most) {
            snprintf(text, sizeof(text), "has more than %u names", most);
            weir__check_refuse(check, "dispatchers", text);
            return;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(names[i], names[count]) == 0) {
                snprintf(text, sizeof(text), "has \"%.60s\" twice", names[i]);
                weir__check_refuse(check, "dispatchers", text);
            }
        }
    }
}

weir_status weir__options_thread(const weir_thread_options *in, weir_thread_options *out,
                                 weir_error *error)
{
    static const char *const usual[] = { "", NULL };
    weir__checker check = weir__check_begin("weir_thread_options", out, sizeof(*out), in, error);
    weir__check_name(&check, "name", out->name);
    check_names(&check, out->dispatchers, 64);
    weir__check_choice(&check, "idle", (int)out->idle, WEIR_IDLE_NOOP, IDLE_NAMES);
    if (out->idle_spin_max == WEIR_NOW) {
        out->idle_spin_max = 0;
    } else {
        weir__check_span(&check, "idle_spin_max", &out->idle_spin_max, 1, WEIR_S, 20 * WEIR_US);
    }
    weir__check_span(&check, "idle_sleep", &out->idle_sleep, 1, HOUR, WEIR_MS);
    weir__check_span(&check, "max_park", &out->max_park, 1, HOUR, WEIR_MS);
    check_cores(&check, out->cores, out->core_count);
    check_priority(&check, out->priority, out->priority_value);
    if (out->dispatchers == NULL) {
        out->dispatchers = usual;
    }
    return check.status;
}

weir_status weir__options_helper(const weir_helper_options *in, weir_helper_options *out,
                                 weir_error *error)
{
    weir__checker check = weir__check_begin("weir_helper_options", out, sizeof(*out), in, error);
    weir__check_name(&check, "name", out->name);
    check_cores(&check, out->cores, out->core_count);
    check_priority(&check, out->priority, out->priority_value);
    return check.status;
}

weir_status weir__options_dispatcher(const weir_dispatcher_options *in,
                                     weir_dispatcher_options *out, weir_error *error)
{
    weir__checker check =
        weir__check_begin("weir_dispatcher_options", out, sizeof(*out), in, error);
    if (out->batch_max != 0) {
        weir__check_number32(&check, "batch_max", &out->batch_max, 1, 65535, 64);
    }
    if (out->backoff_base != 0) {
        weir__check_span(&check, "backoff_base", &out->backoff_base, 1, HOUR, 10 * WEIR_US);
    }
    if (out->backoff_max != 0) {
        weir__check_span(&check, "backoff_max", &out->backoff_max, 1, HOUR, 10 * WEIR_MS);
    }
    if (out->backoff_multiplier != 0) {
        weir__check_real(&check, "backoff_multiplier", &out->backoff_multiplier, 1.0, 100.0, 1.5);
    }
    if (out->name == NULL) {
        out->name = "";
    }
    return check.status;
}

weir_status weir__options_assignment(const weir_assignment_options *in,
                                     weir_assignment_options *out, weir_error *error)
{
    weir__checker check =
        weir__check_begin("weir_assignment_options", out, sizeof(*out), in, error);
    weir__check_choice(&check, "idle", (int)out->idle, WEIR_IDLE_NOOP, IDLE_NAMES);
    weir__check_choice(&check, "strategy", out->strategy == 0 ? -1 : (int)out->strategy,
                       WEIR_STRATEGY_PER_DISPATCHER, "one of WEIR_STRATEGY_...");
    if (out->dispatchers == NULL) {
        weir__check_refuse(&check, "dispatchers", "is NULL, must have a name (\"\" is one)");
    }
    check_names(&check, out->dispatchers, 1024);
    if (out->dispatchers != NULL && out->dispatchers[0] == NULL) {
        weir__check_refuse(&check, "dispatchers", "is empty, must have a name (\"\" is one)");
    }
    if (out->threads > 1024) {
        char text[96];
        snprintf(text, sizeof(text), "is %u, must be 1 to 1024 (0 = the cores that can be used)",
                 out->threads);
        weir__check_refuse(&check, "threads", text);
    }
    return check.status;
}

static void check_cases(weir__checker *check, const weir_cases *cases)
{
    for (size_t i = 0; cases->rows != NULL && i < cases->count; i++) {
        if (cases->rows[i].type == NULL || cases->rows[i].handler == NULL) {
            char text[96];
            snprintf(text, sizeof(text), "row %zu has no %s", i,
                     cases->rows[i].type == NULL ? "type" : "handler");
            weir__check_refuse(check, "cases", text);
        }
    }
}

weir_status weir__options_processor(const weir_processor_options *in, weir_processor_options *out,
                                    weir_error *error)
{
    weir__checker check = weir__check_begin("weir_processor_options", out, sizeof(*out), in, error);
    weir__check_name(&check, "name", out->name);
    weir__check_name(&check, "dispatcher", out->dispatcher);
    if ((out->handler != NULL) == (out->cases.rows != NULL)) {
        weir__check_refuse(&check, "handler",
                           out->handler != NULL ? "and cases are both set, must be one of them"
                                                : "and cases are both unset, must be one of them");
    }
    check_cases(&check, &out->cases);
    if (out->mailbox_max != 0) {
        weir__check_number32(&check, "mailbox_max", &out->mailbox_max, 1, 1000000, 10000);
    }
    if (out->batch_max != 0) {
        weir__check_number32(&check, "batch_max", &out->batch_max, 1, 65535, 64);
    }
    if (out->block_max != 0) {
        weir__check_span(&check, "block_max", &out->block_max, 1, WEIR_FOREVER, WEIR_S);
    }
    weir__check_choice(&check, "overflow", (int)out->overflow, WEIR_OVERFLOW_BLOCK, OVERFLOW_NAMES);
    if (out->state_size > (size_t)1 << 40) {
        weir__check_refuse(&check, "state_size", "is more than 1 TiB");
    }
    weir__check_choice(&check, "on_failure", (int)out->on_failure, WEIR_ESCALATE, DIRECTIVE_NAMES);
    weir__check_choice(&check, "retry_then", (int)out->retry_then, WEIR_ESCALATE, DIRECTIVE_NAMES);
    if (out->retry_then == WEIR_RETRY) {
        weir__check_refuse(
            &check, "retry_then",
            "is WEIR_RETRY, must be WEIR_RESUME, WEIR_RESTART, WEIR_STOP or WEIR_ESCALATE");
    }
    weir__check_number32(&check, "retry_max", &out->retry_max, 1, 1000000, 3);
    weir__check_span(&check, "retry_delay", &out->retry_delay, 1, HOUR, 10 * WEIR_MS);
    weir__check_span(&check, "retry_delay_max", &out->retry_delay_max, 1, HOUR, HOUR);
    weir__check_number32(&check, "restart_max", &out->restart_max, 1, 1000, 3);
    weir__check_span(&check, "restart_window", &out->restart_window, 1, WEIR_FOREVER, 10 * WEIR_S);
    if (out->dedicated && out->dispatcher != NULL) {
        weir__check_refuse(&check, "dispatcher", "and dedicated are both set, must be one of them");
    }
    return check.status;
}
