/*
 * channel_support.h - what the tests of channels share: listeners that write down what they heard,
 * and a speaker that broadcasts from its turns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_CHANNEL_SUPPORT_H
#define WEIR_TEST_CHANNEL_SUPPORT_H

#include "option_support.h"

enum { HEARD_MAX = 4096, TOLD_MAX = 64 };

/* Plain fields: promise P-1 makes them safe, `count` hands them over. */
typedef struct listener {
    uint64_t heard[HEARD_MAX];
    weir_processor from[HEARD_MAX];
    atomic_uint_least64_t count; /* of numbers; released by the handler */
    weir_not_delivered told[TOLD_MAX];
    atomic_uint_least64_t told_count;
    weir_channel set[TOLD_MAX]; /* of the last weir_subscribed event */
    size_t set_count;
    uint64_t heard_before; /* numbers that had come by then */
    atomic_uint_least64_t set_events;
    sem_t *gate;   /* NULL: none; else each number waits for it ... */
    sem_t entered; /* ... after it has said so */
} listener;

static inline void listener_init(listener *l)
{
    memset(l, 0, sizeof(*l));
    assert_int_equal(0, sem_init(&l->entered, 0, 0));
}

static inline uint64_t heard(listener *l)
{
    return atomic_load_explicit(&l->count, memory_order_acquire);
}

static inline void listener_note_set(listener *l, const weir_event *event)
{
    const weir_channel *channels = event->data;
    l->set_count = event->size / sizeof(*channels);
    for (size_t i = 0; i < l->set_count && i < TOLD_MAX; i++) {
        l->set[i] = channels[i];
    }
    l->heard_before = heard(l);
    atomic_fetch_add_explicit(&l->set_events, 1, memory_order_release);
}

static inline weir_status listen(void *state, weir_turn *turn, const weir_event *event)
{
    listener *l = state;
    (void)turn;
    const number *n = weir_event_as(event, &number_type);
    const weir_not_delivered *refused = weir_event_as(event, &weir_not_delivered_type);
    if (weir_event_as(event, &weir_subscribed_type) != NULL) {
        listener_note_set(l, event);
        return WEIR_OK;
    }
    if (refused != NULL) {
        const uint64_t at = atomic_load_explicit(&l->told_count, memory_order_relaxed);
        if (at < TOLD_MAX) {
            l->told[at] = *refused;
        }
        atomic_store_explicit(&l->told_count, at + 1, memory_order_release);
        return WEIR_OK;
    }
    if (n == NULL) {
        return WEIR_UNHANDLED;
    }
    if (l->gate != NULL) {
        (void)sem_post(&l->entered);
        if (!test_sem_taken(l->gate)) {
            return WEIR_E_FAILED;
        }
    }
    const uint64_t at = atomic_load_explicit(&l->count, memory_order_relaxed);
    if (at < HEARD_MAX) {
        l->heard[at] = n->value;
        l->from[at] = event->from.sender;
    }
    atomic_store_explicit(&l->count, at + 1, memory_order_release);
    return WEIR_OK;
}

static inline weir_channel channel_open(weir_engine *engine, const char *name)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_channel channel = weir_channel_open(engine, name, &error);
    test_error_none(&error);
    assert_true(channel.id != 0);
    return channel;
}

static inline weir_processor listener_add(weir_engine *engine, listener *l)
{
    listener_init(l);
    return test_processor_add(engine, WEIR_PROCESSOR(.handler = listen, .argument = l));
}

/* Delivered to so many, refused by so many. */
static inline void say(weir_engine *engine, weir_channel channel, uint64_t value,
                       uint64_t delivered, uint64_t refused)
{
    weir_delivery d = { 77, 77 };
    assert_int_equal(WEIR_OK,
                     weir_engine_broadcast(engine, channel, WEIR_EVENT(number, value), &d));
    assert_int_equal(delivered, d.delivered);
    assert_int_equal(refused, d.refused);
}

/* Each number that it is given it broadcasts, to all its channels. */
typedef struct speaker {
    listener own; /* what comes back to it */
    weir_channel channels[4];
    size_t channel_count;
    weir_processor direct; /* a number of 1000 or more goes there, too, before and after */
    weir_delivery last;
    weir_status status;
    atomic_uint_least64_t spoken;
} speaker;

typedef struct order {
    uint64_t value;
} order;
WEIR_EVENT_TYPE(order, "test.order");

static inline weir_status speak(void *state, weir_turn *turn, const weir_event *event)
{
    speaker *s = state;
    const order *o = weir_event_as(event, &order_type);
    if (o == NULL) {
        return listen(&s->own, turn, event);
    }
    if (s->direct.id != 0 &&
        weir_turn_post(turn, s->direct, WEIR_EVENT(number, 3 * o->value)) != WEIR_OK) {
        return WEIR_E_FAILED;
    }
    s->status = weir_turn_broadcast_many(turn, s->channels, s->channel_count,
                                         WEIR_EVENT(number, 3 * o->value + 1), &s->last);
    if (s->direct.id != 0 &&
        weir_turn_post(turn, s->direct, WEIR_EVENT(number, 3 * o->value + 2)) != WEIR_OK) {
        return WEIR_E_FAILED;
    }
    atomic_fetch_add_explicit(&s->spoken, 1, memory_order_release);
    return WEIR_OK;
}

static inline weir_processor speaker_add(weir_engine *engine, speaker *s, uint32_t mailbox_max)
{
    memset(s, 0, sizeof(*s));
    listener_init(&s->own);
    return test_processor_add(
        engine, WEIR_PROCESSOR(.handler = speak, .argument = s, .mailbox_max = mailbox_max));
}

static inline void order_and_wait(weir_engine *engine, weir_processor to, speaker *s,
                                  uint64_t value)
{
    const uint64_t before = atomic_load(&s->spoken);
    assert_int_equal(WEIR_OK, weir_engine_post(engine, to, WEIR_EVENT(order, value)));
    TEST_UNTIL(atomic_load_explicit(&s->spoken, memory_order_acquire) == before + 1);
}

#endif /* WEIR_TEST_CHANNEL_SUPPORT_H */
