/*
 * mixed.c - supervision, questions, watches, dead letters, channels and handlers that change, all
 * of it at once: what each promises holds whatever the others do (troupe.h keeps the books).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "troupe.h"

#define STEPS 200000

static const weir_directive directives[] = { WEIR_RESUME, WEIR_RETRY, WEIR_RESTART, WEIR_STOP,
                                             WEIR_ESCALATE };
/* After the last try. */
static const weir_directive thens[] = { WEIR_RESUME, WEIR_RESTART, WEIR_STOP, WEIR_ESCALATE };

static player *one, *two, *three, *four;

static weir_directive any_directive(void)
{
    return directives[weir_sim_choose(5)];
}

static weir_directive any_then(void)
{
    return thens[weir_sim_choose(4)];
}

static player *add(weir_directive on_failure, weir_directive then, const player *parent)
{
    return troupe_player(
        WEIR_PROCESSOR(.on_failure = on_failure, .retry_max = 2, .retry_then = then,
                       .restart_max = 2,
                       .parent = parent != NULL ? parent->handle : (weir_processor){ 0 }));
}

/* ---- an event waits for its next try, and something else happens ---- */

static void fail_below(void *unused)
{
    (void)unused;
    (void)troupe_give(two, PLAY_FAIL, NULL, 1);
    (void)troupe_give(two, PLAY_NOTHING, NULL, 0);
}

SCENARIO(mixed_retry_and_child, "an event is to be tried again when a child's failure comes up",
         .steps_max = STEPS)
{
    troupe_open(2);
    one = add(WEIR_RETRY, any_then(), NULL);
    two = add(WEIR_ESCALATE, WEIR_RESUME, one);
    three = add(WEIR_RESUME, WEIR_RESUME, NULL);
    stage_start();
    (void)troupe_give(three, PLAY_WATCH, one, 0);
    const int other = weir_sim_thread_start(fail_below, NULL);
    (void)troupe_give(one, PLAY_FAIL, NULL, 1);
    (void)troupe_give(one, PLAY_NOTHING, NULL, 0);
    weir_sim_thread_join(other);
    troupe_settle();
    troupe_close(WEIR_FOREVER);
}

SCENARIO(mixed_retried_answer, "an answer is to be tried again when a child's failure comes up",
         .steps_max = STEPS)
{
    troupe_open(2);
    one = add(WEIR_RETRY, any_then(), NULL);
    two = add(WEIR_ESCALATE, WEIR_RESUME, one);
    three = add(any_directive(), WEIR_RESUME, NULL);
    stage_start();
    const int other = weir_sim_thread_start(fail_below, NULL);
    (void)troupe_give(one, PLAY_ASK_THEN, three, weir_sim_choose(3));
    (void)troupe_give(one, PLAY_ASK, three, weir_sim_choose(3));
    weir_sim_thread_join(other);
    troupe_settle();
    troupe_close(WEIR_FOREVER);
}

static void stop_in_no_time(void *which)
{
    (void)troupe_stop(which, WEIR_US * (1 + weir_sim_choose(8)));
}

static void stop_soon(void *which)
{
    (void)troupe_stop(which, WEIR_US * (1 + weir_sim_choose(16)));
}

/* One thread: what a turn leaves behind is found by the next. */
SCENARIO(mixed_frozen_in_a_try, "stops run out of time while events are to be tried again",
         .steps_max = STEPS)
{
    troupe_open(1);
    one = add(WEIR_RETRY, any_then(), NULL);
    two = add(WEIR_RETRY, any_then(), one);
    three = add(any_directive(), any_then(), NULL);
    stage_start();
    (void)troupe_give(two, PLAY_FAIL, NULL, 3);
    (void)troupe_give(one, PLAY_FAIL, NULL, 1 + weir_sim_choose(3));
    const int other = weir_sim_thread_start(stop_in_no_time, two);
    (void)troupe_give(three, PLAY_WATCH, two, 0);
    (void)troupe_give(three, PLAY_FAIL, NULL, 1);
    weir_sim_thread_join(other);
    stop_in_no_time(three);
    troupe_settle();
    (void)troupe_give(one, PLAY_NOTHING, NULL, 0);
    troupe_settle();
    troupe_close(WEIR_FOREVER);
}

