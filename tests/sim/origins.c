/*
 * origins.c - what a source may take for done: a position is committed when all that came of what
 * was read up to it has ended, and not before (S-84).
 *
 * Each mark stands for some parts. That one has ended is a plain write by whoever ends it; who is
 * told of a commit reads them all: a missing edge between the two is a race.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"
#include "engine/origin.h"
#include "engine/shutdown.h"
#include "feed/tracker.h"
#include "scenario.h"

#include <string.h>

#define MARKS 4u
#define PARTS 2u

static weir__tracker *tracker;
static uint32_t ended[PARTS][MARKS + 1];
static uint32_t parts; /* of every mark */

static void check_committed(void *unused)
{
    uint64_t position = 0;
    (void)unused;
    weir_sim_check(weir__tracker_committed(tracker, &position), "it was told of no position");
    for (uint64_t mark = 1; mark <= position; mark++) {
        for (uint32_t part = 0; part < parts; part++) {
            weir_sim_check(ended[part][mark] != 0,
                           "position %llu is committed, and part %u of %llu has not ended",
                           (unsigned long long)position, part, (unsigned long long)mark);
        }
    }
}

/* After the start. False: there is no memory. */
static bool open_tracker(uint32_t of_each)
{
    memset(ended, 0, sizeof(ended));
    parts = of_each;
    weir_sim_quiet(true);
    tracker = weir__tracker_open(stage.engine, check_committed, NULL);
    weir_sim_quiet(false);
    return tracker != NULL;
}

/* All has ended: all is committed. */
static void check_all(uint64_t marks)
{
    uint64_t position = 0;
    const bool known = tracker != NULL && weir__tracker_committed(tracker, &position);
    weir_sim_check((known || marks == 0) && position == marks, "%llu of %llu marks are committed",
                   (unsigned long long)position, (unsigned long long)marks);
    weir_sim_check(tracker == NULL || weir__tracker_outstanding(tracker) == 0,
                   "marks are outstanding");
}

/* In place of stage_close: the engine's last act may still be a release. */
static void close_all(void)
{
    weir__shutdown_join(stage.engine, WEIR_FOREVER);
    weir_sim_quiet(true);
    weir__tracker_close(tracker);
    tracker = NULL;
    weir_sim_quiet(false);
    stage_close();
}

/* ---- the tracker by itself ---- */

static WEIR__ATOMIC(weir_origin *) held[PARTS][MARKS + 1];

static void release_part(uint32_t part, uint32_t mark)
{
    weir_origin *origin = weir__exchange(&held[part][mark], NULL, acquire);
    if (origin != NULL) {
        ended[part][mark] = 1;
        weir__origin_release(origin);
    }
}

static void release_forwards(void *unused)
{
    (void)unused;
    for (uint32_t mark = 1; mark <= MARKS; mark++) {
        release_part(0, mark);
    }
}

static void release_backwards(void *unused)
{
    (void)unused;
    for (uint32_t mark = MARKS; mark >= 1; mark--) {
        release_part(1, mark);
    }
}

/* Marks, and gives each thread its part of it. */
static uint64_t mark_some(void)
{
    for (uint32_t mark = 1; mark <= MARKS; mark++) {
        weir_origin *origin = weir__tracker_origin(tracker);
        if (origin == NULL) {
            return mark - 1;
        }
        weir__origin_hold(origin, PARTS);
        weir__store(&held[0][mark], origin, release);
        weir__store(&held[1][mark], origin, release);
        if (weir__tracker_mark(tracker, mark) != WEIR_OK) {
            return mark - 1;
        }
    }
    return MARKS;
}

SCENARIO(origin_marks, "two threads release marks in two orders while a third one marks")
{
    uint64_t marks = 0;
    stage_open(NULL);
    stage_threads(1);
    stage_start();
    if (open_tracker(PARTS)) {
        for (uint32_t mark = 1; mark <= MARKS; mark++) {
            weir__init(&held[0][mark], NULL);
            weir__init(&held[1][mark], NULL);
        }
        const int one = weir_sim_thread_start(release_forwards, NULL);
        const int other = weir_sim_thread_start(release_backwards, NULL);
        marks = mark_some();
        weir_sim_thread_join(one);
        weir_sim_thread_join(other);
        release_forwards(NULL); /* what they came too early for */
        release_backwards(NULL);
    }
    check_all(marks);
    stage_stop(WEIR_FOREVER);
    close_all();
}

SCENARIO(origin_marks_of_before, "what was marked before is released by two threads at once")
{
    uint64_t marks = 0;
    stage_open(NULL);
    stage_threads(1);
    stage_start();
    if (open_tracker(PARTS)) {
        weir_sim_quiet(true);
        marks = mark_some();
        weir_sim_quiet(false);
        const int other = weir_sim_thread_start(release_backwards, NULL);
        release_forwards(NULL);
        weir_sim_thread_join(other);
    }
    check_all(marks);
    stage_stop(WEIR_FOREVER);
    close_all();
}

/* ---- through processors ---- */

static actor *leaves[PARTS];

/* Which mark the event at hand is of. */
static uint32_t mark_of(const weir_event *event)
{
    const stage_message *message = weir_event_as(event, &stage_message_type);
    return message != NULL ? message->what : 0;
}

static weir_status end_part(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)turn;
    ended[self == leaves[0] ? 0 : 1][mark_of(event)] = 1;
    return WEIR_OK;
}

