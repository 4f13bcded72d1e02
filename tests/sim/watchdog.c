/*
 * watchdog.c - what does not return is reported: the right one, in time, once an interval; what
 * returns is not. A handler that waits for its own report waits for ever if none comes.
 *
 * The log is the scenario's: it knows from the handlers themselves how long each has run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "scenario.h"
#include "sync/thread.h"
#include "sync/word.h"

#define LIMIT WEIR_MS
#define LOOK (LIMIT / 4)
#define STEPS_MAX 60000 /* who waits for a report while the watchdog looks on waits for ever */

enum { NAMES = 2, THREADS_MAX = 2 };
static const char *const names[NAMES] = { "0", "1" };

static actor *cast[NAMES];

static weir__atomic_u32
    reports[NAMES];                  /* wait words, as the next one: entries about its runs ... */
static weir__atomic_u32 returns;     /* ... and of what has returned after all, whoever it is */
static weir__atomic_u32 last[NAMES]; /* the number of the last report of the run */
static weir_ns pause[2];             /* what handlers and hooks take their time for */

/*
 * How long things ran, by the trails themselves, seen after every step of everybody: at most so
 * long, since between two steps the clock may leap. Not by a clock of the handler's: between its
 * call and its first look at it all kinds of things can happen.
 */
static struct {
    uint64_t at[THREADS_MAX];
    weir_ns began[THREADS_MAX];
    weir_ns longest[NAMES]; /* of runs that are over */
    weir_ns last_step;
    enum { BEFORE, MEANWHILE, AFTERWARDS } when; /* a watchdog was there, and is no more */
} seen;

static const weir__trail *trail_of(uint32_t thread)
{
    return &stage.engine->threads[thread].value->trail;
}

/* Whose run it is that `at` of this thread's trail speaks of. */
static uint32_t runner(uint32_t thread, uint64_t at)
{
    const uint64_t place = (weir__trail_count_at(at) - 1) % WEIR__TRAIL_STEPS;
    const uint64_t handle = trail_of(thread)->steps[place].processor.value;
    return cast[0] != NULL && cast[0]->handle.id == handle ? 0 : 1;
}

static void observe(void *unused)
{
    (void)unused;
    const weir_ns now = weir_sim_now();
    if (seen.when != AFTERWARDS && (stage.engine->watchdog != NULL) != (seen.when == MEANWHILE)) {
        seen.when = seen.when == BEFORE ? MEANWHILE : AFTERWARDS;
    }
    if (seen.when != MEANWHILE) {
        return; /* afterwards there is no engine to look at */
    }
    const uint32_t count = stage.engine->thread_count.value;
    for (uint32_t i = 0; i < count && i < THREADS_MAX; i++) {
        const uint64_t at = trail_of(i)->at.value;
        if (at == seen.at[i]) {
            continue;
        }
        const uint32_t who = weir__trail_runs_at(seen.at[i]) ? runner(i, seen.at[i]) : NAMES;
        if (who < NAMES && now - seen.began[i] > seen.longest[who]) {
            seen.longest[who] = now - seen.began[i];
        }
        seen.at[i] = at;
        seen.began[i] = seen.last_step;
    }
    seen.last_step = now;
}

/* The longest run of that name, the one that is under way included. */
static weir_ns ran_for(uint32_t who)
{
    weir_ns most = seen.longest[who];
    for (uint32_t i = 0; i < THREADS_MAX; i++) {
        if (weir__trail_runs_at(seen.at[i]) && runner(i, seen.at[i]) == who &&
            weir_sim_now() - seen.began[i] > most) {
            most = weir_sim_now() - seen.began[i];
        }
    }
    return most;
}

static uint32_t who_is(const actor *self)
{
    return self->number % NAMES;
}

static uint64_t field(const weir_log_entry *entry, const char *key)
{
    for (size_t i = 0; i < entry->field_count; i++) {
        if (strcmp(entry->fields[i].key, key) == 0) {
            return strtoull(entry->fields[i].value, NULL, 10);
        }
    }
    weir_sim_fail("an entry without %s", key);
}

