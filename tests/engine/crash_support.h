/*
 * crash_support.h - a child that crashes, and what it said and how it died.
 *
 * Each scene is a function that runs in a child of its own, makes its engine there and never comes
 * back: engines do not survive a fork. cmocka's asserts are for the parent. The child has an alarm,
 * so that a crash which is swallowed is a failed test and not a hang.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_CRASH_SUPPORT_H
#define WEIR_TEST_CRASH_SUPPORT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif

#include <weir/weir.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../coverage_support.h"
#include "../test_support.h"

enum { CHILD_SECONDS = 60, SCENE_WRONG = 77, SCENE_OVER = 78, TEXT_MAX = 1 << 18 };

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT };
enum { FATAL_SIGNALS = sizeof(fatal_signals) / sizeof(fatal_signals[0]) };

/* How a child ended: wait's status, and all of its standard error. */
typedef struct ending {
    int status;
    char text[TEXT_MAX];
} ending;

static ending ended; /* of the scene that was run last: it is large */

/* ---- in the child ---- */

/* What cannot be set up ends the child with a status of its own. */
#define SCENE_NEEDS(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "scene: %s:%d: %s\n", __FILE__, __LINE__, #condition);                 \
            _exit(SCENE_WRONG);                                                                    \
        }                                                                                          \
    } while (0)

/* Those of cmocka and of a sanitizer. */
static inline void take_off_handlers(void)
{
    for (int i = 0; i < FATAL_SIGNALS; i++) {
        set_default_action(fatal_signals[i]);
    }
}

/* A page that nobody may touch: touching it is a fault that no sanitizer sees coming. */
static char *forbidden;

static inline void touch(char *page)
{
    page[8] = 1;
}

static inline void crash_now(void)
{
    touch(forbidden);
}

static inline _Noreturn void wait_for_the_end(void)
{
    for (;;) { /* ends with the process, by its alarm at the latest */
        (void)pause();
    }
}

static inline weir_engine *scene_engine(const weir_engine_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    weir_engine *engine = weir_engine_create(options, &error);
    (void)weir_error_print(&error);
    SCENE_NEEDS(engine != NULL);
    return engine;
}

static inline weir_processor scene_add(weir_engine *engine, const weir_processor_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_processor processor = weir_processor_add(engine, options, &error);
    (void)weir_error_print(&error);
    SCENE_NEEDS(processor.id != 0);
    return processor;
}

static inline weir_thread scene_thread(weir_engine *engine, const weir_thread_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_thread thread = weir_thread_add(engine, options, &error);
    (void)weir_error_print(&error);
    SCENE_NEEDS(thread.id != 0);
    return thread;
}

static inline void scene_start(weir_engine *engine)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_status status = weir_engine_start(engine, &error);
    (void)weir_error_print(&error);
    SCENE_NEEDS(status == WEIR_OK);
}

/* An event of that many bytes: its size is its number in the report. */
static inline void scene_post(weir_engine *engine, weir_processor to, uint32_t size)
{
    static const char bytes[256];
    const weir_event event = { .type = &weir_bytes_type, .size = size, .data = bytes };
    SCENE_NEEDS(weir_engine_post(engine, to, &event) == WEIR_OK);
}

static inline void set_handler(int number, void (*handler)(int, siginfo_t *, void *))
{
    const struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    SCENE_NEEDS(sigaction(number, &action, NULL) == 0);
}

/* The application maps its memory when it is touched, and goes on. */
static inline void allow(int number, siginfo_t *info, void *frame)
{
    (void)number;
    (void)info;
    (void)frame;
    SCENE_NEEDS(mprotect(forbidden, 4096, PROT_READ | PROT_WRITE) == 0);
}

/* From here on whoever writes there waits for ever, as nobody reads. */
static inline void fill_standard_error(void)
{
    static const char room[4096];
    const int flags = fcntl(STDERR_FILENO, F_GETFL);
    SCENE_NEEDS(fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK) == 0);
    while (write(STDERR_FILENO, room, sizeof(room)) > 0) {
    }
    while (write(STDERR_FILENO, room, 1) > 0) {
    }
    SCENE_NEEDS(fcntl(STDERR_FILENO, F_SETFL, flags) == 0);
}