/* Its last try, or its child's failure, is what goes up. */
SCENARIO(mixed_frozen_on_the_way_up, "a stop runs out of time while a failure goes up",
         .steps_max = STEPS)
{
    troupe_open(1);
    one = add(any_directive(), any_then(), NULL);
    two = troupe_player(WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_max = 1,
                                       .retry_then = WEIR_ESCALATE, .parent = one->handle));
    three = add(WEIR_ESCALATE, WEIR_RESUME, two);
    stage_start();
    (void)troupe_give(two, PLAY_FAIL, NULL, 2);
    if (weir_sim_choose(2) != 0) {
        (void)troupe_give(three, PLAY_FAIL, NULL, 1);
    }
    stop_soon(two);
    troupe_settle();
    troupe_close(WEIR_FOREVER);
}

/* The word of the parent's mailbox may look as if nothing had happened: a place more, a place less.
 */
SCENARIO(mixed_escalation_and_a_place, "a failure comes up while its parent is promised one less",
         .steps_max = STEPS)
{
    static const weir_event_type later_type = {
        sizeof(weir_event_type), "mixed.later", 0, false, NULL, NULL
    };
    weir_timer timer = { 0 };
    troupe_open(2);
    one = add(WEIR_RESUME, WEIR_RESUME, NULL);
    two = add(WEIR_ESCALATE, WEIR_RESUME, one);
    stage_start();
    (void)!weir_timer_add(stage.engine, one->handle, &(weir_event){ .type = &later_type },
                          WEIR_TIMER(.after = WEIR_S, .reserve = true), &timer);
    (void)troupe_give(one, PLAY_NOTHING, NULL, 0);
    (void)troupe_give(two, PLAY_FAIL, NULL, 1);
    (void)troupe_give(two, PLAY_NOTHING, NULL, 0);
    (void)weir_timer_cancel(stage.engine, timer);
    troupe_settle();
    troupe_close(WEIR_FOREVER);
}

/* ---- questions ---- */

static void ask_twice(void *unused)
{
    (void)unused;
    troupe_ask(two, PLAY_FAIL, 50 * WEIR_US);
    troupe_ask(two, PLAY_NOTHING, 50 * WEIR_US);
}

SCENARIO(mixed_questions, "who asks and who is asked fail, are restarted, switch and are stopped",
         .steps_max = STEPS)
{
    troupe_open(2);
    one = add(any_directive(), any_then(), NULL);
    two = add(any_directive(), any_then(), NULL);
    stage_start();
    const int other = weir_sim_thread_start(ask_twice, NULL);
    (void)troupe_give(one, PLAY_ASK_THEN, two, weir_sim_choose(3));
    (void)troupe_give(one, PLAY_ASK, two, weir_sim_choose(3));
    (void)troupe_give(one, PLAY_FAIL, NULL, 1);
    (void)troupe_give(two, PLAY_SWITCH, NULL, 0);
    (void)troupe_give(two, PLAY_ASK_THEN, one, PLAY_NOTHING);
    if (weir_sim_choose(2) != 0) {
        (void)troupe_stop(two, WEIR_FOREVER);
    }
    weir_sim_thread_join(other);
    troupe_settle();
    troupe_close(WEIR_FOREVER);
}

/* ---- channels ---- */

static void move_about(void *which)
{
    const player *p = which;
    (void)weir_processor_move(stage.engine, p->handle, "b", NULL);
    (void)weir_processor_move(stage.engine, p->handle, "", NULL);
}

static void say_three(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        troupe_say();
    }
}

