/*
 * idle_program.c - an engine of eight parked threads for idle_cost_test.c to watch from outside.
 *
 * It works a little, so that threads keep processors for themselves and the monitor has ticked,
 * waits until every thread sleeps, writes "weir-idle-begin", is idle for two seconds, writes
 * "weir-idle-end" and stops. Both lines go out in one write(2) each, so that strace shows them; the
 * first one carries the system's numbers of the engine's threads.
 *
 * Usage: idle_program [backoff|park]     exit 0: all went well
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_support.h"

enum { THREADS = 8, EVENTS = 10000 };

static _Atomic uint64_t handled;
static weir_processor last;

/* To another one of the same dispatcher: that is what a thread keeps. */
static weir_status send_on(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)event;
    return weir_turn_post(turn, last, WEIR_EVENT(mark, 0));
}

static weir_status count(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    atomic_fetch_add(&handled, 1);
    return WEIR_OK;
}

static bool say(const char *text)
{
    return write(STDOUT_FILENO, text, strlen(text)) == (ssize_t)strlen(text);
}

/* True if all threads have come to rest. */
static bool come_to_rest(weir_engine *engine, const weir_thread *threads, char *text, size_t size)
{
    pid_t tids[64];
    size_t found = 0;
    size_t used = (size_t)snprintf(text, size, "weir-idle-begin");
    for (size_t i = 0; i < THREADS; i++) {
        weir_thread_counters c = WEIR_THREAD_COUNTERS_INIT;
        if (weir_thread_counters_get(engine, threads[i], &c) != WEIR_OK || c.system_id == 0) {
            return false;
        }
        tids[found++] = (pid_t)c.system_id;
        used += (size_t)snprintf(text + used, size - used, " %d", (int)c.system_id);
    }
    (void)snprintf(text + used, size - used, "\n");
    if (!TEST_SANITIZED) { /* a sanitizer has a thread of its own that never rests */
        found = tasks_others(tids, 64);
    }
    return tasks_settle(tids, found, 100 * WEIR_MS);
}

int main(int argc, char **argv)
{
    const weir_idle idle = weir_idle_find(argc > 1 ? argv[1] : "backoff");
    weir_error error = WEIR_ERROR_INIT;
    weir_thread threads[THREADS];
    char text[256];
    weir_engine *engine = weir_engine_create(NULL, &error);
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = weir_thread_add(
            engine, WEIR_THREAD(.dispatchers = WEIR_NAMES("", "other"), .idle = idle), &error);
    }
    const weir_processor p =
        weir_processor_add(engine, WEIR_PROCESSOR(.name = "p", .handler = send_on), &error);
    last = weir_processor_add(
        engine, WEIR_PROCESSOR(.name = "last", .handler = count, .mailbox_max = EVENTS), &error);
    (void)weir_engine_start(engine, &error);
    if (error.status != 0) {
        return weir_error_print(&error);
    }
    bool good = true;
    /* A wheel that has fired, and has one timer left that is far away. */
    for (int i = 0; i < 2; i++) {
        good = weir_timer_add(engine, last, WEIR_EVENT(mark, 0),
                              WEIR_TIMER(.after = i == 0 ? WEIR_MS : 3600 * WEIR_S),
                              NULL) == WEIR_OK &&
               good;
    }
    while (atomic_load(&handled) < 1) {
        (void)sched_yield();
    }
    for (int i = 0; i < EVENTS; i++) {
        good = post_when_room(engine, p, WEIR_EVENT(mark, 0)) == WEIR_OK && good;
    }
    while (atomic_load(&handled) < EVENTS + 1) { /* ends: P-4; idle_cost_test.c has the patience */
        (void)sched_yield();
    }
    good = come_to_rest(engine, threads, text, sizeof(text)) && good;
    good = say(text) && good;
    const struct timespec two_seconds = { .tv_sec = 2 };
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &two_seconds, NULL); /* time is the matter here */
    good = say("weir-idle-end\n") && good;
    good = weir_engine_stop(engine, 0, NULL) == WEIR_OK && good;
    weir_engine_destroy(engine);
    return good ? 0 : 1;
}
