/*
 * host_support.h - what the tests of components share: a journal of hooks, and types whose hooks
 * write into it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_HOST_SUPPORT_H
#define WEIR_HOST_SUPPORT_H

#include "../engine/option_support.h"

enum { JOURNAL_MAX = 8192 };

/* Shut until opened once. */
typedef struct gate {
    sem_t pass;
} gate;

static inline void gate_shut(gate *g)
{
    (void)sem_init(&g->pass, 0, 0);
}

static inline void gate_open(gate *g)
{
    (void)sem_post(&g->pass);
}

static inline void gate_pass(gate *g)
{
    (void)test_sem_taken(&g->pass);
    (void)sem_post(&g->pass);
}

typedef struct journal {
    pthread_mutex_t lock;
    char text[JOURNAL_MAX];
    bool foreign; /* a hook ran on a thread where it must not */
    pid_t control;
} journal;

static journal the_journal = { .lock = PTHREAD_MUTEX_INITIALIZER };

static inline void journal_begin(void)
{
    (void)pthread_mutex_lock(&the_journal.lock);
    the_journal.text[0] = '\0';
    the_journal.foreign = false;
    the_journal.control = test_gettid();
    (void)pthread_mutex_unlock(&the_journal.lock);
}

/* "name.hook " */
static inline void journal_add(const char *name, const char *hook)
{
    (void)pthread_mutex_lock(&the_journal.lock);
    const size_t used = strlen(the_journal.text);
    (void)snprintf(the_journal.text + used, sizeof(the_journal.text) - used, "%s.%s ", name, hook);
    (void)pthread_mutex_unlock(&the_journal.lock);
}

/* All so far; in memory of its own. */
static inline const char *journal_text(void)
{
    static char copy[JOURNAL_MAX];
    (void)pthread_mutex_lock(&the_journal.lock);
    memcpy(copy, the_journal.text, sizeof(copy));
    (void)pthread_mutex_unlock(&the_journal.lock);
    return copy;
}

static inline bool journal_has(const char *text)
{
    return strstr(journal_text(), text) != NULL;
}

/* A component whose hooks are written down, and may be told to fail. */
typedef struct actor_config {
    weir_target target;
    weir_targets targets;
    const char *fail; /* "init", "start", "start_complete": that one fails */
    int64_t flush_failures;
} actor_config;

typedef struct actor {
    const actor_config *config;
    weir_component *self;
    pid_t thread;
    uint64_t value;
} actor;

static inline weir_status actor_hook(weir_component *self, const actor_config *config,
                                     const char *hook, weir_error *error)
{
    journal_add(weir_component_name(self), hook);
    if (config->fail != NULL && strcmp(config->fail, hook) == 0) {
        return weir_error_set(error, WEIR_E_USER, "actor", "it was told to fail");
    }
    return WEIR_OK;
}

static inline void actor_place(actor *a, bool control)
{
    const bool on_control = test_gettid() == the_journal.control;
    if (on_control != control || (a->thread != 0 && a->thread != test_gettid())) {
        the_journal.foreign = true;
    }
    if (!control) {
        a->thread = test_gettid();
    }
}

static inline weir_status actor_init(void *state, weir_component *self, const void *config,
                                     weir_error *error)
{
    actor *a = state;
    actor_place(a, true);
    a->config = config;
    a->self = self;
    return actor_hook(self, config, "init", error);
}

static inline weir_status actor_start(void *state, weir_component *self, weir_error *error)
{
    actor *a = state;
    actor_place(a, false);
    return actor_hook(self, a->config, "start", error);
}

static inline weir_status actor_complete(void *state, weir_component *self, weir_error *error)
{
    actor *a = state;
    actor_place(a, false);
    return actor_hook(self, a->config, "start_complete", error);
}

static inline void actor_stop(void *state, weir_component *self)
{
    actor *a = state;
    actor_place(a, false);
    (void)actor_hook(self, a->config, "stop", NULL);
}

