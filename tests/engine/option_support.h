/*
 * option_support.h - what the tests of overflow, threads, memory, options and logging share.
 *
 * Engines that must come up, a processor that records what it handles (and stops at a gate if
 * asked), a log hook that keeps what it is told, an allocator that fails at its nth call. Nothing
 * here sleeps: a test waits on a semaphore, or looks at a condition until it holds. Every wait has
 * an end, so that a lost wake-up is a failed assertion and not a hang.
 *
 * cmocka's asserts jump, so all functions here that assert are for the test's own thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_OPTION_SUPPORT_H
#define WEIR_TEST_OPTION_SUPPORT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* affinity, gettid */
#endif

#include <weir/weir.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../test_support.h"

#define TEST_PATIENCE (30 * WEIR_S) /* longer than any healthy wait, shorter than meson's */

/* The load: smaller under a sanitizer or with WEIR_TEST_FAST, never another check. */
static inline uint64_t test_load(uint64_t full, uint64_t reduced)
{
    return TEST_SANITIZED != 0 || getenv("WEIR_TEST_FAST") != NULL ? reduced : full;
}

static inline weir_ns test_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * WEIR_S + t.tv_nsec;
}

static inline int test_gettid(void)
{
    return (int)syscall(SYS_gettid);
}

/* Looks until the condition holds; fails the test when patience ends. */
#define TEST_UNTIL(condition)                                                                      \
    do {                                                                                           \
        const weir_ns test_until_end = test_now() + TEST_PATIENCE;                                 \
        while (!(condition)) {                                                                     \
            assert_true(test_now() < test_until_end);                                              \
            (void)sched_yield();                                                                   \
        }                                                                                          \
    } while (0)

/* True once the semaphore was taken, false when patience has ended. Any thread. */
static inline bool test_sem_taken(sem_t *semaphore)
{
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += TEST_PATIENCE / WEIR_S;
    int result = sem_timedwait(semaphore, &end);
    while (result != 0 && errno == EINTR) {
        result = sem_timedwait(semaphore, &end);
    }
    return result == 0;
}

static inline void test_sem_wait(sem_t *semaphore)
{
    assert_true(test_sem_taken(semaphore));
}

static inline void test_error_none(const weir_error *error)
{
    if (error->status != WEIR_OK) {
        (void)weir_error_print(error);
    }
    assert_int_equal(WEIR_OK, error->status);
}

/* ---- engines ---- */

static inline weir_engine *test_engine_create(const weir_engine_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(options, &error);
    test_error_none(&error);
    assert_non_null(engine);
    return engine;
}

static inline weir_processor test_processor_add(weir_engine *engine,
                                                const weir_processor_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor processor = weir_processor_add(engine, options, &error);
    test_error_none(&error);
    assert_true(processor.id != 0);
    return processor;
}

static inline weir_thread test_thread_add(weir_engine *engine, const weir_thread_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_thread thread = weir_thread_add(engine, options, &error);
    test_error_none(&error);
    assert_true(thread.id != 0);
    return thread;
}

static inline void test_engine_start(weir_engine *engine)
{
    weir_error error = WEIR_ERROR_INIT;
    assert_int_equal(error.status, weir_engine_start(engine, &error));
    test_error_none(&error);
}

static inline weir_counters test_engine_counters(weir_engine *engine)
{
    weir_counters counters = WEIR_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_engine_counters(engine, &counters));
    return counters;
}

static inline weir_counters test_processor_counters(weir_engine *engine, weir_processor processor)
{
    weir_counters counters = WEIR_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_processor_counters(engine, processor, &counters));
    return counters;
}

/* Stops, checks P-3 in the report and that the counters say the same. */
static inline weir_stop_report test_engine_stop(weir_engine *engine)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, TEST_PATIENCE, &report));
    const weir_counters counters = test_engine_counters(engine);
    assert_int_equal(0, report.left);
    assert_int_equal(report.accepted, report.handled + report.dropped + report.dead + report.left);
    assert_int_equal(report.accepted, counters.accepted);
    assert_int_equal(report.handled, counters.handled);
    assert_int_equal(report.dropped, counters.dropped);
    assert_int_equal(report.dead, counters.dead);
    assert_int_equal(report.left, counters.left);
    assert_int_equal(counters.dropped, counters.dropped_newest + counters.dropped_oldest);
    return report;
}

static inline weir_stop_report test_engine_end(weir_engine *engine)
{
    const weir_stop_report report = test_engine_stop(engine);
    weir_engine_destroy(engine);
    return report;
}

/* Ends an engine whose only thread is that external one, which the caller turns. */
static inline void test_external_end(weir_engine *engine, weir_thread loop)
{
    assert_int_equal(WEIR_OK, weir_engine_stop_async(engine, TEST_PATIENCE));
    TEST_UNTIL(((void)weir_thread_run_once(engine, loop, 0),
                weir_engine_wait(engine, WEIR_NOW, NULL) == WEIR_OK));
    weir_engine_destroy(engine);
}