SCENARIO(mixed_channel, "who listens fails, is restarted, moved and stopped, joins and leaves",
         .steps_max = STEPS)
{
    troupe_open(1);
    weir_thread_add(stage.engine,
                    WEIR_THREAD(.dispatchers = WEIR_NAMES("b"), .idle = WEIR_IDLE_PARK),
                    &stage.error);
    one = add(any_directive(), any_then(), NULL);
    two = add(WEIR_RETRY, any_then(), NULL);
    three = add(WEIR_RESUME, WEIR_RESUME, NULL);
    troupe_subscribe(one);
    troupe_subscribe(two);
    troupe_subscribe(three);
    stage_start();
    const int voice = weir_sim_thread_start(say_three, NULL);
    const int mover = weir_sim_thread_start(move_about, two);
    (void)troupe_give(two, PLAY_FAIL, NULL, 1 + weir_sim_choose(3));
    (void)troupe_give(one, PLAY_FAIL, NULL, 1);
    (void)troupe_give(three, PLAY_LEAVE, NULL, 0);
    (void)troupe_give(one, PLAY_SAY, NULL, 0);
    (void)troupe_give(three, PLAY_JOIN, NULL, 0);
    if (weir_sim_choose(2) != 0) {
        (void)troupe_stop(two, WEIR_FOREVER);
    }
    troupe_say();
    weir_sim_thread_join(voice);
    weir_sim_thread_join(mover);
    troupe_settle();
    troupe_close(WEIR_FOREVER);
}

static weir_thread leaver;

static void move_and_remove(void *which)
{
    weir_error error = WEIR_ERROR_INIT;
    const player *p = which;
    const weir_status moved = weir_processor_move(stage.engine, p->handle, "", &error);
    const weir_status removed = weir_thread_remove(stage.engine, leaver, &error);
    weir_sim_check(removed == WEIR_OK || moved != WEIR_OK || stage_is_short(),
                   "a thread that nobody needs stays: %s", weir_status_name(removed));
}

SCENARIO(mixed_removal, "who is to try again is moved, and the thread where it was is removed",
         .steps_max = STEPS)
{
    troupe_open(1);
    leaver = weir_thread_add(stage.engine,
                             WEIR_THREAD(.dispatchers = WEIR_NAMES("b"), .idle = WEIR_IDLE_PARK),
                             &stage.error);
    one = add(any_directive(), any_then(), NULL);
    two = troupe_player(WEIR_PROCESSOR(.on_failure = WEIR_RETRY, .retry_max = 2,
                                       .retry_then = any_then(), .dispatcher = "b",
                                       .parent = one->handle));
    troupe_subscribe(two);
    stage_start();
    (void)troupe_give(two, PLAY_FAIL, NULL, 1 + weir_sim_choose(3));
    const int other = weir_sim_thread_start(move_and_remove, two);
    (void)troupe_give(one, PLAY_ASK_THEN, two, weir_sim_choose(3));
    troupe_say();
    (void)troupe_give(two, PLAY_ASK, one, weir_sim_choose(3));
    weir_sim_thread_join(other);
    troupe_settle();
    troupe_close(WEIR_FOREVER);
}

/* ---- letters ---- */

SCENARIO(mixed_letters, "who hears of dead letters fails on them, is restarted, tries again, ends",
         .steps_max = STEPS)
{
    troupe_open(2);
    one = add(any_directive(), any_then(), NULL);
    two = add(any_directive(), any_then(), NULL);
    troupe_coroner(one);
    if (weir_sim_choose(2) != 0) {
        troupe_coroner(two);
    }
    stage_start();
    const int other = weir_sim_thread_start(fail_below, NULL);
    (void)troupe_give(one, PLAY_FAIL, NULL, 1);
    (void)troupe_give(one, PLAY_ASK_THEN, two, weir_sim_choose(3));
    (void)troupe_give(two, PLAY_FAIL, NULL, 3);
    weir_sim_thread_join(other);
    troupe_settle();
    troupe_close(WEIR_FOREVER);
}

/* ---- timers ---- */

SCENARIO(mixed_triggers, "events to oneself against restarts, tries and ends", .steps_max = STEPS)
{
    troupe_open(2);
    one = add(any_directive(), any_then(), NULL);
    two = add(WEIR_RETRY, any_then(), one);
    stage_start();
    (void)troupe_give(one, PLAY_TRIGGER, NULL, 0);
    (void)troupe_give(two, PLAY_TRIGGER, NULL, 0);
    (void)troupe_give(one, PLAY_FAIL, NULL, 1 + weir_sim_choose(3));
    (void)troupe_give(two, PLAY_FAIL, NULL, 1 + weir_sim_choose(3));
    (void)troupe_give(one, PLAY_TRIGGER, NULL, 0);
    if (weir_sim_choose(2) != 0) {
        troupe_settle();
    }
    troupe_close(WEIR_FOREVER);
}