static inline void actor_tear_down(void *state, weir_component *self)
{
    actor *a = state;
    if (a->thread != 0) { /* else it was never started */
        actor_place(a, false);
    }
    (void)actor_hook(self, a->config, "tear_down", NULL);
}

static inline weir_status actor_handle(void *state, weir_turn *turn, const weir_event *event)
{
    actor *a = state;
    const number *n = weir_event_as(event, &number_type);
    if (n == NULL) {
        return WEIR_UNHANDLED;
    }
    a->value += n->value;
    char what[32];
    (void)snprintf(what, sizeof(what), "got%u", (unsigned)n->value);
    journal_add(weir_component_name(a->self), what);
    weir_status status = weir_turn_send(turn, &a->config->target, event);
    for (size_t i = 0; i < a->config->targets.count && status == WEIR_OK; i++) {
        status = weir_turn_send(turn, &a->config->targets.items[i], event);
    }
    return status;
}

static const weir_option actor_options[] = {
    WEIR_KEY(TARGET, actor_config, target, "target"),
    WEIR_KEY(TARGETS, actor_config, targets, "targets"),
    WEIR_KEY(STRING, actor_config, fail, "fail"),
    WEIR_KEY(INT, actor_config, flush_failures, "flush-failures", .fallback = "0"),
};

#define ACTOR_TYPE(kind_, name_, ...)                                                              \
    {                                                                                              \
        .struct_size = sizeof(weir_component_type), .kind = WEIR_KIND_##kind_, .name = name_,      \
        .state_size = sizeof(actor), .config_size = sizeof(actor_config),                          \
        .options = actor_options,                                                                  \
        .option_count = sizeof(actor_options) / sizeof(actor_options[0]), .init = actor_init,      \
        .start = actor_start, .start_complete = actor_complete, .stop = actor_stop,                \
        .tear_down = actor_tear_down, __VA_ARGS__                                                  \
    }

static const weir_component_type processor_actor =
    ACTOR_TYPE(PROCESSOR, "actor", .handler = actor_handle);
static const weir_component_type sink_actor = ACTOR_TYPE(SINK, "drain", .handler = actor_handle);
static const weir_component_type service_actor =
    ACTOR_TYPE(SERVICE, "helper", .handler = actor_handle);
static const weir_component_type source_actor = ACTOR_TYPE(SOURCE, "spring", .help = "a source");

#define ACTOR(...) (&(const actor_config){ __VA_ARGS__ })
#define TARGET(name_)                                                                              \
    {                                                                                              \
        .name = name_                                                                              \
    }

static inline weir_processor actor_add(weir_engine *engine, const weir_component_type *type,
                                       const weir_component_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_processor address;
    if (weir_component_add(engine, type, options, &address, &error) != WEIR_OK) {
        (void)weir_error_print(&error);
    }
    assert_int_equal(error.status, WEIR_OK);
    return address;
}

static inline weir_engine *host_engine(void)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF), &error);
    assert_non_null(engine);
    return engine;
}

static inline weir_thread host_thread(weir_engine *engine, const char *name)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_thread thread =
        weir_thread_add(engine, WEIR_THREAD(.name = name, .dispatchers = WEIR_NAMES(name)), &error);
    assert_int_equal(error.status, WEIR_OK);
    return thread;
}

static inline void host_start(weir_engine *engine)
{
    weir_error error = WEIR_ERROR_INIT;
    if (weir_components_start(engine, &error) != WEIR_OK) {
        (void)weir_error_print(&error);
    }
    assert_int_equal(error.status, WEIR_OK);
}

static inline weir_stop_report host_stop(weir_engine *engine)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(weir_components_stop(engine, 0, &report), WEIR_OK);
    assert_int_equal(report.left, 0);
    return report;
}

#endif /* WEIR_HOST_SUPPORT_H */