/* ---- a shop that crashes ---- */

enum { CRASH_SIZE = 40 };

/* Crashes at an event of 40 bytes; all others are fine. */
static void (*crash_way)(void) = crash_now;

static inline weir_status crash_at_40(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    if (event->size == CRASH_SIZE) {
        crash_way();
    }
    return WEIR_OK;
}

/* A handler "orders" on thread "w1" of engine "main", which gets its events from "gateway". */
static weir_processor orders;

static inline weir_status pass_on_to_orders(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    return weir_turn_post(turn, orders, event);
}

static inline weir_engine *shop(weir_processor *gateway)
{
    weir_engine *engine = scene_engine(WEIR_ENGINE(.name = "main"));
    (void)scene_thread(engine, WEIR_THREAD(.name = "w1"));
    orders = scene_add(engine, WEIR_PROCESSOR(.name = "orders", .handler = crash_at_40));
    *gateway = scene_add(engine, WEIR_PROCESSOR(.name = "gateway", .handler = pass_on_to_orders));
    scene_start(engine);
    return engine;
}

/* ---- in the parent ---- */

static inline void read_all(int descriptor, size_t length)
{
    ssize_t got;
    while (length < TEXT_MAX - 1 &&
           (got = read(descriptor, ended.text + length, TEXT_MAX - 1 - length)) > 0) {
        length += (size_t)got;
        ended.text[length] = '\0';
    }
}

/* Reads until the child has said `word`. */
static inline size_t read_until(int descriptor, const char *word)
{
    size_t length = 0;
    while (length < TEXT_MAX - 1 && strstr(ended.text, word) == NULL) {
        const ssize_t got = read(descriptor, ended.text + length, TEXT_MAX - 1 - length);
        if (got <= 0) {
            break;
        }
        length += (size_t)got;
        ended.text[length] = '\0';
    }
    return length;
}

/* Forks into `scene` with standard error into a pipe; returns its reading end. */
static inline pid_t begin_scene(void (*scene)(void), int *reading)
{
    int ends[2];
    memset(&ended, 0, sizeof(ended));
    assert_int_equal(0, pipe(ends));
    (void)fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit none = { 0, 0 };
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)alarm(CHILD_SECONDS);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        take_off_handlers();
        forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        scene();
        leave_counted(SCENE_OVER);
    }
    (void)close(ends[1]);
    *reading = ends[0];
    return child;
}

static inline void end_scene(pid_t child)
{
    while (waitpid(child, &ended.status, 0) != child) {
    }
}

/* Runs it to its end. */
static inline void run_scene(void (*scene)(void))
{
    int reading;
    const pid_t child = begin_scene(scene, &reading);
    read_all(reading, 0);
    end_scene(child);
    (void)close(reading);
}

static inline size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) {
        count++;
    }
    return count;
}

static inline void said(const char *word)
{
    if (strstr(ended.text, word) == NULL) {
        fail_msg("\"%s\" is not in\n%s", word, ended.text);
    }
}

static inline void said_nothing(void)
{
    assert_string_equal("", ended.text);
}

static inline void said_nothing_of(const char *word)
{
    if (strstr(ended.text, word) != NULL) {
        fail_msg("\"%s\" is in\n%s", word, ended.text);
    }
}

/* The report is whole: headline, thread, stack with at least one address. */
static inline void reported_once(const char *headline)
{
    said(headline);
    assert_int_equal(1, count_of(ended.text, "weir: SIG"));
    assert_int_equal(1, count_of(ended.text, "  engine \""));
    assert_int_equal(1, count_of(ended.text, "  stack, innermost first:\n     1  "));
    said("[0x");
}

static inline void died_of(int number)
{
    if (!WIFSIGNALED(ended.status) || WTERMSIG(ended.status) != number) {
        fail_msg("status 0x%x, not signal %d\n%s", (unsigned)ended.status, number, ended.text);
    }
}

static inline void left_with(int code)
{
    if (!WIFEXITED(ended.status) || WEXITSTATUS(ended.status) != code) {
        fail_msg("status 0x%x, not exit %d\n%s", (unsigned)ended.status, code, ended.text);
    }
}

#endif /* WEIR_TEST_CRASH_SUPPORT_H */
