/*
 * timers.c - timers fire, are cancelled, meet stops; each has one outcome, and the clock is never
 * ahead of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#define SOON (20 * WEIR_US)
#define FAR (INT64_C(3000000000) * WEIR_S) /* a clock that jumps does not jump as far */

/* A timer whose event is a send of the history: it begins with the add, and ends with its
 * outcome. */
typedef struct planned {
    actor *to;
    weir_timer timer;
    uint32_t send;
    weir_status added;
    weir_ns due;
    bool over;
} planned;

/* A thread that cannot be had for want of memory is the system's refusal. */
static weir_status answer(weir_status status)
{
    return status == WEIR_E_SYSTEM && stage_is_short() ? WEIR_E_NOMEM : status;
}

static planned plan(actor *to, const weir_timer_options *options)
{
    planned p = { .to = to, .send = stage_timer_begins(to) };
    const stage_message message = { .send = p.send };
    const weir_event event = { .type = &stage_message_type,
                               .data = &message,
                               .size = sizeof(message) };
    p.due = options->at != 0 ? options->at : weir_time_now(stage.engine) + options->after;
    p.added = weir_timer_add(stage.engine, to->handle, &event, options, &p.timer);
    if (p.added != WEIR_OK) {
        p.over = true;
        stage_send_ends(p.send, answer(p.added));
    }
    return p;
}

static weir_status cancel(planned *p)
{
    if (p->over) {
        return WEIR_UNKNOWN;
    }
    const weir_status status = weir_timer_cancel(stage.engine, p->timer);
    if (status == WEIR_OK) {
        p->over = true;
        stage_send_ends(p->send, STAGE_CANCELLED);
        weir_sim_check(weir_timer_cancel(stage.engine, p->timer) == WEIR_UNKNOWN,
                       "a timer was cancelled twice");
    }
    return status;
}

/* What became of it; waits for that. */
static void conclude(planned *p)
{
    weir_timer_outcome outcome = WEIR_TIMER_PENDING;
    while (!p->over) {
        const weir_status status = weir_timer_outcome_get(stage.engine, p->timer, &outcome);
        weir_sim_check(status == WEIR_OK, "the outcome is %s", weir_status_name(status));
        if (outcome != WEIR_TIMER_PENDING) {
            p->over = true;
            stage_send_ends(p->send, outcome == WEIR_TIMER_POSTED           ? WEIR_OK
                                     : outcome == WEIR_TIMER_CANCELLED      ? WEIR_STOPPING
                                     : outcome == WEIR_TIMER_FAILED_FULL    ? WEIR_FULL
                                     : outcome == WEIR_TIMER_FAILED_UNKNOWN ? WEIR_UNKNOWN
                                                                            : WEIR_E_NOMEM);
            return;
        }
        weir_sim_sleep(5 * WEIR_US);
    }
}

/* Timers that come once, when all have an outcome. */
static void check_books(void)
{
    weir_timer_counters c = WEIR_TIMER_COUNTERS_INIT;
    if (weir_timer_counters_get(stage.engine, &c) == WEIR_OK) {
        weir_sim_check(c.added == c.pending + c.posted + c.cancelled + c.stopped +
                                      c.failed_unknown + c.failed_full + c.failed_other,
                       "timers: %llu added, and the outcomes are others",
                       (unsigned long long)c.added);
    }
}

/* Never early. The message carries no time: the scenario's only due moment stands here. */
static weir_ns earliest;

static weir_status look_at_the_clock(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)event;
    weir_sim_check(weir_time_now(weir_turn_engine(turn)) >= earliest, "a timer was early");
    return WEIR_OK;
}

SCENARIO(timer_fires, "two timers, one later than the other, and a post meanwhile")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    actor *b = stage_actor(NULL, look_at_the_clock);
    stage_start();
    earliest = weir_time_now(stage.engine) + SOON;
    planned second = plan(b, WEIR_TIMER(.at = earliest));
    planned first = plan(a, WEIR_TIMER(.after = WEIR_US, .tag = 3));
    stage_post(a);
    conclude(&first);
    conclude(&second);
    check_books();
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static planned shared;

static void cancel_shared(void *unused)
{
    (void)unused;
    weir_sim_sleep(SOON - WEIR_US + (weir_ns)weir_sim_choose(3) * 2 * WEIR_US);
    (void)cancel(&shared);
}

