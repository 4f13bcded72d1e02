/*
 * log_support.h - a log hook that keeps what it is told, for tests that look for a sentence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_LOG_SUPPORT_H
#define WEIR_TEST_LOG_SUPPORT_H

#include "option_support.h"

enum { TEST_LOG_MAX = 64 };

typedef struct test_log_line {
    weir_log_level level;
    weir_status status;
    weir_ns wall_time;
    uint64_t suppressed;
    char engine[32];
    char component[64];
    char text[256];
    char fields[512]; /* "key=value key=value" */
} test_log_line;

typedef struct test_log {
    pthread_mutex_t lock; /* guards what is below */
    size_t count;         /* of all entries, kept or not */
    test_log_line lines[TEST_LOG_MAX];
    atomic_int inside; /* hooks under way; more than one at a time breaks the contract */
    atomic_int overlaps;
} test_log;

static inline void test_log_init(test_log *log)
{
    memset(log->lines, 0, sizeof(log->lines));
    log->count = 0;
    atomic_init(&log->inside, 0);
    atomic_init(&log->overlaps, 0);
    assert_int_equal(0, pthread_mutex_init(&log->lock, NULL));
}

static inline void test_log_line_fill(test_log_line *line, const weir_log_entry *entry)
{
    line->level = entry->level;
    line->status = entry->status;
    line->wall_time = entry->wall_time;
    line->suppressed = entry->suppressed;
    (void)snprintf(line->engine, sizeof(line->engine), "%s", entry->engine);
    (void)snprintf(line->component, sizeof(line->component), "%s", entry->component);
    (void)snprintf(line->text, sizeof(line->text), "%s", entry->text);
    size_t used = 0;
    line->fields[0] = '\0';
    for (size_t i = 0; i < entry->field_count && used < sizeof(line->fields); i++) {
        const int n = snprintf(line->fields + used, sizeof(line->fields) - used, "%s%s=%s",
                               i > 0 ? " " : "", entry->fields[i].key, entry->fields[i].value);
        used += n > 0 ? (size_t)n : 0;
    }
}

static inline void test_log_hook(void *context, const weir_log_entry *entry)
{
    test_log *log = context;
    if (atomic_fetch_add(&log->inside, 1) != 0) {
        atomic_fetch_add(&log->overlaps, 1);
    }
    (void)pthread_mutex_lock(&log->lock);
    if (log->count < TEST_LOG_MAX) {
        test_log_line_fill(&log->lines[log->count], entry);
    }
    log->count++;
    (void)pthread_mutex_unlock(&log->lock);
    atomic_fetch_sub(&log->inside, 1);
}

/* How many kept entries of that level have both words in component, text or fields. */
static inline size_t test_log_matches(test_log *log, weir_log_level level, const char *word,
                                      const char *other)
{
    size_t found = 0;
    (void)pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->count && i < TEST_LOG_MAX; i++) {
        const test_log_line *line = &log->lines[i];
        const bool has_word = strstr(line->component, word) != NULL ||
                              strstr(line->text, word) != NULL ||
                              strstr(line->fields, word) != NULL;
        const bool has_other = strstr(line->component, other) != NULL ||
                               strstr(line->text, other) != NULL ||
                               strstr(line->fields, other) != NULL;
        found += line->level == level && has_word && has_other;
    }
    (void)pthread_mutex_unlock(&log->lock);
    return found;
}

static inline size_t test_log_count(test_log *log)
{
    (void)pthread_mutex_lock(&log->lock);
    const size_t count = log->count;
    (void)pthread_mutex_unlock(&log->lock);
    return count;
}

#endif /* WEIR_TEST_LOG_SUPPORT_H */
