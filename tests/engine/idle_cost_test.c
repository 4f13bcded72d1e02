/*
 * idle_cost_test.c - promise P-9: an idle engine with parking threads uses no CPU, and nothing
 * ticks. (idle_test.c has the strategies by name.)
 *
 * CPU time is measured on the threads' own clocks; that no system call is made is proved by strace
 * over idle_program (beside this program, or $WEIR_IDLE_PROGRAM), between two marks that it
 * writes. Where strace is missing or not permitted, that test is skipped and says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { THREADS = 8, TASKS_MAX = 64 };

static int64_t process_cpu_ns(void)
{
    struct rusage u;
    assert_int_equal(0, getrusage(RUSAGE_SELF, &u));
    return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * WEIR_S +
           ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * WEIR_US;
}

/* The engine's threads, and every other one of the process if no sanitizer brings its own. */
static size_t tasks_to_watch(weir_engine *engine, const weir_thread *threads, pid_t *out)
{
    if (!TEST_SANITIZED) {
        return tasks_others(out, TASKS_MAX);
    }
    engine_thread_ids(engine, threads, THREADS, out);
    return THREADS;
}

static void measure_idle_engine(weir_idle idle)
{
    enum { EVENTS = 10000 };
    static ledger book;
    static collector c;
    weir_thread threads[THREADS];
    pid_t tasks[TASKS_MAX];
    weir_engine *engine = engine_quiet();
    ledger_open(&book, EVENTS);
    c = (collector){ .book = &book };
    engine_add_threads(engine, "", THREADS, idle, threads);
    const weir_processor p = engine_add(engine, WEIR_PROCESSOR(.handler = collect, .argument = &c));
    engine_start(engine);
    for (uint64_t i = 0; i < EVENTS; i++) { /* idle after work, not only before it */
        assert_int_equal(WEIR_OK, post_when_room(engine, p, WEIR_EVENT(mark, .number = i)));
    }
    assert_true(goal_wait(&book.done));
    const size_t count = tasks_to_watch(engine, threads, tasks);
    assert_true(count >= THREADS);
    assert_true(tasks_settle(tasks, count, 100 * WEIR_MS));

    int64_t cpu = 0;
    uint64_t switches = 0;
    for (size_t i = 0; i < count; i++) {
        cpu -= task_cpu_ns(tasks[i]);
        switches -= task_switches(tasks[i]);
    }
    int64_t process = -process_cpu_ns();
    const struct timespec two_seconds = { .tv_sec = 2 };
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &two_seconds, NULL); /* time is the matter here */
    process += process_cpu_ns();
    for (size_t i = 0; i < count; i++) {
        cpu += task_cpu_ns(tasks[i]);
        switches += task_switches(tasks[i]);
    }
    fprintf(stderr,
            "# %s: %.3f ms of CPU in its threads, %.3f ms in the process, %" PRIu64 " switches\n",
            weir_idle_name(idle), (double)cpu / 1e6, (double)process / 1e6, switches);
    assert_true(cpu < WEIR_MS);
    assert_true(TEST_SANITIZED || process < WEIR_MS);
    assert_int_equal(0, switches); /* nobody woke up even once */
    engine_finish(engine, EVENTS);
    ledger_check(&book);
    ledger_close(&book);
}

static void an_idle_engine_of_8_parked_threads_uses_less_than_1_ms_of_cpu_in_2_s(void **unused)
{
    (void)unused;
    measure_idle_engine(WEIR_IDLE_BACKOFF);
    measure_idle_engine(WEIR_IDLE_PARK);
}

/* Runs a command with its output in a file; its exit code, or -1. */
static int run(char *const *arguments, const char *output)
{
    const pid_t child = fork();
    if (child == 0) {
        const int file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        (void)dup2(file, STDOUT_FILENO);
        (void)dup2(file, STDERR_FILENO);
        (void)setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* it cannot work under ptrace */
        (void)execvp(arguments[0], arguments);
        _exit(127);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return -1;
    }
    return WEXITSTATUS(status);
}

static bool find_program(char *out, size_t size)
{
    const char *given = getenv("WEIR_IDLE_PROGRAM");
    if (given != NULL) {
        (void)snprintf(out, size, "%s", given);
        return access(out, X_OK) == 0;
    }
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0) {
        return false;
    }
    (void)snprintf(out, size, "%s/idle_program", dirname(self));
    return access(out, X_OK) == 0;
}

typedef struct trace {
    pid_t main;            /* who wrote the first mark */
    pid_t engine[THREADS]; /* from the mark */
    size_t begun, ended;   /* marks seen */
    size_t calls;          /* system calls of others between the marks */
    char first[160];       /* of them, for the message */
} trace;

/* One line of `strace -f`: "1234 write(1, ...". */
static void trace_line(trace *t, const char *line)
{
    char *rest;
    const pid_t tid = (pid_t)strtol(line, &rest, 10);
    char *begin = strstr(rest, "write(1, \"weir-idle-begin");
    if (begin != NULL) {
        t->begun++;
        t->main = tid;
        char *number = strchr(strchr(begin, '"'), ' ');
        for (size_t i = 0; i < THREADS && number != NULL; i++) {
            t->engine[i] = (pid_t)strtol(number, &number, 10);
        }
    } else if (strstr(rest, "write(1, \"weir-idle-end") != NULL) {
        t->ended++;
    } else if (t->begun > t->ended && tid != t->main) {
        if (TEST_SANITIZED && !tid_among(tid, t->engine, THREADS)) {
            return; /* the sanitizer's own thread */
        }
        if (t->calls++ == 0) {
            (void)snprintf(t->first, sizeof(t->first), "%.*s", (int)strcspn(line, "\n"), line);
        }
    }
}

static void trace_read(trace *t, const char *path)
{
    char line[1024];
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        trace_line(t, line);
    }
    (void)fclose(file);
}

static void an_idle_engine_of_8_parked_threads_makes_no_system_calls(void **unused)
{
    (void)unused;
    char program[PATH_MAX + 32];
    char folder[] = "/tmp/weir-idle-XXXXXX";
    char path[64];
    char output[64];
    if (!find_program(program, sizeof(program))) {
        test_skip("no idle_program beside this test, nor WEIR_IDLE_PROGRAM");
    }
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/trace", folder);
    (void)snprintf(output, sizeof(output), "%s/output", folder);
    char *const probe[] = { "strace", "-f", "-o", path, "true", NULL };
    if (run(probe, output) != 0) {
        (void)unlink(path);
        (void)unlink(output);
        (void)rmdir(folder);
        test_skip("strace is not there, or ptrace is not permitted");
    }
    char *const names[] = { "backoff", "park" };
    for (size_t i = 0; i < 2; i++) {
        trace t = { 0 };
        char *const traced[] = { "strace", "-f", "-s", "256", "-o", path, program, names[i], NULL };
        assert_int_equal(0, run(traced, output));
        trace_read(&t, path);
        assert_int_equal(1, t.begun);
        assert_int_equal(1, t.ended);
        if (t.calls > 0) {
            fail_msg("%s: %zu system calls while idle; the first: %s", names[i], t.calls, t.first);
        }
    }
    (void)unlink(path);
    (void)unlink(output);
    (void)rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_engine_of_8_parked_threads_uses_less_than_1_ms_of_cpu_in_2_s),
        cmocka_unit_test(an_idle_engine_of_8_parked_threads_makes_no_system_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
