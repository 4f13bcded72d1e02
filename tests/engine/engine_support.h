/*
 * engine_support.h - what the tests of the engine share: clocks and deadlines, gates and goals to
 * wait on without sleeping, a look at the process's threads from outside (/proc), and collectors:
 * processors that keep their own books, so that the engine's counters are compared with something
 * the engine did not write.
 *
 * Rules. cmocka's asserts are for the test's own thread; handlers and helper threads record.
 * Every wait has a deadline. A collector's fields are plain on purpose: promise P-1 is what makes
 * them safe, and TSan is the judge.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_ENGINE_SUPPORT_H
#define WEIR_ENGINE_SUPPORT_H

#include <weir/weir.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../test_support.h"

#if defined(__SANITIZE_THREAD__)
#define TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_TSAN 1
#endif
#endif
#ifndef TEST_TSAN
#define TEST_TSAN 0
#endif

enum { WAIT_SECONDS = 60 }; /* longer than any wait that succeeds, shorter than meson's patience */

/* How much of a load to run: all of it, or a part where it would only take time. */
static inline uint64_t test_scaled(uint64_t full, uint64_t divisor)
{
    const uint64_t part = full / divisor;
    return TEST_SANITIZED || getenv("WEIR_TEST_FAST") != NULL ? (part > 0 ? part : 1) : full;
}

static inline int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Looks until the condition holds; fails the test when patience ends. */
#define UNTIL(condition)                                                                           \
    do {                                                                                           \
        const int64_t until_end = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;                   \
        while (!(condition)) {                                                                     \
            assert_true(now_ns() < until_end);                                                     \
            (void)sched_yield();                                                                   \
        }                                                                                          \
    } while (0)

/* Work, not sleep: keeps the core for that long. */
static inline void busy_for_ns(int64_t ns)
{
    const int64_t end = now_ns() + ns;
    while (now_ns() < end) {
    }
}

/* The system's number of the calling thread. */
static inline pid_t test_tid(void)
{
    static _Thread_local pid_t tid;
    if (tid == 0) {
        tid = (pid_t)syscall(SYS_gettid);
    }
    return tid;
}

/* sem_timedwait, not sem_clockwait: the one TSan knows. */
static inline bool sem_wait_ns(sem_t *semaphore, int64_t ns)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    const int64_t end = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + ns;
    t.tv_sec = (time_t)(end / 1000000000);
    t.tv_nsec = (long)(end % 1000000000);
    int result;
    do { /* ends: each turn of it is an interruption by a signal */
        result = sem_timedwait(semaphore, &t);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

static inline bool sem_wait_seconds(sem_t *semaphore, int seconds)
{
    return sem_wait_ns(semaphore, (int64_t)seconds * 1000000000);
}

/* A gate: shut until opened once, then open for ever; any number of threads pass. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
} gate;

#define GATE_INIT                                                                                  \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false                                 \
    }

static inline void gate_open(gate *g)
{
    (void)pthread_mutex_lock(&g->lock);
    g->open = true;
    (void)pthread_cond_broadcast(&g->changed);
    (void)pthread_mutex_unlock(&g->lock);
}

/* False: it did not open in time. */
static inline bool gate_pass(gate *g)
{
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += WAIT_SECONDS;
    (void)pthread_mutex_lock(&g->lock);
    int result = 0;
    while (!g->open && result == 0) {
        result = pthread_cond_timedwait(&g->changed, &g->lock, &end);
    }
    const bool open = g->open;
    (void)pthread_mutex_unlock(&g->lock);
    return open;
}

/* A goal: counts up from any thread; one waiter hears when the target is reached, and then sees
 * all that was written before each count. The counting releases and does not acquire, so that it
 * lends the handlers no order among themselves: that is for the engine to give. */
typedef struct goal {
    _Atomic uint64_t count;
    uint64_t target;
    sem_t reached;
} goal;

static inline void goal_init(goal *g, uint64_t target)
{
    atomic_init(&g->count, 0);
    g->target = target;
    (void)sem_init(&g->reached, 0, 0);
}

static inline void goal_add(goal *g)
{
    if (atomic_fetch_add_explicit(&g->count, 1, memory_order_release) + 1 == g->target) {
        (void)sem_post(&g->reached);
    }
}

static inline uint64_t goal_count(goal *g)
{
    return atomic_load_explicit(&g->count, memory_order_acquire);
}

static inline bool goal_wait(goal *g)
{
    return sem_wait_seconds(&g->reached, WAIT_SECONDS) && goal_count(g) >= g->target;
}

/* From outside: what the system says of a thread. '\0' if it is gone. */
static inline char task_state(pid_t tid)
{
    char path[64];
    char text[512];
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return '\0';
    }
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' ? end[2] : '\0';
}