static weir_status pass_on(weir_turn *turn, actor *to, uint32_t mark)
{
    const stage_message message = { .send = stage_send_begins(to), .what = mark };
    const weir_event event = { .type = &stage_message_type,
                               .data = &message,
                               .size = (uint32_t)sizeof(message) };
    const weir_status status = weir_turn_post(turn, to->handle, &event);
    stage_send_ends(message.send, status);
    return status;
}

/* What cannot be sent has ended here. */
static weir_status fan_out(actor *self, weir_turn *turn, const weir_event *event)
{
    (void)self;
    const uint32_t mark = mark_of(event);
    for (uint32_t part = 0; part < PARTS; part++) {
        if (pass_on(turn, leaves[part], mark) != WEIR_OK) {
            ended[part][mark] = 1;
        }
    }
    return WEIR_OK;
}

/* One event a mark. Returns how many were marked. What is not accepted has ended. */
static uint64_t publish(actor *to, uint32_t count)
{
    weir__context *context = weir__context_find(stage.engine);
    uint64_t marks = 0;
    for (uint32_t mark = 1; mark <= count && context != NULL; mark++) {
        weir_origin *origin = weir__tracker_origin(tracker);
        if (origin == NULL) {
            break;
        }
        weir__origin_enter(context, origin);
        const weir_status status = stage_post_what(to, mark);
        weir__origin_leave(context);
        for (uint32_t part = 0; status != WEIR_OK && part < parts; part++) {
            ended[part][mark] = 1;
        }
        if (weir__tracker_mark(tracker, mark) != WEIR_OK) {
            break;
        }
        marks = mark;
    }
    return marks;
}

SCENARIO(origin_fan_out, "one event, and two that come of it: all must end before it is committed")
{
    uint64_t marks = 0;
    stage_open(NULL);
    stage_threads(2);
    leaves[0] = stage_actor(NULL, end_part);
    leaves[1] = stage_actor(NULL, end_part);
    actor *root = stage_actor(NULL, fan_out);
    stage_start();
    if (open_tracker(PARTS)) {
        marks = publish(root, 3);
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    check_all(marks);
    close_all();
}

static void post_two(void *to)
{
    stage_post(to);
    stage_post(to);
}

SCENARIO(origin_evicted, "events with an origin are pushed out by two posters, or handled")
{
    uint64_t marks = 0;
    stage_open(NULL);
    stage_threads(1);
    leaves[0] = stage_actor(WEIR_PROCESSOR(.mailbox_max = 2, .overflow = WEIR_OVERFLOW_DROP_OLDEST),
                            end_part);
    stage_start();
    const bool tracked = open_tracker(0); /* an event that was pushed out leaves no trace */
    const int other = weir_sim_thread_start(post_two, leaves[0]);
    if (tracked) {
        marks = publish(leaves[0], 3);
    }
    weir_sim_thread_join(other);
    stage_stop(WEIR_FOREVER);
    check_all(marks);
    close_all();
}

/* ---- ends that are none ---- */

static weir_status dawdle(actor *self, weir_turn *turn, const weir_event *event)
{
    weir_sim_sleep((weir_ns)(1 + weir_sim_choose(3)) * WEIR_US);
    if (self->own != NULL) {
        if (pass_on(turn, self->own, mark_of(event)) == WEIR_OK) {
            return WEIR_OK;
        }
    }
    return self == leaves[0] ? end_part(self, turn, event) : WEIR_OK;
}

SCENARIO(origin_left, "a stop that runs out of time commits nothing that was not handled",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS)
{
    stage_open(NULL);
    stage_threads(2);
    leaves[0] = stage_actor(NULL, dawdle);
    actor *first = stage_actor(NULL, dawdle);
    first->own = leaves[0];
    stage_start();
    const bool tracked = open_tracker(stage_is_short() ? 0 : 1);
    if (tracked) {
        (void)publish(first, 3);
    }
    stage_stop(2 * WEIR_US);
    close_all();
}

/* ---- questions ---- */

static weir_status ask_leaf(actor *self, weir_turn *turn, const weir_event *event)
{
    const uint32_t mark = mark_of(event);
    if (mark == 0) { /* what comes back: the mark is what is next */
        ended[0][++ended[0][0]] = 1;
        return WEIR_OK;
    }
    if (actor_ask(self, turn, leaves[1], 20 * WEIR_US) != WEIR_OK) {
        ended[0][++ended[0][0]] = 1;
    }
    return WEIR_OK;
}

static weir_status answer_or_not(actor *self, weir_turn *turn, const weir_event *event)
{
    if (weir_sim_choose(2) == 0) {
        (void)actor_answer(self, turn, event->from);
    }
    return WEIR_OK;
}

SCENARIO(origin_asks, "what is asked for is not done before an answer, or the timeout, has come")
{
    uint64_t marks = 0;
    stage_open(NULL);
    stage_threads(2);
    leaves[0] = stage_actor(NULL, ask_leaf);
    leaves[1] = stage_actor(NULL, answer_or_not);
    stage_start();
    if (open_tracker(0)) {
        marks = publish(leaves[0], 2);
    }
    stage_settle();
    stage_stop(WEIR_FOREVER);
    check_all(marks);
    weir_sim_check(ended[0][0] >= marks || stage_is_short(), "%u of %llu came back", ended[0][0],
                   (unsigned long long)marks);
    close_all();
}
