/*
 * system_program.c - asks the system for everything that weir ever asks it for, once: threads,
 * cores, priorities, a doorbell, a barrier, memory. Started by system_calls.py and limits.py, which
 * make the system refuse.
 *
 *   system_program [--wait] [--required] [--files N] [--memory BYTES]
 *
 * With --wait it says "ready" and goes on when a line comes; --files and --memory are limits that
 * it sets for itself after that (descriptors; address space beyond what it has); --required makes
 * a core that cannot be had an error. Whatever is refused is said on stderr ("refused: ...") and
 * tried again, for a refusal may pass.
 *
 * Exit status: 0 the engine ran and no event was lost; 3 the engine could not be had, and the
 * reason was said; 4 events were lost, or something was refused without a reason.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <weir/weir.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>

enum { PROCESSORS = 6, POSTERS = 2, POSTS = 3000, TRIES = 3, RING_MS = 2000 };
enum { REFUSED = 3, LOST = 4 }; /* exit statuses */

typedef struct counter {
    uint64_t handled; /* the handler's own */
} counter;

typedef struct world {
    weir_engine *engine;
    weir_processor to[PROCESSORS];
    counter counters[PROCESSORS];
    weir_thread external;                             /* zero: could not be had */
    atomic_uint_least64_t accepted, accepted_outside; /* the latter by the last processor */
    atomic_int posters_left;
    int done; /* an eventfd: a poster is */
    bool core_required;
    atomic_bool unexplained;
} world;

static world w;

typedef struct number {
    uint64_t value;
} number;
WEIR_EVENT_TYPE(number, "fault.number");

static weir_status count(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    ++((counter *)state)->handled;
    return WEIR_OK;
}

/* An error must say what was refused and why. Clears it, for the next try. */
static void say_refusal(weir_error *error)
{
    char text[512];
    (void)weir_error_format(error, text, sizeof(text));
    fprintf(stderr, "refused: %s%s%s\n", text, error->os_errno != 0 ? ": " : "",
            error->os_errno != 0 ? strerror(error->os_errno) : "");
    if (error->status == WEIR_E_SYSTEM && error->os_errno == 0) {
        atomic_store(&w.unexplained, true);
    }
    if (error->text[0] == '\0' || error->path[0] == '\0') {
        atomic_store(&w.unexplained, true);
    }
    *error = (weir_error)WEIR_ERROR_INIT;
}

/* ---- the set-up: each step may be refused ---- */

static void create(weir_error *error)
{
    w.engine = weir_engine_create(WEIR_ENGINE(.name = "fault", .mailbox_max = 100000), error);
}

/* Reads how many cores it may use. */
static void assign(weir_error *error)
{
    (void)weir_assign_strategy(
        w.engine,
        WEIR_ASSIGNMENT(.strategy = WEIR_STRATEGY_SHARED, .dispatchers = WEIR_NAMES("", "api")),
        error);
}

static void add_pinned(weir_error *error)
{
    cpu_set_t allowed;
    int32_t core = 0;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        while (core < CPU_SETSIZE - 1 && !CPU_ISSET((size_t)core, &allowed)) {
            core++;
        }
    }
    (void)weir_thread_add(w.engine,
                          WEIR_THREAD(.name = "pinned", .cores = &core, .core_count = 1,
                                      .core_required = w.core_required,
                                      .priority = WEIR_PRIORITY_NICE, .priority_value = 1),
                          error);
}

static void add_real_time(weir_error *error)
{
    (void)weir_thread_add(w.engine,
                          WEIR_THREAD(.name = "real-time", .idle = WEIR_IDLE_PARK,
                                      .priority = WEIR_PRIORITY_ROUND_ROBIN, .priority_value = 1),
                          error);
}

static void add_external(weir_error *error)
{
    w.external = weir_thread_add(
        w.engine,
        WEIR_THREAD(.name = "outside", .external = true, .dispatchers = WEIR_NAMES("outside")),
        error);
}