static void listen(void *unused, const weir_log_entry *entry)
{
    (void)unused;
    weir_sim_note("log: %s: %s", entry->component, entry->text);
    if (strstr(entry->text, "has returned") != NULL) {
        weir__add(&returns, 1, seq_cst);
        weir__word_wake(&returns, INT32_MAX);
        return;
    }
    if (strstr(entry->text, "has not returned") == NULL) {
        return;
    }
    const char *name = strchr(entry->component, ' ') + 1;
    const uint32_t who = (uint32_t)(name[name[0] == '#' ? 1 : 0] - '0'); /* by number: it is gone */
    weir_sim_check(who < NAMES, "who is %s?", entry->component);
    const uint64_t report = field(entry, "report");
    /* The nth is due after 1, 1 + 2, 1 + 2 + 4 ... times the limit. */
    const weir_ns least = LIMIT * (((weir_ns)1 << report) - 1);
    weir_sim_check(ran_for(who) >= least, "report %u of %s, which ran for %u us", (uint32_t)report,
                   entry->component, (uint32_t)(ran_for(who) / 1000));
    weir_sim_check(report > weir__exchange(&last[who], (uint32_t)report, seq_cst),
                   "report %u comes twice", (uint32_t)report);
    weir__add(&reports[who], 1, seq_cst);
    weir__word_wake(&reports[who], INT32_MAX);
}

static void wait_for(weir__atomic_u32 *count, uint32_t least)
{
    uint32_t now;
    while ((now = weir__load(count, seq_cst)) < least) {
        weir__word_wait(count, now, WEIR_FOREVER);
    }
}

/* `what` of the message: how many reports it waits for. */
static weir_status wait_for_reports(actor *self, weir_turn *turn, const weir_event *event)
{
    const stage_message *message = event->data;
    (void)turn;
    weir__store(&last[who_is(self)], 0, seq_cst);
    wait_for(&reports[who_is(self)], message->what);
    return WEIR_OK;
}

/* `what`: 1 to take one's time. */
static weir_status take_time(actor *self, weir_turn *turn, const weir_event *event)
{
    const stage_message *message = event->data;
    (void)turn;
    weir__store(&last[who_is(self)], 0, seq_cst);
    if (message->what == 1) {
        weir_sim_sleep(pause[0]);
    }
    return pause[1] != 0 ? WEIR_UNHANDLED : WEIR_OK;
}

static weir_status take_time_again(void *state, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    (void)event;
    weir__store(&last[who_is(state)], 0, seq_cst);
    weir_sim_sleep(pause[1]);
    return WEIR_OK;
}

static void open_stage(void)
{
    stage_open(WEIR_ENGINE(.log = listen, .stuck_after = LIMIT));
    for (uint32_t i = 0; i < NAMES; i++) {
        cast[i] = NULL;
        weir__store(&reports[i], 0, relaxed);
        weir__store(&last[i], 0, relaxed);
    }
    weir__store(&returns, 0, relaxed);
    pause[0] = 0;
    pause[1] = 0;
    memset(&seen, 0, sizeof(seen));
    weir_sim_always(observe, NULL);
}

static actor *enter(uint32_t who, actor_part *part, weir_handler unhandled)
{
    actor *a = stage_actor(WEIR_PROCESSOR(.name = names[who], .unhandled = unhandled), part);
    weir_sim_check(who_is(a) == who, "names follow numbers");
    cast[who] = a;
    return a;
}

static uint64_t stuck(void)
{
    weir_counters counters = WEIR_COUNTERS_INIT;
    weir_sim_check(weir_engine_counters(stage.engine, &counters) == WEIR_OK, "no counters");
    return counters.stuck;
}

SCENARIO(watchdog_reports, "a handler waits for two reports of itself, then returns",
         .steps_max = STEPS_MAX)
{
    if (stage_is_short()) {
        return; /* it cannot do without the watchdog's word */
    }
    open_stage();
    stage_threads(2);
    actor *a = enter(0, wait_for_reports, NULL);
    actor *b = enter(1, take_time, NULL);
    stage_start();
    stage_post_what(a, 2);
    stage_post(b);
    stage_settle();
    wait_for(&returns, 1);
    stage_stop(WEIR_FOREVER);
    weir_sim_check(stuck() >= weir__load(&returns, seq_cst), "%u were stuck, more have returned",
                   (uint32_t)stuck());
    stage_close();
}

