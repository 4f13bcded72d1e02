/*
 * timer_support.h - what the tests of timers share: a receiver that writes down what came and when,
 * an engine with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_TIMER_SUPPORT_H
#define WEIR_TEST_TIMER_SUPPORT_H

#include "option_support.h"

enum { TEST_NOTES_MAX = 256 };

typedef struct note {
    uint64_t value, tag, sender;
    weir_ns when;
} note;

/* Plain fields: a processor's turns follow each other. `count` releases them to the test. */
typedef struct receiver {
    note notes[TEST_NOTES_MAX];
    atomic_uint_least64_t count;
    sem_t came;
} receiver;

static inline weir_status receive(void *state, weir_turn *turn, const weir_event *event)
{
    receiver *r = state;
    const number *n = weir_event_as(event, &number_type);
    const uint64_t count = atomic_load_explicit(&r->count, memory_order_relaxed);
    (void)turn;
    if (count < TEST_NOTES_MAX) {
        r->notes[count] = (note){ n != NULL ? n->value : UINT64_MAX, event->tag,
                                  event->from.sender.id, test_now() };
    }
    atomic_store_explicit(&r->count, count + 1, memory_order_release);
    (void)sem_post(&r->came);
    return WEIR_OK;
}

static inline uint64_t received(receiver *r)
{
    return atomic_load_explicit(&r->count, memory_order_acquire);
}

typedef struct bed {
    weir_engine *engine;
    weir_processor to;
    receiver receiver;
} bed;

/* An engine that runs, and a receiver with a mailbox of `mailbox_max` (0: the usual). */
static inline void bed_make(bed *b, const weir_engine_options *options, uint32_t mailbox_max)
{
    memset(&b->receiver, 0, sizeof(b->receiver));
    assert_int_equal(0, sem_init(&b->receiver.came, 0, 0));
    b->engine = test_engine_create(options);
    b->to = test_processor_add(b->engine, WEIR_PROCESSOR(.name = "receiver", .handler = receive,
                                                         .argument = &b->receiver,
                                                         .mailbox_max = mailbox_max));
    test_engine_start(b->engine);
}

static inline weir_timer bed_add(bed *b, uint64_t value, const weir_timer_options *options)
{
    weir_timer timer;
    assert_int_equal(WEIR_OK,
                     weir_timer_add(b->engine, b->to, WEIR_EVENT(number, value), options, &timer));
    assert_true(timer.id != 0);
    return timer;
}

static inline weir_timer_counters timer_counters(weir_engine *engine)
{
    weir_timer_counters c = WEIR_TIMER_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_timer_counters_get(engine, &c));
    return c;
}

static inline weir_timer_outcome timer_outcome(weir_engine *engine, weir_timer timer)
{
    weir_timer_outcome outcome;
    assert_int_equal(WEIR_OK, weir_timer_outcome_get(engine, timer, &outcome));
    return outcome;
}

static inline bool books_balance(weir_engine *engine)
{
    const weir_timer_counters c = timer_counters(engine);
    return c.added == c.pending + c.posted + c.cancelled + c.stopped + c.failed_unknown +
                          c.failed_full + c.failed_other;
}

/* Of timers that come once: as soon as none is being posted. */
static inline void assert_books_balance(weir_engine *engine)
{
    TEST_UNTIL(books_balance(engine));
}

/* None is pending, and none is being posted: each has its outcome. */
static inline bool all_have_ended(weir_engine *engine)
{
    const weir_timer_counters c = timer_counters(engine);
    return c.added ==
           c.posted + c.cancelled + c.stopped + c.failed_unknown + c.failed_full + c.failed_other;
}

#endif /* WEIR_TEST_TIMER_SUPPORT_H */
