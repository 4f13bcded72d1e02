/*
 * ask.c - questions: an answer against a timeout, against another answer, against the end of the
 * asker, of who is asked, and of the engine. The history sees to it that one thing comes back; here
 * it is compared with what the one who answered was told.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#define SOON (20 * WEIR_US)

enum { ASKS_MAX = 4 };

static actor *asker, *target, *deputy;
/* Plain, each written by one processor, and read when the engine has stopped. */
typedef struct tally {
    uint32_t answered, refused;
} tally;
static tally of_target, of_deputy;
static uint32_t answers, timeouts; /* what came back */
static uint32_t to_ask;            /* how many more */
static weir_ns timeout;
static weir_ticket tickets[ASKS_MAX];
static uint32_t kept;

static void reset(uint32_t questions, weir_ns after)
{
    of_target = (tally){ 0 };
    of_deputy = (tally){ 0 };
    answers = 0;
    timeouts = 0;
    kept = 0;
    to_ask = questions;
    timeout = after;
}

/* ---- parts ---- */

/* Asks once for every message, and again with what comes back, as long as there is something to
 * ask. */
static weir_status ask(actor *self, weir_turn *turn, const weir_event *event)
{
    answers += event->type == &stage_answer_type;
    timeouts += event->type == &weir_timeout_type;
    if (to_ask > 0) {
        to_ask--;
        (void)actor_ask(self, turn, target, timeout);
    }
    return WEIR_OK;
}

static void note_answer(tally *of, weir_status status)
{
    of->answered += status == WEIR_OK;
    of->refused += status != WEIR_OK;
}

static weir_status answer(actor *self, weir_turn *turn, const weir_event *event)
{
    note_answer(&of_target, actor_answer(self, turn, event->from));
    return WEIR_OK;
}

/* As long as the questions last, about: both outcomes are near. */
static weir_status answer_late(actor *self, weir_turn *turn, const weir_event *event)
{
    weir_sim_work(SOON - 2 * WEIR_US + (weir_ns)weir_sim_choose(3) * 2 * WEIR_US);
    return answer(self, turn, event);
}

static weir_status never_answer(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

/* Answers, and lets the deputy do so, too. */
static weir_status answer_twice(actor *self, weir_turn *turn, const weir_event *event)
{
    tickets[kept++ % ASKS_MAX] = event->from;
    (void)actor_post(self, turn, deputy);
    return answer(self, turn, event);
}

static weir_status answer_what_was_kept(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)event;
    note_answer(&of_deputy, actor_answer(self, turn, tickets[0]));
    return WEIR_OK;
}

/* ---- the stage ---- */

/* On dispatchers of their own, so that they run at once. */
static void set_up(const weir_processor_options *of_asker, actor_part *part)
{
    stage_open(
        WEIR_ENGINE(.processors_max = 16, .scheduler_threads = 1, .log_level = WEIR_LOG_OFF));
    for (int i = 0; i < 2; i++) {
        weir_thread_add(
            stage.engine,
            WEIR_THREAD(.dispatchers = WEIR_NAMES("", "target"), .idle = WEIR_IDLE_PARK),
            &stage.error);
    }
    target = stage_actor(WEIR_PROCESSOR(.dispatcher = "target"), part);
    asker = stage_actor(of_asker, ask);
}

/* The engine has stopped. */
static void conclude(void)
{
    const uint32_t given = of_target.answered + of_deputy.answered;
    weir_sim_check(answers == given, "%u answers were given, %u came", given, answers);
    stage_close();
}

static void finish(void)
{
    stage_settle();
    stage_stop(WEIR_FOREVER);
    conclude();
}

/* ---- answers and timeouts ---- */

SCENARIO(ask_answer, "questions one after the other, all of them answered in time")
{
    set_up(NULL, answer);
    reset(3, WEIR_FOREVER);
    stage_start();
    stage_post(asker);
    finish();
    weir_sim_check(timeouts == 0, "a timeout came, and there was none");
}

SCENARIO(ask_two, "two questions open at once, from one asker")
{
    set_up(NULL, answer);
    reset(2, 10 * WEIR_S);
    stage_start();
    stage_post(asker);
    stage_post(asker);
    finish();
}

SCENARIO(ask_race, "an answer at the moment of its timeout")
{
    set_up(NULL, answer_late);
    reset(1, SOON);
    stage_start();
    stage_post(asker);
    finish();
}

/* The second is asked in the place of the first, whose alarm rings at this moment: it is watched by
 * one of the two, or it would be for ever. */
static weir_status ask_again(actor *self, weir_turn *turn, const weir_event *event)
{
    answers += event->type == &stage_answer_type;
    timeouts += event->type == &weir_timeout_type;
    if (to_ask > 0) {
        to_ask--;
        weir_sim_work(to_ask == 0 ? SOON - 4 * WEIR_US + (weir_ns)weir_sim_choose(4) * 2 * WEIR_US
                                  : 1);
        (void)actor_ask(self, turn, to_ask == 0 ? deputy : target, SOON);
    }
    return WEIR_OK;
}