/* How often that thread went to sleep or was taken off its core, so far. */
static inline uint64_t task_switches(pid_t tid)
{
    char path[64];
    char line[256];
    uint64_t sum = 0;
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strstr(line, "ctxt_switches:") != NULL) {
            sum += strtoull(strchr(line, ':') + 1, NULL, 10);
        }
    }
    (void)fclose(file);
    return sum;
}

/* CPU time of one thread of this process, in nanoseconds; 0 if it is gone. */
static inline int64_t task_cpu_ns(pid_t tid)
{
    const clockid_t clock =
        (clockid_t)((~(unsigned)tid << 3) | 6u); /* per thread, scheduled time */
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

/* All threads of this process but the caller; returns how many. */
static inline size_t tasks_others(pid_t *out, size_t max)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL) {
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL && count < max;) {
        const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0 && tid != test_tid()) {
            out[count++] = tid;
        }
    }
    (void)closedir(folder);
    return count;
}

/* Waits until all these threads are asleep and have stayed so for `quiet_ns`: there is no other
 * sign from outside that a thread has parked. */
static inline bool tasks_settle(const pid_t *tids, size_t count, int64_t quiet_ns)
{
    const int64_t end = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;
    uint64_t last = 0;
    int64_t since = now_ns();
    while (now_ns() < end) {
        uint64_t switches = 0;
        bool asleep = true;
        for (size_t i = 0; i < count; i++) {
            asleep = asleep && task_state(tids[i]) == 'S';
            switches += task_switches(tids[i]);
        }
        if (!asleep || switches != last) {
            last = switches;
            since = now_ns();
        } else if (now_ns() - since >= quiet_ns) {
            return true;
        }
        (void)sched_yield();
    }
    return false;
}

/* The event of these tests: who sent it, which one it is, for whom it was meant. */
typedef struct mark {
    uint32_t sender;
    uint32_t kind;
    uint64_t number;
    uint64_t target;
} mark;
WEIR_EVENT_TYPE(mark, "test.mark");

/* Which events came, by number, and how often each. */
typedef struct ledger {
    void *memory; /* of `seen` */
    _Atomic uint8_t *seen;
    uint64_t count;
    _Atomic uint64_t strange; /* events of no known number */
    goal done;
} ledger;

static inline void ledger_open(ledger *l, uint64_t count)
{
    l->memory = calloc(count, sizeof(*l->seen));
    assert_non_null(l->memory);
    l->seen = l->memory;
    l->count = count;
    atomic_init(&l->strange, 0);
    goal_init(&l->done, count);
}

/* Each exactly once. */
static inline void ledger_check(ledger *l)
{
    uint64_t lost = 0, doubled = 0;
    for (uint64_t i = 0; i < l->count; i++) {
        const uint8_t seen = atomic_load_explicit(&l->seen[i], memory_order_relaxed);
        lost += seen == 0;
        doubled += seen > 1;
    }
    assert_int_equal(0, lost);
    assert_int_equal(0, doubled);
    assert_int_equal(0, atomic_load(&l->strange));
}

static inline void ledger_close(ledger *l)
{
    free(l->memory);
    l->memory = NULL;
}

enum { COLLECTOR_THREADS_MAX = 32 };

/* A processor that writes down what it was given, on which threads. Plain fields: see above. */
typedef struct collector {
    ledger *book;
    int64_t busy_ns; /* time that each event takes */
    uint64_t handled;
    uint64_t overlaps; /* turns that found another one inside */
    bool inside;
    uint32_t thread_count;
    pid_t threads[COLLECTOR_THREADS_MAX];
} collector;

static inline void collector_note_thread(collector *c)
{
    const pid_t tid = test_tid();
    for (uint32_t i = 0; i < c->thread_count; i++) {
        if (c->threads[i] == tid) {
            return;
        }
    }
    if (c->thread_count < COLLECTOR_THREADS_MAX) {
        c->threads[c->thread_count++] = tid;
    }
}

static inline weir_status collect(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    collector *c = state;
    const mark *m = weir_event_as(event, &mark_type);
    c->overlaps += c->inside;
    c->inside = true;
    collector_note_thread(c);
    c->handled++;
    if (c->busy_ns > 0) {
        busy_for_ns(c->busy_ns);
    }
    c->inside = false;
    if (m == NULL || m->number >= c->book->count) {
        atomic_fetch_add(&c->book->strange, 1);
        return WEIR_OK;
    }
    atomic_fetch_add_explicit(&c->book->seen[m->number], 1, memory_order_relaxed);
    goal_add(&c->book->done);
    return WEIR_OK;
}