static void add_processors(weir_error *error)
{
    for (int i = 0; i < PROCESSORS; i++) {
        const char *dispatcher = i % 2 == 0 ? "" : "api";
        if (i == PROCESSORS - 1 && w.external.id != 0) {
            dispatcher = "outside";
        }
        if (w.to[i].id == 0) {
            w.to[i] = weir_processor_add(w.engine,
                                         WEIR_PROCESSOR(.dispatcher = dispatcher, .handler = count,
                                                        .argument = &w.counters[i]),
                                         error);
        }
    }
}

static void start(weir_error *error)
{
    (void)weir_engine_start(w.engine, error);
}

/* False: refused every time. */
static bool attempt(void (*step)(weir_error *))
{
    weir_error error = WEIR_ERROR_INIT;
    for (int i = 0; i < TRIES; i++) {
        step(&error);
        if (error.status == WEIR_OK) {
            return true;
        }
        say_refusal(&error);
    }
    return false;
}

/* ---- while it runs ---- */

static void *post_some(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < POSTS; i++) {
        unsigned char bytes[300] = { 0 };
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const weir_event event = { .type = &weir_bytes_type,
                                   .data = bytes,
                                   .size = i % 8 == 0 ? (uint32_t)sizeof(bytes) : 8 };
        const uint64_t index = (random >> 33) % PROCESSORS;
        const weir_status status = weir_engine_post(w.engine, w.to[index], &event);
        if (status == WEIR_OK) {
            atomic_fetch_add(&w.accepted, 1);
            atomic_fetch_add(&w.accepted_outside, index == PROCESSORS - 1);
        } else if (status != WEIR_E_NOMEM) {
            fprintf(stderr, "a post answered %s\n", weir_status_name(status));
            atomic_store(&w.unexplained, true);
        }
    }
    atomic_fetch_sub(&w.posters_left, 1);
    (void)eventfd_write(w.done, 1);
    return NULL;
}

/* Sleeps until the doorbell rings or a poster is done, at most `patience_ms`, and turns. */
static void turn_external(int patience_ms)
{
    struct pollfd bells[2] = {
        { .fd = weir_thread_fd(w.engine, w.external), .events = POLLIN },
        { .fd = w.done, .events = POLLIN },
    };
    eventfd_t ignored;
    if (w.external.id == 0) {
        const struct timespec pause = { 0, 1000000 };
        (void)nanosleep(&pause, NULL);
        return;
    }
    const int rang = poll(bells, 2, patience_ms);
    (void)eventfd_read(w.done, &ignored);
    const int32_t answer = weir_thread_run_once(w.engine, w.external, 0);
    if (rang == 0 && answer > 0 && patience_ms == RING_MS) {
        fprintf(stderr, "events waited for %d ms, and nobody rang\n", patience_ms);
        atomic_store(&w.unexplained, true);
    }
    if (answer < 0 && answer != WEIR_E_NOMEM) {
        fprintf(stderr, "weir_thread_run_once answered %s\n", weir_status_name(answer));
        atomic_store(&w.unexplained, true);
    }
}

/* All that the posters sent is handled there: each event rings, or one before it did. */
static void run_outside(void)
{
    const counter *own = &w.counters[PROCESSORS - 1];
    while (atomic_load(&w.posters_left) > 0 || own->handled < atomic_load(&w.accepted_outside)) {
        turn_external(RING_MS);
    }
}

/* A thread more, a processor with a thread of its own, the end of one processor: in passing. */
static void add_late(weir_error *error)
{
    (void)weir_thread_add(w.engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("api")), error);
}

static void add_dedicated(weir_error *error)
{
    static counter own;
    const weir_processor to = weir_processor_add(
        w.engine, WEIR_PROCESSOR(.dedicated = true, .handler = count, .argument = &own), error);
    const weir_status status =
        to.id != 0 ? weir_processor_stop_async(w.engine, to, WEIR_S) : WEIR_OK;
    if (status != WEIR_OK) {
        (void)weir_error_set(error, status, "weir_processor_stop_async", weir_status_text(status));
        error->os_errno = EAGAIN; /* the call has no error struct to say it with */
    }
}

