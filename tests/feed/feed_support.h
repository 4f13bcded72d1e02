/*
 * feed_support.h - what the tests of feeds share: subscribers that write down what they get, and
 * can be held in their handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIR_TEST_FEED_SUPPORT_H
#define WEIR_TEST_FEED_SUPPORT_H

#include "../engine/option_support.h"

typedef struct tick {
    uint64_t number;
} tick;
WEIR_EVENT_TYPE(tick, "test.tick");

enum { SEEN_MAX = 65536 };

typedef struct subscriber {
    weir_processor processor;
    uint64_t seen[SEEN_MAX]; /* numbers, in the order they came */
    atomic_uint_least64_t count;
    atomic_bool hold; /* the next one stays inside until it may pass */
    sem_t entered, pass;
    atomic_uint_least64_t named, replayed, odd;
    uint64_t sequence; /* of the last one with a name */
} subscriber;

static inline weir_status subscriber_handle(void *state, weir_turn *turn, const weir_event *event)
{
    subscriber *s = state;
    const weir_named *named = weir_event_as(event, &weir_named_type);
    const tick *t = weir_event_as(event, &tick_type);
    (void)turn;
    if (named != NULL) {
        atomic_fetch_add(&s->named, 1);
        atomic_fetch_add(&s->replayed, named->replayed ? 1 : 0);
        if (named->type != &tick_type || named->size != sizeof(tick) || named->time <= 0 ||
            named->sequence <= s->sequence) {
            atomic_fetch_add(&s->odd, 1);
        }
        s->sequence = named->sequence;
        t = (const tick *)(const void *)(named + 1);
    }
    if (t == NULL) {
        atomic_fetch_add(&s->odd, 1);
        return WEIR_OK;
    }
    const uint64_t at = atomic_load(&s->count);
    if (at < SEEN_MAX) {
        s->seen[at] = t->number;
    }
    if (atomic_exchange(&s->hold, false)) {
        (void)sem_post(&s->entered);
        while (sem_wait(&s->pass) != 0) {
        }
    }
    atomic_store(&s->count, at + 1);
    return WEIR_OK;
}

static inline subscriber *subscriber_new(void)
{
    subscriber *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    assert_int_equal(0, sem_init(&s->entered, 0, 0));
    assert_int_equal(0, sem_init(&s->pass, 0, 0));
    return s;
}

/* Of that name, on that dispatcher, with so many places. */
static inline subscriber *subscriber_add(weir_engine *engine, const char *name,
                                         const char *dispatcher, uint32_t mailbox_max)
{
    subscriber *s = subscriber_new();
    weir_error error = WEIR_ERROR_INIT;
    s->processor = weir_processor_add(engine,
                                      WEIR_PROCESSOR(.name = name, .dispatcher = dispatcher,
                                                     .handler = subscriber_handle, .argument = s,
                                                     .mailbox_max = mailbox_max, .batch_max = 4),
                                      &error);
    assert_string_equal("", error.text);
    return s;
}

static inline void subscriber_free(subscriber *s)
{
    (void)sem_destroy(&s->entered);
    (void)sem_destroy(&s->pass);
    free(s);
}

static inline uint64_t got(subscriber *s)
{
    return atomic_load(&s->count);
}

/* The next event stays in its handler; returns when it is there. */
static inline void hold(subscriber *s)
{
    atomic_store(&s->hold, true);
}

static inline void held(subscriber *s)
{
    test_sem_wait(&s->entered);
}

static inline void pass(subscriber *s)
{
    assert_int_equal(0, sem_post(&s->pass));
}

/* All of first ... last, in order, and nothing else, from place `at` on. */
static inline void assert_saw(const subscriber *s, uint64_t at, uint64_t first, uint64_t last)
{
    for (uint64_t i = 0; first + i <= last; i++) {
        if (s->seen[at + i] != first + i) {
            fail_msg("at %" PRIu64 ": %" PRIu64 " in place of %" PRIu64, at + i, s->seen[at + i],
                     first + i);
        }
    }
}

static inline weir_feed feed_open(weir_engine *engine, const weir_feed_options *options)
{
    weir_error error = WEIR_ERROR_INIT;
    const weir_feed feed = weir_feed_open(engine, options, &error);
    assert_string_equal("", error.text);
    assert_int_not_equal(0, feed.id);
    return feed;
}

static inline weir_status publish(weir_engine *engine, weir_feed feed, uint64_t value)
{
    return weir_feed_publish(engine, feed, WEIR_EVENT(tick, .number = value));
}

/* first ... last, each of which must be accepted. */
static inline void publish_all(weir_engine *engine, weir_feed feed, uint64_t first, uint64_t last)
{
    for (uint64_t i = first; i <= last; i++) {
        assert_int_equal(WEIR_OK, publish(engine, feed, i));
    }
}

static inline weir_feed_counters counters_of(weir_engine *engine, weir_feed feed)
{
    weir_feed_counters counters = WEIR_FEED_COUNTERS_INIT;
    assert_int_equal(WEIR_OK, weir_feed_counters_get(engine, feed, &counters));
    return counters;
}

/* One thread that serves "one", two that serve "two". */
static inline weir_engine *feed_engine(void)
{
    weir_engine *engine = test_engine_create(WEIR_ENGINE(.log_level = WEIR_LOG_OFF));
    assert_int_equal(WEIR_OK, weir_assign(engine,
                                          WEIR_ROWS(WEIR_NAMES("one"), WEIR_NAMES("two"),
                                                    WEIR_NAMES("two"), WEIR_NAMES("three")),
                                          NULL));
    return engine;
}

#endif /* WEIR_TEST_FEED_SUPPORT_H */