SCENARIO(ask_in_the_place_of_another, "a question where the alarm has just looked")
{
    set_up(NULL, answer);
    reset(2, SOON);
    asker->part = ask_again;
    deputy = stage_actor(WEIR_PROCESSOR(.dispatcher = "target"), never_answer);
    stage_start();
    stage_post(asker);
    finish();
}

/* The second has less time than the alarm was set for. */
static weir_status ask_sooner(actor *self, weir_turn *turn, const weir_event *event)
{
    answers += event->type == &stage_answer_type;
    timeouts += event->type == &weir_timeout_type;
    if (event->type == &stage_message_type) {
        to_ask--;
        (void)actor_ask(self, turn, target, to_ask == 1 ? SOON : 2 * WEIR_US);
    }
    return WEIR_OK;
}

SCENARIO(ask_sooner, "a question that is late before the alarm was to ring")
{
    set_up(NULL, never_answer);
    reset(2, 0);
    asker->part = ask_sooner;
    stage_start();
    stage_post(asker);
    weir_sim_sleep(SOON - 6 * WEIR_US + (weir_ns)weir_sim_choose(4) * 2 * WEIR_US);
    stage_post(asker);
    finish();
}

SCENARIO(ask_twice_answered, "two processors have the ticket: one of them answers")
{
    set_up(NULL, answer_twice);
    reset(1, WEIR_FOREVER);
    deputy = stage_actor(NULL, answer_what_was_kept);
    stage_start();
    stage_post(asker);
    finish();
    weir_sim_check(stage_is_short() || (answers == 1 && of_target.refused + of_deputy.refused == 1),
                   "two answers were given, and %u came", answers);
}

SCENARIO(ask_full, "places are promised: a mailbox of two, and posts that want them")
{
    set_up(WEIR_PROCESSOR(.mailbox_max = 2), answer);
    reset(3, 10 * WEIR_S);
    stage_start();
    for (int i = 0; i < 3; i++) {
        stage_post(asker);
    }
    finish();
}

/* ---- ends ---- */

static void stop_asker(void *unused)
{
    (void)unused;
    weir_sim_sleep((weir_ns)weir_sim_choose(4) * 8 * WEIR_US);
    stage_stop_actor(asker, WEIR_FOREVER);
}

static void against_the_end(void (*end)(void *))
{
    stage_start();
    stage_post(asker);
    stage_post(asker);
    const int other = weir_sim_thread_start(end, NULL);
    weir_sim_thread_join(other);
    if (timeout != WEIR_FOREVER) { /* else a stop that had no memory has left it as it was */
        stage_settle();
    }
    stage_stop(WEIR_FOREVER);
    conclude();
}

SCENARIO(ask_asker_stops, "the asker is stopped while it is answered, and its alarm rings")
{
    set_up(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), answer_late);
    reset(2, SOON);
    against_the_end(stop_asker);
}

SCENARIO(ask_asker_stops_unanswered, "the same, and nobody answers: timeouts, before its destroy")
{
    set_up(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), never_answer);
    reset(2, WEIR_FOREVER);
    against_the_end(stop_asker);
}

SCENARIO(ask_quiet_asker_stops, "an asker that has nothing to run at its end, and may stand idle")
{
    set_up(NULL, answer_late);
    reset(2, SOON);
    against_the_end(stop_asker);
}

SCENARIO(ask_quiet_asker_stops_unanswered, "the same, and nobody answers")
{
    set_up(NULL, never_answer);
    reset(2, WEIR_FOREVER);
    against_the_end(stop_asker);
}

static void stop_target(void *unused)
{
    (void)unused;
    stage_stop_actor(target, WEIR_FOREVER);
}

SCENARIO(ask_target_stops, "who is asked is stopped")
{
    set_up(NULL, answer);
    reset(3, SOON);
    against_the_end(stop_target);
}

static void stop_engine(void *unused)
{
    (void)unused;
    weir_sim_sleep((weir_ns)weir_sim_choose(4) * 8 * WEIR_US);
    stage_stop(WEIR_FOREVER);
}

static void engine_ends(actor_part *part, weir_ns after)
{
    set_up(NULL, part);
    reset(3, after);
    stage_start();
    stage_post(asker);
    const int other = weir_sim_thread_start(stop_engine, NULL);
    stage_post(asker);
    weir_sim_thread_join(other);
    conclude();
}

SCENARIO(ask_engine_stops, "the engine is stopped while questions are asked and answered")
{
    engine_ends(answer_late, SOON);
}

SCENARIO(ask_engine_stops_unanswered, "the same, and nobody answers: timeouts, before it closes")
{
    engine_ends(never_answer, WEIR_FOREVER);
}

