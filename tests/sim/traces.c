/*
 * traces.c - recordings that begin and end while threads write, and trace contexts that travel
 * beside what tracks an event.
 *
 * Records are plain memory: one that is written when the stop has let go of the rings is a race, or
 * a write into memory that is gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"
#include "engine/origin.h"
#include "engine/shutdown.h"
#include "engine/trace.h"
#include "feed/tracker.h"
#include "scenario.h"

#include <string.h>

/* ---- recordings ---- */

static uint64_t sum; /* so that what is read is read */

static void read_records(void)
{
    weir__recorder *recorder = weir__trace_take(stage.engine);
    if (recorder == NULL) {
        return;
    }
    weir_sim_check(weir__recorder_rings(recorder) <= recorder->count, "rings out of nothing");
    for (uint32_t r = 0; r < weir__recorder_rings(recorder); r++) {
        const weir__trace_ring *ring = &recorder->rings[r];
        for (uint32_t i = 0; i < weir__trace_held(ring); i++) {
            const weir__trace_record *record = weir__trace_at(ring, i);
            weir_sim_check(record->kind >= WEIR__TRACE_TURN && record->kind <= WEIR__TRACE_PARENT,
                           "record %u of ring %u is of no kind", i, r);
            sum += record->who + record->what;
        }
    }
    weir__trace_give_back(stage.engine, recorder);
}

static void record_twice(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        const weir_status status =
            weir_trace_start(stage.engine, WEIR_TRACE(.records_max = 16), NULL);
        weir_sim_check(status == WEIR_OK || status == WEIR_E_NOMEM, "a trace is on");
        if (status == WEIR_OK) {
            weir_sim_check(weir_trace_stop(stage.engine) == WEIR_OK, "no trace is on");
            read_records();
        }
    }
}

/* As the turn of a measured event does it; and its post. */
static weir_status measured(actor *self, weir_turn *turn, const weir_event *event)
{
    weir__context *context = weir__context_find(stage.engine);
    if (context != NULL) {
        weir__trace_handled(context, weir_turn_self(turn), event, 1, 2, 3);
        weir__trace_posted(context, self->handle.id, event->type, 1);
    }
    return WEIR_OK;
}

static void post_measured(actor *to)
{
    weir__context *context = weir__context_find(stage.engine);
    if (stage_post(to) == WEIR_OK && context != NULL) {
        weir__trace_posted(context, to->handle.id, &stage_message_type, 1);
    }
}

SCENARIO(trace_against_writers, "recordings begin and end while a thread and a poster write")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, measured);
    stage_start();
    const int other = weir_sim_thread_start(record_twice, NULL);
    post_measured(a);
    post_measured(a);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

static void stop_and_read(void *unused)
{
    (void)unused;
    (void)weir_trace_stop(stage.engine);
    read_records();
}

SCENARIO(trace_two_stops, "two end a recording, and one of them has done it")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, measured);
    stage_start();
    const weir_status on = weir_trace_start(stage.engine, WEIR_TRACE(.records_max = 16), NULL);
    const int other = weir_sim_thread_start(stop_and_read, NULL);
    post_measured(a);
    const weir_status off = weir_trace_stop(stage.engine);
    weir_sim_thread_join(other);
    weir_sim_check(on == WEIR_OK || off == WEIR_ALREADY, "what was not begun was ended");
    read_records();
    stage_stop(WEIR_FOREVER);
    stage_close();
}

/* ---- trace contexts ---- */

#define MARKS 3u

static weir__tracker *tracker;
static uint32_t ended[MARKS + 1];
static actor *leaf;
static uint32_t refused[MARKS + 1]; /* for want of memory; written before the post */

static void check_committed(void *unused)
{
    uint64_t position = 0;
    (void)unused;
    weir_sim_check(weir__tracker_committed(tracker, &position), "it was told of no position");
    for (uint64_t mark = 1; mark <= position; mark++) {
        weir_sim_check(ended[mark] != 0, "%llu is committed, and has not ended",
                       (unsigned long long)mark);
    }
}

static bool open_tracker(void)
{
    memset(ended, 0, sizeof(ended));
    memset(refused, 0, sizeof(refused));
    weir_sim_quiet(true);
    tracker = weir__tracker_open(stage.engine, check_committed, NULL);
    weir_sim_quiet(false);
    return tracker != NULL;
}

static void close_all(void)
{
    weir__shutdown_join(stage.engine, WEIR_FOREVER);
    weir_sim_quiet(true);
    weir__tracker_close(tracker);
    tracker = NULL;
    weir_sim_quiet(false);
    stage_close();
}

static weir_traceparent numbered(uint32_t mark)
{
    weir_traceparent t = { .trace = { 1 }, .parent = { (uint8_t)mark } };
    return t;
}

