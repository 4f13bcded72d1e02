/*
 * settings/options.c - what a configuration says, as the option structs of the engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "settings/config.h"
#include "settings/options.h"

/* False: the error says why not. */
static bool usable(const weir_config *config, const void *out, const char *path, weir_error *error)
{
    if (config == NULL || out == NULL) {
        weir__error_at(error, WEIR_E_INVALID, path, "needs a config and a struct to fill");
        return false;
    }
    if (weir__problems_failed(&config->problems)) {
        weir__problems_error(&config->problems, error);
        return false;
    }
    return true;
}

static weir_status fill(void *out, const void *ours, size_t size, const char *path,
                        weir_error *error)
{
    const weir_status status = weir__struct_fill(out, ours, size);
    return status == WEIR_OK
               ? WEIR_OK
               : weir__error_at(error, status, path,
                                "has a struct_size that cannot be: use the macro or _INIT");
}

/* What the caller has set already, as far as we know of it. A wrong size is found by fill. */
static void take(void *ours, size_t size, const void *out)
{
    size_t given;
    memcpy(&given, out, sizeof(given));
    if (given >= sizeof(given) && given <= 65536) {
        memcpy(ours, out, given < size ? given : size);
    }
}

void weir__engine_options_of(const weir__engine_settings *s, weir_engine_options *o)
{
    o->name = s->name;
    o->mailbox_max = (uint32_t)s->mailbox_max;
    o->overflow = (weir_overflow)s->overflow;
    o->block_max = s->block_max;
    o->batch_max = (uint32_t)s->batch_max;
    o->processors_max = (uint32_t)s->processors_max;
    o->block_bytes_max = s->block_bytes_max;
    o->backoff_base = s->backoff.base;
    o->backoff_max = s->backoff.max;
    o->backoff_multiplier = s->backoff.multiplier;
    o->backoff_jitter = s->backoff.jitter;
    o->log_level = (weir_log_level)s->log_level;
    o->crash_report = s->crash_report ? WEIR_CRASH_REPORT_ON : WEIR_CRASH_REPORT_OFF;
    o->scheduler_threads = (uint32_t)s->scheduler_threads;
    o->scheduler_thread = &s->scheduler_thread.options;
    o->helper_thread = &s->helper_thread.options;
    o->timers_max = (uint32_t)s->timers_max;
    o->stuck_after = s->stuck_after;
    o->channels_max = (uint32_t)s->channels_max;
    o->latency_every = s->latency_every != 0 ? (uint32_t)s->latency_every : UINT32_MAX;
    o->latency_max_processors = (uint32_t)s->latency_max_processors;
}

weir_status weir_config_engine_options(const weir_config *config, weir_engine_options *out,
                                       weir_error *error)
{
    static const char *const path = "weir_config_engine_options";
    weir_engine_options ours = { .struct_size = sizeof(ours) };
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!usable(config, out, path, error)) {
        return config != NULL && out != NULL ? WEIR_E_CONFIG : WEIR_E_INVALID;
    }
    take(&ours, sizeof(ours), out);
    weir__engine_options_of(&config->engine, &ours);
    return fill(out, &ours, sizeof(ours), path, error);
}

weir_status weir_config_thread_options(const weir_config *config, size_t i,
                                       weir_thread_options *out, weir_error *error)
{
    static const char *const path = "weir_config_thread_options";
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!usable(config, out, path, error)) {
        return config != NULL && out != NULL ? WEIR_E_CONFIG : WEIR_E_INVALID;
    }
    if (i >= config->thread_count) {
        return WEIR_UNKNOWN;
    }
    return fill(out, &config->threads[i], sizeof(config->threads[i]), path, error);
}

void weir__dispatcher_options_of(const weir__dispatcher_settings *s, weir_dispatcher_options *o)
{
    *o = (weir_dispatcher_options){
        .struct_size = sizeof(*o),
        .name = s->name,
        .fair = s->fair,
        .batch_max = (uint32_t)s->batch_max,
        .backoff_base = s->backoff.base,
        .backoff_max = s->backoff.max,
        .backoff_multiplier = s->backoff.multiplier,
    };
}