static void run(void)
{
    pthread_t threads[POSTERS];
    int begun = 0;
    atomic_store(&w.posters_left, POSTERS);
    for (uintptr_t i = 0; i < POSTERS; i++) {
        if (pthread_create(&threads[begun], NULL, post_some, (void *)(i + 1)) == 0) {
            begun++;
        } else {
            (void)post_some((void *)(i + 1)); /* refused to us, not to weir */
        }
    }
    (void)attempt(add_late);
    (void)attempt(add_dedicated);
    if (w.external.id != 0) {
        run_outside();
    }
    for (int i = 0; i < begun; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* False: no stop could be begun. */
static bool stop(weir_stop_report *report)
{
    weir_status status = WEIR_E_SYSTEM;
    for (int i = 0; i < TRIES && status < 0; i++) {
        status = weir_engine_stop_async(w.engine, 10 * WEIR_S);
        if (status < 0) {
            fprintf(stderr, "refused: weir_engine_stop_async: %s\n", weir_status_text(status));
        }
    }
    if (status < 0 && w.external.id == 0) {
        return weir_engine_stop(w.engine, 10 * WEIR_S, report) == WEIR_OK;
    }
    while (status >= 0 && weir_engine_wait(w.engine, WEIR_US, report) != WEIR_OK) {
        turn_external(10); /* ends: the stop has a timeout */
    }
    return status >= 0;
}

static int judge(const weir_stop_report *report)
{
    uint64_t handled = 0;
    for (int i = 0; i < PROCESSORS; i++) {
        handled += w.counters[i].handled;
    }
    const uint64_t accepted = atomic_load(&w.accepted);
    const bool hold = report->accepted == accepted && report->handled == accepted &&
                      handled == accepted && report->left == 0;
    printf("%s: %" PRIu64 " accepted by posts, %" PRIu64 " by the engine, %" PRIu64 " handled\n",
           hold ? "the sums hold" : "events were lost", accepted, report->accepted, handled);
    return hold && !atomic_load(&w.unexplained) ? 0 : LOST;
}

/* ---- limits ---- */

static bool limit_memory(uint64_t more)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%llu", &pages) != 1) {
        return false;
    }
    (void)fclose(file);
    const struct rlimit limit = { pages * 4096 + more, pages * 4096 + more };
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

static bool prepare(int argument_count, char **arguments)
{
    bool good = true;
    for (int i = 1; i < argument_count && good; i++) {
        const char *value = i + 1 < argument_count ? arguments[i + 1] : "0";
        if (strcmp(arguments[i], "--wait") == 0) {
            char line[8];
            (void)puts("ready");
            (void)fflush(stdout);
            good = fgets(line, sizeof(line), stdin) != NULL;
        } else if (strcmp(arguments[i], "--required") == 0) {
            w.core_required = true;
        } else if (strcmp(arguments[i], "--files") == 0) {
            const rlim_t files = (rlim_t)strtoull(value, NULL, 10);
            good = setrlimit(RLIMIT_NOFILE, &(struct rlimit){ files, files }) == 0;
            i++;
        } else if (strcmp(arguments[i], "--memory") == 0) {
            good = limit_memory(strtoull(value, NULL, 10));
            i++;
        } else {
            good = false;
        }
    }
    return good;
}

int main(int argument_count, char **arguments)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    w.done = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); /* before any limit */
    if (!prepare(argument_count, arguments)) {
        fprintf(stderr,
                "usage: system_program [--wait] [--required] [--files N] [--memory BYTES]\n");
        return 2;
    }
    if (!attempt(create)) {
        return atomic_load(&w.unexplained) ? LOST : REFUSED;
    }
    bool good = attempt(assign);
    (void)attempt(add_pinned);
    (void)attempt(add_real_time);
    (void)attempt(add_external);
    good = good && attempt(add_processors) && attempt(start);
    int status = atomic_load(&w.unexplained) ? LOST : REFUSED;
    if (good) {
        run();
        status = stop(&report) ? judge(&report) : REFUSED;
    }
    weir_engine_destroy(w.engine);
    return status;
}