static uint32_t mark_of(const weir_event *event)
{
    const stage_message *message = weir_event_as(event, &stage_message_type);
    return message != NULL ? message->what : 0;
}

static weir_status end_here(actor *self, weir_turn *turn, const weir_event *event)
{
    weir_traceparent t;
    const uint32_t mark = mark_of(event);
    const weir_status found = weir_turn_traceparent(turn, &t);
    (void)self;
    if (mark > 0) {
        weir_sim_check(refused[mark] > 0 || (found == WEIR_OK && t.parent[0] == mark),
                       "the event of mark %u has the context of another, or none", mark);
        ended[mark] = 1;
    } else {
        weir_sim_check(found == WEIR_UNKNOWN, "an event that nobody traces has a context");
    }
    return WEIR_OK;
}

static weir_status trace_and_pass(actor *self, weir_turn *turn, const weir_event *event)
{
    const uint32_t mark = mark_of(event);
    const weir_traceparent t = numbered(mark);
    (void)self;
    refused[mark] = weir_turn_traceparent_set(turn, mark > 0 ? &t : NULL) != WEIR_OK;
    const stage_message message = { .send = stage_send_begins(leaf), .what = mark };
    const weir_event next = { .type = &stage_message_type,
                              .data = &message,
                              .size = (uint32_t)sizeof(message) };
    const weir_status status = weir_turn_post(turn, leaf->handle, &next);
    stage_send_ends(message.send, status);
    if (status != WEIR_OK && mark > 0) {
        ended[mark] = 1;
    }
    return WEIR_OK;
}

/* One event a mark. Returns how many were marked. */
static uint64_t publish(actor *to)
{
    weir__context *context = weir__context_find(stage.engine);
    uint64_t marks = 0;
    for (uint32_t mark = 1; mark <= MARKS && context != NULL; mark++) {
        weir_origin *origin = weir__tracker_origin(tracker);
        if (origin == NULL) {
            break;
        }
        weir__origin_enter(context, origin);
        const weir_status status = stage_post_what(to, mark);
        weir__origin_leave(context);
        if (status != WEIR_OK) {
            ended[mark] = 1;
        }
        if (weir__tracker_mark(tracker, mark) != WEIR_OK) {
            break;
        }
        marks = mark;
    }
    return marks;
}

static void post_untraced(void *to)
{
    stage_post(to);
    stage_post(to);
}

SCENARIO(traceparent_beside_marks, "events are traced on their way, and marks wait for them")
{
    uint64_t marks = 0;
    uint64_t position = 0;
    stage_open(NULL);
    stage_threads(2);
    leaf = stage_actor(NULL, end_here);
    actor *root = stage_actor(NULL, trace_and_pass);
    stage_start();
    const bool tracked = open_tracker();
    const int other = weir_sim_thread_start(post_untraced, root);
    if (tracked) {
        marks = publish(root);
    }
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    weir_sim_check(stage.engine->carriers.first == NULL, "a carrier outlives its events");
    weir_sim_check(marks == 0 || (weir__tracker_committed(tracker, &position) && position == marks),
                   "%llu of %llu marks are committed", (unsigned long long)position,
                   (unsigned long long)marks);
    close_all();
}

SCENARIO(traceparent_left, "a stop runs out of time while traced events are on their way",
         .faults = WEIR_SIM_DEFAULT_FAULTS | WEIR_SIM_TIME_JUMPS)
{
    stage_open(NULL);
    stage_threads(2);
    leaf = stage_actor(NULL, end_here);
    actor *root = stage_actor(NULL, trace_and_pass);
    stage_start();
    if (open_tracker()) {
        (void)publish(root);
    }
    stage_stop(2 * WEIR_US);
    close_all();
}

static void trace_and_end(void *to)
{
    const weir_traceparent t = numbered(1);
    if (weir_engine_traceparent_set(stage.engine, &t) == WEIR_OK) {
        (void)stage_post_what(to, 1);
    }
}

static weir_status compare(actor *self, weir_turn *turn, const weir_event *event)
{
    weir_traceparent t;
    (void)self;
    const weir_status found = weir_turn_traceparent(turn, &t);
    weir_sim_check((found == WEIR_OK) == (mark_of(event) == 1), "the context of another thread");
    return WEIR_OK;
}

SCENARIO(traceparent_thread_ends, "a thread that traces what it posts ends; its context is used on")
{
    stage_open(NULL);
    stage_threads(1);
    actor *a = stage_actor(NULL, compare);
    stage_start();
    const int one = weir_sim_thread_start(trace_and_end, a);
    const int other = weir_sim_thread_start(post_untraced, a);
    stage_post(a);
    weir_sim_thread_join(one);
    weir_sim_thread_join(other);
    stage_settle();
    stage_stop(WEIR_FOREVER);
    stage_close();
}