/* One is late at the moment of the stop, the other never is. */
static weir_status ask_soon_and_for_ever(actor *self, weir_turn *turn, const weir_event *event)
{
    timeouts += event->type == &weir_timeout_type;
    if (event->type == &stage_message_type) {
        (void)actor_ask(self, turn, target, SOON);
        (void)actor_ask(self, turn, target, WEIR_FOREVER);
    }
    return WEIR_OK;
}

SCENARIO(ask_engine_stops_while_it_rings, "the engine is stopped at the moment of an alarm")
{
    set_up(NULL, never_answer);
    reset(0, 0);
    asker->part = ask_soon_and_for_ever;
    stage_start();
    stage_post(asker);
    weir_sim_sleep(SOON - 2 * WEIR_US + (weir_ns)weir_sim_choose(8) * 2 * WEIR_US);
    stage_stop(WEIR_FOREVER);
    conclude();
}

/* ---- ends that run out of time ---- */

static weir_status ask_and_stay(actor *self, weir_turn *turn, const weir_event *event)
{
    const weir_status status = ask(self, turn, event);
    weir_sim_work(10 * WEIR_US);
    return status;
}

static void stop_asker_at_once(void *unused)
{
    (void)unused;
    weir_sim_sleep((weir_ns)weir_sim_choose(4) * 3 * WEIR_US);
    stage_stop_actor(asker, WEIR_NOW);
}

SCENARIO(ask_asker_given_up, "the asker's stop runs out of time: nothing is owed any more")
{
    set_up(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), answer);
    reset(3, SOON);
    asker->part = ask_and_stay;
    stage_start();
    stage_post(asker);
    stage_post(asker);
    const int other = weir_sim_thread_start(stop_asker_at_once, NULL);
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    stage_close();
}

SCENARIO(ask_engine_given_up, "the engine's stop runs out of time")
{
    set_up(WEIR_PROCESSOR(.init = actor_init, .destroy = actor_destroy), answer);
    reset(3, SOON);
    asker->part = ask_and_stay;
    stage_start();
    stage_post(asker);
    stage_post(asker);
    weir_sim_sleep((weir_ns)weir_sim_choose(4) * 3 * WEIR_US);
    stage_stop(WEIR_NOW);
    stage_close();
}

/* ---- memory ---- */

SCENARIO(ask_short, "memory runs out while questions are asked and answered",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_ALLOCATIONS)
{
    set_up(NULL, answer);
    reset(6, SOON);
    stage_start();
    for (int i = 0; i < 4; i++) {
        stage_post(asker);
    }
    finish();
}

/* ---- threads that wait ---- */

static weir_status got[2];

static void ask_from_outside(void *which)
{
    weir_event reply;
    weir_status *status = which;
    const uint32_t question = stage_timer_begins(target);
    const stage_message message = { question, 0 };
    *status = weir_engine_ask(
        stage.engine, target->handle,
        &(weir_event){ .type = &stage_message_type, .data = &message, .size = sizeof(message) },
        timeout, &reply);
    /* Whether it was refused, or stopped while it waited, it cannot tell; nor can the history. */
    const bool sent = *status == WEIR_OK || *status == WEIR_TIMEOUT;
    weir_sim_check(*status != WEIR_OK || reply.type == &stage_answer_type, "no answer, but OK");
    weir_sim_check(*status == WEIR_OK || reply.type == NULL, "an answer, but not OK");
    weir_event_release(&reply);
    stage_send_ends(question, sent ? WEIR_OK : WEIR_ALREADY);
}

SCENARIO(ask_from_threads, "two threads wait for an answer that may come too late")
{
    set_up(NULL, answer_late);
    reset(0, SOON);
    stage_start();
    const int other = weir_sim_thread_start(ask_from_outside, &got[1]);
    ask_from_outside(&got[0]);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    weir_sim_check(stage_is_short() || of_target.answered == (uint32_t)(got[0] == WEIR_OK) +
                                                                 (uint32_t)(got[1] == WEIR_OK),
                   "%u answers were given", of_target.answered);
    stage_close();
}

static void wait_for_ever(void *which)
{
    weir_event reply;
    *(weir_status *)which =
        weir_engine_ask(stage.engine, target->handle, &(weir_event){ .type = &weir_text_type },
                        WEIR_FOREVER, &reply);
}

static weir_status hear(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

SCENARIO(ask_from_a_thread_against_a_stop, "the engine closes while a thread waits for an answer")
{
    weir_error error = WEIR_ERROR_INIT;
    stage_open(NULL);
    stage_threads(1);
    actor mute = { .handle =
                       weir_processor_add(stage.engine, WEIR_PROCESSOR(.handler = hear), &error) };
    target = &mute;
    stage_start();
    const int other = weir_sim_thread_start(wait_for_ever, &got[0]);
    weir_engine_stop(stage.engine, WEIR_FOREVER, NULL);
    weir_sim_thread_join(other);
    weir_sim_check(got[0] == WEIR_STOPPING || stage_is_short(), "it was told %s",
                   weir_status_name(got[0]));
    weir_sim_quiet(true);
    weir_engine_destroy(stage.engine);
}