/* ---- events and a processor that records them ---- */

typedef struct number {
    uint64_t value;
} number;
WEIR_EVENT_TYPE(number, "test.number");

WEIR_MUST_CHECK static inline weir_status test_post(weir_engine *engine, weir_processor to,
                                                    uint64_t value)
{
    return weir_engine_post(engine, to, WEIR_EVENT(number, value));
}

/* With `gated`, each event says `entered` and waits for `pass` before it is recorded. */
enum { TEST_SEEN_MAX = 1024 };
typedef struct test_recorder {
    bool gated;
    sem_t entered, pass;
    uint64_t seen[TEST_SEEN_MAX];  /* the handler's; read it after `handled` or a stop says so */
    atomic_uint_least64_t handled; /* released by the handler, event by event */
    atomic_int thread;             /* the system's id of the thread that ran it last */
} test_recorder;

static inline void test_recorder_init(test_recorder *recorder, bool gated)
{
    memset(recorder->seen, 0, sizeof(recorder->seen));
    recorder->gated = gated;
    atomic_init(&recorder->handled, 0);
    atomic_init(&recorder->thread, 0);
    assert_int_equal(0, sem_init(&recorder->entered, 0, 0));
    assert_int_equal(0, sem_init(&recorder->pass, 0, 0));
}

static inline uint64_t test_recorder_handled(test_recorder *recorder)
{
    return atomic_load_explicit(&recorder->handled, memory_order_acquire);
}

static inline weir_status test_recorder_handle(void *state, weir_turn *turn,
                                               const weir_event *event)
{
    test_recorder *recorder = state;
    (void)turn;
    const number *n = weir_event_as(event, &number_type);
    if (n == NULL) {
        return WEIR_UNHANDLED;
    }
    if (recorder->gated) {
        (void)sem_post(&recorder->entered);
        if (!test_sem_taken(&recorder->pass)) {
            return WEIR_E_FAILED; /* the sums of the test will tell */
        }
    }
    const uint64_t count = atomic_load_explicit(&recorder->handled, memory_order_relaxed);
    if (count < TEST_SEEN_MAX) {
        recorder->seen[count] = n->value;
    }
    atomic_store_explicit(&recorder->thread, test_gettid(), memory_order_relaxed);
    atomic_store_explicit(&recorder->handled, count + 1, memory_order_release);
    return WEIR_OK;
}

/* Opens the gate for so many events more. */
static inline void test_recorder_pass(test_recorder *recorder, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(0, sem_post(&recorder->pass));
    }
}

/* What it has seen is first, first + 1, ... : `count` of them, and nothing else. */
static inline void test_recorder_saw_run(test_recorder *recorder, uint64_t first, uint64_t count)
{
    assert_int_equal(count, test_recorder_handled(recorder));
    for (uint64_t i = 0; i < count && i < TEST_SEEN_MAX; i++) {
        assert_int_equal(first + i, recorder->seen[i]);
    }
}

/* ---- what /proc says ---- */

/* The rest of the line of a /proc file that begins with `key`; false: no such line. */
static inline bool test_proc_line(const char *file, const char *key, char *out, size_t size)
{
    char line[4096];
    bool found = false;
    FILE *f = fopen(file, "re");
    while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            const char *value = line + strlen(key);
            value += strspn(value, " \t");
            (void)snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
            found = true;
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return found;
}

static inline bool test_task_line(int task, const char *file, const char *key, char *out,
                                  size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/%s", task, file);
    return test_proc_line(path, key, out, size);
}

/* True while the system shows that thread as sleeping: so it waits for something. */
static inline bool test_task_sleeps(int task)
{
    char state[64] = "";
    return test_task_line(task, "status", "State:", state, sizeof(state)) && state[0] == 'S';
}

static inline uint64_t test_resident_bytes(void)
{
    char text[64] = "0";
    (void)test_proc_line("/proc/self/status", "VmRSS:", text, sizeof(text));
    return strtoull(text, NULL, 10) * 1024;
}

static inline void *test_do_nothing(void *argument)
{
    return argument;
}

/* The number of threads of this process, as the system counts them: for a moment also those that
 * were joined, so that one that is compared with later may be too high. A sanitizer starts one of
 * its own together with the first thread, so there is one before the first count. */
static inline uint64_t test_task_count(void)
{
    static bool counted;
    pthread_t first;
    if (!counted && pthread_create(&first, NULL, test_do_nothing, NULL) == 0) {
        counted = pthread_join(first, NULL) == 0;
    }
    char text[64] = "0";
    (void)test_proc_line("/proc/self/status", "Threads:", text, sizeof(text));
    return strtoull(text, NULL, 10);
}

#endif /* WEIR_TEST_OPTION_SUPPORT_H */