SCENARIO(timer_cancel_against_fire, "a timer is cancelled at the moment it fires")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    shared = plan(a, WEIR_TIMER(.after = SOON));
    const int other = weir_sim_thread_start(cancel_shared, NULL);
    weir_sim_thread_join(other);
    conclude(&shared);
    check_books();
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(timer_reserved_cancel,
         "the same with a place taken in a mailbox of one, which is free after")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(WEIR_PROCESSOR(.mailbox_max = 1), NULL);
    stage_start();
    shared = plan(a, WEIR_TIMER(.after = SOON, .reserve = true));
    const bool reserved = !shared.over;
    const int other = weir_sim_thread_start(cancel_shared, NULL);
    weir_sim_thread_join(other);
    conclude(&shared);
    stage_settle();
    weir_counters c = WEIR_COUNTERS_INIT;
    weir_sim_check(weir_processor_counters(stage.engine, a->handle, &c) == WEIR_OK &&
                       (!reserved || c.rooms == 0),
                   "a place is still promised");
    stage_post(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void plan_soon(void *to)
{
    planned soon = plan(to, WEIR_TIMER(.after = SOON));
    const bool there = !soon.over;
    conclude(&soon);
    weir_sim_check(!there || weir_time_now(stage.engine) < FAR, "it slept until the next timer");
}

SCENARIO(timer_sooner, "a timer comes that is due before the wheel would get up")
{
    stage_open(
        WEIR_ENGINE(.processors_max = 16, .scheduler_threads = 1, .log_level = WEIR_LOG_OFF));
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    planned far = plan(a, WEIR_TIMER(.after = FAR));
    const int other = weir_sim_thread_start(plan_soon, a);
    plan_soon(a);
    weir_sim_thread_join(other);
    (void)cancel(&far);
    conclude(&far);
    check_books();
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static planned many[3];

static void plan_many(void *to)
{
    for (size_t i = 0; i < 3; i++) {
        many[i] = plan(to, i == 2 ? WEIR_TIMER(.after = SOON, .reserve = true)
                                  : WEIR_TIMER(.after = (weir_ns)(1 + i * 10) * WEIR_US));
    }
}

SCENARIO(timer_stop, "the engine stops while timers are added and fire")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    const int other = weir_sim_thread_start(plan_many, a);
    weir_sim_sleep((weir_ns)weir_sim_choose(3) * 6 * WEIR_US);
    stage_stop(WEIR_FOREVER);
    weir_sim_thread_join(other);
    for (size_t i = 0; i < 3; i++) {
        conclude(&many[i]);
    }
    check_books();
    stage_close();
}

SCENARIO(timer_receiver_stops, "the receiver stops while its timers fire")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, NULL);
    stage_start();
    plan_many(a);
    weir_sim_sleep((weir_ns)weir_sim_choose(3) * 8 * WEIR_US);
    stage_stop_actor(a, WEIR_FOREVER);
    for (size_t i = 0; i < 3; i++) {
        conclude(&many[i]);
    }
    check_books();
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* Plain on purpose: its thread writes it, and who has cancelled in time may read it. */
static uint32_t calls;

static void count_calls(void *context, weir_timer timer, weir_timer_outcome outcome)
{
    (void)context;
    (void)timer;
    calls += outcome == WEIR_TIMER_POSTED ? 1 : 0;
    weir_sim_work(2 * WEIR_US);
}

SCENARIO(timer_every_cancelled, "a repeating one is cancelled: nothing comes after an OK")
{
    stage_open(NULL);
    stage_threads(1);
    stage_start();
    calls = 0;
    weir_timer timer;
    const weir_status added =
        weir_timer_add(stage.engine, (weir_processor){ 0 }, NULL,
                       WEIR_TIMER(.every = SOON, .hook = count_calls), &timer);
    if (added == WEIR_OK) {
        weir_sim_sleep(SOON + (weir_ns)weir_sim_choose(4) * WEIR_US);
        const weir_status status = weir_timer_cancel(stage.engine, timer);
        weir_sim_check(status == WEIR_OK || status == WEIR_LATE, "a repeating timer is %s",
                       weir_status_name(status));
        if (status == WEIR_OK) {
            const uint32_t before = calls;
            weir_sim_sleep(3 * SOON);
            weir_sim_check(calls == before, "it came again");
        } else {
            weir_timer_outcome outcome = WEIR_TIMER_PENDING;
            while (outcome == WEIR_TIMER_PENDING) {
                weir_sim_sleep(SOON);
                weir_sim_check(weir_timer_outcome_get(stage.engine, timer, &outcome) == WEIR_OK,
                               "nothing is known of it");
            }
            weir_sim_check(outcome == WEIR_TIMER_CANCELLED, "it has ended otherwise");
        }
    }
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static weir_status statuses[2];

static void add_one(void *which)
{
    statuses[(uintptr_t)which] =
        weir_timer_add(stage.engine, (weir_processor){ 0 }, NULL,
                       WEIR_TIMER(.after = FAR, .hook = count_calls), NULL);
}

SCENARIO(timer_limit, "two threads, two wheels, and one timer allowed")
{
    stage_open(WEIR_ENGINE(.processors_max = 16, .timers_max = 1, .log_level = WEIR_LOG_OFF));
    stage_threads(1);
    stage_start();
    const int other = weir_sim_thread_start(add_one, (void *)(uintptr_t)1);
    add_one(NULL);
    weir_sim_thread_join(other);
    weir_sim_check(!(statuses[0] == WEIR_OK && statuses[1] == WEIR_OK), "there are two");
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* Asks once, and is triggered. */
static weir_status trigger_once(actor *self, weir_turn *turn, const weir_event *event)
{
    if (event->tag == 9) {
        self->own = NULL;
        return WEIR_OK;
    }
    const uint32_t send = stage_timer_begins(self);
    const stage_message message = { .send = send };
    const weir_event later = { .type = &stage_message_type,
                               .data = &message,
                               .size = sizeof(message) };
    const weir_status status = weir_turn_trigger_after(turn, SOON, &later, 9);
    if (status != WEIR_OK) {
        stage_send_ends(send, answer(status));
    } else {
        self->own = self; /* owed */
        stage_send_ends(send, WEIR_OK);
    }
    return WEIR_OK;
}

SCENARIO(timer_trigger, "a handler triggers itself, while others fill its mailbox")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(WEIR_PROCESSOR(.mailbox_max = 2), trigger_once);
    stage_start();
    stage_post(a);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
