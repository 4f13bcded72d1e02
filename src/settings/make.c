/*
 * settings/make.c - an engine from a configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/memory.h"
#include "engine/reshape.h"
#include "settings/config.h"
#include "settings/latency.h"
#include "settings/options.h"
#include "settings/show.h"

/* What only the program can say. */
static bool read_code(const weir_engine_options *code, weir_engine_options *out, weir_error *error)
{
    weir_engine_options given = { 0 };
    const weir_status status = weir__options_read(&given, sizeof(given), code);
    if (status != WEIR_OK) {
        weir__error_at(error, status, "weir_config_engine.code",
                       "must be sizeof(weir_engine_options), and of no newer version");
        return false;
    }
    *out = (weir_engine_options){
        .struct_size = sizeof(*out),
        .name = given.name,
        .log = given.log,
        .log_context = given.log_context,
        .allocator = given.allocator,
    };
    return true;
}

static bool names_itself(const weir_config *config)
{
    const weir__node *engine = weir__tree_at(config->tree, config->tree->root, WEIR__ENGINE_PATH);
    return weir__is_given(weir__child(config->tree, engine, "name"));
}

/* Whoever runs a program has seldom checked its file. */
static void tell(const weir_config *config, weir_engine *engine)
{
    for (size_t i = 0; i < config->problems.count; i++) {
        const weir__problem *problem = &config->problems.items[i];
        char at[400];
        weir__origin_text(problem->origin, at, sizeof(at));
        const weir_log_field fields[] = { { "key", problem->path }, { "at", at } };
        weir_log_write(engine, problem->severity == WEIR__NOTE ? WEIR_LOG_INFO : WEIR_LOG_WARNING,
                       "config", problem->text, fields, 2);
    }
}

static void furnish(const weir_config *config, weir_engine *engine, weir_error *error)
{
    const weir__dispatcher_settings *dispatchers = config->engine.dispatchers.items;
    for (size_t i = 0; i < config->thread_count && error->status == WEIR_OK; i++) {
        (void)weir_thread_add(engine, &config->threads[i], error);
    }
    for (size_t i = 0; i < config->engine.dispatchers.count && error->status == WEIR_OK; i++) {
        weir_dispatcher_options options;
        weir__dispatcher_options_of(&dispatchers[i], &options);
        (void)weir_dispatcher_tune(engine, &options, error);
    }
}

weir_engine *weir_config_engine(const weir_config *config, const weir_engine_options *code,
                                weir_error *error)
{
    weir_engine_options options;
    weir_error own = WEIR_ERROR_INIT;
    weir_error *told = error != NULL ? error : &own;
    if (weir__error_is_set(error) || !read_code(code, &options, told)) {
        return NULL;
    }
    if (config == NULL) {
        weir__error_at(told, WEIR_E_INVALID, "weir_config_engine.config", "is NULL");
        return NULL;
    }
    if (weir__problems_failed(&config->problems)) {
        weir__problems_error(&config->problems, told);
        return NULL;
    }
    const char *name = options.name;
    weir__engine_options_of(&config->engine, &options);
    if (name != NULL && !names_itself(config)) {
        options.name = name;
    }
    weir_engine *engine = weir_engine_create(&options, told);
    if (engine == NULL) {
        return NULL;
    }
    weir__settings_latency(engine, NULL, &config->engine);
    furnish(config, engine, told);
    if (told->status != WEIR_OK) {
        weir_engine_destroy(engine);
        return NULL;
    }
    tell(config, engine);
    weir__engine_metrics_max(engine, (uint32_t)config->weir.metrics.processors_max);
    weir__configured *configured;
    if (weir__engine_configure_lock(engine, &configured)) {
        configured->config = (weir_config *)(uintptr_t)config;
        configured->release = weir__config_release;
        weir__config_retain(configured->config);
        weir__engine_configure_unlock(engine);
    }
    return engine;
}