weir_status weir_config_dispatcher_options(const weir_config *config, size_t i,
                                           weir_dispatcher_options *out, weir_error *error)
{
    static const char *const path = "weir_config_dispatcher_options";
    weir_dispatcher_options ours;
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!usable(config, out, path, error)) {
        return config != NULL && out != NULL ? WEIR_E_CONFIG : WEIR_E_INVALID;
    }
    if (i >= config->engine.dispatchers.count) {
        return WEIR_UNKNOWN;
    }
    const weir__dispatcher_settings *all = config->engine.dispatchers.items;
    weir__dispatcher_options_of(&all[i], &ours);
    return fill(out, &ours, sizeof(ours), path, error);
}

const weir__processor_settings *weir__processor_settings_of(const weir_config *config,
                                                            const char *name)
{
    const weir__processor_settings *all = config->engine.processors.items;
    for (size_t i = 0; i < config->engine.processors.count; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

/* Only what was said: the rest is the program's. */
#define TAKE(member, type)                                                                         \
    do {                                                                                           \
        if (s->member != 0) {                                                                      \
            o->member = (type)s->member;                                                           \
        }                                                                                          \
    } while (0)
static void processor_options(const weir__processor_settings *s, weir_processor_options *o)
{
    TAKE(dispatcher, const char *);
    TAKE(mailbox_max, uint32_t);
    TAKE(overflow, weir_overflow);
    TAKE(block_max, weir_ns);
    TAKE(batch_max, uint32_t);
    TAKE(dedicated, bool);
    TAKE(on_failure, weir_directive);
    TAKE(retry_max, uint32_t);
    TAKE(retry_delay, weir_ns);
    TAKE(retry_delay_max, weir_ns);
    TAKE(retry_then, weir_directive);
    TAKE(restart_max, uint32_t);
    TAKE(restart_window, weir_ns);
    if (s->dedicated) {
        o->dispatcher = NULL;
    } else if (s->dispatcher != NULL) {
        o->dedicated = false;
    }
}

weir_status weir_config_processor_options(const weir_config *config, const char *name,
                                          weir_processor_options *out, weir_error *error)
{
    static const char *const path = "weir_config_processor_options";
    weir_processor_options ours = { .struct_size = sizeof(ours) };
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!usable(config, out, path, error)) {
        return config != NULL && out != NULL ? WEIR_E_CONFIG : WEIR_E_INVALID;
    }
    if (name == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_config_processor_options.name",
                              "is NULL, must be the name of a processor");
    }
    take(&ours, sizeof(ours), out);
    const weir__processor_settings *found = weir__processor_settings_of(config, name);
    ours.name = found != NULL ? found->name : name;
    if (found != NULL) {
        processor_options(found, &ours);
    }
    const weir_status status = fill(out, &ours, sizeof(ours), path, error);
    return status == WEIR_OK && found == NULL ? WEIR_UNKNOWN : status;
}

