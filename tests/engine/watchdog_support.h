/*
 * watchdog_support.h - an engine with a watchdog whose log is kept, handlers and hooks that stay
 * until they are let go, and what is said of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_WATCHDOG_SUPPORT_H
#define WEIR_TEST_WATCHDOG_SUPPORT_H

#include "option_support.h"

#if defined(__SANITIZE_THREAD__)
#define TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_TSAN 1
#endif
#endif
#ifndef TEST_TSAN
#define TEST_TSAN 0 /* it keeps signals back until the next call that it knows */
#endif

/* ---- what is said ---- */

enum { SAID_MAX = 64 };

typedef struct said {
    weir_ns time; /* monotonic */
    weir_log_level level;
    uint64_t suppressed;
    char component[64];
    char text[128];
    char fields[2048]; /* "key=value key=value" */
} said;

typedef struct watch_log {
    pthread_mutex_t lock;
    size_t count;
    said entries[SAID_MAX];
} watch_log;

static inline void watch_log_init(watch_log *log)
{
    memset(log, 0, sizeof(*log));
    assert_int_equal(0, pthread_mutex_init(&log->lock, NULL));
}

static inline void watch_log_hook(void *context, const weir_log_entry *entry)
{
    watch_log *log = context;
    (void)pthread_mutex_lock(&log->lock);
    if (log->count < SAID_MAX) {
        said *s = &log->entries[log->count];
        size_t used = 0;
        s->time = test_now();
        s->level = entry->level;
        s->suppressed = entry->suppressed;
        (void)snprintf(s->component, sizeof(s->component), "%s", entry->component);
        (void)snprintf(s->text, sizeof(s->text), "%s", entry->text);
        for (size_t i = 0; i < entry->field_count && used < sizeof(s->fields); i++) {
            const int n = snprintf(s->fields + used, sizeof(s->fields) - used, "%s%s=%s",
                                   i > 0 ? " " : "", entry->fields[i].key, entry->fields[i].value);
            used += n > 0 ? (size_t)n : 0;
        }
    }
    log->count++;
    (void)pthread_mutex_unlock(&log->lock);
}

static inline size_t watch_log_count(watch_log *log)
{
    (void)pthread_mutex_lock(&log->lock);
    const size_t count = log->count;
    (void)pthread_mutex_unlock(&log->lock);
    return count;
}

/* The nth entry of this engine, from 0, as soon as it is there. */
static inline const said *watch_log_entry(watch_log *log, size_t n)
{
    TEST_UNTIL(watch_log_count(log) > n);
    return &log->entries[n];
}

/* The first entry about that component with these words in its text. */
static inline const said *watch_log_find(watch_log *log, const char *component, const char *text)
{
    const said *found = NULL;
    (void)pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->count && i < SAID_MAX && found == NULL; i++) {
        if (strcmp(log->entries[i].component, component) == 0 &&
            strstr(log->entries[i].text, text) != NULL) {
            found = &log->entries[i];
        }
    }
    (void)pthread_mutex_unlock(&log->lock);
    return found;
}

static inline const said *watch_log_await(watch_log *log, const char *component, const char *text)
{
    TEST_UNTIL(watch_log_find(log, component, text) != NULL);
    return watch_log_find(log, component, text);
}

static inline void assert_says(const said *entry, const char *words)
{
    if (strstr(entry->fields, words) == NULL) {
        fail_msg("no \"%s\" in: %s", words, entry->fields);
    }
}

/* "for=72 ms", "for=5.2 s", in milliseconds. */
static inline int64_t said_ms(const said *entry)
{
    const char *at = strstr(entry->fields, "for=");
    assert_non_null(at);
    char *end;
    const double value = strtod(at + 4, &end);
    return (int64_t)(strncmp(end, " ms", 3) == 0 ? value : value * 1000.0);
}

/* ---- who stays ---- */

typedef struct lingerer {
    sem_t entered, pass;
    _Atomic weir_ns since; /* when it began */
    atomic_int runs;
} lingerer;

static inline void lingerer_init(lingerer *l)
{
    assert_int_equal(0, sem_init(&l->entered, 0, 0));
    assert_int_equal(0, sem_init(&l->pass, 0, 0));
    atomic_init(&l->since, 0);
    atomic_init(&l->runs, 0);
}

/* Not static: its name is to stand in stacks. */
bool watchdog_test_lingers(lingerer *l);
__attribute__((noinline)) bool watchdog_test_lingers(lingerer *l)
{
    atomic_store(&l->since, test_now());
    (void)sem_post(&l->entered);
    const bool passed = test_sem_taken(&l->pass);
    atomic_fetch_add(&l->runs, 1);
    return passed;
}

static inline weir_status linger(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    return watchdog_test_lingers(state) ? WEIR_OK : WEIR_E_FAILED;
}

static inline weir_status linger_in_init(void *state, weir_turn *turn, void *argument)
{
    (void)turn;
    (void)argument;
    return watchdog_test_lingers(state) ? WEIR_OK : WEIR_E_FAILED;
}

static inline void linger_in_destroy(void *state, weir_status reason)
{
    (void)reason;
    (void)watchdog_test_lingers(state);
}

static inline weir_status do_not_know(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_UNHANDLED;
}

static inline weir_status do_nothing(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static inline void let_go(lingerer *l)
{
    assert_int_equal(0, sem_post(&l->pass));
}

/* ---- engines ---- */

/* With one thread, "w1", not started. */
static inline weir_engine *watched_engine(watch_log *log, weir_ns stuck_after)
{
    watch_log_init(log);
    weir_engine *engine = test_engine_create(
        WEIR_ENGINE(.log = watch_log_hook, .log_context = log, .stuck_after = stuck_after));
    (void)test_thread_add(engine, WEIR_THREAD(.name = "w1"));
    return engine;
}

static inline uint64_t stuck_count(weir_engine *engine)
{
    return test_engine_counters(engine).stuck;
}

#endif /* WEIR_TEST_WATCHDOG_SUPPORT_H */
