/*
 * watch_support.h - watchers that do as they are told by events, and write down what they were
 * answered and what they heard; and an engine that the test turns by hand, so that each step is
 * over before the next one begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_WATCH_SUPPORT_H
#define WEIR_TEST_WATCH_SUPPORT_H

#include "fault_support.h"

enum { WATCH = 1, UNWATCH, NOTES_MAX = 64 };

typedef struct order {
    uint64_t what, tag;
    weir_processor target;
} order;
WEIR_EVENT_TYPE(order, "test.order");

typedef struct note {
    weir_down down;
    uint64_t tag;
    uint64_t rest; /* of the event: nothing of whoever had its memory before */
    weir_processor sender;
    weir_status post;    /* what a post to the target was answered, in the handler of the event */
    uint64_t numbers;    /* events of another kind that came before */
    uint64_t gone_state; /* of the target, if the test has set where to look */
} note;

typedef struct watcher {
    weir_processor handle;
    weir_status answers[NOTES_MAX];
    size_t answer_count;
    note notes[NOTES_MAX];
    size_t note_count;
    uint64_t numbers;
    const uint64_t *look_at;
    sem_t answered, told;
} watcher;

static inline weir_status watcher_handle(void *state, weir_turn *turn, const weir_event *event)
{
    watcher *w = state;
    const weir_down *down = weir_event_as(event, &weir_down_type);
    const order *o = weir_event_as(event, &order_type);
    if (down != NULL && w->note_count < NOTES_MAX) {
        w->notes[w->note_count++] =
            (note){ .down = *down,
                    .tag = event->tag,
                    .rest = event->flow | event->from.ask | event->flags,
                    .sender = event->from.sender,
                    .post = weir_turn_post(turn, down->processor, WEIR_EVENT(number, 1)),
                    .numbers = w->numbers,
                    .gone_state = w->look_at != NULL ? *w->look_at : 0 };
        (void)sem_post(&w->told);
    } else if (o != NULL && w->answer_count < NOTES_MAX) {
        w->answers[w->answer_count++] = o->what == WATCH ? weir_turn_watch(turn, o->target, o->tag)
                                                         : weir_turn_unwatch(turn, o->target);
        (void)sem_post(&w->answered);
    } else {
        w->numbers++;
    }
    return WEIR_OK;
}

static inline void watcher_add(weir_engine *engine, watcher *w, uint32_t mailbox_max)
{
    memset(w, 0, sizeof(*w));
    assert_int_equal(0, sem_init(&w->answered, 0, 0));
    assert_int_equal(0, sem_init(&w->told, 0, 0));
    w->handle = test_processor_add(engine, WEIR_PROCESSOR(.handler = watcher_handle, .argument = w,
                                                          .mailbox_max = mailbox_max));
}

/* An engine turned by hand. */
typedef struct bed {
    test_fault fault;
    weir_engine *engine;
    weir_thread loop;
    atomic_int lost; /* entries in the log about something that was not given back */
} bed;

static inline void bed_log(void *context, const weir_log_entry *entry)
{
    if (strstr(entry->text, "not released") != NULL) {
        atomic_fetch_add(&((bed *)context)->lost, 1);
    }
}

static inline void bed_make(bed *b)
{
    memset(b, 0, sizeof(*b));
    test_fault_init(&b->fault);
    const weir_allocator allocator = { test_fault_allocate, test_fault_release, &b->fault };
    b->engine =
        test_engine_create(WEIR_ENGINE(.allocator = &allocator, .log = bed_log, .log_context = b));
    b->loop = test_thread_add(b->engine, WEIR_THREAD(.external = true));
}

static inline void bed_turn(bed *b)
{
    TEST_UNTIL(weir_thread_run_once(b->engine, b->loop, 0) == 0);
}

/* What it answers at once; its events are the caller's. */
static inline weir_status bed_order(bed *b, watcher *w, uint64_t what, weir_processor target,
                                    uint64_t tag)
{
    const size_t before = w->answer_count;
    weir_event event = *WEIR_EVENT(order, what, tag, target);
    event.flow = 9; /* is in the envelope that the next one gets */
    assert_int_equal(WEIR_OK, weir_engine_post(b->engine, w->handle, &event));
    bed_turn(b);
    assert_int_equal(before + 1, w->answer_count);
    return w->answers[before];
}

static inline void bed_stop(bed *b, weir_processor which)
{
    assert_int_equal(WEIR_OK, weir_processor_stop_async(b->engine, which, TEST_PATIENCE));
    bed_turn(b);
}

/* Everything was given back, and nobody had to say that it was not. */
static inline void bed_end(bed *b)
{
    weir_stop_report report = WEIR_STOP_REPORT_INIT;
    assert_int_equal(WEIR_OK, weir_engine_stop_async(b->engine, TEST_PATIENCE));
    TEST_UNTIL(((void)weir_thread_run_once(b->engine, b->loop, 0),
                weir_engine_wait(b->engine, WEIR_NOW, &report) == WEIR_OK));
    assert_int_equal(report.accepted, report.handled + report.dropped + report.dead + report.left);
    assert_int_equal(0, report.left);
    weir_engine_destroy(b->engine);
    assert_int_equal(0, atomic_load(&b->lost));
    assert_int_equal(0, atomic_load(&b->fault.bytes));
    assert_int_equal(0, atomic_load(&b->fault.wrong));
}

static inline weir_status ignore(void *state, weir_turn *turn, const weir_event *event)
{
    (void)state;
    (void)turn;
    (void)event;
    return WEIR_OK;
}

static inline weir_processor bed_target(bed *b)
{
    return test_processor_add(b->engine, WEIR_PROCESSOR(.handler = ignore));
}

static inline void assert_told(const watcher *w, size_t at, weir_processor target,
                               weir_status reason, uint64_t tag)
{
    assert_true(at < w->note_count);
    assert_int_equal(target.id, w->notes[at].down.processor.id);
    assert_int_equal(target.id, w->notes[at].sender.id);
    assert_int_equal(reason, w->notes[at].down.reason);
    assert_int_equal(tag, w->notes[at].tag);
    assert_int_equal(0, w->notes[at].rest);
    assert_int_equal(WEIR_UNKNOWN, w->notes[at].post);
}

/* Watches all it is told of, in one turn. */
typedef struct crowd {
    const weir_processor *targets;
    size_t count, done;
    weir_status last;
} crowd;

static inline weir_status watch_all(void *state, weir_turn *turn, const weir_event *event)
{
    crowd *c = state;
    if (weir_event_as(event, &weir_down_type) != NULL) {
        c->done++;
        return WEIR_OK;
    }
    for (size_t i = 0; i < c->count; i++) {
        c->last = weir_turn_watch(turn, c->targets[i], i);
        if (c->last != WEIR_OK) {
            break;
        }
    }
    return WEIR_OK;
}

static inline weir_status fail_to_begin(void *state, weir_turn *turn, void *argument)
{
    (void)state;
    (void)argument;
    return weir_turn_fail(turn, WEIR_E_USER, "the harbour is closed");
}

/* Sends a number to its argument for every event. */
static inline weir_status pass_on(void *state, weir_turn *turn, const weir_event *event)
{
    (void)event;
    const weir_processor *to = state;
    return weir_turn_post(turn, *to, WEIR_EVENT(number, 1));
}

#endif /* WEIR_TEST_WATCH_SUPPORT_H */