/* ---- everything ---- */

static void family(void)
{
    one = add(any_directive(), any_then(), NULL);
    two = add(any_directive(), any_then(), weir_sim_choose(2) != 0 ? one : NULL);
    three = add(any_directive(), any_then(), weir_sim_choose(2) != 0 ? two : NULL);
    four = add(WEIR_RESUME, WEIR_RESUME, NULL);
    troupe_subscribe(one);
    troupe_subscribe(three);
    troupe_subscribe(four);
}

static void give_some(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5; i++) {
        troupe_give_any(PLAY_END);
    }
}

static void play_all(uint32_t threads, weir_ns timeout, bool settles)
{
    troupe_open(threads);
    family();
    if (weir_sim_choose(2) != 0) {
        troupe_coroner(four);
    }
    stage_start();
    (void)troupe_give(four, PLAY_WATCH, two, 0);
    const int other = weir_sim_thread_start(give_some, NULL);
    give_some(NULL);
    if (weir_sim_choose(3) == 0) {
        stop_in_no_time(two);
    }
    if (settles) {
        weir_sim_thread_join(other);
        troupe_settle();
        troupe_close(timeout);
        return;
    }
    troupe_close_while(timeout, other);
}

SCENARIO(mixed_all, "anything, to anybody, and all of it comes to an end", .steps_max = STEPS)
{
    play_all(2, WEIR_FOREVER, true);
}

SCENARIO(mixed_all_on_one_thread, "anything, to anybody, on one thread", .steps_max = STEPS)
{
    play_all(1, WEIR_FOREVER, true);
}

SCENARIO(mixed_all_against_stop, "anything, to anybody, while the engine stops", .steps_max = STEPS)
{
    play_all(2, WEIR_FOREVER, false);
}

SCENARIO(mixed_all_out_of_time, "anything, to anybody, and the engine's stop runs out of time",
         .steps_max = STEPS)
{
    play_all(2, 10 * WEIR_US, false);
}

/* A handler that is still under way when the engine goes may begin to stop a processor. */
SCENARIO(mixed_ends_out_of_time, "players end themselves when the engine's stop is out of time",
         .steps_max = STEPS)
{
    troupe_open(2);
    one = add(WEIR_RESUME, WEIR_RESUME, NULL);
    two = add(any_directive(), WEIR_RESUME, NULL);
    three = add(WEIR_RESUME, WEIR_RESUME, NULL);
    stage_start();
    (void)troupe_give(one, PLAY_END, NULL, 0);
    (void)troupe_give(two, PLAY_FAIL, NULL, 1);
    (void)troupe_give(two, PLAY_LATE_END, NULL, 0);
    (void)troupe_give(three, PLAY_LATE_END, NULL, 0);
    troupe_close(WEIR_US);
}

static weir_thread outer;

static void turn_it(void *unused)
{
    (void)unused;
    const int bell = weir_thread_fd(stage.engine, outer);
    while (stage_cues() < 1) {
        if (weir_thread_run_once(stage.engine, outer, 2) <= 0) {
            weir_sim_poll(bell, WEIR_MS);
        }
    }
}

SCENARIO(mixed_external, "anything, to anybody, on a thread that the application turns",
         .steps_max = STEPS)
{
    troupe_open(0);
    outer = weir_thread_add(stage.engine, WEIR_THREAD(.external = true), &stage.error);
    family();
    stage_start();
    (void)weir_thread_run_once(stage.engine, outer, 4); /* all of them begin */
    const int loop = weir_sim_thread_start(turn_it, NULL);
    const int other = weir_sim_thread_start(give_some, NULL);
    give_some(NULL);
    stop_in_no_time(one);
    weir_sim_thread_join(other);
    troupe_settle();
    troupe_end(WEIR_FOREVER);
    stage_cue();
    weir_sim_thread_join(loop);
    troupe_compare();
}