const weir__flow_settings *weir__flow_settings_of(const weir_config *config, const char *name)
{
    const weir__flow_settings *all = config->weir.flows.items;
    for (size_t i = 0; i < config->weir.flows.count; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

/* The same for a router. */
static void router_options(const weir__flow_settings *s, weir_router_options *o)
{
    TAKE(dispatcher, const char *);
    TAKE(workers, uint32_t);
    TAKE(ingress_max, uint32_t);
    TAKE(worker_max, uint32_t);
    TAKE(batch_max, uint32_t);
    TAKE(overflow, weir_overflow);
    TAKE(block_max, weir_ns);
    TAKE(idle_timeout, weir_ns);
    TAKE(flows_max, uint64_t);
    TAKE(keys, weir_flow_keys);
    TAKE(idle, weir_idle);
    TAKE(latency_every, uint32_t);
    if (s->migrate_said) {
        o->migrate = s->migrate;
    }
    if (s->cores.count > 0) {
        o->cores = s->core_list;
        o->core_count = (uint32_t)s->cores.count;
    }
    if (s->own_threads_said) {
        o->own_threads = s->own_threads;
    }
    if (s->own_threads) {
        o->dispatcher = NULL;
    } else if (s->dispatcher != NULL || s->own_threads_said) {
        o->own_threads = false;
        o->idle = WEIR_IDLE_DEFAULT; /* those were of its own threads */
        o->cores = NULL;
        o->core_count = 0;
    }
}

/* Which function it submits with is in the program: a file cannot change that. */
static weir_status check_keys(const weir_config *config, const weir__flow_settings *s,
                              weir_flow_keys keys, weir_error *error)
{
    static const char *const names[] = { "default", "u64", "bytes" };
    if (s->keys == WEIR_FLOW_KEYS_DEFAULT || keys == WEIR_FLOW_KEYS_DEFAULT ||
        (weir_flow_keys)s->keys == keys) {
        return WEIR_OK;
    }
    weir__problems problems = { .allocator = &config->allocator };
    weir__path path;
    weir__path_begin(&path, WEIR__FLOWS_PATH);
    weir__path_name(&path, s->name);
    const weir__node *map = weir__tree_at(config->tree, config->tree->root, WEIR__FLOWS_PATH);
    const weir__node *node =
        weir__child(config->tree, weir__child(config->tree, map, s->name), "keys");
    weir__path_name(&path, "keys");
    weir__problems_add(&problems, WEIR__ERROR, weir__said(node)->origin, path.text,
                       "is %s, but the program submits with %s", names[s->keys],
                       keys == WEIR_FLOW_KEYS_BYTES ? "bytes" : "u64");
    const weir_status status = weir__problems_error(&problems, error);
    weir__problems_close(&problems);
    return status;
}

weir_status weir_config_router_options(const weir_config *config, const char *name,
                                       weir_router_options *out, weir_error *error)
{
    static const char *const path = "weir_config_router_options";
    weir_router_options ours = { .struct_size = sizeof(ours) };
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!usable(config, out, path, error)) {
        return config != NULL && out != NULL ? WEIR_E_CONFIG : WEIR_E_INVALID;
    }
    if (name == NULL) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_config_router_options.name",
                              "is NULL, must be the name of a router");
    }
    take(&ours, sizeof(ours), out);
    const weir__flow_settings *found = weir__flow_settings_of(config, name);
    if (found != NULL && check_keys(config, found, ours.keys, error) != WEIR_OK) {
        return WEIR_E_CONFIG;
    }
    ours.name = found != NULL ? found->name : name;
    if (found != NULL) {
        router_options(found, &ours);
    }
    const weir_status status = fill(out, &ours, sizeof(ours), path, error);
    return status == WEIR_OK && found == NULL ? WEIR_UNKNOWN : status;
}
#undef TAKE

/* ---- the caller's own keys ---- */

weir_status weir_config_read(const weir_config *config, const char *path, const weir_option *rows,
                             size_t count, void *out, weir_error *error)
{
    if (weir__error_is_set(error)) {
        return error->status;
    }
    if (!usable(config, out, "weir_config_read", error)) {
        return config != NULL && out != NULL ? WEIR_E_CONFIG : WEIR_E_INVALID;
    }
    if (path == NULL || (rows == NULL && count > 0)) {
        return weir__error_at(error, WEIR_E_INVALID, "weir_config_read", "needs a path and rows");
    }
    const weir_option_table table = {
        .struct_size = sizeof(table), .path = path, .rows = rows, .row_count = count
    };
    const weir_option_table *const tables[] = { &table, NULL };
    weir__problems problems = { .allocator = &config->allocator };
    weir__path at;
    weir__path_begin(&at, path);
    /* Lists and texts are put into the tree's memory: one reader at a time. */
    weir__mutex *lock = (weir__mutex *)(uintptr_t)&config->lock;
    weir__mutex_lock(lock);
    weir__filler filler = { config->tree, &problems, tables };
    weir__node *node = path[0] != '\0' ? weir__tree_at(config->tree, config->tree->root, path)
                                       : config->tree->root;
    const bool memory = weir__fill(&filler, rows, count, node, &at, out);
    weir__mutex_unlock(lock);
    weir__problems_sort(&problems);
    weir_status status = weir__problems_error(&problems, error);
    weir__problems_close(&problems);
    if (status == WEIR_OK && !memory) {
        status = weir__error_memory(error, "weir_config_read");
    }
    return status;
}