static inline weir_status ignore_event(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

/* A handler that holds its thread: says that it is in, then waits for its gate. */
typedef struct blocker {
    sem_t entered;
    gate leave;
    _Atomic uint64_t handled;
} blocker;

static inline void blocker_init(blocker *b)
{
    (void)sem_init(&b->entered, 0, 0);
    b->leave = (gate)GATE_INIT;
    atomic_init(&b->handled, 0);
}

static inline weir_status block_until_let_go(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    blocker *b = state;
    (void)sem_post(&b->entered);
    const bool passed = gate_pass(&b->leave);
    atomic_fetch_add(&b->handled, 1);
    return passed ? WEIR_OK : WEIR_E_USER;
}

/* Set-up on the test's thread: whatever fails here fails the test, in words. */
static inline void assert_no_error(const weir_error *error)
{
    if (error->status != 0) {
        char text[600];
        (void)weir_error_format(error, text, sizeof(text));
        fail_msg("%s", text);
    }
}

static inline weir_engine *engine_make(const weir_engine_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(options, &error);
    assert_no_error(&error);
    assert_non_null(engine);
    return engine;
}

/* Most tests stop things with mail waiting; what the log says of it is stop_test's matter. */
static inline weir_engine *engine_quiet(void)
{
    return engine_make(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
}

static inline void engine_start(weir_engine *engine)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_engine_start(engine, &error);
    assert_no_error(&error);
    assert_int_equal(WEIR_OK, status);
}

/* `count` threads that serve `dispatcher` and nothing else. */
static inline void engine_add_threads(weir_engine *engine, const char *dispatcher, size_t count,
                                      weir_idle idle, weir_thread *out)
{
    weir_error error = WEIR_ERROR_INIT;
    for (size_t i = 0; i < count; i++) {
        const weir_thread thread = weir_thread_add(
            engine, WEIR_THREAD(.dispatchers = WEIR_NAMES(dispatcher), .idle = idle), &error);
        assert_no_error(&error);
        assert_true(thread.id != 0);
        if (out != NULL) {
            out[i] = thread;
        }
    }
}

static inline weir_processor engine_add(weir_engine *engine, const weir_processor_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor processor = weir_processor_add(engine, options, &error);
    assert_no_error(&error);
    assert_true(processor.id != 0);
    return processor;
}

/* The system's numbers of the engine's threads, once they run. */
static inline void engine_thread_ids(weir_engine *engine, const weir_thread *threads, size_t count,
                                     pid_t *out)
{
    for (size_t i = 0; i < count; i++) {
        weir_thread_counters counters = WEIR_THREAD_COUNTERS_INIT;
        assert_int_equal(WEIR_OK, weir_thread_counters_get(engine, threads[i], &counters));
        assert_int_not_equal(0, counters.system_id);
        out[i] = (pid_t)counters.system_id;
    }
}

static inline bool tid_among(pid_t tid, const pid_t *tids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tids[i] == tid) {
            return true;
        }
    }
    return false;
}

/* The status of a post that gives way while the mailbox is full. For helper threads too. */
static inline weir_status post_when_room(weir_engine *engine, weir_processor to,
                                         const weir_event *event)
{
    const int64_t end = now_ns() + (int64_t)WAIT_SECONDS * 1000000000;
    weir_status status;
    while ((status = weir_engine_post(engine, to, event)) == WEIR_FULL && now_ns() < end) {
        (void)sched_yield();
    }
    return status;
}

static inline void assert_report_adds_up(const weir_stop_report *r)
{
    assert_int_equal(r->accepted, r->handled + r->dropped + r->dead + r->left);
}

static inline weir_counters engine_counters(weir_engine *engine)
{
    weir_counters c = WEIR_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_engine_counters(engine, &c));
    return c;
}

static inline weir_dispatcher_counters dispatcher_counters(weir_engine *engine, const char *name)
{
    weir_dispatcher_counters c = WEIR_DISPATCHER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_dispatcher_counters_get(engine, name, &c));
    return c;
}

/* Stops with a drain, checks that all of `expected` was accepted and handled and nothing else,
 * in the report and in the counters, and ends the engine. */
static inline void engine_finish(weir_engine *engine, uint64_t expected)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop(engine, 0, &report));
    assert_int_equal(expected, report.accepted);
    assert_int_equal(expected, report.handled);
    assert_report_adds_up(&report);
    const weir_counters c = engine_counters(engine);
    assert_int_equal(expected, c.accepted);
    assert_int_equal(expected, c.handled);
    assert_int_equal(0, c.depth);
    weir_engine_destroy(engine);
}

#endif /* WEIR_ENGINE_SUPPORT_H */
