/*
 * apply_support.h - engines from configurations, and another one for them. Looks inside an engine:
 * from outside, a back-off and the length of a turn show as time only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_APPLY_SUPPORT_H
#define WEIR_TEST_APPLY_SUPPORT_H

#include "../engine/fault_support.h"
#include "../engine/log_support.h"

#include "engine/engine.h"

static inline weir_config *parse_with(const char *text, const weir_allocator *allocator,
                                      weir_error *error)
{
    return weir_config_parse("t.conf", text, strlen(text),
                             WEIR_CONFIG(.ignore_environment = true, .allocator = allocator),
                             error);
}

static inline weir_config *parse(const char *text)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_config *config = parse_with(text, NULL, &error);
    test_error_none(&error);
    assert_non_null(config);
    return config;
}

static inline weir_engine *engine_of(const char *text, const weir_engine_options *code)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_config *config = parse(text);
    weir_engine *engine = weir_config_engine(config, code, &error);
    weir_config_destroy(config);
    test_error_none(&error);
    assert_non_null(engine);
    return engine;
}

static inline weir_status apply(weir_engine *engine, const char *text, size_t *pending,
                                weir_error *error)
{
    weir_config *config = parse(text);
    const weir_status status = weir_config_apply(config, engine, pending, error);
    weir_config_destroy(config);
    return status;
}

static inline void apply_well(weir_engine *engine, const char *text, size_t pending)
{
    weir_error error = WEIR_ERROR_INIT;
    size_t waiting = 99;
    const weir_status status = apply(engine, text, &waiting, &error);
    test_error_none(&error);
    assert_int_equal(WEIR_OK, status);
    assert_int_equal(pending, waiting);
}

enum { SERVED_MAX = 1024 };

static inline bool add_name(void *context, const char *name)
{
    char *list = context;
    const size_t used = strlen(list);
    snprintf(list + used, SERVED_MAX - used, "/%s", name);
    return true;
}

/* "/a/b": the dispatchers there are. */
static inline const char *served(weir_engine *engine)
{
    static char list[SERVED_MAX];
    list[0] = '\0';
    weir_dispatcher_visit(engine, add_name, list);
    return list;
}

static inline uint32_t batch_of(weir_engine *engine, weir_processor handle)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__processor *processor = weir__registry_find(&engine->registry, handle);
    const uint32_t batch = processor != NULL ? weir__load(&processor->batch_max, relaxed) : 0;
    weir__mutex_unlock(&engine->registry.lock);
    return batch;
}

static inline weir_overflow policy_of(weir_engine *engine, weir_processor handle)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__processor *processor = weir__registry_find(&engine->registry, handle);
    const weir_overflow policy =
        processor != NULL ? weir__processor_overflow(processor) : WEIR_OVERFLOW_DEFAULT;
    weir__mutex_unlock(&engine->registry.lock);
    return policy;
}

static inline weir__backoff_plan backoff_of(weir_engine *engine, const char *dispatcher)
{
    weir__mutex_lock(&engine->registry.lock);
    weir__dispatcher *found = weir__dispatcher_find(engine, dispatcher);
    const weir__backoff_plan plan =
        found != NULL ? weir__backoff_read(&found->backoff) : (weir__backoff_plan){ .base = 0 };
    weir__mutex_unlock(&engine->registry.lock);
    return plan;
}

static inline weir_status do_nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static inline weir_processor add_plain(weir_engine *engine, const char *name,
                                       const char *dispatcher)
{
    return test_processor_add(
        engine, WEIR_PROCESSOR(.name = name, .dispatcher = dispatcher, .handler = do_nothing));
}

#endif /* WEIR_TEST_APPLY_SUPPORT_H */
