/*
 * pause_program.c - traffic, a stop and a post that wait: for pauses.py and clocks.py, which stop
 * this process in the middle or turn the clocks under it.
 *
 *   pause_program traffic          posts until a line comes on stdin, then stops
 *   pause_program drain MS HAVE    HAVE ms to stop with, while the drain needs MS
 *   pause_program block MS         a post that may wait so long for a full mailbox
 *   pause_program sleep MS         a thread that idles by sleeping MS wakes so often in a second
 *   pause_program timers MS        timers up to MS from now, and one that repeats; says how many
 *                                  were early, and how many times were missed
 *
 * It says "begun" when the waiting begins, and at the end one line of key=value: status, ms (how
 * long it took on the monotonic clock), accepted, handled, left, own (handlers that returned).
 * Exit status 0: the sums hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <weir/weir.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROCESSORS = 8, POSTERS = 3, DRAIN_EVENTS = 100 };

typedef struct number {
    uint64_t value;
} number;
WEIR_EVENT_TYPE(number, "pause.number");

typedef struct receiver {
    uint64_t handled;
    uint64_t last[POSTERS]; /* numbers of each poster come in order */
    uint64_t disorder;
    int64_t work_ns; /* so long an event keeps the thread */
} receiver;

static weir_engine *engine;
static weir_processor to[PROCESSORS];
static receiver receivers[PROCESSORS];
static atomic_uint_least64_t accepted, refused;
static atomic_bool enough;

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void say(const char *text)
{
    (void)puts(text);
    (void)fflush(stdout);
}

/* Work that waits, so that a clock that jumps forward cannot shorten it. */
static void work(int64_t ns)
{
    const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    (void)nanosleep(&t, NULL);
}

static weir_status receive(void *state, weir_turn *turn, const weir_event *event)
{
    receiver *r = state;
    const number *n = weir_event_as(event, &number_type);
    (void)turn;
    if (n != NULL && n->value != 0) {
        const uint64_t poster = n->value % POSTERS, sequence = n->value / POSTERS;
        r->disorder += sequence <= r->last[poster];
        r->last[poster] = sequence;
    }
    if (r->work_ns > 0) {
        work(r->work_ns);
    }
    r->handled++;
    return WEIR_OK;
}

static void open_engine(uint32_t threads, uint32_t mailbox_max, weir_overflow overflow,
                        weir_ns block_max)
{
    weir_error error = WEIR_ERROR_INIT;
    engine = weir_engine_create(WEIR_ENGINE(.threads = threads, .mailbox_max = mailbox_max,
                                            .overflow = overflow, .block_max = block_max,
                                            .log_level = WEIR_LOG_OFF),
                                &error);
    for (int i = 0; i < PROCESSORS; i++) {
        to[i] = weir_processor_add(
            engine, WEIR_PROCESSOR(.handler = receive, .argument = &receivers[i]), &error);
    }
    if (error.status != WEIR_OK) {
        exit(weir_error_print(&error));
    }
}

static void start_engine(void)
{
    weir_error error = WEIR_ERROR_INIT;
    if (weir_engine_start(engine, &error) != WEIR_OK) {
        exit(weir_error_print(&error));
    }
}

static weir_status post(int index, uint64_t value)
{
    const weir_status status = weir_engine_post(engine, to[index], WEIR_EVENT(number, value));
    atomic_fetch_add(&accepted, status == WEIR_OK);
    atomic_fetch_add(&refused, status != WEIR_OK);
    return status;
}

/* The last line, and the exit status. */
static int finish(weir_status status, const weir_stop_report *report, int64_t began)
{
    const int64_t took = now_ns() - began;
    uint64_t own = 0, disorder = 0;
    weir_engine_destroy(engine);
    for (int i = 0; i < PROCESSORS; i++) {
        own += receivers[i].handled;
        disorder += receivers[i].disorder;
    }
    const uint64_t sent = atomic_load(&accepted);
    printf("status=%s ms=%" PRId64 " accepted=%" PRIu64 " handled=%" PRIu64 " left=%" PRIu64
           " own=%" PRIu64 " sent=%" PRIu64 " refused=%" PRIu64 " disorder=%" PRIu64 "\n",
           weir_status_name(status), took / 1000000, report->accepted, report->handled,
           report->left, own, sent, atomic_load(&refused), disorder);
    const bool hold = report->accepted == sent && disorder == 0 &&
                      report->accepted == report->handled + report->left + report->dropped &&
                      own >= report->handled && own - report->handled <= report->left;
    return hold ? 0 : 1;
}

/* ---- traffic ---- */

static void *post_until_enough(void *argument)
{
    const uint64_t poster = (uint64_t)(uintptr_t)argument;
    uint64_t sequence = 0;
    for (uint64_t i = 0; !atomic_load(&enough); i++) {
        const int index = (int)(i % PROCESSORS);
        if (post(index, (sequence + 1) * POSTERS + poster) == WEIR_OK) {
            sequence++;
        }
        if (i % 64 == 0) {
            work(200000); /* leaves the machine to others */
        }
    }
    return NULL;
}

