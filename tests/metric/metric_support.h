/*
 * metric_support.h - what the tests of metrics share: an engine whose handlers do as they are told,
 * its figures as text, and one series out of that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_METRIC_SUPPORT_H
#define WEIR_TEST_METRIC_SUPPORT_H

#include "../engine/fault_support.h"

/* What a handler is told by the type of an event. */
static const weir_event_type told_work = {
    sizeof(weir_event_type), "test.work", 0, false, NULL, NULL
};
static const weir_event_type told_fail = {
    sizeof(weir_event_type), "test.fail", 0, false, NULL, NULL
};
static const weir_event_type told_stay = {
    sizeof(weir_event_type), "test.stay", 0, false, NULL, NULL
};
#define TOLD(type_) (&(const weir_event){ .type = &told_##type_ })

typedef struct scene {
    test_fault fault;
    weir_engine *engine;
    weir_error error;
    weir_processor risk;
    sem_t held, go; /* a handler stays, and may return */
} scene;

static inline weir_status scene_handle(void *state, weir_turn *turn, const weir_event *event)
{
    scene *s = state;
    if (event->type == &told_stay) {
        (void)sem_post(&s->held);
        return test_sem_taken(&s->go) ? WEIR_OK : WEIR_E_FAILED;
    }
    return event->type == &told_fail ? weir_turn_fail(turn, WEIR_E_USER, "price is \"negative\"")
                                     : WEIR_OK;
}

static inline weir_processor scene_add(scene *s, const weir_processor_options *options)
{
    weir_processor_options o = *options;
    o.handler = scene_handle;
    o.argument = s;
    const weir_processor processor = weir_processor_add(s->engine, &o, &s->error);
    test_error_none(&s->error);
    return processor;
}

/* Not started yet. */
static inline void scene_make(scene *s, const weir_engine_options *options)
{
    *s = (scene){ .error = WEIR_ERROR_INIT };
    test_fault_init(&s->fault);
    (void)sem_init(&s->held, 0, 0);
    (void)sem_init(&s->go, 0, 0);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &s->fault };
    weir_engine_options o = *options;
    o.allocator = &allocator;
    o.log_level = WEIR_LOG_OFF;
    s->engine = weir_engine_create(&o, &s->error);
    test_error_none(&s->error);
}

/* With a processor "risk" of ten places, and running. */
static inline void scene_open(scene *s)
{
    scene_make(s, WEIR_ENGINE(.name = "scene"));
    s->risk = scene_add(s, WEIR_PROCESSOR(.name = "risk", .mailbox_max = 10));
    assert_int_equal(WEIR_OK, weir_engine_start(s->engine, &s->error));
}

static inline void scene_close(scene *s)
{
    weir_engine_destroy(s->engine);
    assert_int_equal(0, atomic_load(&s->fault.bytes));
    assert_int_equal(0, atomic_load(&s->fault.wrong));
}

static inline void scene_post(scene *s, weir_processor to, const weir_event *event, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        weir_status status;
        TEST_UNTIL((status = weir_engine_post(s->engine, to, event)) != WEIR_FULL);
        assert_int_equal(WEIR_OK, status);
    }
}

/* "risk" is inside an event until sem_post(&s->go). */
static inline void scene_hold(scene *s)
{
    scene_post(s, s->risk, TOLD(stay), 1);
    assert_true(test_sem_taken(&s->held));
}

/* In memory of its own. */
static inline char *scene_text(scene *s, const weir_metrics_options *options)
{
    size_t size = 0;
    char *text = weir_metrics_prometheus(s->engine, options, &size);
    assert_non_null(text);
    assert_int_equal(size, strlen(text));
    char *copy = strdup(text);
    weir_metrics_free(s->engine, text);
    return copy;
}

static inline char *scene_json(scene *s, const weir_metrics_options *options)
{
    size_t size = 0;
    char *text = weir_metrics_json(s->engine, options, &size);
    assert_non_null(text);
    assert_int_equal(size, strlen(text));
    char *copy = strdup(text);
    weir_metrics_free(s->engine, text);
    return copy;
}

/* What stands behind `series` ("weir_x{a=\"b\"}") at the beginning of a line; NULL: no such. */
static inline const char *series_text(const char *text, const char *series)
{
    const size_t length = strlen(series);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, series, length) == 0 && line[length] == ' ') {
            return line + length + 1;
        }
    }
    return NULL;
}

static inline double series_value(const char *text, const char *series)
{
    const char *value = series_text(text, series);
    if (value == NULL) {
        fprintf(stderr, "# no series %s\n", series);
    }
    assert_non_null(value);
    return strtod(value, NULL);
}

static inline uint64_t series_count(const char *text, const char *series)
{
    return (uint64_t)series_value(text, series);
}

#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (strstr((text), (part)) == NULL) {                                                      \
            fprintf(stderr, "# not there: %s\n# in: %.4000s\n", (part), (text));                   \
        }                                                                                          \
        assert_non_null(strstr((text), (part)));                                                   \
    } while (0)
#define assert_has_not(text, part) assert_null(strstr((text), (part)))

#endif /* WEIR_TEST_METRIC_SUPPORT_H */