SCENARIO(watchdog_wakes, "a thread gets up when the watchdog has just gone, or goes, to sleep",
         .steps_max = STEPS_MAX)
{
    if (stage_is_short()) {
        return; /* it cannot do without the watchdog's word */
    }
    open_stage();
    stage_threads(1);
    actor *a = enter(0, wait_for_reports, NULL);
    stage_start();
    stage_post(a); /* from here on it is awake for one look more */
    stage_settle();
    weir_sim_sleep(LOOK - WEIR_US + (weir_ns)weir_sim_choose(40) * 50);
    stage_post_what(a, 1);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(watchdog_external, "a thread of the application turns one, which gets stuck",
         .steps_max = STEPS_MAX)
{
    if (stage_is_short()) {
        return; /* it cannot do without the watchdog's word */
    }
    open_stage();
    const weir_thread outer =
        weir_thread_add(stage.engine, WEIR_THREAD(.external = true), &stage.error);
    actor *a = enter(0, wait_for_reports, NULL);
    stage_start();
    stage_post(a);
    while (weir_thread_run_once(stage.engine, outer, 0) > 0) {
    }
    weir_sim_sleep(LOOK - WEIR_US + (weir_ns)weir_sim_choose(40) * 50);
    stage_post_what(a, 1);
    while (weir_thread_run_once(stage.engine, outer, 0) > 0) {
    }
    weir_sim_check(stage_stop_async(WEIR_FOREVER) == WEIR_OK, "no stop");
    while (weir_engine_wait(stage.engine, WEIR_US, NULL) != WEIR_OK) {
        (void)weir_thread_run_once(stage.engine, outer, 0);
    }
    stage_wait(WEIR_FOREVER);
    stage_close();
}

/* Whoever is reported without need fails in the log. */
SCENARIO(watchdog_not_stuck, "handlers and unhandled hooks that are just fast enough",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS, .steps_max = STEPS_MAX)
{
    open_stage();
    pause[0] = LIMIT / 5 * (2 + weir_sim_choose(3));
    pause[1] = LIMIT / 5 * (2 + weir_sim_choose(3));
    stage_threads(1);
    actor *a = enter(0, take_time, take_time_again);
    actor *b = enter(1, take_time, take_time_again);
    stage_start();
    for (uint32_t i = 0; i < 2; i++) {
        stage_post_what(a, 1);
        stage_post_what(b, 1);
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* It returns just when it is due, and others run where it ran. */
SCENARIO(watchdog_just_returned, "a handler returns while its report is being made",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS, .steps_max = STEPS_MAX)
{
    open_stage();
    pause[0] = LIMIT - WEIR_US + (weir_ns)weir_sim_choose(64) * 50;
    stage_threads(1);
    actor *a = enter(0, take_time, NULL);
    actor *b = enter(1, take_time, NULL);
    stage_start();
    stage_post_what(a, 1);
    for (uint32_t i = 0; i < 3; i++) {
        stage_post(b);
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(watchdog_stop, "the engine stops, in vain, while a handler is being reported",
         .steps_max = STEPS_MAX)
{
    if (stage_is_short()) {
        return; /* it cannot do without the watchdog's word */
    }
    open_stage();
    stage_threads(2);
    actor *a = enter(0, wait_for_reports, NULL);
    actor *b = enter(1, take_time, NULL);
    stage_start();
    stage_post_what(a, 1);
    stage_post(b);
    stage_stop(weir_sim_choose(2) == 0 ? LIMIT : LIMIT + (weir_ns)weir_sim_choose(40) * 50);
    stage_close(); /* waits for the handler, which waits for its report */
    weir_sim_check(seen.longest[0] == 0 || weir__load(&reports[0], seq_cst) >= 1,
                   "it has run, and was not reported");
}