static int run_traffic(void)
{
    pthread_t threads[POSTERS];
    char line[16];
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    open_engine(2, 1000, WEIR_OVERFLOW_BLOCK, 50 * WEIR_MS);
    start_engine();
    for (uintptr_t i = 0; i < POSTERS; i++) {
        if (pthread_create(&threads[i], NULL, post_until_enough, (void *)i) != 0) {
            return 2;
        }
    }
    say("begun");
    const int64_t began = now_ns();
    (void)fgets(line, sizeof(line), stdin);
    atomic_store(&enough, true);
    for (int i = 0; i < POSTERS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    const weir_status status = weir_engine_stop(engine, 10 * WEIR_S, &report);
    const int held = finish(status, &report, began);
    return status == WEIR_OK ? held : 1;
}

/* ---- what waits ---- */

static int run_drain(int64_t need_ms, int64_t have_ms)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    open_engine(1, 1000, WEIR_OVERFLOW_FAIL, 0);
    receivers[0].work_ns = need_ms * 1000000 / DRAIN_EVENTS;
    for (int i = 0; i < DRAIN_EVENTS; i++) {
        (void)post(0, 0);
    }
    start_engine();
    say("begun");
    const int64_t began = now_ns();
    const weir_status status = weir_engine_stop(engine, have_ms * WEIR_MS, &report);
    return finish(status, &report, began);
}

/* Not started: nobody makes room. */
static int run_block(int64_t ms)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    open_engine(1, 1, WEIR_OVERFLOW_BLOCK, ms * WEIR_MS);
    (void)post(0, 0);
    say("begun");
    const int64_t began = now_ns();
    const weir_status status = post(0, 0);
    const int64_t took = now_ns() - began;
    start_engine();
    const weir_status stopped = weir_engine_stop(engine, 10 * WEIR_S, &report);
    const int held = finish(status, &report, now_ns() - took);
    return stopped == WEIR_OK ? held : 1;
}

/* How often a sleeping thread looks for work in a second. */
static int run_sleep(int64_t ms)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_thread_counters before = WEIR_THREAD_COUNTERS_INIT, after = WEIR_THREAD_COUNTERS_INIT;
    weir_error error = WEIR_ERROR_INIT;
    engine = weir_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF), &error);
    const weir_thread thread = weir_thread_add(
        engine, WEIR_THREAD(.idle = WEIR_IDLE_SLEEP, .idle_sleep = ms * WEIR_MS), &error);
    if (weir_engine_start(engine, &error) != WEIR_OK) {
        return weir_error_print(&error);
    }
    say("begun");
    const int64_t began = now_ns();
    (void)weir_thread_counters_get(engine, thread, &before);
    work(1000000000);
    (void)weir_thread_counters_get(engine, thread, &after);
    printf("rounds=%" PRIu64 "\n", after.rounds - before.rounds);
    const weir_status status = weir_engine_stop(engine, 10 * WEIR_S, &report);
    return finish(status, &report, began);
}

/* ---- timers ---- */

enum { TIMERS = 500 };

static atomic_uint_least64_t early, fired;

typedef struct alarm_clock {
    weir_ns due;
} alarm_clock;

static void ring(void *context, weir_timer timer, weir_timer_outcome outcome)
{
    const alarm_clock *a = context;
    (void)timer;
    if (outcome == WEIR_TIMER_POSTED) {
        atomic_fetch_add(&early, weir_time_now(engine) < a->due);
        atomic_fetch_add(&fired, 1);
    }
}

static void ignore(void *context, weir_timer timer, weir_timer_outcome outcome)
{
    (void)context, (void)timer, (void)outcome;
}

static int run_timers(int64_t ms)
{
    static alarm_clock clocks[TIMERS];
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    weir_timer_counters counters = WEIR_TIMER_COUNTERS_INIT;
    const weir_ns every = 5 * WEIR_MS;
    open_engine(1, 1000, WEIR_OVERFLOW_FAIL, 0);
    start_engine();
    const int64_t began = now_ns();
    const weir_ns first = weir_time_now(engine) + every;
    weir_status status =
        weir_timer_add(engine, (weir_processor){ 0 }, NULL,
                       WEIR_TIMER(.at = first, .every = every, .hook = ignore), NULL);
    for (int i = 0; i < TIMERS && status == WEIR_OK; i++) {
        clocks[i].due = weir_time_now(engine) + ms * WEIR_MS * (i + 1) / TIMERS;
        status = weir_timer_add(
            engine, (weir_processor){ 0 }, NULL,
            WEIR_TIMER(.at = clocks[i].due, .hook = ring, .context = &clocks[i]), NULL);
    }
    say("begun");
    while (status == WEIR_OK && atomic_load(&fired) < TIMERS) {
        work(1000000);
    }
    (void)weir_timer_counters_get(engine, &counters);
    /* Times of the repeating one: none is lost, none is too many. */
    const int64_t times = (weir_time_now(engine) - first) / every + 1;
    const int64_t came = (int64_t)(counters.posted - TIMERS + counters.missed);
    printf("early=%" PRIu64 " missed=%" PRIu64 " drift=%" PRId64 "\n", atomic_load(&early),
           counters.missed, times - came);
    const weir_status stopped = weir_engine_stop(engine, 10 * WEIR_S, &report);
    const int held = finish(status == WEIR_OK ? stopped : status, &report, began);
    return atomic_load(&early) == 0 && times - came >= 0 ? held : 1;
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    const int64_t first = count > 2 ? strtoll(arguments[2], NULL, 10) : 0;
    const int64_t second = count > 3 ? strtoll(arguments[3], NULL, 10) : 0;
    if (strcmp(what, "traffic") == 0) {
        return run_traffic();
    }
    if (strcmp(what, "drain") == 0 && first > 0 && second > 0) {
        return run_drain(first, second);
    }
    if (strcmp(what, "block") == 0 && first > 0) {
        return run_block(first);
    }
    if (strcmp(what, "sleep") == 0 && first > 0) {
        return run_sleep(first);
    }
    if (strcmp(what, "timers") == 0 && first > 0) {
        return run_timers(first);
    }
    fprintf(stderr,
            "usage: pause_program traffic | drain MS HAVE | block MS | sleep MS | timers MS\n");
    return 2;
}
